// SPDX-License-Identifier: Apache-2.0
// rm_skid behaves as a queue of two words: it offers a word while the queue holds one, takes one
// while the queue has room, and shows the oldest. The proof is by induction, so that it covers
// every sequence of words offered and taken.
module prop_skid #(
    parameter int unsigned Width = 4
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             valid_i,
    input logic [Width-1:0] data_i,
    input logic             ready_i
);

  logic ready, valid, push, pop;
  logic [Width-1:0] data;
  logic [1:0] held_q;
  logic [1:0][Width-1:0] queue_d, queue_q;

  rm_skid #(
      .Width(Width)
  ) u_skid (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o(ready),
      .data_i,
      .valid_o(valid),
      .ready_i,
      .data_o(data)
  );

  assign push = valid_i && held_q != 2'd2;
  assign pop = ready_i && held_q != 2'd0;

  always_comb begin
    queue_d = queue_q;
    if (pop) queue_d[0] = queue_q[1];
    if (push && held_q - 2'(pop) == 2'd0) queue_d[0] = data_i;
    if (push && held_q - 2'(pop) == 2'd1) queue_d[1] = data_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= '0;
    else held_q <= held_q + 2'(push) - 2'(pop);
  end

  always_ff @(posedge clk_i) queue_q <= queue_d;

  always_comb begin
    if (rst_ni) begin
      at_most_two : assert (held_q <= 2'd2);
      valid_right : assert (valid == (held_q != 2'd0));
      ready_right : assert (ready == (held_q != 2'd2));
      oldest_first : assert (!valid || data == queue_q[0]);
      spare_right : assert (ready || u_skid.spare_q == queue_q[1]);
    end
  end

endmodule
