// SPDX-License-Identifier: Apache-2.0
// rm_red_mont at full width, for every q = 1 mod 2^Low below 2^32 and every t:
//
//   exact         left_(k+1) 2^Word + m_k q = left_k where left_k > -q, with 0 <= m_k < 2^Word
//   reduced       r < q where -q < left_L < q
//   certificate   r is left_L or left_L + q there
//
// for L = Steps and left_k the words between the steps, left_0 = t. So, by induction, left_k is
// (t - M_k q) / 2^(Word k) with 0 <= M_k < 2^(Word k), hence above -q, and for t < q R left_L is
// below q: r R = t - M q + {0, q R} with M < R. m_k q is written as (m_k q_H) 2^Low + m_k, with the
// product that the RTL takes.
module prop_red_mont #(
    parameter int unsigned Low = 9,
    parameter int unsigned Word = 11,
    parameter int unsigned Steps = 3
) (
    input logic        clk_i,
    input logic [63:0] t_i,
    input logic [31:0] q_i
);

  localparam int unsigned Wide = 80;
  localparam int unsigned Extra = Word - Low;
  localparam int unsigned ProdWidth = 32 - Low + Word + 1;

  logic [31:0] r_o;
  logic signed [Wide-1:0] q, r, last;
  logic signed [32-Low:0] minus_qh;

  rm_red_mont #(
      .Low(Low),
      .Word(Word),
      .Steps(Steps)
  ) u_red (
      .clk_i,
      .t_i,
      .q_i,
      .r_o
  );

  assign q = Wide'({1'b0, q_i});
  assign r = Wide'({1'b0, r_o});
  assign last = Wide'($signed(u_red.left[Steps]));
  assign minus_qh = -$signed({1'b0, q_i[31:Low]});

  for (genvar k = 0; k < Steps; k++) begin : gen_step
    logic signed [Wide-1:0] old, next;
    logic [Word-1:0] m;
    logic signed [Word:0] m_s;
    logic signed [ProdWidth-1:0] minus_product;

    assign old = Wide'($signed(u_red.left[k]));
    assign next = Wide'($signed(u_red.left[k+1]));

    // m = left q^-1 mod 2^Word, where q^-1 = 1 - q_H 2^Low.
    always_comb begin
      m = old[Word-1:0];
      for (int unsigned i = 0; i < Extra; i++) begin
        if (old[i]) m = m - Word'({q_i[31:Low], Low'(0)} << i);
      end
    end

    assign m_s = $signed({1'b0, m});
    assign minus_product = ProdWidth'(minus_qh) * ProdWidth'(m_s);

    always_comb begin
      exact :
      assert (old <= -q ||
              (next << Word) + Wide'(m_s) == old + (Wide'(minus_product) << Low));
    end
  end

  always_comb begin
    assume (q_i[Low-1:0] == Low'(1));
    reduced : assert (last <= -q || last >= q || r < q);
    certificate : assert (last <= -q || last >= q || r == last || r == last + q);
  end

endmodule
