// SPDX-License-Identifier: Apache-2.0
// One word of Montgomery reduction with a run-time word size w, for q = q_H 2^w + 1:
//
//   t' = (t - t_L q) / 2^w with t_L = t mod 2^w
//
// The result is t' = t_H - q_H t_L exactly, because t_L q = t_L q_H 2^w + t_L cancels the low word.
//
// This is step 3 to 7 of Algorithm 4 of the paper of Mert, Öztürk and Savaş with the other sign.
// The paper adds the product of 2^w - t_L and q. That needs a two's complement and a carry before
// the multiplication, and the result grows to 2 q. Subtracting needs neither, and from 0 <= t < q R
// the last t' lies in (-q, q). Both results are congruent to t / 2^w modulo q.
//
// The word size, WordMin <= w <= WordMax, comes as off_i = w - WordMin and mask_i = 2^w - 1. With
// skip_i (only if MaySkip is set) t' = t. The step is one DSP block: a QhWidth x WordMax product
// with q_H negated beforehand. If t' has at most 48 bits, the sum and its register are the block's,
// too.
//
// qh_i is held from a cycle before t_i. Latency 1 cycle, one step a cycle.
module rm_wm_step #(
    parameter int unsigned InWidth = 54,
    parameter int unsigned OutWidth = 43,
    parameter int unsigned QhWidth = 21,
    parameter int unsigned WordMin = 9,
    parameter int unsigned WordMax = 17,
    parameter bit MaySkip = 1'b0,
    localparam int unsigned OffWidth = (WordMax > WordMin) ? $clog2(WordMax - WordMin + 1) : 1
) (
    input  logic                clk_i,
    input  logic [ InWidth-1:0] t_i,
    input  logic [ QhWidth-1:0] qh_i,
    input  logic [OffWidth-1:0] off_i,
    input  logic [ WordMax-1:0] mask_i,
    input  logic                skip_i,
    output logic [OutWidth-1:0] t_o
);

  localparam int unsigned ProdWidth = QhWidth + WordMax;

  logic skip;
  logic [WordMax-1:0] low;
  logic signed [InWidth-1:0] high;
  logic signed [QhWidth:0] minus_qh_q;
  logic signed [WordMax:0] low_s;
  logic signed [ProdWidth+1:0] prod;
  logic signed [OutWidth-1:0] next_q;

  assign skip = MaySkip & skip_i;
  assign low = t_i[WordMax-1:0] & mask_i & {WordMax{!skip}};
  assign high = skip ? $signed(t_i) : ($signed(t_i) >>> WordMin) >>> off_i;

  // qh_i is held, so all steps and multipliers of a machine can share this register.
  always_ff @(posedge clk_i) minus_qh_q <= -$signed({1'b0, qh_i});
  assign low_s = $signed({1'b0, low});
  assign prod = (ProdWidth + 2)'(minus_qh_q) * (ProdWidth + 2)'(low_s);

  always_ff @(posedge clk_i) next_q <= OutWidth'(high) + OutWidth'(prod);

  assign t_o = next_q;

  logic unused_top;
  assign unused_top = ^{high, prod};

  if (!MaySkip) begin : gen_unused_skip
    logic unused_skip;
    assign unused_skip = skip_i;
  end

endmodule
