// SPDX-License-Identifier: Apache-2.0
// The butterfly of the TFHE engine's transforms modulo P, for u, v < P and the twiddle w in two's
// complement:
//
//   forward (Cooley-Tukey)    out0 = u + w v          out1 = u - w v
//   inverse (Gentleman-Sande) out0 = (u + v) / 2      out1 = (u - v) w, w half the twiddle
//
// One multiplier serves both: it multiplies v, or v - u. The butterfly then subtracts the product
// from u, or from 0. Sums before the product are not reduced. Sums behind it are corrected by one
// or two P. inverse_i is held while data is in flight. Latency BflyLatency, one butterfly a cycle.
module rm_torus_butterfly
  import rm_torus_pkg::*;
(
    input  logic             clk_i,
    input  logic             inverse_i,
    input  logic [Width-1:0] u_i,
    input  logic [Width-1:0] v_i,
    input  logic [Width-1:0] w_i,  // signed
    output logic [Width-1:0] out0_o,
    output logic [Width-1:0] out1_o
);

  // From a sum before the product to the one behind it.
  localparam int unsigned Wait = RawLatency + RedLatency + MulSlack - 1;

  logic [Width:0] sum_q, diff_q, half_d, half_q, half_line, half_late;
  logic [Width-1:0] w_q, low, high;
  logic [1:0] carry;
  logic [Width:0] x;

  assign half_d = ((inverse_i && sum_q[0]) ? {1'b0, HalfP} : '0) + (inverse_i ? sum_q >> 1 : sum_q);

  always_ff @(posedge clk_i) begin
    sum_q <= {1'b0, u_i} + (inverse_i ? {1'b0, v_i} : '0);
    diff_q <= {1'b0, v_i} - (inverse_i ? {1'b0, u_i} : '0);
    w_q <= w_i;
    half_q <= half_d;
  end

  rm_delay #(
      .Width(Width + 1),
      .Depth(Wait - 2)
  ) u_wait (
      .clk_i,
      .d_i(half_q),
      .q_o(half_line)
  );

  // A flip-flop of its own behind the delay line, which is slow to leave a shift register.
  rm_copy #(
      .Width(Width + 1)
  ) u_wait_last (
      .clk_i,
      .d_i(half_line),
      .q_o(half_late)
  );

  rm_torus_raw u_raw (
      .clk_i,
      .a_i(diff_q),
      .b_i(w_q),
      .low_o(low),
      .high_o(high),
      .carry_o(carry)
  );

  rm_torus_red #(
      .Slack(MulSlack - 1)
  ) u_red (
      .clk_i,
      .low_i(low),
      .high_i(high),
      .carry_i(carry),
      .x_o(x)
  );

  rm_torus_ends u_ends (
      .clk_i,
      .inverse_i,
      .u_i(half_late),
      .x_i(x),
      .out0_o,
      .out1_o
  );

endmodule
