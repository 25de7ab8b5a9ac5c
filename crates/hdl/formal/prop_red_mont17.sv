// rm_red_mont17: r is left_2 or left_2 + q, where left_0 = t and
// left_(k+1) = (left_k - m_k q) / 2^17 with m_k = left_k mod 2^17, without truncation, for every
// q = 1 mod 2^17 below 2^32 and every t; and r < q where -q < left_2 < q, which follows from
// 0 <= t < q 2^34. Hence r 2^34 = t - M q + {0, q 2^34} with M = m_0 + m_1 2^17.
module prop_red_mont17 (
    input logic        clk_i,
    input logic [63:0] t_i,
    input logic [31:0] q_i
);

  localparam int unsigned Wide = 72;

  logic [31:0] r_o;
  logic signed [Wide-1:0] left1, left2, q, r;

  rm_red_mont17 u_red (
      .clk_i,
      .t_i,
      .q_i,
      .r_o
  );

  assign q = Wide'({1'b0, q_i});
  assign r = Wide'({1'b0, r_o});

  // (left - (left mod 2^17) q) / 2^17 for q = qh 2^17 + 1.
  function automatic logic signed [Wide-1:0] step(logic signed [Wide-1:0] left, logic [14:0] qh);
    logic signed [33:0] product;
    product = 34'($signed({1'b0, qh})) * 34'($signed({1'b0, left[16:0]}));
    return (left >>> 17) - Wide'(product);
  endfunction

  assign left1 = step(Wide'({1'b0, t_i}), q_i[31:17]);
  assign left2 = step(left1, q_i[31:17]);

  always_comb begin
    assume (q_i[16:0] == 17'd1);
    assume (left2 > -q && left2 < q);
    reduced : assert (r < q);
    certificate : assert (r == left2 || r == left2 + q);
  end

endmodule
