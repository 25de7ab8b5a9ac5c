// SPDX-License-Identifier: Apache-2.0
// Multiplies modulo P, up to at most one P too much: x = a b modulo P, 0 <= x < 2^52 + 2^12 - 1.
//
// a is below P. b is in two's complement, a residue's representative in [-2^51, 2^51) (`near_zero`
// of rm_torus_pkg). Latency TimesLatency: operands, product, reduction; a product a cycle.
module rm_torus_times
  import rm_torus_pkg::*;
(
    input  logic             clk_i,
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,  // signed
    output logic [  Width:0] x_o
);

  logic [Width-1:0] a_q, b_q, low, high;
  logic [1:0] carry;

  always_ff @(posedge clk_i) begin
    a_q <= a_i;
    b_q <= b_i;
  end

  rm_torus_raw u_raw (
      .clk_i,
      .a_i({1'b0, a_q}),
      .b_i(b_q),
      .low_o(low),
      .high_o(high),
      .carry_o(carry)
  );

  rm_torus_red #(
      .Slack(MulSlack - 2)
  ) u_red (
      .clk_i,
      .low_i(low),
      .high_i(high),
      .carry_i(carry),
      .x_o
  );

endmodule
