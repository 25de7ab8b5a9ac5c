// SPDX-License-Identifier: Apache-2.0
// Computes which row an automorphism's step reads, and how the row's lanes stand.
//
// g is the Galois element, N = 2^log_n_i, LogSteps the number of bits of a row's number, and s the
// step, which goes up by one.
//
//   AUTO    F = g (2 s + 1) mod 2 N        the row whose number reversed is bits LogSteps to 1 of F
//   AUTOH   F = g (4 s + 2 h + 1) mod 4 N  that row of the half which bit 1 says, for each half h of the result
//   AUTOC   F = s / g mod 2 N              the row of coefficients F mod 2^LogSteps from one another 2^LogSteps
//
// The bits above are the lanes' offset (rm_ring_affine). A value at exponent e = 2
// reversed(position) + 1 comes from exponent g e; coefficient k comes from k / g, with the sign of
// x^N = -1. F goes up by the same number each row (next_i).
//
// next_i is high in the row's last cycle. Latency 1 from first_i and next_i to x_o and half_o, 2 to
// offset_o. log_n_i is held.
module rm_ring_turn
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    localparam int unsigned LogSteps = LogN - LogRow
) (
    input  logic              clk_i,
    input  logic [SizeWidth-1:0] log_n_i,
    input  op_e               op_i,
    input  logic [LogN+1:0]   galois_i,  // g, of AUTOC 1 / g
    input  logic              next_i,
    input  logic              first_i,
    output logic [LogN-1:0]   x_o,       // the row's lowest index
    output logic              half_o,
    output logic [LogRow:0]   offset_o
);

  logic [LogN+1:0] turned, turned_q, step, above;
  logic coefficients, halves;
  logic [LogSteps-1:0] number, reversed, row;
  logic [LogRow:0] offset;
  logic [SizeWidth-1:0] short_q, bits_q;  // fewer bits than the largest limb's, and those of its rows' numbers
  logic [LogSteps-1:0] rows_q;

  always_ff @(posedge clk_i) begin
    short_q <= SizeWidth'(LogN) - log_n_i;
    bits_q <= log_n_i - SizeWidth'(LogRow);
    for (int unsigned i = 0; i < LogSteps; i++) rows_q[i] <= i + LogRow < 32'(log_n_i);
  end

  assign coefficients = op_i == OpAutoc;
  assign halves = op_i == OpAutoh;
  assign step = coefficients ? galois_i : {galois_i[LogN:0], 1'b0};
  assign turned = !first_i ? turned_q : coefficients ? '0 : galois_i;

  logic [LogN-1:0] x_q;
  logic half_q;
  logic [LogRow:0] offset_q, offset_q2;

  always_ff @(posedge clk_i) begin
    if (next_i) turned_q <= turned + step;
    x_q <= coefficients ? LogN'(turned[LogSteps-1:0] & rows_q) : {row, LogRow'(0)};
    half_q <= halves && turned[1];
    offset_q <= offset;
    offset_q2 <= offset_q;
  end

  // The row's number begins at bit 0, 1 or 2.
  assign number = halves ? turned[2+:LogSteps] : turned[1+:LogSteps];
  always_comb for (int unsigned i = 0; i < LogSteps; i++) reversed[i] = number[LogSteps-1-i];
  assign row = reversed >> short_q;
  assign above = (coefficients ? turned : halves ? turned >> 2 : turned >> 1) >> bits_q;
  assign x_o = x_q;
  assign half_o = half_q;
  assign offset_o = offset_q2;
  assign offset = {coefficients && above[LogRow], above[LogRow-1:0]};

  logic unused_above;
  assign unused_above = ^above[LogN+1:LogRow+1];

endmodule
