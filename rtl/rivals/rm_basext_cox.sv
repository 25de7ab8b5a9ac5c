// SPDX-License-Identifier: Apache-2.0
// The Cox unit: computes the quotient alpha of a base extension from xi_0 to xi_(l-1), one a cycle,
// as bits whose sum is alpha (Kawamura et al.; Kırbıyık's thesis, Algorithm 3, lines 7 to 9).
//
//   sigma_s = sigma_(s-1) + trunc(xi_s) / 2^Width,  alpha_s = floor(sigma_s),  sigma_s -= alpha_s
//
// sigma_(-1) is delta. sigma has Bits bits below the point, and trunc keeps as many bits of xi_s.
// The unit has one adder. begin_i comes with xi_0. Latency 1 cycle, one xi a cycle. No reset.
module rm_basext_cox #(
    parameter int unsigned Width = 61,
    parameter int unsigned Bits = 16
) (
    input  logic             clk_i,
    input  logic [ Bits-1:0] delta_i,
    input  logic             begin_i,
    input  logic [Width-1:0] xi_i,
    output logic             alpha_o
);

  logic [Bits-1:0] sigma_d, sigma_q;
  logic alpha_d, alpha_q;

  assign {alpha_d, sigma_d} = {1'b0, begin_i ? delta_i : sigma_q} + {1'b0, xi_i[Width-1-:Bits]};

  always_ff @(posedge clk_i) begin
    sigma_q <= sigma_d;
    alpha_q <= alpha_d;
  end

  assign alpha_o = alpha_q;

  logic unused_low;
  assign unused_low = ^xi_i;

endmodule
