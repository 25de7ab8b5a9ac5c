// SPDX-License-Identifier: Apache-2.0
// An unsigned schoolbook multiplier: p = a b, over tiles of TileA x TileB bits.
//
// Each tile has its own product register and becomes one DSP block; an adder tree sums the tiles. A
// tile whose shorter side has at most FabricMax bits is made of adders instead. The multiplier of
// the paper of Mert, Öztürk and Savaş, Fig. 1, is Width 32 with four tiles of 16 x 16.
//
// Latency mul_latency(...) of rm_arith_pkg: InReg + 1 + the latency of rm_add_tree. One product a
// cycle.
module rm_mul_tiled #(
    parameter int unsigned Width = 32,
    parameter int unsigned TileA = 16,
    parameter int unsigned TileB = 16,
    parameter int unsigned FabricMax = 0,
    parameter int unsigned Radix = 4,
    parameter bit InReg = 1'b0
) (
    input  logic               clk_i,
    input  logic [  Width-1:0] a_i,
    input  logic [  Width-1:0] b_i,
    output logic [2*Width-1:0] p_o
);

  localparam int unsigned NumA = rm_arith_pkg::ceil_div(Width, TileA);
  localparam int unsigned NumB = rm_arith_pkg::ceil_div(Width, TileB);

  logic [NumA*NumB-1:0][2*Width-1:0] part;

  for (genvar i = 0; i < NumA; i++) begin : gen_a
    localparam int unsigned WidthA = rm_arith_pkg::min2(TileA, Width - i * TileA);
    for (genvar j = 0; j < NumB; j++) begin : gen_b
      localparam int unsigned WidthB = rm_arith_pkg::min2(TileB, Width - j * TileB);
      logic [WidthA-1:0] a;
      logic [WidthB-1:0] b;
      logic [WidthA+WidthB-1:0] tile_d, tile_q;

      // Each tile has operand registers of its own: they pack into its DSP block.
      if (InReg) begin : gen_in_reg
        always_ff @(posedge clk_i) begin
          a <= a_i[i*TileA+:WidthA];
          b <= b_i[j*TileB+:WidthB];
        end
      end else begin : gen_in_wire
        assign a = a_i[i*TileA+:WidthA];
        assign b = b_i[j*TileB+:WidthB];
      end

      if (WidthB <= FabricMax) begin : gen_rows_b
        always_comb begin
          tile_d = '0;
          for (int unsigned k = 0; k < WidthB; k++) begin
            tile_d = tile_d + ((WidthA + WidthB)'(b[k] ? a : '0) << k);
          end
        end
      end else if (WidthA <= FabricMax) begin : gen_rows_a
        always_comb begin
          tile_d = '0;
          for (int unsigned k = 0; k < WidthA; k++) begin
            tile_d = tile_d + ((WidthA + WidthB)'(a[k] ? b : '0) << k);
          end
        end
      end else begin : gen_dsp
        assign tile_d = (WidthA + WidthB)'(a) * (WidthA + WidthB)'(b);
      end

      always_ff @(posedge clk_i) tile_q <= tile_d;

      assign part[i*NumB+j] = (2 * Width)'(tile_q) << (i * TileA + j * TileB);
    end
  end

  rm_add_tree #(
      .Operands(NumA * NumB),
      .Width(2 * Width),
      .Radix(Radix)
  ) u_sum (
      .clk_i,
      .x_i(part),
      .sum_o(p_o)
  );

endmodule
