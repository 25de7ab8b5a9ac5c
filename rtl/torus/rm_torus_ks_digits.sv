// SPDX-License-Identifier: Apache-2.0
// Cuts a ciphertext's mask words into digits for a key switch, the most significant digit first
// (`ringmill_math::torus::Gadget` modulo 2^32).
//
// x, rounded to Levels digits in base B = 2^LogBase, is the sum of digits d_j 2^32 / B^(j+1), with
// -B / 2 <= d_j < B / 2. digit_o is d_j + B / 2: the bits of x plus an offset.
//
// fresh_i comes a cycle after the read of a word, next_i a cycle after the read of the word's next
// digit. word_i is then the word. digit_o comes a cycle later. One digit a cycle. No reset.
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
