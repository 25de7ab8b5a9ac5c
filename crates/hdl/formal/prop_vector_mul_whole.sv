// SPDX-License-Identifier: Apache-2.0
// rm_vector_mul_whole, with Friendly and without, returns the same word as rm_vector_mul, at a small width, for every modulus that
// rm_vector_mul takes, every word a and every b < q. The inverse of q modulo R = 2^Width is an input that is assumed to be right.
module prop_vector_mul_whole #(
    parameter int unsigned Width = 6,
    parameter bit Friendly = 1'b1
) (
    input logic             clk_i,
    input logic [Width-1:0] q_i,
    input logic [Width-1:0] inverse_i,
    input logic [Width-1:0] a_i,
    input logic [Width-1:0] b_i
);

  localparam int unsigned Word = Width / 2;

  logic [Width-1:0] tiled, whole;

  rm_vector_mul #(
      .Width(Width),
      .Stalls(1'b0)
  ) u_tiled (
      .clk_i,
      .move_i('1),
      .q_i({4{q_i}}),
      .a_i,
      .b_i,
      .r_o(tiled)
  );

  rm_vector_mul_whole #(
      .Width(Width),
      .Friendly(Friendly),
      .Stalls(1'b0)
  ) u_whole (
      .clk_i,
      .move_i('1),
      .inverse_i,
      .q_i({3{q_i}}),
      .a_i,
      .b_i,
      .r_o(whole)
  );

  always_comb begin
    assume (q_i[Word:0] == (Word + 1)'(1) && q_i > 1);
    assume (Width'(q_i * inverse_i) == Width'(1));
    assume (b_i < q_i);
    equal : assert (tiled == whole);
  end

endmodule
