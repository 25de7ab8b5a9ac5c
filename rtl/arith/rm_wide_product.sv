// p = a b, unsigned, in tiles of 24 x 17 bits, each a DSP block with its product register; an adder
// tree sums them. The tiles of a row (all of a, one slice of b) that do not overlap are one operand
// of the tree: its even tiles, and its odd ones.
//
// A product of more than 64 bits comes in two parts: bits from 60 on one cycle after the others.
// Latency product_latency(Width) of rm_wide_pkg for the first part, one product a cycle. Operands
// are not registered here: they come from registers.
module rm_wide_product
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61
) (
    input  logic               clk_i,
    input  logic [  Width-1:0] a_i,
    input  logic [  Width-1:0] b_i,
    output logic [2*Width-1:0] p_o
);

  localparam int unsigned NumA = rm_arith_pkg::ceil_div(Width, TileA);
  localparam int unsigned NumB = rm_arith_pkg::ceil_div(Width, TileB);
  localparam int unsigned Groups = rm_arith_pkg::min2(2, NumA);

  logic [NumB-1:0][Groups-1:0][2*Width-1:0] part;

  for (genvar j = 0; j < NumB; j++) begin : gen_row
    localparam int unsigned WidthB = rm_arith_pkg::min2(TileB, Width - j * TileB);
    logic [NumA-1:0][TileA+TileB-1:0] tile_q;

    for (genvar i = 0; i < NumA; i++) begin : gen_tile
      localparam int unsigned WidthA = rm_arith_pkg::min2(TileA, Width - i * TileA);
      logic [WidthA+WidthB-1:0] tile_d;
      assign tile_d = (WidthA + WidthB)'(a_i[i*TileA+:WidthA]) *
          (WidthA + WidthB)'(b_i[j*TileB+:WidthB]);
      always_ff @(posedge clk_i) tile_q[i] <= (TileA + TileB)'(tile_d);
    end

    always_comb begin
      part[j] = '0;
      for (int unsigned i = 0; i < NumA; i++) begin
        part[j][i%2] = part[j][i%2] | ((2 * Width)'(tile_q[i]) << (i * TileA + j * TileB));
      end
    end
  end

  if (2 * Width <= rm_arith_pkg::CarryWidth) begin : gen_whole
    rm_add_tree #(
        .Operands(NumB * Groups),
        .Width(2 * Width),
        .Radix(Radix)
    ) u_sum (
        .clk_i,
        .x_i(part),
        .sum_o(p_o)
    );
  end else begin : gen_parts
    localparam int unsigned Early = rm_arith_pkg::CarryWidth - 4;
    localparam int unsigned High = 2 * Width - Early;
    logic [NumB*Groups-1:0][2*Width-1:0] operand;
    logic [NumB*Groups-1:0][Early-1:0] low;
    logic [NumB*Groups-1:0][High-1:0] high_q;

    assign operand = part;

    for (genvar k = 0; k < NumB * Groups; k++) begin : gen_operand
      assign low[k] = operand[k][Early-1:0];
      always_ff @(posedge clk_i) high_q[k] <= operand[k][2*Width-1:Early];
    end

    rm_add_parts #(
        .Operands(NumB * Groups),
        .Low(Early),
        .High(High),
        .Radix(Radix)
    ) u_sum (
        .clk_i,
        .low_i(low),
        .high_i(high_q),
        .low_o(p_o[Early-1:0]),
        .high_o(p_o[2*Width-1:Early])
    );
  end

endmodule
