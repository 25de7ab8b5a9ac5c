// r = t mod Q for a number t of 128 bits and a sparse Q = 2^Top + d (rm_red_sparse): one fold to fewer bits than
// Q^2 has, with a multiple of Q that keeps it positive, then rm_red_sparse.
//
//   t = t_H 2^Top + t_L,  y = t_L - t_H d + Q 2^Shift,  2^Shift Q >= t_H |d|,  r = y mod Q
//
// Latency Latency (what the tree and the reducer need, and waits), one residue a cycle.
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
  localparam int unsigned DiffWidth = sparse_diff_width(QWidth, Q);
  localparam int unsigned HighWidth = 128 - Top;
  localparam int unsigned Shift = HighWidth + DiffWidth - QWidth + 1;
  localparam int unsigned Width = 2 * QWidth;
  // The low part, a shifted high part for each digit of d, the multiple of Q.
  localparam int unsigned Operands = sparse_operands(QWidth, Q) + 1;
  localparam int unsigned Own = tree_latency(Operands, Width, SparseRadix) +
      red_latency(Sparse, QWidth, Q);

  if (HighWidth + DiffWidth + 2 > 2 * QWidth - 2 || Own > Latency) begin : gen_check
    $error("Q has too few bits for numbers of 128, or Latency is too little");
  end

  localparam logic [Operands-1:0] Minus = Operands'(sparse_minus(QWidth, Q));

  logic [Operands-1:0][Width-1:0] terms;
  logic [Width-1:0] y;
  logic [QWidth-1:0] r;

  assign terms[0] = Width'(t_i[Top-1:0]);
  assign terms[Operands-1] = Width'(Q) << Shift;
  for (genvar n = 0; n + 2 < Operands; n++) begin : gen_digit
    localparam int unsigned Place = sparse_digit(QWidth, Q, n);
    assign terms[n+1] = Width'(t_i[127:Top]) << Place;
  end

  rm_add_tree #(
      .Operands(Operands),
      .Width(Width),
      .Radix(SparseRadix),
      .Minus(Minus)
  ) u_fold (
      .clk_i,
      .x_i(terms),
      .sum_o(y)
  );

  rm_red_sparse #(
      .Width(QWidth),
      .Q(Q)
  ) u_red (
      .clk_i,
      .t_i(y),
      .r_o(r)
  );

  rm_delay #(
      .Width(QWidth),
      .Depth(Latency - Own)
  ) u_even (
      .clk_i,
      .d_i(r),
      .q_o(r_o)
  );

endmodule
