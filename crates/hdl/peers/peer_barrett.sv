// SPDX-License-Identifier: Apache-2.0
// r = a b mod q for any q from 2^(Width-1) to 2^Width - 1: Barrett's reduction with the products
// that the polymul paper counts, 32 x 64 and 32 x 32. mu_i = floor(2^(2 Width) / q) - 2^Width, which
// has Width bits.
//
// With t = a b < 2^(2 Width), floor(t floor(2^(2 Width) / q) / 2^(2 Width)) is floor(t / q) or one
// less, so one subtraction corrects. What the reductions for special moduli are measured against.
//
// Latency 5 cycles, one product a cycle.
module peer_barrett #(
    parameter int unsigned Width = 32
) (
    input  logic             clk_i,
    input  logic [Width-1:0] q_i,
    input  logic [Width-1:0] mu_i,
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,
    output logic [Width-1:0] r_o
);

  logic [2*Width-1:0] t_q;
  logic [Width:0] t_low_q, t_later_q, left, reduced;
  logic [3*Width-1:0] scaled_q;
  logic [2*Width-1:0] t_high_q;
  logic [2*Width:0] sum;
  logic [Width-1:0] quotient_q, r_q;
  logic [Width:0] multiple_q;
  logic unused_low;

  // t (2^Width + mu) / 2^Width; its upper half is the quotient.
  assign sum = {1'b0, t_high_q} + (2 * Width + 1)'(scaled_q[3*Width-1:Width]);
  assign reduced = left - {1'b0, q_i};
  assign unused_low = ^{scaled_q[Width-1:0], sum[2*Width], sum[Width-1:0]};

  always_ff @(posedge clk_i) begin
    t_q <= (2 * Width)'(a_i) * (2 * Width)'(b_i);

    scaled_q <= (3 * Width)'(t_q) * (3 * Width)'(mu_i);
    t_high_q <= t_q;

    quotient_q <= sum[2*Width-1:Width];
    t_low_q <= t_high_q[Width:0];

    multiple_q <= (Width + 1)'(quotient_q) * (Width + 1)'(q_i);
    t_later_q <= t_low_q;

    r_q <= reduced[Width] ? left[Width-1:0] : reduced[Width-1:0];
  end

  assign left = t_later_q - multiple_q;
  assign r_o = r_q;

endmodule
