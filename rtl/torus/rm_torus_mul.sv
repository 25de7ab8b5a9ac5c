// SPDX-License-Identifier: Apache-2.0
// A modular multiplier of the TFHE engine: a b modulo P for a < P and b in two's complement
// (rm_torus_times).
//
// Latency MulLatency: the product, the subtraction of a last P, the result; one product a cycle.
module rm_torus_mul
  import rm_torus_pkg::*;
(
    input  logic             clk_i,
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,  // signed
    output logic [Width-1:0] r_o
);

  logic [Width:0] x;
  logic [Width-1:0] r_q, r_q2;

  rm_torus_times u_times (
      .clk_i,
      .a_i,
      .b_i,
      .x_o(x)
  );

  always_ff @(posedge clk_i) begin
    r_q <= (from_p(x) ? LessP : '0) + x[Width-1:0];
    r_q2 <= r_q;
  end

  assign r_o = r_q2;

endmodule
