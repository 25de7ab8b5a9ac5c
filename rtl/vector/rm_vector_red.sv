// SPDX-License-Identifier: Apache-2.0
// Montgomery reduction for moduli whose bits Word to 1 are zero: r = t R^-1 mod q for t < q R, R =
// 2^Width.
//
// Word = Width / 2, q = h 2^(Word+1) + 1 (BASALISC paper, section 6.4: 32 bits, of which bits 16 to
// 1 are tied). The reduction takes two words. q is 1 modulo 2^Word, so the low word m of t is the
// multiple of q that clears it, and
//
//   (t - m q) / 2^Word = (t >> Word) - 2 m h
//
// exactly. That is a product of Word x (Word-1) bits. A generic reduction, by all bits at once, has
// a product of Width x Width and half of another. From 0 <= t < q R the second word's result lies
// in (-q, q). Certificate: r R = t - M q + {0, q R} with M < R, and r < q.
//
// Ranks 0 and 1: the words. Rank 2: the correction. q_i[k] is the modulus of the item that rank k
// takes. Latency 3 moves, one reduction a move.
module rm_vector_red #(
    parameter int unsigned Width = 32,
    parameter bit Stalls = 1'b1
) (
    input  logic                  clk_i,
    input  logic [           2:0] move_i,
    input  logic [2:0][Width-1:0] q_i,
    input  logic [   2*Width-1:0] t_i,
    output logic [     Width-1:0] r_o
);

  localparam int unsigned Word = Width / 2;

  if (Width % 2 != 0) begin : gen_check
    $error("rm_vector_red: two words, so an even Width");
  end

  logic [2:0][Word-2:0] h;
  logic [1:0][2*Word-2:0] multiple;
  logic signed [Width+Word:0] first_d, first;
  logic signed [Width:0] second_d, second;
  logic [Width-1:0] r_d;

  for (genvar k = 0; k < 3; k++) begin : gen_h
    assign h[k] = q_i[k][Width-1:Word+1];
  end
  assign multiple[0] = (2 * Word - 1)'(t_i[Word-1:0]) * (2 * Word - 1)'(h[0]);
  assign multiple[1] = (2 * Word - 1)'(first[Word-1:0]) * (2 * Word - 1)'(h[1]);

  assign first_d = $signed({1'b0, t_i[2*Width-1:Word]}) - (Width + Word + 1)'({multiple[0], 1'b0});
  assign second_d = $signed(first[Width+Word:Word]) - $signed({1'b0, multiple[1], 1'b0});
  assign r_d = second[Width-1:0] + {second[Width] ? h[2] : '0, Word'(0), second[Width]};

  rm_vector_rank #(
      .Width(Width + Word + 1),
      .Stalls(Stalls)
  ) u_first (
      .clk_i,
      .move_i(move_i[0]),
      .d_i(first_d),
      .q_o(first)
  );

  rm_vector_rank #(
      .Width(Width + 1),
      .Stalls(Stalls)
  ) u_second (
      .clk_i,
      .move_i(move_i[1]),
      .d_i(second_d),
      .q_o(second)
  );

  rm_vector_rank #(
      .Width(Width),
      .Stalls(Stalls)
  ) u_r (
      .clk_i,
      .move_i(move_i[2]),
      .d_i(r_d),
      .q_o(r_o)
  );

  logic unused_tied;
  assign unused_tied = ^{q_i[2][Word:0], q_i[1][Word:0], q_i[0][Word:0]};

endmodule
