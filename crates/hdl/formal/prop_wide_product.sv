// SPDX-License-Identifier: Apache-2.0
// rm_wide_product, at full width, for every a and b:
//
//   row_right   the operands of its adder tree for slice j of b, 17 bits, are together the sum of
//               the products of the slices of a, 24 bits each, with it at their places: even tiles
//               are beside each other and so are odd ones, without overlap
//   corner_right, sides_right   where there is a corner, instead: the operands are a[23:0] b[16:0]
//               with a[:24] b[:24] 2^48 beside it, a[23:0] b[:17] 2^17 and a[:24] b[23:0] 2^24
//   tree_right  the product is what rm_add_tree makes of these operands
//
// That rm_add_tree makes their sum, whatever they are, is prop_add_tree's claim at this width,
// radix and number of operands. Hence the product is a b, because a and b are the sums of their
// slices at their places, and a b has no more than 2 Width bits.
module prop_wide_product
  import rm_arith_pkg::*;
#(
    parameter int unsigned Width = 61
) (
    input logic             clk_i,
    input logic [Width-1:0] a_i,
    input logic [Width-1:0] b_i
);

  localparam int unsigned TileA = rm_wide_pkg::TileA;
  localparam int unsigned TileB = rm_wide_pkg::TileB;
  localparam int unsigned NumA = ceil_div(Width, TileA);
  localparam int unsigned NumB = ceil_div(Width, TileB);
  localparam int unsigned Groups = min2(2, NumA);

  logic [2*Width-1:0] p, sum;

  rm_wide_product #(
      .Width(Width)
  ) u_product (
      .clk_i,
      .a_i,
      .b_i,
      .p_o(p)
  );

  rm_add_tree #(
      .Operands(rm_wide_pkg::operands(Width)),
      .Width(2 * Width),
      .Radix(rm_wide_pkg::Radix)
  ) u_sum (
      .clk_i,
      .x_i(u_product.part),
      .sum_o(sum)
  );

  if (rm_wide_pkg::has_corner(Width)) begin : gen_corner
    localparam int unsigned Rest = Width - TileA;
    logic [2*Width-1:0] low, high, left, corner;

    assign low = (2 * Width)'(a_i[TileA-1:0]) * (2 * Width)'(b_i[TileB-1:0]);
    assign high = (2 * Width)'(a_i[TileA-1:0]) * (2 * Width)'(b_i[Width-1:TileB]);
    assign left = (2 * Width)'(a_i[Width-1:TileA]) * (2 * Width)'(b_i[TileA-1:0]);
    assign corner = (2 * Width)'((2 * Rest)'(a_i[Width-1:TileA]) * (2 * Rest)'(b_i[Width-1:TileA]));

    always_comb begin
      corner_right : assert (u_product.part[0] == low + (corner << (2 * TileA)));
      sides_right : assert (u_product.part[1] == high << TileB && u_product.part[2] == left << TileA);
    end
  end else begin : gen_rows
    for (genvar j = 0; j < NumB; j++) begin : gen_row
      localparam int unsigned WidthB = min2(TileB, Width - j * TileB);
      logic [NumA-1:0][2*Width-1:0] tile;
      logic [Groups-1:0][2*Width-1:0] want;

      for (genvar i = 0; i < NumA; i++) begin : gen_tile
        localparam int unsigned WidthA = min2(TileA, Width - i * TileA);
        logic [WidthA+WidthB-1:0] product;
        assign product = (WidthA + WidthB)'(a_i[i*TileA+:WidthA]) *
            (WidthA + WidthB)'(b_i[j*TileB+:WidthB]);
        assign tile[i] = (2 * Width)'(product) << (i * TileA + j * TileB);
      end

      always_comb begin
        want = '0;
        for (int unsigned i = 0; i < NumA; i++) want[i%2] = want[i%2] + tile[i];
      end

      always_comb begin
        row_right : assert (u_product.part[j*Groups+:Groups] == want);
      end
    end
  end

  always_comb begin
    tree_right : assert (p == sum);
  end

endmodule
