// SPDX-License-Identifier: Apache-2.0
// rm_torus_sum: the sum of Terms numbers below 2^52 + 2^12 - 1 is sum_o plus a multiple of P, and
// sum_o < P.
module prop_torus_sum
  import rm_torus_pkg::*;
#(
    parameter int unsigned Terms = 6
) (
    input logic                      clk_i,
    input logic [Terms-1:0][Width:0] terms_i
);

  logic [Width-1:0] sum_o;
  logic [59:0] sum;
  logic found;

  rm_torus_sum #(
      .Terms(Terms)
  ) u_sum (
      .clk_i,
      .terms_i,
      .sum_o
  );

  always_comb begin
    sum = '0;
    for (int unsigned i = 0; i < Terms; i++) sum = sum + 60'(terms_i[i]);
    found = 1'b0;
    for (int unsigned k = 0; k <= Terms; k++) begin
      found = found || sum == 60'(sum_o) + 60'(k) * 60'(P);
    end
  end

  always_comb begin
    for (int unsigned i = 0; i < Terms; i++) assume (terms_i[i] < (53'd1 << 52) + 53'd4095);
    reduced : assert (sum_o < P);
    is_sum : assert (found);
  end

endmodule
