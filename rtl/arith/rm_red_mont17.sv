// r = t R^-1 mod q for t < q R, R = 2^34, q = q_H 2^17 + 1 < 2^32: Montgomery reduction for the
// Montgomery-friendly primes of the vector paper (section 6.4): the low 17 bits of q are fixed, so
// two words of 17 bits with a 15 x 17 product each replace the two 32 x 32 products of a generic
// Montgomery reduction.
//
// Precondition: q_i held while data is in flight. Certificate: r R = t - M q + {0, q R} with M < R,
// and r < q.
// Latency 3 cycles, one reduction a cycle.
module rm_red_mont17 (
    input  logic        clk_i,
    input  logic [63:0] t_i,
    input  logic [31:0] q_i,
    output logic [31:0] r_o
);

  logic [47:0] t1;
  logic [32:0] t2;
  logic [31:0] r_d, r_q;

  rm_wm_step #(
      .InWidth(65),
      .OutWidth(48),
      .QhWidth(15),
      .WordMin(17),
      .WordMax(17)
  ) u_step1 (
      .clk_i,
      .t_i({1'b0, t_i}),
      .qh_i(q_i[31:17]),
      .off_i(1'b0),
      .mask_i('1),
      .skip_i(1'b0),
      .t_o(t1)
  );

  rm_wm_step #(
      .InWidth(48),
      .OutWidth(33),
      .QhWidth(15),
      .WordMin(17),
      .WordMax(17)
  ) u_step2 (
      .clk_i,
      .t_i(t1),
      .qh_i(q_i[31:17]),
      .off_i(1'b0),
      .mask_i('1),
      .skip_i(1'b0),
      .t_o(t2)
  );

  assign r_d = t2[31:0] + (t2[32] ? q_i : '0);

  always_ff @(posedge clk_i) r_q <= r_d;

  assign r_o = r_q;

endmodule
