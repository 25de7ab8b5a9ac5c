// SPDX-License-Identifier: Apache-2.0
// rm_torus_join: low + 2^52 (high + carry[0] + carry[1]) is, modulo 2^104, the sum of the six
// products of slices shifted to their places, whatever the products are.
module prop_torus_join
  import rm_torus_pkg::*;
(
    input logic        clk_i,
    input logic [42:0] p00_i,
    input logic [42:0] p01_i,
    input logic [43:0] p02_i,
    input logic [43:0] p10_i,
    input logic [43:0] p11_i,
    input logic [43:0] p12_i
);

  logic [Width-1:0] low_o, high_o;
  logic [1:0] carry_o;
  logic [103:0] sum;

  rm_torus_join u_join (
      .clk_i,
      .p00_i(45'(p00_i)),
      .p01_i(45'(p01_i)),
      .p02_i(45'($signed(p02_i))),
      .p10_i(45'($signed(p10_i))),
      .p11_i(45'($signed(p11_i))),
      .p12_i(45'($signed(p12_i))),
      .low_o,
      .high_o,
      .carry_o
  );

  assign sum = 104'(p00_i) + (104'(p01_i) << 17) + (104'($signed(p02_i)) << 34) +
      (104'($signed(p10_i)) << 26) + (104'($signed(p11_i)) << 43) + (104'($signed(p12_i)) << 60);

  always_comb begin
    a_sum : assert ({high_o + 52'(carry_o[0]) + 52'(carry_o[1]), low_o} == sum);
  end

endmodule
