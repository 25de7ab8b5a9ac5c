// What arrives from the ring, a number x of Width bits, modulo the receiver's Q = 2^Top + d, and a constant
// added:
//
//   x = x_H 2^Top + x_L,  y = x_L - x_H d,  r = [y]_Q + k
//
// y lies within Q of the residues on the side of -d, so one correction is enough. Latency Latency + 1 (tree and
// correction, waits, the sum), one number a cycle.
module rm_ring_reduce
  import rm_arith_pkg::*;
#(
    parameter int unsigned Width = 60,
    parameter int unsigned QWidth = 60,
    parameter logic [63:0] Q = 64'h0800_0000_0230_0001,
    parameter int unsigned Latency = 3
) (
    input  logic              clk_i,
    input  logic [ Width-1:0] x_i,
    input  logic [QWidth-1:0] constant_i,  // held
    output logic [ Width-1:0] r_o
);

  localparam int unsigned Top = sparse_top(QWidth, Q);
  localparam logic signed [63:0] Diff = sparse_diff(QWidth, Q);
  localparam int unsigned DiffWidth = sparse_diff_width(QWidth, Q);
  localparam int unsigned Operands = sparse_operands(QWidth, Q);
  localparam int unsigned HighWidth = (Width > Top) ? Width - Top : 1;
  localparam int unsigned SumWidth = QWidth + 2;
  localparam int unsigned Own = tree_latency(Operands, SumWidth, SparseRadix) + 1;

  if (HighWidth + DiffWidth > QWidth - 1 || Own > Latency || Width < QWidth) begin : gen_check
    $error("numbers are too wide for one fold, or Latency is too little");
  end

  localparam logic [Operands-1:0] Minus = Operands'(sparse_minus(QWidth, Q));

  logic [Operands-1:0][SumWidth-1:0] terms;
  logic [SumWidth-1:0] y, corrected;
  logic [QWidth-1:0] r_q, r, sum, sum_q;
  logic [Width:0] wide;

  assign wide = {1'b0, x_i};
  assign terms[0] = SumWidth'(wide[Top-1:0]);
  for (genvar n = 0; n + 1 < Operands; n++) begin : gen_digit
    localparam int unsigned Place = sparse_digit(QWidth, Q, n);
    assign terms[n+1] = SumWidth'(wide[Width:Top]) << Place;
  end

  rm_add_tree #(
      .Operands(Operands),
      .Width(SumWidth),
      .Radix(SparseRadix),
      .Minus(Minus)
  ) u_fold (
      .clk_i,
      .x_i(terms),
      .sum_o(y)
  );

  // For d > 0 y may be below 0, for d < 0 at Q or above.
  if (Diff > 0) begin : gen_up
    assign corrected = y + SumWidth'(Q);
    always_ff @(posedge clk_i) r_q <= y[SumWidth-1] ? corrected[QWidth-1:0] : y[QWidth-1:0];
    logic unused;
    assign unused = ^{corrected[SumWidth-1:QWidth], y[SumWidth-2:QWidth]};
  end else begin : gen_down
    assign corrected = y - SumWidth'(Q);
    always_ff @(posedge clk_i) begin
      r_q <= corrected[SumWidth-1] ? y[QWidth-1:0] : corrected[QWidth-1:0];
    end
    logic unused;
    assign unused = ^{corrected[SumWidth-2:QWidth], y[SumWidth-1:QWidth]};
  end

  rm_delay #(
      .Width(QWidth),
      .Depth(Latency - Own)
  ) u_even (
      .clk_i,
      .d_i(r_q),
      .q_o(r)
  );

  rm_mod_add #(.Width(QWidth)) u_add (.a_i(r), .b_i(constant_i), .q_i(Q[QWidth-1:0]), .r_o(sum));

  always_ff @(posedge clk_i) sum_q <= sum;

  assign r_o = Width'(sum_q);

endmodule
