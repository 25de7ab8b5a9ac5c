// SPDX-License-Identifier: Apache-2.0
// The integer multiplier inside rm_mod_mul with a sparse modulus, at full width, for every a and b:
//
//   tile_right   each operand of its adder tree is the product of a slice of a and a slice of b at
//                its place, those tiles too that are made of adders
//   tree_right   the product handed to the reducer is what rm_add_tree makes of these operands
//
// That rm_add_tree makes their sum, whatever they are, is prop_add_tree's claim at this width and
// number of operands. Hence the product is a b, because a and b are the sums of their slices at
// their places, and a b has no more than 2 Width bits.
module prop_mul_sparse
  import rm_arith_pkg::*;
#(
    parameter int unsigned Width = 60,
    parameter logic [63:0] Q = 64'h0800_0000_0230_0001
) (
    input logic             clk_i,
    input logic [Width-1:0] a_i,
    input logic [Width-1:0] b_i
);

  localparam int unsigned TileA = tile_a(Sparse);
  localparam int unsigned TileB = tile_b(Sparse);
  localparam int unsigned NumA = ceil_div(Width, TileA);
  localparam int unsigned NumB = ceil_div(Width, TileB);

  logic [2*Width-1:0] sum;
  logic [Width-1:0] r_o;
  logic unused_valid;

  rm_mod_mul #(
      .Flavour(Sparse),
      .Width(Width),
      .Q(Q)
  ) u_mod (
      .clk_i,
      .rst_ni(1'b1),
      .q_i('0),
      .qh_i('0),
      .word_i('0),
      .three_i(1'b0),
      .valid_i(1'b0),
      .a_i,
      .b_i,
      .valid_o(unused_valid),
      .r_o
  );

  rm_add_tree #(
      .Operands(NumA * NumB),
      .Width(2 * Width),
      .Radix(radix(Sparse))
  ) u_sum (
      .clk_i,
      .x_i(u_mod.u_mul.part),
      .sum_o(sum)
  );

  for (genvar i = 0; i < NumA; i++) begin : gen_a
    localparam int unsigned WidthA = min2(TileA, Width - i * TileA);
    for (genvar j = 0; j < NumB; j++) begin : gen_b
      localparam int unsigned WidthB = min2(TileB, Width - j * TileB);
      logic [WidthA+WidthB-1:0] tile;
      assign tile = (WidthA + WidthB)'(a_i[i*TileA+:WidthA]) *
          (WidthA + WidthB)'(b_i[j*TileB+:WidthB]);
      always_comb begin
        tile_right :
        assert (u_mod.u_mul.part[i*NumB+j] == (2 * Width)'(tile) << (i * TileA + j * TileB));
      end
    end
  end

  always_comb begin
    tree_right : assert (u_mod.product == sum);
  end

  logic unused_r;
  assign unused_r = ^r_o;

endmodule
