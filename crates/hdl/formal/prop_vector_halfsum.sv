// SPDX-License-Identifier: Apache-2.0
// rm_vector_halfsum for every odd q below 2^Width and all u, v < q: both results are below q. They are u and v if it passes them on.
// Otherwise they are u + v and u - v modulo q; where it halves, twice its results are.
module prop_vector_halfsum #(
    parameter int unsigned Width = 32
) (
    input logic             clk_i,
    input logic [Width-1:0] q_i,
    input logic             half_i,
    input logic             pass_i,
    input logic [Width-1:0] u_i,
    input logic [Width-1:0] v_i
);

  localparam int unsigned Wide = Width + 4;

  logic [Width-1:0] sum_o, difference_o;
  logic signed [Wide-1:0] q, sum, difference, twice_sum, twice_difference;
  logic unused_clk;

  rm_vector_halfsum #(.Width(Width)) u_halfsum (.*);

  assign unused_clk = clk_i;
  assign q = Wide'(q_i);
  assign sum = Wide'(u_i) + Wide'(v_i);
  assign difference = Wide'(u_i) - Wide'(v_i);
  assign twice_sum = half_i ? Wide'({sum_o, 1'b0}) : Wide'(sum_o);
  assign twice_difference = half_i ? Wide'({difference_o, 1'b0}) : Wide'(difference_o);

  always_comb begin
    assume (q_i[0] && u_i < q_i && v_i < q_i);
    reduced : assert (sum_o < q_i && difference_o < q_i);
    passed : assert (!pass_i || (sum_o == u_i && difference_o == v_i));
    added : assert (pass_i || twice_sum == sum || twice_sum == sum - q || twice_sum == sum + q);
    subtracted : assert (pass_i || twice_difference == difference || twice_difference == difference + q ||
                         twice_difference == difference + q + q);
  end

endmodule
