// SPDX-License-Identifier: Apache-2.0
// A queue of at most Depth words. Words enter by (valid_i, ready_o) and leave in the same order by
// (valid_o, ready_i).
//
// Latency 1 cycle from a write into the empty queue to valid_o. The queue takes one write a cycle
// unless it is full, and one read a cycle unless it is empty. A full queue accepts a word again in
// the cycle after a read. data_o is the oldest word while valid_o is high. count_o is the number of
// words in the queue. Reset empties the queue. The memory is read in the cycle of use, so it maps
// to distributed RAM.
module rm_fifo #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 16,
    localparam int unsigned CountWidth = $clog2(Depth + 1),
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  valid_i,
    output logic                  ready_o,
    input  logic [     Width-1:0] data_i,
    output logic                  valid_o,
    input  logic                  ready_i,
    output logic [     Width-1:0] data_o,
    output logic [CountWidth-1:0] count_o
);

  localparam logic [AddrWidth-1:0] Last = AddrWidth'(Depth - 1);

  (* ram_style = "distributed" *) logic [Width-1:0] mem[Depth];
  logic [AddrWidth-1:0] head_d, head_q, tail_d, tail_q;
  logic [CountWidth-1:0] count_d, count_q;
  logic push, pop;

  assign ready_o = count_q != CountWidth'(Depth);
  assign valid_o = count_q != '0;
  assign count_o = count_q;
  assign data_o = mem[head_q];
  assign push = valid_i & ready_o;
  assign pop = valid_o & ready_i;

  assign head_d = !pop ? head_q : (head_q == Last) ? '0 : head_q + 1'b1;
  assign tail_d = !push ? tail_q : (tail_q == Last) ? '0 : tail_q + 1'b1;
  assign count_d = count_q + CountWidth'(push) - CountWidth'(pop);

  always_ff @(posedge clk_i) begin
    if (push) mem[tail_q] <= data_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
      count_q <= '0;
    end else begin
      head_q <= head_d;
      tail_q <= tail_d;
      count_q <= count_d;
    end
  end

`ifndef SYNTHESIS
  // A word was shown in the cycle before and not taken.
  logic stays_q;
  logic [Width-1:0] shown_q;

  always_ff @(posedge clk_i) shown_q <= data_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) stays_q <= 1'b0;
    else begin
      stays_q <= valid_o && !ready_i;
      count_in_range : assert (count_q <= CountWidth'(Depth));
      places_in_range : assert (32'(head_q) < Depth && 32'(tail_q) < Depth);
      // The words held lie from head on, around the end.
      places_apart :
      assert (32'(head_q) + 32'(count_q) == 32'(tail_q) ||
              32'(head_q) + 32'(count_q) == 32'(tail_q) + Depth);
      word_stays : assert (!stays_q || (valid_o && data_o == shown_q));
    end
  end
`endif

endmodule
