// SPDX-License-Identifier: Apache-2.0
// rm_vector_butterfly computes a butterfly of decimation in frequency as defined in vector_model_pkg, at a small width and for every
// modulus that it takes. Covered are the butterflies with and without a factor (Product), those that halve their sums, and those that pass
// u and v on for a shorter transform.
module prop_vector_butterfly
  import vector_model_pkg::*;
#(
    parameter bit Product = 1'b1
) (
    input logic  clk_i,
    input word_t q_i,
    input logic  half_i,
    input logic  pass_i,
    input word_t u_i,
    input word_t v_i,
    input word_t w_i
);

  localparam int unsigned Stages = rm_vector_pkg::butterfly_stages();

  word_t sum_o, turned_o, added, taken, want_sum, factor, want_turned;

  rm_vector_butterfly #(
      .Width(Width),
      .Product(Product),
      .Stalls(1'b0)
  ) u_butterfly (
      .clk_i,
      .move_i('1),
      .q_i({Stages{q_i}}),
      .half_i,
      .pass_i,
      .u_i,
      .v_i,
      .w_i,
      .sum_o,
      .turned_o
  );

  assign added = sum(u_i, v_i, q_i);
  assign taken = difference(u_i, v_i, q_i);
  assign want_sum = pass_i ? u_i : half_i ? half(added, q_i) : added;
  assign factor = pass_i ? v_i : half_i ? half(taken, q_i) : taken;
  assign want_turned = Product ? product(factor, w_i, q_i) : factor;

  always_comb begin
    assume (friendly(q_i));
    assume (u_i < q_i && v_i < q_i && w_i < q_i);
    added_up : assert (sum_o == want_sum);
    turned : assert (turned_o == want_turned);
  end

endmodule
