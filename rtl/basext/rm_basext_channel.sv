// SPDX-License-Identifier: Apache-2.0
// One channel of the shared base extension: sums products modulo one modulus p, for one coefficient
// a cycle.
//
//   sum = x w + old mod p, or sum = x w if the sum begins
//
// old comes from a memory around the channel, to which the sum is written. A channel has 1 modular
// multiplier and 1 adder.
//
// By the cycles since the operands: x_i and const_i (times R of rm_wide_mul) come at 0, and
// modulus_i from 0 on, as rm_wide_moduli gives it. old_i, first_i (the sum begins) and p_i come at
// Mul, and sum_o at Mul + 1. Mul is mul_latency(Width, Low). So a word that was read at Mul - 1 may
// be read again four cycles later.
module rm_basext_channel
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9
) (
    input  logic                                           clk_i,
    input  logic [     Width-1:0]                          x_i,
    input  logic [     Width-1:0]                          const_i,
    input  logic [steps(Width):0][modulus_bits(Width)-1:0] modulus_i,
    input  logic [     Width-1:0]                          old_i,
    input  logic                                           first_i,
    input  logic [     Width-1:0]                          p_i,
    output logic [     Width-1:0]                          sum_o
);

  logic [Width-1:0] term, sum_d, sum_q;

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_mul (
      .clk_i,
      .q_i(modulus_i),
      .a_i(x_i),
      .b_i(const_i),
      .r_o(term)
  );

  rm_mod_add #(
      .Width(Width)
  ) u_add (
      .a_i(first_i ? '0 : old_i),
      .b_i(term),
      .q_i(p_i),
      .r_o(sum_d)
  );

  always_ff @(posedge clk_i) sum_q <= sum_d;

  assign sum_o = sum_q;

endmodule
