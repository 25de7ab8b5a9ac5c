// SPDX-License-Identifier: Apache-2.0
// Reduction modulo a sparse constant Q without the last correction: z = t - Q mod Q in [-Q, Q),
// signed, for t < Q^2.
//
// Q = 2^Top + d has exactly Width bits, and d = 1 mod 4. rm_red_sparse makes the same folds and
// also corrects the result. Here the reader of z corrects it together with its own sum, which saves
// adders.
//
//   y = t_L + 2^Top - t_H d        for t = t_H 2^Top + t_L
//   z = y_L - 2^Top - y_H d        for y = y_H 2^Top + y_L
//
// The 2^Top in y makes y_H larger by one, which takes a further d off z. With the 2^Top that z
// loses itself, z is smaller by Q than two folds of t, which lie in [0, 2 Q).
//
// With d = 1 + e 2^Shift, each fold subtracts the high part and e times the high part. e t_H is a
// sum of shifts; a DSP block computes and subtracts e y_H.
//
// Preconditions, checked at elaboration: |d| < 2^DiffWidth with 2 DiffWidth + 4 <= Top.
// Certificate: t = z + Q + M Q with M = t_H + y_H - 1.
//
// Latency lazy_latency of rm_arith_pkg, one reduction a cycle.
module rm_red_lazy
  import rm_arith_pkg::*;
#(
    parameter int unsigned Width = 60,
    parameter logic [63:0] Q = 64'h0800_0000_0230_0001
) (
    input  logic                    clk_i,
    input  logic        [2*Width-1:0] t_i,
    output logic signed [  Width:0] z_o
);

  localparam int unsigned Top = sparse_top(Width, Q);
  localparam logic signed [63:0] Diff = sparse_diff(Width, Q);
  localparam int unsigned DiffWidth = sparse_diff_width(Width, Q);

  // Shift is the place of the second digit of d. Times is -e if all digits of e are negative, else
  // e.
  localparam int unsigned Shift = sparse_digit(Width, Q, 1);
  localparam logic signed [63:0] E = (Diff - 64'sd1) >>> Shift;
  localparam bit Down = naf_plus(E) == '0;
  localparam logic signed [63:0] Times = Down ? -E : E;
  localparam int unsigned Digits = sparse_operands(Width, Q) - 2;
  localparam logic [63:0] Minus = naf_minus(Times);

  localparam int unsigned TimesWidth = Width + DiffWidth - Shift + 1;
  localparam int unsigned FoldWidth = Top + DiffWidth + 1;
  localparam int unsigned HighWidth = FoldWidth - Shift;
  localparam int unsigned YWidth = FoldWidth - Top;

  if (Q[Width-1] != 1'b1 || 2 * DiffWidth + 4 > Top || Diff[1:0] != 2'd1 || Digits < 1)
  begin : gen_check
    $error("Q must have Width bits and lie next to a power of two");
  end

  // ---- y: t_H and e t_H, then t_L + 2^Top less the two. ----

  logic [Width-1:0] high;
  logic signed [Width+1:0] less_q;
  logic [TimesWidth-1:0] times_d;
  logic signed [TimesWidth-1:0] times_q;

  assign high = t_i[Top+:Width];  // t is below 2^(Top + Width)

  // Returns the term of digit n: x at the digit's place, complemented for a negative digit. The
  // carries of the adders below bring the one that completes a complement.
  function automatic logic [TimesWidth-1:0] term(logic [Width-1:0] x, int unsigned n);
    int unsigned seen;
    logic [63:0] digits;
    digits = naf_plus(Times) | Minus;
    seen = 0;
    term = '0;
    for (int unsigned i = 0; i < 64; i++) begin
      if (digits[6'(i)]) begin
        if (seen == n) term = Minus[6'(i)] ? ~(TimesWidth'(x) << i) : TimesWidth'(x) << i;
        seen++;
      end
    end
  endfunction

  localparam int unsigned Less = 32'($countones(Minus));

  if (Digits == 1) begin : gen_one
    assign times_d = term(high, 0);
  end else begin : gen_sum
    // Carry-save adders. Each of them, and the sum behind them, can take in the one of one
    // complement.
    logic [Digits-2:0][TimesWidth-1:0] sums, carries;
    assign sums[0] = term(high, 0);
    assign carries[0] = term(high, 1);
    for (genvar n = 2; n < Digits; n++) begin : gen_term
      logic [TimesWidth-1:0] next, most;
      assign next = term(high, n);
      assign most = (sums[n-2] & carries[n-2]) | (sums[n-2] & next) | (carries[n-2] & next);
      assign sums[n-1] = sums[n-2] ^ carries[n-2] ^ next;
      assign carries[n-1] = {most[TimesWidth-2:0], Less >= n};
      logic unused_most;
      assign unused_most = most[TimesWidth-1];
    end
    rm_add_select #(
        .Width(TimesWidth)
    ) u_times (
        .a_i(sums[Digits-2]),
        .b_i(carries[Digits-2]),
        .carry_i(Less >= 1),
        .sum_o(times_d)
    );
  end

  if (Less >= Digits) begin : gen_check_signs
    $error("a digit of e must be positive");
  end

  always_ff @(posedge clk_i) begin
    less_q <= $signed((Width + 2)'({1'b1, t_i[Top-1:0]}) - (Width + 2)'(high));
    times_q <= times_d;
  end

  logic [HighWidth-1:0] by, y_high;
  logic [FoldWidth-1:0] y_q;

  assign by = HighWidth'(times_q);

  rm_add_select #(
      .Width(HighWidth)
  ) u_fold (
      .a_i(HighWidth'(less_q >>> Shift)),
      .b_i(Down ? by : ~by),
      .carry_i(!Down),
      .sum_o(y_high)
  );

  always_ff @(posedge clk_i) y_q <= {y_high, less_q[Shift-1:0]};

  // ---- z: the same once more. ----

  logic signed [YWidth-1:0] y_top;
  logic signed [Top+1:0] rest_q;
  logic [Shift-1:0] rest_low_q;
  logic signed [Width-Shift:0] z_high;

  assign y_top = y_q[FoldWidth-1:Top];

  always_ff @(posedge clk_i) begin
    rest_q <= (Top + 2)'($signed({1'b1, y_q[Top-1:0]})) - (Top + 2)'(y_top);
    rest_low_q <= rest_q[Shift-1:0];
  end

  if (YWidth <= 27 && DiffWidth - Shift + 1 <= 18) begin : gen_block
    logic signed [47:0] sum, unused_chain;

    rm_dsp_mac #(
        .InReg(1'b0),
        .CReg (1'b0)
    ) u_last (
        .clk_i,
        .a_i(27'(y_top)),
        .b_i(18'(-E)),
        .c_i(48'(rest_q >>> Shift)),
        .pc_i('0),
        .p_o(sum),
        .pc_o(unused_chain)
    );

    assign z_high = (Width + 1 - Shift)'(sum);

    logic unused_sum;
    assign unused_sum = ^{sum, unused_chain};
  end else begin : gen_wide
    // The factor has more bits than a DSP block multiplies.
    logic signed [63:0] by_q;
    logic signed [Width-Shift:0] z_high_q;

    always_ff @(posedge clk_i) begin
      by_q <= 64'(y_top) * -E;
      z_high_q <= (Width + 1 - Shift)'((rest_q >>> Shift) + (Top + 2)'(by_q));
    end

    assign z_high = z_high_q;

    logic unused_by;
    assign unused_by = ^by_q;
  end

  assign z_o = {z_high, rest_low_q};

  logic unused;
  assign unused = ^{t_i, times_q};

endmodule
