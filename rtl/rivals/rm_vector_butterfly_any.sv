// SPDX-License-Identifier: Apache-2.0
// A butterfly with a generic multiplier, for comparison with rm_vector_butterfly (BASALISC paper,
// Table 4): sum = u + v, turned = (u - v) w R^-1 modulo any odd q.
//
// No machine has it. Deep and inverse_i are those of rm_vector_mul_any. q_i[0] is the modulus of
// the item that rank 0 takes; the other moduli are those of rm_vector_mul_any. Latency 1 more than
// rm_vector_mul_any's, one a move.
module rm_vector_butterfly_any
  import rm_vector_pkg::MulStages;
#(
    parameter int unsigned Width = 32,
    parameter bit Deep = 1'b0,
    parameter bit Stalls = 1'b1,
    localparam int unsigned Stages = 1 + MulStages + 2 * 32'(Deep)
) (
    input  logic                  clk_i,
    input  logic [    Stages-1:0] move_i,
    input  logic [     Width-1:0] inverse_i,
    input  logic [2:0][Width-1:0] q_i,
    input  logic [     Width-1:0] u_i,
    input  logic [     Width-1:0] v_i,
    input  logic [     Width-1:0] w_i,
    output logic [     Width-1:0] sum_o,
    output logic [     Width-1:0] turned_o
);

  logic [Width-1:0] sum, difference_d, difference;

  rm_vector_halfsum #(
      .Width(Width),
      .Halves(1'b0)
  ) u_halfsum (
      .q_i(q_i[0]),
      .half_i(1'b0),
      .pass_i(1'b0),
      .u_i,
      .v_i,
      .sum_o(sum),
      .difference_o(difference_d)
  );

  rm_vector_delay #(
      .Width(Width),
      .Depth(Stages),
      .Stalls(Stalls)
  ) u_sum (
      .clk_i,
      .move_i,
      .d_i(sum),
      .q_o(sum_o)
  );

  rm_vector_rank #(
      .Width(Width),
      .Stalls(Stalls)
  ) u_difference (
      .clk_i,
      .move_i(move_i[0]),
      .d_i(difference_d),
      .q_o(difference)
  );

  rm_vector_mul_any #(
      .Width(Width),
      .Deep(Deep),
      .Stalls(Stalls)
  ) u_mul (
      .clk_i,
      .move_i(move_i[Stages-1:1]),
      .inverse_i,
      .q_i(q_i[2:1]),
      .a_i(difference),
      .b_i(w_i),
      .r_o(turned_o)
  );

endmodule
