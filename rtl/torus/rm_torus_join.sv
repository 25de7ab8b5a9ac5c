// SPDX-License-Identifier: Apache-2.0
// Sums the products of the slices of two factors (rm_torus_raw) to one product in two's complement:
//
//   low + 2^52 (high + carry[0] + carry[1]) modulo 2^104 =
//   p00 + 2^17 p01 + 2^34 p02 + 2^26 p10 + 2^43 p11 + 2^60 p12
//
// p00 and p01 have 43 bits and are not negative. The two halves are summed apart. The reader adds
// the last carries of the lower half, so no carry is longer than half of the product.
//
// Latency 2 cycles (pairs; sum), one sum a cycle.
module rm_torus_join
  import rm_torus_pkg::*;
(
    input  logic             clk_i,
    input  logic [     44:0] p00_i,
    input  logic [     44:0] p01_i,
    input  logic [     44:0] p02_i,
    input  logic [     44:0] p10_i,
    input  logic [     44:0] p11_i,
    input  logic [     44:0] p12_i,
    output logic [Width-1:0] low_o,
    output logic [Width-1:0] high_o,
    output logic [      1:0] carry_o
);

  // {p11, p00} and {p12, p01} are one number each.
  logic [52:0] low01_d, low01_q, low23_d, low23_q;
  logic [51:0] high01_d, high01_q;
  logic [26:0] high23_d, high23_q;

  assign low01_d = {1'b0, p11_i[8:0], p00_i[42:0]} + {1'b0, p01_i[34:0], 17'd0};
  assign low23_d = {1'b0, p02_i[17:0], 34'd0} + {1'b0, p10_i[25:0], 26'd0};
  assign high01_d = 52'($signed(p11_i[43:9])) + {p12_i[43:0], p01_i[42:35]};
  assign high23_d = 27'($signed(p02_i[43:18])) + 27'($signed(p10_i[43:26]));

  // The lowest place of the upper sum brings a carry in.
  logic [52:0] low_d, low_q, high_d;
  logic [51:0] high_q;
  logic carry_q;

  assign low_d = {1'b0, low01_q[51:0]} + {1'b0, low23_q[51:0]};
  assign high_d = {high01_q, 1'b1} + {52'($signed(high23_q)), low01_q[52]};

  always_ff @(posedge clk_i) begin
    low01_q <= low01_d;
    low23_q <= low23_d;
    high01_q <= high01_d;
    high23_q <= high23_d;
    low_q <= low_d;
    high_q <= high_d[52:1];
    carry_q <= low23_q[52];
  end

  assign low_o = low_q[51:0];
  assign high_o = high_q;
  assign carry_o = {low_q[52], carry_q};

  logic unused_bits;
  assign unused_bits = ^{p00_i[44:43], p01_i[44:43], p02_i[44], p10_i[44], p11_i[44], p12_i[44],
                         high_d[0]};

endmodule
