// SPDX-License-Identifier: Apache-2.0
// rm_add_tree at full width: the sum of its operands modulo 2^Width, whatever they are, where it is
// made in two parts with a cycle between them. The sum here is made whole, and associated as the
// tree associates it; in which order numbers are added modulo 2^Width does not matter.
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
