// SPDX-License-Identifier: Apache-2.0
// rm_mul_tiled as the 32-bit machines use it: the product is the sum of the four products of 16-bit
// halves at their places, nothing truncated, for every a and b. Hence p = a b, because a = a_H 2^16 +
// a_L and b = b_H 2^16 + b_L. The tiles' products are written as the RTL multiplies them, so the
// solver reasons about their sum alone.
module prop_mul_tiles (
    input logic        clk_i,
    input logic [31:0] a_i,
    input logic [31:0] b_i
);

  logic [63:0] p;
  logic [3:0][31:0] tile;
  logic [71:0] sum;

  rm_mul_tiled #(
      .Width(32),
      .TileA(16),
      .TileB(16),
      .Radix(4),
      .InReg(1'b1)
  ) u_mul (
      .clk_i,
      .a_i,
      .b_i,
      .p_o(p)
  );

  for (genvar i = 0; i < 2; i++) begin : gen_a
    for (genvar j = 0; j < 2; j++) begin : gen_b
      assign tile[2*i+j] = 32'(a_i[16*i+:16]) * 32'(b_i[16*j+:16]);
    end
  end

  assign sum = 72'(tile[0]) + (72'(tile[1]) << 16) + (72'(tile[2]) << 16) + (72'(tile[3]) << 32);

  always_comb begin
    product : assert (72'(p) == sum);
  end

endmodule
