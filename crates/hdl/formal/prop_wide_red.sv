// SPDX-License-Identifier: Apache-2.0
// rm_wide_red at full width, for every q = 1 mod 2^Low below 2^Width and every t. With left_k the
// words between the steps, left_0 = t, E = 16 - Low, and P the sum of the products of m with the
// slices of q_H, 24 bits each, at their places, as the RTL multiplies them, which is m q_H:
//
//   word          m = left_k q^-1 mod 2^16, where q^-1 = 1 - q_H 2^Low
//   product       the two words that are subtracted add up to P
//   ends          (left_k >> Low) - P ends in the E bits of m >> Low
//   sum           left_(k+1) 2^E and these bits are (left_k >> Low) - P, nothing truncated, where
//                 left_k > -q
//   reduced       r < q where -q < left_L < q, for L steps
//   certificate   r is left_L or left_L + q there
//
// So left_(k+1) 2^16 = left_k - m q, because m and left_k agree in Low bits: by induction left_k is
// (t - M_k q) / 2^(16 k) with 0 <= M_k < 2^(16 k), hence above -q, and for t < q R left_L is below
// q: r R = t - M q + {0, q R} with M < R.
module prop_wide_red
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9
) (
    input logic               clk_i,
    input logic [2*Width-1:0] t_i,
    input logic [  Width-1:0] q_i
);

  localparam int unsigned Steps = steps(Width);
  localparam int unsigned Known = known(Low);
  localparam int unsigned Extra = Word - Known;
  localparam int unsigned Ends = rm_arith_pkg::max2(Extra, 1);
  localparam int unsigned QhWidth = Width - Known;
  localparam int unsigned Tiles = rm_arith_pkg::ceil_div(QhWidth, TileA);
  localparam int unsigned Wide = 2 * Width + 4;

  logic [Width-1:0] r_o;
  logic signed [Wide-1:0] q, r, last;

  rm_wide_red #(
      .Width(Width),
      .Low(Low)
  ) u_red (
      .clk_i,
      .t_i,
      .q_i({(Steps + 1) {TripleWidth'((q_i >> Known) * 3), q_i}}),
      .r_o
  );

  assign q = Wide'({1'b0, q_i});
  assign r = Wide'({1'b0, r_o});
  assign last = Wide'($signed(u_red.left[Steps]));

  for (genvar k = 0; k < Steps; k++) begin : gen_step
    logic signed [Wide-1:0] old, next, high;
    logic [Word-1:0] m, want;
    logic [1:0][Wide-1:0] taken;
    logic [Tiles-1:0][Wide-1:0] tile;
    logic [Wide-1:0] even, odd, left;

    assign old = Wide'($signed(u_red.left[k]));
    assign next = Wide'($signed(u_red.left[k+1]));
    assign high = old >>> Known;
    assign m = u_red.gen_step[k].u_step.m;
    assign taken[0] = Wide'(u_red.gen_step[k].u_step.product[0]);
    assign taken[1] = Wide'(u_red.gen_step[k].u_step.product[1]);
    assign left = high - taken[0] - taken[1];

    always_comb begin
      want = old[Word-1:0];
      for (int unsigned i = 0; i < Extra; i++) begin
        if (old[i]) want = want - Word'({q_i[Width-1:Known], Known'(0)} << i);
      end
    end

    for (genvar j = 0; j < Tiles; j++) begin : gen_tile
      localparam int unsigned Bits = rm_arith_pkg::min2(TileA, QhWidth - j * TileA);
      logic [Bits-1:0] slice;
      logic [Bits+Word-1:0] product;
      assign slice = q_i[Known+j*TileA+:Bits];
      assign product = (Bits + Word)'(slice) * (Bits + Word)'(m);
      assign tile[j] = Wide'(product) << (j * TileA);
    end

    always_comb begin
      even = '0;
      odd = '0;
      for (int unsigned j = 0; j < Tiles; j++) begin
        if (j % 2 == 0) even = even + tile[j];
        else odd = odd + tile[j];
      end
    end

    always_comb begin
      word : assert (m == want);
      product : assert (taken[0] == even && taken[1] == odd);
      ends : assert (Extra == 0 || Ends'(left) == Ends'(m >> Known));
      sum : assert (old <= -q || next == $signed(left) >>> Extra);
    end
  end

  always_comb begin
    assume (q_i[Known-1:0] == Known'(1));
    reduced : assert (last <= -q || last >= q || r < q);
    certificate : assert (last <= -q || last >= q || r == last || r == last + q);
  end

endmodule
