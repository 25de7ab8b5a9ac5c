// SPDX-License-Identifier: Apache-2.0
// Reduces a number x of Width bits from the ring modulo the receiver's Q = 2^Top + d, and adds a
// constant k:
//
//   x = x_H 2^Top + x_L,  y = x_L - x_H d,  r = [y]_Q + k
//
// y lies within Q of the residues on the side of -d: it may be below 0 for d > 0, or at Q and above
// for d < 0. This is so only if the bits of x_L above those of x_H d are all 0 or all 1, and the
// difference in these, for d < 0 with -d added, carries. So [y]_Q + k - Q is one addition of one of
// three numbers that depend on k alone (rm_ring_addends). r is that sum, or Q more if it is
// negative. x_H has a few bits, and x_H d comes from a table. If Width is QWidth, x is below 2 Q,
// and one comparison replaces all that.
//
// Latency Latency + 1, one number a cycle.
module rm_ring_reduce
  import rm_arith_pkg::*;
#(
    parameter int unsigned Width = 60,
    parameter int unsigned QWidth = 60,
    parameter logic [63:0] Q = 64'h0800_0000_0230_0001,
    parameter int unsigned Latency = 3
) (
    input  logic                  clk_i,
    input  logic [ Width-1:0]     x_i,
    input  logic [2:0][ QWidth:0] addends_i,  // held: rm_ring_addends
    output logic [ Width-1:0]     r_o
);

  localparam int unsigned Top = sparse_top(QWidth, Q);
  localparam logic signed [63:0] Diff = sparse_diff(QWidth, Q);
  localparam int unsigned DiffWidth = sparse_diff_width(QWidth, Q);
  localparam int unsigned HighWidth = (Width > Top) ? Width - Top : 1;
  localparam int unsigned SumWidth = QWidth + 1;

  if (HighWidth + DiffWidth > QWidth - 1 || Latency < 2 || Width < QWidth) begin : gen_check
    $error("numbers are too wide for one fold, or Latency is too little");
  end

  // Returns bit `bit_of` of each product of |d| and six bits of x_H, those of chunk `chunk`.
  function automatic logic [63:0] multiples(logic [5:0] bit_of, int unsigned chunk);
    logic [63:0] found, product;
    for (int unsigned h = 0; h < 64; h++) begin
      product = 64'(h) << (6 * chunk);
      // If d < 0, the multiples include another -d.
      if (Diff < 0 && chunk == 0) product += 64'd1;
      product *= (Diff < 0) ? -Diff : Diff;
      found[6'(h)] = product[bit_of];
    end
    return found;
  endfunction

  logic [SumWidth-1:0] sum_q;

  if (Width == QWidth) begin : gen_below
    logic [Width-1:0] x, x_q;
    logic above_q;

    rm_delay #(
        .Width(Width),
        .Depth(Latency - 2)
    ) u_even (
        .clk_i,
        .d_i(x_i),
        .q_o(x)
    );

    always_ff @(posedge clk_i) begin
      x_q <= x;
      above_q <= x >= Q[QWidth-1:0];
      sum_q <= {1'b0, x_q} + (above_q ? addends_i[2] : addends_i[0]);
    end

    logic unused_carried;
    assign unused_carried = ^addends_i[1];
  end else begin : gen_fold
    // Bits of x_H d. The table has a register if the latency leaves a cycle for it.
    localparam int unsigned Low = HighWidth + DiffWidth;
    localparam int unsigned Registered = (Latency > 2) ? 1 : 0;
    localparam int unsigned Chunks = (HighWidth + 5) / 6;

    logic [Width-1:0] x;
    logic [6*Chunks-1:0] high;
    logic [Chunks-1:0][Low-1:0] parts;
    logic [Low-1:0] table_d, product;
    logic [Top-1:0] x_low;
    logic [SumWidth-1:0] low;
    logic [Low:0] folded_d, folded_q;
    logic [SumWidth-1:Low] high_q;
    logic edge_q;
    logic [SumWidth-1:0] addend;

    rm_delay #(
        .Width(Width),
        .Depth(Latency - 2 - Registered)
    ) u_even (
        .clk_i,
        .d_i(x_i),
        .q_o(x)
    );

    assign high = (6 * Chunks)'(x[Width-1:Top]);
    for (genvar p = 0; p < Chunks; p++) begin : gen_chunk
      for (genvar b = 0; b < Low; b++) begin : gen_bit
        localparam logic [63:0] Bits = multiples(6'(b), p);
        assign parts[p][b] = Bits[high[6*p+:6]];
      end
    end

    always_comb begin
      table_d = parts[0];
      for (int unsigned p = 1; p < Chunks; p++) table_d += parts[p];
    end

    rm_delay #(
        .Width(Low + Top),
        .Depth(Registered)
    ) u_table (
        .clk_i,
        .d_i({table_d, x[Top-1:0]}),
        .q_o({product, x_low})
    );

    assign low = SumWidth'(x_low);

    // y leaves the range of residues if the bits below Low carry into the bits above and these are
    // all ones. With d > 0, it does if they borrow and the bits above are all zeros.
    always_comb begin
      if (Diff < 0) folded_d = {1'b0, low[Low-1:0]} + {1'b0, product};
      else folded_d = {1'b0, low[Low-1:0]} - {1'b0, product};
    end

    always_ff @(posedge clk_i) begin
      folded_q <= folded_d;
      high_q <= low[SumWidth-1:Low];
      edge_q <= (Diff < 0) ? &x_low[Top-1:Low] : low[SumWidth-1:Low] == '0;
      sum_q <= {high_q, folded_q[Low-1:0]} + addend;
    end

    assign addend = !folded_q[Low] ? addends_i[0] : !edge_q ? addends_i[1] : addends_i[2];
  end

  logic [QWidth-1:0] r_q;

  always_ff @(posedge clk_i) r_q <= sum_q[QWidth-1:0] + (sum_q[QWidth] ? Q[QWidth-1:0] : '0);

  assign r_o = Width'(r_q);

endmodule
