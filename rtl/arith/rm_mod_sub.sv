// SPDX-License-Identifier: Apache-2.0
// A modular subtractor: r = a - b mod q for a, b < q.
//
// The result is the difference, or the difference plus q if the difference is negative. A narrow
// subtractor adds q or 0 by the borrow. In a wide one, two carries in series would be longer than
// CarryWidth of rm_arith_pkg: it computes both results side by side and selects one.
//
// Latency 0 (combinational).
module rm_mod_sub #(
    parameter int unsigned Width = 32
) (
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,
    input  logic [Width-1:0] q_i,
    output logic [Width-1:0] r_o
);

  logic [Width-1:0] diff;
  logic borrow;

  assign diff = a_i - b_i;
  assign borrow = a_i < b_i;

  if (2 * Width > rm_arith_pkg::CarryWidth) begin : gen_beside
    logic [Width-1:0] more;
    assign more = diff + q_i;
    assign r_o = borrow ? more : diff;
  end else begin : gen_after
    assign r_o = diff + (borrow ? q_i : '0);
  end

endmodule
