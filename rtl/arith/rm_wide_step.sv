// SPDX-License-Identifier: Apache-2.0
// One word of Montgomery reduction in two cycles, for a run-time modulus q = q_H 2^Low + 1 of any
// width:
//
//   t' = (t - m q) / 2^16 with m = t q^-1 mod 2^16
//
// m and t' are those of rm_mont_step. m is the low word of t, with q_H t subtracted from its upper
// Extra = 16 - Low bits, and t' = ((t >> Low) - m q_H) >> Extra. Here q_H is multiplied in slices
// of 24 bits, each a DSP block; a last slice of a few bits is made of adders. A sum of more than 64
// bits comes in two parts, the upper part one cycle after the lower. The m of the next step needs
// only the lower part.
//
// t and t' are in two's complement, and t' must fit OutWidth bits. The upper Late bits of t come
// one cycle after the others, and so do the upper OutLate bits of t'. q_i comes with t_i: q, and
// above it the low bits of 3 q_H (rm_wide_moduli).
//
// Latency 2 cycles, one step a cycle.
module rm_wide_step
  import rm_wide_pkg::*;
#(
    parameter int unsigned InWidth = 123,
    parameter int unsigned OutWidth = 107,
    parameter int unsigned Late = 63,
    parameter int unsigned OutLate = 53,
    parameter int unsigned QWidth = 61,
    parameter int unsigned Low = 9
) (
    input  logic                clk_i,
    input  logic [ InWidth-1:0] t_i,
    input  logic [QWidth+TripleWidth-1:0] q_i,
    output logic [OutWidth-1:0] t_o
);

  // The product of m and a slice of q_H of at most this many bits is made of adders.
  localparam int unsigned FabricMax = 6;
  localparam int unsigned Extra = Word - Low;
  localparam int unsigned QhWidth = QWidth - Low;
  localparam int unsigned Early = InWidth - Late;
  localparam int unsigned Tiles = rm_arith_pkg::ceil_div(QhWidth, TileA);
  localparam int unsigned SumWidth = rm_arith_pkg::max2(InWidth - Low, OutWidth + Extra);

  if (Low > Word || Word > 2 * Low || Early < Word || QhWidth + Word + 1 > SumWidth)
  begin : gen_check
    $error("Low is 8 to 16, the first word of t comes early, and m q_H fits the sum");
  end

  logic [QhWidth-1:0] qh;
  logic [TripleWidth-1:0] triple;
  logic [Word-1:0] m;
  logic [Tiles-1:0][TileA+Word-1:0] tile_d, tile_q;
  logic [Early-1:0] early_q;
  logic signed [InWidth-1:0] t;
  logic signed [SumWidth-1:0] high;
  // m q_H as even tiles beside each other, and odd ones.
  logic [1:0][SumWidth-1:0] product;

  assign {triple, qh} = q_i[QWidth+TripleWidth-1:Low];

  // m: the product q_H t of Extra bits by its rows in pairs, each a choice of 0, q_H, 2 q_H, 3 q_H;
  // its last three rows are three look-up tables.
  if (Extra == 0) begin : gen_low
    assign m = t_i[Word-1:0];

    logic unused_triple;
    assign unused_triple = ^triple;
  end else begin : gen_more
    localparam int unsigned Rows = (Extra > 3) ? Extra - 3 : 0;
    logic [2:0] x, y, corner;
    logic [Extra-1:0] upper;

    assign x = 3'(qh[Extra-1:0]);
    assign y = 3'(t_i[Extra-1:0] >> Rows);
    assign corner[0] = x[0] & y[0];
    assign corner[1] = (x[1] & y[0]) ^ (x[0] & y[1]);
    assign corner[2] = (x[2] & y[0]) ^ (x[1] & y[1]) ^ (x[0] & y[2]) ^
        (x[1] & y[0] & x[0] & y[1]);

    always_comb begin
      upper = t_i[Word-1:Low] - (Extra'(corner) << Rows);
      for (int unsigned i = 0; i + 3 < Extra; i += 2) begin
        if (i + 4 < Extra && t_i[i+1]) begin
          upper = upper - ((t_i[i] ? Extra'(triple) : qh[Extra-1:0] << 1) << i);
        end else begin
          upper = upper - ((t_i[i] ? qh[Extra-1:0] : '0) << i);
        end
      end
    end

    assign m = {upper, t_i[Low-1:0]};

    logic unused_corner;
    assign unused_corner = ^{corner, triple};
  end

  for (genvar j = 0; j < Tiles; j++) begin : gen_tile
    localparam int unsigned Bits = rm_arith_pkg::min2(TileA, QhWidth - j * TileA);
    logic [Bits-1:0] slice;
    logic [Bits+Word-1:0] tile;
    assign slice = qh[j*TileA+:Bits];

    if (Bits <= FabricMax) begin : gen_rows
      always_comb begin
        tile = '0;
        for (int unsigned k = 0; k < Bits; k++) begin
          tile = tile + ((Bits + Word)'(slice[k] ? m : '0) << k);
        end
      end
    end else begin : gen_dsp
      assign tile = (Bits + Word)'(slice) * (Bits + Word)'(m);
    end

    assign tile_d[j] = (TileA + Word)'(tile);
  end

  always_ff @(posedge clk_i) begin
    tile_q <= tile_d;
    early_q <= t_i[Early-1:0];
  end

  if (Late == 0) begin : gen_whole
    assign t = early_q;
  end else begin : gen_late
    assign t = {t_i[InWidth-1:Early], early_q};
  end

  assign high = SumWidth'($signed(t[InWidth-1:Low]));

  always_comb begin
    product = '0;
    for (int unsigned j = 0; j < Tiles; j++) begin
      product[j%2] = product[j%2] | (SumWidth'(tile_q[j]) << (j * TileA));
    end
  end

  if (OutLate == 0) begin : gen_sum
    logic [SumWidth-1:0] sum_q;
    always_ff @(posedge clk_i) sum_q <= high - product[0] - product[1];
    assign t_o = OutWidth'($signed(sum_q[SumWidth-1:Extra]));

    logic unused_sum;
    assign unused_sum = ^sum_q;
  end else begin : gen_parts
    // Sign and carry of three operands.
    localparam int unsigned Carry = 3;
    localparam int unsigned Upper = SumWidth - Part;
    logic [Part+Carry-1:0] lower_q;
    logic [Upper-1:0] upper_q, top_q;

    always_ff @(posedge clk_i) begin
      lower_q <= {Carry'(0), high[Part-1:0]} - {Carry'(0), product[0][Part-1:0]} -
          {Carry'(0), product[1][Part-1:0]};
      upper_q <= high[SumWidth-1:Part] - product[0][SumWidth-1:Part] -
          product[1][SumWidth-1:Part];
      top_q <= upper_q + Upper'($signed(lower_q[Part+:Carry]));
    end

    assign t_o = {top_q[OutLate-1:0], lower_q[Part-1:Extra]};

    logic unused_top;
    assign unused_top = ^{top_q, lower_q};
  end

  logic unused_q;
  assign unused_q = ^{q_i[Low-1:0], t};

endmodule
