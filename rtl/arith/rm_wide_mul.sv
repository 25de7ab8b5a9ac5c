// SPDX-License-Identifier: Apache-2.0
// A pipelined modular multiplier for run-time moduli of up to 61 bits: r = a b R^-1 mod q for b < q
// and any a of Width bits.
//
// R = 2^(16 ceil(Width / 16)), and q is any modulus 1 mod 2^Low below 2^Width. a may be a residue
// of another modulus, because the reduction asks for a b < q R only. A b at or above q may give a
// wrong result.
//
//   Width   DSP blocks           R        latency
//   32      3 + 2 = 5            2^32     7
//   61      12 + 4 x 2 = 20      2^64     13, or 12 where Low is 15 or more
//
// One constant operand carries the factor R^-1: a constant c is held as c R mod q. q_i is the
// modulus as the steps need it, and may change with every product. One rm_wide_moduli delays it for
// all multipliers that work in step. Operands come from registers.
//
// Latency mul_latency(Width, Low) of rm_wide_pkg, one product a cycle, constant time. There is no
// valid bit: the unit around the multiplier knows the cycle of each result.
module rm_wide_mul
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9
) (
    input  logic                             clk_i,
    input  logic [steps(Width):0][modulus_bits(Width)-1:0] q_i,
    input  logic [     Width-1:0]            a_i,
    input  logic [     Width-1:0]            b_i,
    output logic [     Width-1:0]            r_o
);

  logic [2*Width-1:0] product;

  rm_wide_product #(
      .Width(Width)
  ) u_product (
      .clk_i,
      .a_i,
      .b_i,
      .p_o(product)
  );

  rm_wide_red #(
      .Width(Width),
      .Low(Low)
  ) u_red (
      .clk_i,
      .t_i(product),
      .q_i,
      .r_o
  );

endmodule
