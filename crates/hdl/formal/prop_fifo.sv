// SPDX-License-Identifier: Apache-2.0
// rm_fifo behaves as a queue that shifts its words: count, valid and ready are those of the queue,
// and it holds the same words in the same order. The proof is by induction, so that it covers every
// sequence of words offered and taken.
module prop_fifo #(
    parameter int unsigned Width = 3,
    parameter int unsigned Depth = 5,
    localparam int unsigned CountWidth = $clog2(Depth + 1)
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid_i,
    input logic [Width-1:0] data_i,
    input logic             ready_i
);

  logic ready, valid, push, pop;
  logic [Width-1:0] data;
  logic [CountWidth-1:0] count, held_q;
  logic [Depth-1:0][Width-1:0] queue_d, queue_q;

  rm_fifo #(
      .Width(Width),
      .Depth(Depth)
  ) u_fifo (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o(ready),
      .data_i,
      .valid_o(valid),
      .ready_i,
      .data_o(data),
      .count_o(count)
  );

  assign push = valid_i && held_q != CountWidth'(Depth);
  assign pop = ready_i && held_q != '0;

  // The queue: word 0 is the oldest.
  always_comb begin
    queue_d = queue_q;
    if (pop) queue_d = queue_q >> Width;
    for (int unsigned i = 0; i < Depth; i++) begin
      if (push && CountWidth'(i) == held_q - CountWidth'(pop)) queue_d[i] = data_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= '0;
    else held_q <= held_q + CountWidth'(push) - CountWidth'(pop);
  end

  always_ff @(posedge clk_i) queue_q <= queue_d;

  always_comb begin
    if (rst_ni) begin
      count_right : assert (count == held_q && held_q <= CountWidth'(Depth));
      valid_right : assert (valid == (held_q != '0));
      ready_right : assert (ready == (held_q != CountWidth'(Depth)));
      oldest_first : assert (!valid || data == queue_q[0]);
      places_right :
      assert (32'(u_fifo.head_q) < Depth && 32'(u_fifo.tail_q) < Depth &&
              (32'(u_fifo.head_q) + 32'(held_q)) % Depth == 32'(u_fifo.tail_q));
    end
  end

  for (genvar i = 0; i < Depth; i++) begin : gen_word
    logic [31:0] place;
    assign place = (32'(u_fifo.head_q) + i) % Depth;
    always_comb begin
      if (rst_ni) begin
        word_right :
        assert (CountWidth'(i) >= held_q ||
                u_fifo.mem[$clog2(Depth)'(place)] == queue_q[i]);
      end
    end
  end

endmodule
