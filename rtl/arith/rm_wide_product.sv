// SPDX-License-Identifier: Apache-2.0
// An unsigned multiplier in tiles of 24 x 17 bits: p = a b.
//
// Each tile is a DSP block with its product register; an adder tree sums the tiles. A row of tiles
// is all of a times one slice of b. The even tiles of a row do not overlap, so they are one operand
// of the tree. So are the odd ones.
//
// If a has 25 to 32 bits, three tiles and a corner suffice. The corner is made of adders and lies
// beside the first tile in its operand. With x[:k] for the bits of x from k on, the product is
//
//   a[23:0] b[16:0] + a[23:0] b[:17] 2^17 + a[:24] b[23:0] 2^24 + a[:24] b[:24] 2^48
//
// A product of more than 64 bits comes in two parts: the bits from 60 on come one cycle after the
// others. Operands come from registers; the module has none for them.
//
// Latency product_latency(Width) of rm_wide_pkg for the first part, one product a cycle.
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
  localparam int unsigned Operands = operands(Width);

  logic [Operands-1:0][2*Width-1:0] part;

  if (has_corner(Width)) begin : gen_corner
    localparam int unsigned Rest = Width - TileA;
    logic [TileA+TileB-1:0] low_q;
    logic [Width-TileB+TileA-1:0] high_q;
    logic [Width-1:0] left_q;
    logic [2*Rest-1:0] corner_d, corner_q;

    // Booth's recoding: b in digits -2 to 2 of weight 4, a row of adders for each, which leaves its
    // two low bits behind. A multiplication sign would become a DSP block.
    localparam int unsigned Digits = Rest / 2 + 1;
    logic [Rest-1:0] x;
    logic [2*Digits:0] y;
    // A row's sum, in two's complement: within 2 x (1 + 1/4 + ...) and a sign.
    logic signed [Rest+2:0] sum;

    assign x = a_i[Width-1:TileA];
    assign y = (2 * Digits + 1)'({b_i[Width-1:TileA], 1'b0});

    always_comb begin
      logic one, two, minus;
      logic [Rest+2:0] term;
      corner_d = '0;
      sum = '0;
      for (int unsigned k = 0; k < Digits; k++) begin
        one = y[2*k] ^ y[2*k+1];
        two = (y[2*k+2] ^ y[2*k+1]) & !one;
        minus = y[2*k+2];
        term = (one ? (Rest + 3)'(x) : two ? (Rest + 3)'({x, 1'b0}) : '0) ^ {(Rest + 3) {minus}};
        // A bit below the sum carries in the one that turns a complement into a negative number.
        sum = (Rest + 3)'(({sum >>> 2, 1'b1} + {term, minus}) >> 1);
        if (k < Digits - 1) corner_d[2*k+:2] = sum[1:0];
      end
      corner_d[2*Rest-1:2*(Digits-1)] = (2 * (Rest - Digits + 1))'(sum);
    end

    always_ff @(posedge clk_i) begin
      low_q <= (TileA + TileB)'(a_i[TileA-1:0]) * (TileA + TileB)'(b_i[TileB-1:0]);
      high_q <= (Width - TileB + TileA)'(a_i[TileA-1:0]) *
          (Width - TileB + TileA)'(b_i[Width-1:TileB]);
      left_q <= Width'(a_i[Width-1:TileA]) * Width'(b_i[TileA-1:0]);
      corner_q <= corner_d;
    end

    assign part[0] = {corner_q, (2 * Width - 2 * Rest)'(low_q)};
    assign part[1] = (2 * Width)'(high_q) << TileB;
    assign part[2] = (2 * Width)'(left_q) << TileA;
  end else begin : gen_rows
    logic [NumB-1:0][Groups-1:0][2*Width-1:0] row;

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
        row[j] = '0;
        for (int unsigned i = 0; i < NumA; i++) begin
          row[j][i%2] = row[j][i%2] | ((2 * Width)'(tile_q[i]) << (i * TileA + j * TileB));
        end
      end
    end

    assign part = row;
  end

  if (2 * Width <= rm_arith_pkg::CarryWidth) begin : gen_whole
    rm_add_tree #(
        .Operands(Operands),
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

    for (genvar k = 0; k < Operands; k++) begin : gen_operand
      assign low[k] = operand[k][Early-1:0];
      always_ff @(posedge clk_i) high_q[k] <= operand[k][2*Width-1:Early];
    end

    rm_add_parts #(
        .Operands(Operands),
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
