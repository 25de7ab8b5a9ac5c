// SPDX-License-Identifier: Apache-2.0
// Reduces a number of 128 bits modulo a sparse Q = 2^Top + d (rm_red_sparse), by three folds: r = t
// mod Q.
//
// With t_H and t_L the parts of t above and below bit Top,
//
//   x = t_L - t_H d,  y = x_L - x_H d,  z = y_L - y_H d,  r = z, or z + Q where that is negative
//
// each no wider than it must be, with its sign. For d > 0 the signs go -, +, and z is below 2^Top.
// For d < 0 all are positive, so the module takes Q off z. A bit 2^Top beside x_L makes y_H larger
// by one, which takes d off z, and bits beside y_L take 2^Top off.
//
// Latency Latency (the trees, the correction, and waits), one residue a cycle.
module rm_ring_fold
  import rm_arith_pkg::*;
#(
    parameter int unsigned QWidth = 60,
    parameter logic [63:0] Q = 64'h0800_0000_0230_0001,
    parameter int unsigned Latency = 9
) (
    input  logic              clk_i,
    input  logic [     127:0] t_i,
    output logic [QWidth-1:0] r_o
);

  localparam int unsigned Top = sparse_top(QWidth, Q);
  localparam logic signed [63:0] Diff = sparse_diff(QWidth, Q);
  localparam int unsigned DiffWidth = sparse_diff_width(QWidth, Q);
  localparam int unsigned HighWidth = 128 - Top;
  // The low part, a shifted high part for each digit of d.
  localparam int unsigned Operands = sparse_operands(QWidth, Q);
  localparam int unsigned XWidth = HighWidth + DiffWidth + 1;
  localparam int unsigned YWidth = max2(Top, XWidth - Top + DiffWidth - 1) + 2;
  localparam int unsigned ZWidth = QWidth + 1;
  localparam int unsigned Own = tree_latency(Operands, XWidth, SparseRadix) +
      tree_latency(Operands, YWidth, SparseRadix) + tree_latency(Operands, ZWidth, SparseRadix) + 1;

  if (HighWidth + DiffWidth + 2 > 2 * QWidth - 2 || XWidth <= Top || Own > Latency)
  begin : gen_check
    $error("Q has too few bits for numbers of 128, or Latency is too little");
  end

  localparam logic [Operands-1:0] Minus = Operands'(sparse_minus(QWidth, Q));
  localparam bit Below = Diff < 0;

  logic [Operands-1:0][XWidth-1:0] of_x;
  logic [Operands-1:0][YWidth-1:0] of_y;
  logic [Operands-1:0][ZWidth-1:0] of_z;
  logic [XWidth-1:0] x;
  logic [YWidth-1:0] y;
  logic [ZWidth-1:0] z;
  logic [QWidth-1:0] r_q;

  assign of_x[0] = XWidth'(t_i[Top-1:0]);
  assign of_y[0] = YWidth'({Below, x[Top-1:0]});
  assign of_z[0] = {{(ZWidth - Top) {Below}}, y[Top-1:0]};
  for (genvar n = 0; n + 1 < Operands; n++) begin : gen_digit
    localparam int unsigned Place = sparse_digit(QWidth, Q, n);
    assign of_x[n+1] = XWidth'(t_i[127:Top]) << Place;
    assign of_y[n+1] = YWidth'($signed(x[XWidth-1:Top])) << Place;
    assign of_z[n+1] = ZWidth'($signed(y[YWidth-1:Top])) << Place;
  end

  rm_add_tree #(
      .Operands(Operands),
      .Width(XWidth),
      .Radix(SparseRadix),
      .Minus(Minus)
  ) u_x (
      .clk_i,
      .x_i(of_x),
      .sum_o(x)
  );

  rm_add_tree #(
      .Operands(Operands),
      .Width(YWidth),
      .Radix(SparseRadix),
      .Minus(Minus)
  ) u_y (
      .clk_i,
      .x_i(of_y),
      .sum_o(y)
  );

  rm_add_tree #(
      .Operands(Operands),
      .Width(ZWidth),
      .Radix(SparseRadix),
      .Minus(Minus)
  ) u_z (
      .clk_i,
      .x_i(of_z),
      .sum_o(z)
  );

  always_ff @(posedge clk_i) r_q <= z[QWidth-1:0] + (z[QWidth] ? Q[QWidth-1:0] : '0);

  rm_delay #(
      .Width(QWidth),
      .Depth(Latency - Own)
  ) u_even (
      .clk_i,
      .d_i(r_q),
      .q_o(r_o)
  );

endmodule
