// SPDX-License-Identifier: Apache-2.0
// rm_add_tree at full width returns the sum of its operands modulo 2^Width, those of Minus
// subtracted, for all operands. The tree makes its sums in two parts with a cycle between them;
// this module makes them whole. It groups the operands as the tree does, so that the solver finds
// equal sums.
module prop_add_tree
  import rm_arith_pkg::*;
#(
    parameter int unsigned Operands = 12,
    parameter int unsigned Width = 120,
    parameter int unsigned Radix = 3,
    parameter logic [Operands-1:0] Minus = '0
) (
    input logic                           clk_i,
    input logic [Operands-1:0][Width-1:0] x_i
);

  logic [Operands-1:0][Width-1:0] x, groups;
  logic [Width-1:0] sum;

  rm_add_tree #(
      .Operands(Operands),
      .Width(Width),
      .Radix(Radix),
      .Minus(Minus)
  ) u_tree (
      .clk_i,
      .x_i,
      .sum_o(sum)
  );

  always_comb begin
    for (int unsigned k = 0; k < Operands; k++) x[k] = Minus[k] ? -x_i[k] : x_i[k];
    for (int unsigned level = 0; level < tree_levels(Operands, Radix); level++) begin
      groups = '0;
      for (int unsigned k = 0; k < Operands; k++) groups[k/Radix] = groups[k/Radix] + x[k];
      x = groups;
    end
    whole : assert (sum == x[0]);
  end

endmodule
