// SPDX-License-Identifier: Apache-2.0
// rm_mod_mul with word-level Montgomery reduction, whole, at a small width: r < q and r R = a b - M
// q + {0, q R}, hence r R = a b mod q. This holds for words of w = 2 and 3 bits, two and three
// steps, every q = 1 mod 2^w below min(2^Width, R) and every a, b < q. M is recomputed from a b and
// q alone, word by word.
module prop_mod_mul #(
    parameter int unsigned Width = 5
) (
    input logic             clk_i,
    input logic [Width-1:0] a_i,
    input logic [Width-1:0] b_i,
    input logic [      2:0] qh_i,
    input logic             wide_i,
    input logic             three_i
);

  localparam int unsigned Wide = 18;

  logic [Width-1:0] r_o;
  logic [Wide-1:0] q, r, bound, ab, m, left, digit;
  logic [3:0] log_r;
  logic [1:0] word;
  logic unused_valid;

  assign word = wide_i ? 2'd3 : 2'd2;
  assign q = (Wide'(qh_i) << word) + 1;
  assign ab = Wide'(a_i) * Wide'(b_i);
  assign r = Wide'(r_o);
  assign log_r = wide_i ? (three_i ? 4'd9 : 4'd6) : (three_i ? 4'd6 : 4'd4);
  assign bound = Wide'(1) << log_r;

  rm_mod_mul #(
      .Width(Width),
      .WordMin(2),
      .WordMax(3),
      .QhWidth(3),
      .TileA(3),
      .TileB(3)
  ) u_mul (
      .clk_i,
      .rst_ni(1'b1),
      .q_i(q[Width-1:0]),
      .qh_i,
      .word_i(word),
      .three_i,
      .valid_i(1'b0),
      .a_i,
      .b_i,
      .valid_o(unused_valid),
      .r_o
  );

  always_comb begin
    left = ab;
    m = '0;
    for (int unsigned k = 0; k < 3; k++) begin
      digit = (k < 2 || three_i) ? left & ((Wide'(1) << word) - 1) : '0;
      m = m | (digit << (k * 32'(word)));
      left = ($signed(left) >>> word) - digit * Wide'(qh_i);
    end
  end

  always_comb begin
    assume (qh_i != '0 && q < bound && q < (Wide'(1) << Width));
    assume (Wide'(a_i) < q && Wide'(b_i) < q);
    reduced : assert (r < q);
    m_in_range : assert (m < bound);
    product :
    assert ((r << log_r) + m * q == ab || (r << log_r) + m * q == ab + (q << log_r));
  end

endmodule
