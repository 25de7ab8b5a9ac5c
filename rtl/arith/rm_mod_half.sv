// SPDX-License-Identifier: Apache-2.0
// Half of a residue: r = a / 2 mod q for a < q and odd q.
//
// The result is a / 2 for even a. For odd a it is (a + q) / 2 = (a >> 1) + (q >> 1) + 1.
//
// Latency 0 (combinational).
module rm_mod_half #(
    parameter int unsigned Width = 32
) (
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] q_i,
    output logic [Width-1:0] r_o
);

  logic [Width-1:0] half_q;

  assign half_q = a_i[0] ? {1'b0, q_i[Width-1:1]} : '0;
  assign r_o = {1'b0, a_i[Width-1:1]} + half_q + Width'(a_i[0]);

  logic unused_q;
  assign unused_q = q_i[0];

endmodule
