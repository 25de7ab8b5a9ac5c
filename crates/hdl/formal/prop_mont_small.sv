// SPDX-License-Identifier: Apache-2.0
// rm_red_mont whole, at a small width: r < q and r R = t - M q + {0, q R} with M < R, hence r R = t
// mod q, for every q = 1 mod 2^Low below 2^Width and every t < q R. M is recomputed from t and q
// alone, bit by bit.
module prop_mont_small #(
    parameter int unsigned Width = 5,
    parameter int unsigned Low = 2,
    parameter int unsigned Word = 3,
    parameter int unsigned Steps = 2
) (
    input logic               clk_i,
    input logic [2*Width-1:0] t_i,
    input logic [  Width-1:0] q_i
);

  localparam int unsigned LogR = Word * Steps;
  localparam int unsigned Wide = 2 * Width + LogR + 2;

  logic [Width-1:0] r_o;
  logic [Wide-1:0] q, r, t, m, left;

  rm_red_mont #(
      .Width(Width),
      .Low(Low),
      .Word(Word),
      .Steps(Steps)
  ) u_red (
      .clk_i,
      .t_i,
      .q_i,
      .r_o
  );

  assign q = Wide'(q_i);
  assign r = Wide'(r_o);
  assign t = Wide'(t_i);

  // Subtracting m q, one bit of m at a time, clears t from below.
  always_comb begin
    m = '0;
    left = t;
    for (int unsigned i = 0; i < LogR; i++) begin
      if (left[i]) begin
        m[i] = 1'b1;
        left = left - (q << i);
      end
    end
  end

  always_comb begin
    assume (q_i[Low-1:0] == Low'(1) && q > 1);
    assume (t < (q << LogR));
    reduced : assert (r < q);
    product : assert ((r << LogR) + m * q == t || (r << LogR) + m * q == t + (q << LogR));
  end

endmodule
