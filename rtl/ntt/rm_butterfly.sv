// SPDX-License-Identifier: Apache-2.0
// The butterfly of all number-theoretic transforms: one modular multiplier, adder, subtractor and
// halver for four operations modulo q, for u, v, w < q.
//
//   mode     out0            out1
//   BfCt     u + w v         u - w v            Cooley-Tukey, forward; out0 is multiply-accumulate
//   BfGs     (u + v) / h     ((u - v) / h) w    Gentleman-Sande, inverse; h = 2 with half_i
//   BfMul    u               w v                product
//   BfSum    u + v           u - v              sum and difference
//
// w is held times R (rm_mod_mul). Halving in each inverse stage replaces the factor 1/N of the
// inverse transform. BfSum is BfCt with w = one_i = R mod q.
//
// BfCt adds after the multiplier, BfGs before it. So mode_i, half_i and one_i are held while data
// is in flight, and the modulus inputs from a cycle before. In BfGs the halvers have the cycle
// after the adders, in front of the multiplier's operand registers and of the delay line.
//
// Latency mod_mul_latency(...) + Slack (of rm_mod_mul) + 1 in every mode, one butterfly a cycle.
module rm_butterfly
  import rm_arith_pkg::*, rm_ntt_pkg::*;
#(
    parameter flavour_t Flavour = WordMontgomery,
    parameter int unsigned Width = 32,
    parameter logic [63:0] Q = '0,
    parameter int unsigned WordMin = 9,
    parameter int unsigned WordMax = 17,
    parameter int unsigned QhWidth = 21,
    parameter int unsigned Slack = 0,
    localparam int unsigned WordWidth = $clog2(WordMax + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic [    Width-1:0] q_i,
    input  logic [  QhWidth-1:0] qh_i,
    input  logic [WordWidth-1:0] word_i,
    input  logic                 three_i,
    input  logic [    Width-1:0] one_i,
    input  bf_mode_e             mode_i,
    input  logic                 half_i,
    input  logic                 valid_i,
    input  logic [    Width-1:0] u_i,
    input  logic [    Width-1:0] v_i,
    input  logic [    Width-1:0] w_i,
    output logic                 valid_o,
    output logic [    Width-1:0] out0_o,
    output logic [    Width-1:0] out1_o
);

  localparam int unsigned MulLatency = mod_mul_latency(Flavour, Width, Q) + Slack;

  logic pre;  // add and subtract before the multiplier
  logic halves;
  logic [Width-1:0] u_line, u_late, product;
  logic [Width-1:0] add_a, add_b, sum, diff, sum_half, diff_half;
  logic [Width-1:0] early0_d, early0_q, early1_d, early1_q, w_q;
  logic [Width-1:0] mul_a, mul_w, wait_d;
  logic [Width-1:0] late0_q, late1_q;
  logic valid_early_q, mul_valid, late_valid_q;

  assign pre = (mode_i == BfGs) || (mode_i == BfMul);
  assign halves = (mode_i == BfGs) && half_i;

  assign add_a = pre ? u_i : u_late;
  assign add_b = pre ? v_i : product;

  rm_mod_add #(.Width(Width)) u_add (.a_i(add_a), .b_i(add_b), .q_i, .r_o(sum));
  rm_mod_sub #(.Width(Width)) u_sub (.a_i(add_a), .b_i(add_b), .q_i, .r_o(diff));
  rm_mod_half #(.Width(Width)) u_half0 (.a_i(early0_q), .q_i, .r_o(sum_half));
  rm_mod_half #(.Width(Width)) u_half1 (.a_i(early1_q), .q_i, .r_o(diff_half));

  assign early0_d = (mode_i == BfMul) ? u_i : sum;
  assign early1_d = (mode_i == BfMul) ? v_i : diff;

  always_ff @(posedge clk_i) begin
    early0_q <= early0_d;
    early1_q <= early1_d;
    w_q <= w_i;
    late0_q <= sum;
    late1_q <= diff;
  end

  assign wait_d = halves ? sum_half : pre ? early0_q : u_i;
  assign mul_a = halves ? diff_half : pre ? early1_q : v_i;
  assign mul_w = pre ? w_q : (mode_i == BfSum) ? one_i : w_i;

  rm_delay #(
      .Width(Width),
      .Depth(MulLatency - 1)
  ) u_wait (
      .clk_i,
      .d_i(wait_d),
      .q_o(u_line)
  );

  // A flip-flop of its own behind the delay line, which is slow to leave a shift register.
  rm_copy #(
      .Width(Width)
  ) u_wait_last (
      .clk_i,
      .d_i(u_line),
      .q_o(u_late)
  );

  rm_mod_mul #(
      .Flavour(Flavour),
      .Width(Width),
      .Q(Q),
      .WordMin(WordMin),
      .WordMax(WordMax),
      .QhWidth(QhWidth),
      .Slack(Slack)
  ) u_mul (
      .clk_i,
      .rst_ni,
      .q_i,
      .qh_i,
      .word_i,
      .three_i,
      .valid_i(pre ? valid_early_q : valid_i),
      .a_i(mul_a),
      .b_i(mul_w),
      .valid_o(mul_valid),
      .r_o(product)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_early_q <= 1'b0;
      late_valid_q <= 1'b0;
    end else begin
      valid_early_q <= valid_i;
      late_valid_q <= mul_valid;
    end
  end

  assign valid_o = pre ? mul_valid : late_valid_q;
  assign out0_o = pre ? u_late : late0_q;
  assign out1_o = pre ? product : late1_q;

endmodule
