// SPDX-License-Identifier: Apache-2.0
// r = a - b mod q for a, b < q: the difference, or the difference plus q where it is negative. Narrow
// ones add what the borrow says; wide ones, where two carries in series are longer than CarryWidth of
// rm_arith_pkg, add beside it and choose.
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
