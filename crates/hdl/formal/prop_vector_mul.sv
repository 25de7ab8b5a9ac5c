// SPDX-License-Identifier: Apache-2.0
// rm_vector_mul and rm_vector_mul_any return the same word, at a small width, for every modulus whose bits Width / 2 to 1 are zero, every
// word a and every b < q. So a butterfly may use either. The inverse of q modulo R = 2^Width, which rm_vector_mul_any needs, is an input
// that is assumed to be right.
module prop_vector_mul #(
    parameter int unsigned Width = 8,
    parameter bit Deep = 1'b0
) (
    input logic             clk_i,
    input logic [Width-1:0] q_i,
    input logic [Width-1:0] inverse_i,
    input logic [Width-1:0] a_i,
    input logic [Width-1:0] b_i
);

  localparam int unsigned Word = Width / 2;

  logic [Width-1:0] friendly, generic;

  rm_vector_mul #(
      .Width(Width),
      .Stalls(1'b0)
  ) u_friendly (
      .clk_i,
      .move_i('1),
      .q_i({4{q_i}}),
      .a_i,
      .b_i,
      .r_o(friendly)
  );

  rm_vector_mul_any #(
      .Width(Width),
      .Deep(Deep),
      .Stalls(1'b0)
  ) u_generic (
      .clk_i,
      .move_i('1),
      .inverse_i,
      .q_i({2{q_i}}),
      .a_i,
      .b_i,
      .r_o(generic)
  );

  always_comb begin
    assume (q_i[Word:0] == (Word + 1)'(1) && q_i > 1);
    assume (Width'(q_i * inverse_i) == Width'(1));
    assume (b_i < q_i);
    reduced : assert (friendly < q_i);
    equal : assert (friendly == generic);
  end

endmodule
