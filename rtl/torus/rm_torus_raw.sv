// SPDX-License-Identifier: Apache-2.0
// A multiplier for two's complement operands in 6 DSP blocks:
//
//   a b = low + 2^52 (high + carry[0] + carry[1]) for |a| < 2^52, |b| <= 2^51, |a b| < 2^103
//
// Each block multiplies a 26-bit or the upper 27-bit slice of a by a 17-bit or the upper 18-bit
// slice of b.
//
// Latency RawLatency cycles (operands; slices' products; sums of pairs; sum), a product a cycle.
module rm_torus_raw
  import rm_torus_pkg::*;
(
    input  logic               clk_i,
    input  logic [  Width:0]   a_i,  // signed
    input  logic [Width-1:0]   b_i,  // signed
    output logic [Width-1:0]   low_o,
    output logic [Width-1:0]   high_o,  // signed
    output logic [      1:0]   carry_o
);

  // Slices, as signed numbers.
  logic signed [26:0] a0_q, a1_q;
  logic signed [17:0] b0_q, b1_q, b2_q;

  always_ff @(posedge clk_i) begin
    a0_q <= {1'b0, a_i[25:0]};
    a1_q <= a_i[52:26];
    b0_q <= {1'b0, b_i[16:0]};
    b1_q <= {1'b0, b_i[33:17]};
    b2_q <= b_i[51:34];
  end

  // Products of two slices. Their places are bits 0, 17, 34 and 26, 43, 60.
  logic signed [44:0] p00_q, p01_q, p02_q, p10_q, p11_q, p12_q;

  always_ff @(posedge clk_i) begin
    p00_q <= a0_q * b0_q;
    p01_q <= a0_q * b1_q;
    p02_q <= a0_q * b2_q;
    p10_q <= a1_q * b0_q;
    p11_q <= a1_q * b1_q;
    p12_q <= a1_q * b2_q;
  end

  rm_torus_join u_join (
      .clk_i,
      .p00_i(p00_q),
      .p01_i(p01_q),
      .p02_i(p02_q),
      .p10_i(p10_q),
      .p11_i(p11_q),
      .p12_i(p12_q),
      .low_o,
      .high_o,
      .carry_o
  );

endmodule
