// SPDX-License-Identifier: Apache-2.0
// The part of a butterfly before its multiplier: sum = u + v and difference = u - v mod q, for u, v
// < q.
//
// With half_i both results are halved; with pass_i they are u and v themselves. A half takes no
// correction of its own. The module computes u + v - q, u + v and u + v + q for the sum, and u - v,
// u - v + q and u - v + 2 q for the difference. It shifts the one that is even and whose half is a
// residue. So three sums stand side by side and none behind another.
//
// Latency 0 (combinational).
module rm_vector_halfsum #(
    parameter int unsigned Width = 32,
    parameter bit Halves = 1'b1
) (
    input  logic [Width-1:0] q_i,
    input  logic             half_i,
    input  logic             pass_i,
    input  logic [Width-1:0] u_i,
    input  logic [Width-1:0] v_i,
    output logic [Width-1:0] sum_o,
    output logic [Width-1:0] difference_o
);

  localparam int unsigned Wide = Width + 2;

  logic signed [Wide-1:0] q, u, v, sum, sum_less, difference, difference_more;
  logic signed [Wide-1:0] sum_whole, difference_whole;

  assign q = Wide'(q_i);
  assign u = Wide'(u_i);
  assign v = Wide'(v_i);
  assign sum = u + v;
  assign sum_less = sum - q;
  assign difference = u - v;
  assign difference_more = difference + q;
  assign sum_whole = sum_less[Wide-1] ? sum : sum_less;
  assign difference_whole = difference[Wide-1] ? difference_more : difference;

  if (Halves) begin : gen_halves
    logic signed [Wide-1:0] sum_more, difference_most, sum_even, difference_even;

    assign sum_more = sum + q;
    assign difference_most = difference + (q <<< 1);
    assign sum_even = !sum[0] ? sum : sum_less[Wide-1] ? sum_more : sum_less;
    assign difference_even = difference[0] ? difference_more :
                             difference[Wide-1] ? difference_most : difference;
    assign sum_o = pass_i ? u_i : half_i ? sum_even[Width:1] : sum_whole[Width-1:0];
    assign difference_o = pass_i ? v_i :
                          half_i ? difference_even[Width:1] : difference_whole[Width-1:0];

    logic unused_ends;
    assign unused_ends = ^{sum_even, difference_even, sum_whole, difference_whole};
  end else begin : gen_whole
    assign sum_o = sum_whole[Width-1:0];
    assign difference_o = difference_whole[Width-1:0];

    logic unused_controls;
    assign unused_controls = ^{half_i, pass_i, sum_whole, difference_whole};
  end

endmodule
