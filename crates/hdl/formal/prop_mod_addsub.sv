// SPDX-License-Identifier: Apache-2.0
// rm_mod_add, rm_mod_sub and rm_mod_half compute sum, difference and half modulo q, for every odd q
// of Width bits and every a, b < q.
module prop_mod_addsub #(
    parameter int unsigned Width = 60
) (
    input logic [Width-1:0] a_i,
    input logic [Width-1:0] b_i,
    input logic [Width-1:0] q_i
);

  logic [Width-1:0] sum, diff, half;
  logic [Width+1:0] a, b, q, s, d, h;

  rm_mod_add #(.Width(Width)) u_add (.a_i, .b_i, .q_i, .r_o(sum));
  rm_mod_sub #(.Width(Width)) u_sub (.a_i, .b_i, .q_i, .r_o(diff));
  rm_mod_half #(.Width(Width)) u_half (.a_i, .q_i, .r_o(half));

  assign {a, b, q} = {2'b0, a_i, 2'b0, b_i, 2'b0, q_i};
  assign {s, d, h} = {2'b0, sum, 2'b0, diff, 2'b0, half};

  always_comb begin
    assume (a_i < q_i && b_i < q_i && q_i[0]);
    sum_reduced : assert (s < q);
    sum_right : assert (s == a + b || s + q == a + b);
    diff_reduced : assert (d < q);
    diff_right : assert (d + b == a || d + b == a + q);
    half_reduced : assert (h < q);
    half_right : assert (h + h == a || h + h == a + q);
  end

endmodule
