// SPDX-License-Identifier: Apache-2.0
// Reduction modulo a sparse constant Q = 2^Top + d of exactly Width bits: r = t mod Q for t < Q^2.
//
// With t = t_H 2^Top + t_L, t = t_L - t_H d mod Q. The module folds twice in this way. Adders apply
// the signed binary digits of d, so a prime with few digits costs few adders and no multiplier. An
// example is Q = 2^59 + 2^25 + 2^22 - 2^20 + 1 (Medha paper, Appendix A).
//
// The two folds together cannot end below 0. For d > 0 the first result y is below 2^Top, so y_H <=
// 0 and - y_H d >= 0. For d < 0 both folds subtract negative numbers. So one correction by Q
// suffices.
//
// Precondition, checked at elaboration: |d| < 2^DiffWidth with 2 DiffWidth + 4 <= Top, so that two
// folds leave a number in [0, 2Q). Certificate: t = r + (t_H + y_H + {0, 1}) Q, and r < Q.
//
// Latency red_latency(Sparse, Width, Q) of rm_arith_pkg (two adder trees, one correction), one
// reduction a cycle.
module rm_red_sparse #(
    parameter int unsigned Width = 60,
    parameter logic [63:0] Q = 64'h0800_0000_0230_0001
) (
    input  logic               clk_i,
    input  logic [2*Width-1:0] t_i,
    output logic [  Width-1:0] r_o
);

  localparam int unsigned Top = rm_arith_pkg::sparse_top(Width, Q);
  localparam int unsigned Operands = rm_arith_pkg::sparse_operands(Width, Q);
  localparam int unsigned Radix = rm_arith_pkg::SparseRadix;

  localparam logic [Operands-1:0] Minus =
      Operands'(rm_arith_pkg::sparse_minus(Width, Q));
  localparam int unsigned DiffWidth = rm_arith_pkg::sparse_diff_width(Width, Q);
  localparam int unsigned HighWidth = 2 * Width - Top;
  localparam int unsigned FoldWidth = rm_arith_pkg::sparse_fold1_width(Width, Q);
  localparam int unsigned LastWidth = rm_arith_pkg::sparse_fold2_width(Width);

  if (Q[Width-1] != 1'b1 || 2 * DiffWidth + 4 > Top || HighWidth + DiffWidth < Top)
  begin : gen_check
    $error("Q must have Width bits and lie next to a power of two");
  end

  logic [Operands-1:0][FoldWidth-1:0] fold1;
  logic [Operands-1:0][LastWidth-1:0] fold2;
  logic [FoldWidth-1:0] y;
  logic [LastWidth-1:0] z, z_less;
  logic [Width-1:0] r_d, r_q;

  assign fold1[0] = FoldWidth'(t_i[Top-1:0]);
  assign fold2[0] = LastWidth'(y[Top-1:0]);
  for (genvar n = 0; n + 1 < Operands; n++) begin : gen_digit
    localparam int unsigned Place = rm_arith_pkg::sparse_digit(Width, Q, n);
    assign fold1[n+1] = FoldWidth'(t_i[2*Width-1:Top]) << Place;
    assign fold2[n+1] = LastWidth'($signed(y[FoldWidth-1:Top])) << Place;
  end

  rm_add_tree #(
      .Operands(Operands),
      .Width(FoldWidth),
      .Radix(Radix),
      .Minus(Minus)
  ) u_fold1 (
      .clk_i,
      .x_i(fold1),
      .sum_o(y)
  );

  rm_add_tree #(
      .Operands(Operands),
      .Width(LastWidth),
      .Radix(Radix),
      .Minus(Minus)
  ) u_fold2 (
      .clk_i,
      .x_i(fold2),
      .sum_o(z)
  );

  assign z_less = z - LastWidth'(Q);
  assign r_d = z_less[LastWidth-1] ? z[Width-1:0] : z_less[Width-1:0];

  always_ff @(posedge clk_i) r_q <= r_d;

  assign r_o = r_q;

  logic unused_top;
  assign unused_top = ^{z[LastWidth-1:Width], z_less[LastWidth-2:Width]};

endmodule
