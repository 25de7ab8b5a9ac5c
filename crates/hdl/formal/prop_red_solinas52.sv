// SPDX-License-Identifier: Apache-2.0
// rm_red_solinas52: with v = c + (a + b) (2^12 - 1) - a 2^40, computed here without truncation, r is
// v, v - p or v + p, and r < p, for every t < p^2. Hence t = r + (a (2^40 + 1) + b + {-1, 0, 1}) p,
// because t - v = a (2^92 + 2^40 - 2^12 + 1) + b p and 2^92 + 2^40 - 2^12 + 1 = (2^40 + 1) p.
module prop_red_solinas52 (
    input logic         clk_i,
    input logic [103:0] t_i
);

  localparam logic signed [107:0] P = (108'd1 << 52) - (108'd1 << 12) + 108'd1;

  logic [51:0] r_o;
  logic signed [107:0] t, r, v, ab;

  rm_red_solinas52 u_red (
      .clk_i,
      .t_i,
      .r_o
  );

  assign t = 108'(t_i);
  assign r = 108'(r_o);
  assign ab = 108'(t_i[103:92]) + 108'(t_i[91:52]);
  assign v = 108'(t_i[51:0]) + (ab << 12) - ab - (108'(t_i[103:92]) << 40);

  always_comb begin
    assume (t < P * P);
    reduced : assert (r < P);
    certificate : assert (r == v || r == v - P || r == v + P);
  end

endmodule
