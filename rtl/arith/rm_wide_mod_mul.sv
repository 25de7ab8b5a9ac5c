// SPDX-License-Identifier: Apache-2.0
// A modular multiplier with its own modulus input and valid bit: r = a b R^-1 mod q for b < q and
// any a of Width bits.
//
// The module wraps rm_wide_mul with registers for the operands and the modulus, which may change
// with every product.
//
// Latency 1 + mul_latency(Width, Low) of rm_wide_pkg, one product a cycle, constant time.
module rm_wide_mod_mul
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             valid_i,
    input  logic [Width-1:0] q_i,
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,
    output logic             valid_o,
    output logic [Width-1:0] r_o
);

  logic [steps(Width):0][modulus_bits(Width)-1:0] q;
  logic [Width-1:0] a_q, b_q;

  always_ff @(posedge clk_i) begin
    a_q <= a_i;
    b_q <= b_i;
  end

  rm_wide_moduli #(
      .Width(Width),
      .Low(Low)
  ) u_moduli (
      .clk_i,
      .q_i,
      .q_o(q)
  );

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_mul (
      .clk_i,
      .q_i(q),
      .a_i(a_q),
      .b_i(b_q),
      .r_o
  );

  rm_valid #(
      .Depth(1 + mul_latency(Width, Low))
  ) u_valid (
      .clk_i,
      .rst_ni,
      .valid_i,
      .valid_o
  );

endmodule
