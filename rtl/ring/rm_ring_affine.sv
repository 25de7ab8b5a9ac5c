// SPDX-License-Identifier: Apache-2.0
// Computes the permutation inside a row of an automorphism, place by place, as the row network
// takes it (rm_ring_network):
//
//   number  p rotated back, or the bits of p reversed (reverse_i)
//   column_o[p]   number of the place that is  times number + offset mod Row,   and minus_o its bit LogRow
//
// times is odd. With reverse_i (rows in evaluation form) no sign is given. minus_o belongs to a
// lane: the lane of its place (rm_ring_place_pkg). offset_i comes with the row's mask. The other
// inputs are held, from two cycles before on.
//
// Latency 2 to column_o, a row a cycle; 2 + Late to minus_o.
module rm_ring_affine
  import rm_ring_place_pkg::*;
#(
    parameter int unsigned LogRow = 5,
    parameter int unsigned Late = 4,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned RotWidth = (LogRow > 1) ? $clog2(LogRow) : 1
) (
    input  logic                         clk_i,
    input  logic [LogRow:0]              times_i,
    input  logic                         reverse_i,
    input  logic [RotWidth-1:0]          rotate_i,
    input  logic [LogRow:0]              offset_i,
    output logic [Row-1:0]               minus_o,
    output logic [Row-1:0][LogRow-1:0]   column_o
);

  typedef logic [LogRow-1:0] lane_t;

  function automatic logic [Row-1:0][LogRow-1:0] lanes();
    for (int unsigned p = 0; p < Row; p++) lanes[p] = lane_t'(lane_of(LogRow, p));
  endfunction

  localparam logic [Row-1:0][LogRow-1:0] LaneOf = lanes();

  // Sums of a number's bits: low ones, and the others.
  localparam int unsigned Low = (LogRow + 1) / 2;
  localparam int unsigned Lows = 1 << Low;
  localparam int unsigned Highs = Row / Lows;

  logic [LogRow-1:0][LogRow:0] weight_d, weight_q;  // what a bit of a place adds
  logic [Lows-1:0][LogRow:0] low_d, low_q;
  logic [Highs-1:0][LogRow:0] high_d, high_q;
  logic [Row-1:0][LogRow:0] at_d, at_q;
  logic [Row-1:0][LogRow-1:0] column_d, column_q;
  logic [Row-1:0] minus_d, minus;

  always_comb begin
    for (int unsigned b = 0; b < LogRow; b++) begin
      weight_d[b] = times_i << (LogRow - 1 - b);
      for (int unsigned by = 0; by < LogRow; by++) begin
        if (!reverse_i && rotate_i == RotWidth'(by)) begin
          weight_d[b] = times_i << ((b + LogRow - by) % LogRow);
        end
      end
    end
    low_d = '0;
    high_d = '0;
    for (int unsigned b = 0; b < Low; b++) begin
      for (int unsigned i = 0; i < Lows; i++) if (i[b]) low_d[i] += weight_q[b];
    end
    for (int unsigned b = Low; b < LogRow; b++) begin
      for (int unsigned i = 0; i < Highs; i++) if (i[b-Low]) high_d[i] += weight_q[b];
    end
    for (int unsigned p = 0; p < Row; p++) at_d[p] = low_q[p%Lows] + (high_q[p/Lows] + offset_i);
  end

  always_comb begin
    for (int unsigned p = 0; p < Row; p++) begin
      column_d[p] = {<<{at_q[p][LogRow-1:0]}};
      minus_d[LaneOf[p]] = at_q[p][LogRow] && !reverse_i;
    end
    for (int unsigned by = 0; by < LogRow; by++) begin
      if (!reverse_i && rotate_i == RotWidth'(by)) begin
        for (int unsigned p = 0; p < Row; p++) begin
          column_d[p] = LogRow'({2{at_q[p][LogRow-1:0]}} >> (LogRow - by));
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    weight_q <= weight_d;
    low_q <= low_d;
    high_q <= high_d;
    at_q <= at_d;
    column_q <= column_d;
  end

  rm_delay #(
      .Width(Row),
      .Depth(Late + 1)
  ) u_minus (
      .clk_i,
      .d_i(minus_d),
      .q_o(minus)
  );

  assign column_o = column_q;
  assign minus_o = minus;

endmodule
