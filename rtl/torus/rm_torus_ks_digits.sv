// SPDX-License-Identifier: Apache-2.0
// Digits of one ciphertext's mask words, the most significant first (`ringmill_math::torus::Gadget`
// modulo 2^32): x, rounded to Levels digits in base B = 2^LogBase, is the sum of digits d_j 2^32 /
// B^(j+1), with -B / 2 <= d_j < B / 2. digit_o is d_j + B / 2, the bits as they are in x plus an
// offset.
//
// fresh_i and next_i are a cycle after the read of a word, or of the word's next digit: then word_i
// is the word. digit_o is a cycle later. One digit a cycle. No reset.
module rm_torus_ks_digits
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogBase = 1,
    parameter int unsigned Levels = 15
) (
    input  logic               clk_i,
    input  logic               fresh_i,
    input  logic               next_i,
    input  logic [       31:0] word_i,
    output logic [LogBase-1:0] digit_o
);

  localparam logic [31:0] Offset = offset(Levels, LogBase);

  logic [31:0] word_q;

  always_ff @(posedge clk_i) begin
    if (fresh_i) word_q <= word_i + Offset;
    else if (next_i) word_q <= word_q << LogBase;
  end

  assign digit_o = word_q[31-:LogBase];

endmodule
