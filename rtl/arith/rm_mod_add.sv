// SPDX-License-Identifier: Apache-2.0
// A modular adder: r = a + b mod q for a, b < q.
//
// The result is the sum, or the sum less q if that is not negative. Latency 0 (combinational).
module rm_mod_add #(
    parameter int unsigned Width = 32
) (
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,
    input  logic [Width-1:0] q_i,
    output logic [Width-1:0] r_o
);

  logic [Width:0] sum;
  logic [Width+1:0] less_q;

  assign sum = {1'b0, a_i} + {1'b0, b_i};
  assign less_q = {1'b0, sum} - {2'b0, q_i};
  assign r_o = less_q[Width+1] ? sum[Width-1:0] : less_q[Width-1:0];

  logic unused_top;
  assign unused_top = ^{less_q[Width], sum[Width]};

endmodule
