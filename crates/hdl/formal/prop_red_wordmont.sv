// SPDX-License-Identifier: Apache-2.0
// rm_red_wordmont at full width: r is left_L or left_L + q, where left_0 = t and
// left_(k+1) = (left_k - m_k q) / 2^w with m_k = left_k mod 2^w, without truncation, for w = Word,
// three steps or two, every q = qh 2^w + 1 and every t below 4^K, K = min(32, 3 w); and r < q where
// -q < left_L < q. Hence r R = t - M q + {0, q R} with M = sum m_k 2^(w k) < R, and the bound on
// left_L = (t - M q) / R follows from 0 <= t < q R.
module prop_red_wordmont #(
    parameter int unsigned Word = 11,
    parameter bit Three = 1'b1
) (
    input logic        clk_i,
    input logic [63:0] t_i,
    input logic [31:0] q_i,
    input logic [20:0] qh_i
);

  localparam int unsigned Wide = 72;
  localparam logic [16:0] Mask = 17'((18'd1 << Word) - 18'd1);

  logic [31:0] r_o;
  logic signed [Wide-1:0] left0, left1, left2, left3, last, q, r;

  rm_red_wordmont u_red (
      .clk_i,
      .t_i,
      .q_i,
      .qh_i,
      .word_i(5'(Word)),
      .three_i(Three),
      .r_o
  );

  assign q = Wide'({1'b0, q_i});
  assign r = Wide'({1'b0, r_o});

  // Returns (left - (left mod 2^w) q) / 2^w in the form without q, which prop_wm_step proves equal.
  function automatic logic signed [Wide-1:0] step(logic signed [Wide-1:0] left,
                                                  logic [20:0] qh);
    logic signed [21:0] minus_qh;
    logic signed [39:0] minus_product;
    minus_qh = -$signed({1'b0, qh});
    minus_product = 40'(minus_qh) * 40'($signed({1'b0, left[16:0] & Mask}));
    return (left >>> Word) + Wide'(minus_product);
  endfunction

  assign left0 = Wide'({1'b0, t_i});
  assign left1 = step(left0, qh_i);
  assign left2 = step(left1, qh_i);
  assign left3 = step(left2, qh_i);
  assign last = Three ? left3 : left2;

  always_comb begin
    assume (Word > 10 || left0 < (Wide'(1) << (Word * 6)));
    assume (last > -q && last < q);
    reduced : assert (r < q);
    certificate : assert (r == last || r == last + q);
  end

endmodule
