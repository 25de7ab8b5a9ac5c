// SPDX-License-Identifier: Apache-2.0
// Computes the three addends of rm_ring_reduce for a constant k of a word, once for all residues of
// a row, modulo Q = 2^Top + d:
//
//   addends[0] = k - Q           for d < 0 also less -d, which the table of x_H d has in addition
//   addends[1] = addends[0] - 2^Low (d > 0) or + 2^Low (d < 0), if the bits below Low carry
//   addends[2] = addends[1] + Q     (d > 0) or - Q     (d < 0), if y is then no residue
//
// If Width is QWidth, x is not folded: addends[0] = k - Q is for a residue x, and addends[2] =
// k - 2 Q for an x of Q or more.
//
// They are numbers modulo 2^(QWidth+1), and Low is the number of bits of x_H d. Latency 1.
module rm_ring_addends
  import rm_arith_pkg::*;
#(
    parameter int unsigned Width = 60,
    parameter int unsigned QWidth = 60,
    parameter logic [63:0] Q = 64'h0800_0000_0230_0001
) (
    input  logic                 clk_i,
    input  logic [   QWidth-1:0] constant_i,
    output logic [2:0][QWidth:0] addends_o
);

  localparam int unsigned Top = sparse_top(QWidth, Q);
  localparam logic signed [63:0] Diff = sparse_diff(QWidth, Q);
  localparam int unsigned Low = Width - Top + sparse_diff_width(QWidth, Q);
  localparam logic [63:0] Carry = 64'd1 << Low;

  localparam logic [63:0] Usual = (Width > QWidth && Diff < 0) ? Diff - Q : -Q;
  localparam logic [63:0] Carried = (Diff < 0) ? Usual + Carry : Usual - Carry;
  localparam logic [63:0] Other = (Width == QWidth) ? -2 * Q :
      (Diff < 0) ? Carried - Q : -Carry;

  logic [QWidth:0] constant;
  logic [2:0][QWidth:0] addends_q;

  assign constant = {1'b0, constant_i};

  always_ff @(posedge clk_i) begin
    addends_q[0] <= constant + Usual[QWidth:0];
    addends_q[1] <= constant + Carried[QWidth:0];
    addends_q[2] <= constant + Other[QWidth:0];
  end

  assign addends_o = addends_q;

endmodule
