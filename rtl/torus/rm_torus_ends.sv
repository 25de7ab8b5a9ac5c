// SPDX-License-Identifier: Apache-2.0
// The sums behind a butterfly's product x, modulo P, for 0 <= x < 2^52 + 2^12 - 1:
//
//   forward   out0 = u + x   out1 = u - x   u < P
//   inverse   out0 = u       out1 = -x      u < 3 P / 2
//
// Each sum is computed first, and then corrected by one or two P. inverse_i is held while data is
// in flight. Latency 2 cycles, both sums a cycle.
module rm_torus_ends
  import rm_torus_pkg::*;
(
    input  logic             clk_i,
    input  logic             inverse_i,
    input  logic [  Width:0] u_i,
    input  logic [  Width:0] x_i,
    output logic [Width-1:0] out0_o,
    output logic [Width-1:0] out1_o
);

  // 0 <= sum < 2^53; -P - 2^13 < diff < P, signed, whose complement is a sum. The first operand of
  // each sum goes straight into the carry chain, so nothing is computed before it.
  logic [Width:0] sum_q;
  logic [Width+1:0] diff, not_diff_q;
  logic [Width-1:0] less, more, out0_q, out1_q;
  logic below;

  always_ff @(posedge clk_i) begin
    sum_q <= u_i + (inverse_i ? '0 : x_i);
    not_diff_q <= {1'b0, x_i} + ~{1'b0, inverse_i ? '0 : u_i};
  end

  assign diff = ~not_diff_q;
  // 2 P = 2^53 - 2^13 + 2: from there on all bits from 13 on are ones.
  assign less = (&sum_q[Width:13] && |sum_q[12:1]) ? Width'(LessP << 1) :
      from_p(sum_q) ? LessP : '0;
  // Below -P = -2^52 + 2^12 - 1.
  assign below = !diff[Width] || (~|diff[Width-1:12] && !(&diff[11:0]));
  assign more = !diff[Width+1] ? '0 : below ? -Width'(LessP << 1) : -LessP;

  always_ff @(posedge clk_i) begin
    out0_q <= less + sum_q[Width-1:0];
    out1_q <= more + diff[Width-1:0];
  end

  assign out0_o = out0_q;
  assign out1_o = out1_q;

endmodule
