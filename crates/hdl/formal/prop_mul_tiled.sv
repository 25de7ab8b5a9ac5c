// SPDX-License-Identifier: Apache-2.0
// rm_mul_tiled computes a b with ragged tiles. At the default width the last slice of a has one
// bit, and the tiles of this slice are made of adders.
module prop_mul_tiled #(
    parameter int unsigned Width = 7
) (
    input logic             clk_i,
    input logic [Width-1:0] a_i,
    input logic [Width-1:0] b_i
);

  logic [2*Width-1:0] p;

  rm_mul_tiled #(
      .Width(Width),
      .TileA(3),
      .TileB(4),
      .FabricMax(1),
      .Radix(3),
      .InReg(1'b1)
  ) u_mul (
      .clk_i,
      .a_i,
      .b_i,
      .p_o(p)
  );

  always_comb begin
    product : assert (p == (2 * Width)'(a_i) * (2 * Width)'(b_i));
  end

endmodule
