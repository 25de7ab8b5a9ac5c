// SPDX-License-Identifier: Apache-2.0
// Word-level Montgomery reduction with run-time word size: r = t R^-1 mod q for t < q R, R = 2^(w
// steps).
//
// The modulus q = 1 mod 2^w, the word size w (WordMin to WordMax) and the number of steps come at
// run time. There are 2 steps, or 3 with three_i (Mert, Öztürk and Savaş, Algorithm 4 and Fig. 2).
// The sets (n, K) of the paper's Table 1 are w = log2(2n), steps = ceil(K / w).
//
// Preconditions: q < 2^Width, q < R and qh_i = q >> w. q_i, qh_i, word_i and three_i are held from
// a cycle before the first data until the last result has left. Certificate: r R = t - M q + {0, q
// R} with M < R, and r < q.
//
// Latency 4 cycles (three steps, one correction) for every w and step count, one reduction a cycle.
module rm_red_wordmont #(
    parameter int unsigned Width = 32,
    parameter int unsigned WordMin = 9,
    parameter int unsigned WordMax = 17,
    parameter int unsigned QhWidth = 21,
    localparam int unsigned WordWidth = $clog2(WordMax + 1)
) (
    input  logic                 clk_i,
    input  logic [2*Width-1:0]   t_i,
    input  logic [  Width-1:0]   q_i,
    input  logic [QhWidth-1:0]   qh_i,
    input  logic [WordWidth-1:0] word_i,
    input  logic                 three_i,
    output logic [  Width-1:0]   r_o
);

  localparam int unsigned OffWidth = (WordMax > WordMin) ? $clog2(WordMax - WordMin + 1) : 1;

  // Returns the bits, with sign, of what `steps` words leave of t: it is below 2^(2K - steps w) for
  // the largest K = min(Width, 3 w) of each w, and above -2^Width.
  function automatic int unsigned bits_after(int unsigned steps);
    int unsigned bits;
    bits = Width;
    for (int unsigned w = WordMin; w <= WordMax; w++) begin
      bits = rm_arith_pkg::max2(bits, 2 * rm_arith_pkg::min2(Width, 3 * w) - steps * w);
    end
    return bits + 1;
  endfunction

  localparam int unsigned Bits1 = bits_after(1);
  localparam int unsigned Bits2 = bits_after(2);

  logic [OffWidth-1:0] off_q;
  logic [WordMax-1:0] mask_d, mask_q;
  logic [Bits1-1:0] t1;
  logic [Bits2-1:0] t2;
  logic [Width:0] t3;
  logic [Width-1:0] r_d, r_q;

  for (genvar k = 0; k < WordMax; k++) begin : gen_mask
    assign mask_d[k] = k < word_i;
  end

  // word_i is held, so these registers settle before the first data.
  always_ff @(posedge clk_i) begin
    off_q <= OffWidth'(word_i - WordWidth'(WordMin));
    mask_q <= mask_d;
  end

  rm_wm_step #(
      .InWidth(2 * Width + 1),
      .OutWidth(Bits1),
      .QhWidth(QhWidth),
      .WordMin(WordMin),
      .WordMax(WordMax)
  ) u_step1 (
      .clk_i,
      .t_i({1'b0, t_i}),
      .qh_i,
      .off_i(off_q),
      .mask_i(mask_q),
      .skip_i(1'b0),
      .t_o(t1)
  );

  rm_wm_step #(
      .InWidth(Bits1),
      .OutWidth(Bits2),
      .QhWidth(QhWidth),
      .WordMin(WordMin),
      .WordMax(WordMax)
  ) u_step2 (
      .clk_i,
      .t_i(t1),
      .qh_i,
      .off_i(off_q),
      .mask_i(mask_q),
      .skip_i(1'b0),
      .t_o(t2)
  );

  rm_wm_step #(
      .InWidth(Bits2),
      .OutWidth(Width + 1),
      .QhWidth(QhWidth),
      .WordMin(WordMin),
      .WordMax(WordMax),
      .MaySkip(1'b1)
  ) u_step3 (
      .clk_i,
      .t_i(t2),
      .qh_i,
      .off_i(off_q),
      .mask_i(mask_q),
      .skip_i(!three_i),
      .t_o(t3)
  );

  assign r_d = t3[Width-1:0] + (t3[Width] ? q_i : '0);

  always_ff @(posedge clk_i) r_q <= r_d;

  assign r_o = r_q;

endmodule
