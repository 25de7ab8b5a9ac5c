// SPDX-License-Identifier: Apache-2.0
// rm_torus_ends, for every x < 2^52 + 2^12 - 1 and u < P (3 P / 2 of the inverse): out0 and out1
// are reduced. They equal u + x and u - x (of the inverse: u and -x) up to a multiple of P.
module prop_torus_ends
  import rm_torus_pkg::*;
(
    input logic           clk_i,
    input logic           inverse_i,
    input logic [Width:0] u_i,
    input logic [Width:0] x_i
);

  localparam logic signed [55:0] Prime = {4'd0, P};

  logic [Width-1:0] out0_o, out1_o;
  logic signed [55:0] sum, diff, out0, out1;

  rm_torus_ends u_ends (
      .clk_i,
      .inverse_i,
      .u_i,
      .x_i,
      .out0_o,
      .out1_o
  );

  assign sum = 56'(u_i) + (inverse_i ? '0 : 56'(x_i));
  assign diff = (inverse_i ? '0 : 56'(u_i)) - 56'(x_i);
  assign out0 = 56'(out0_o);
  assign out1 = 56'(out1_o);

  always_comb begin
    assume (x_i < (53'd1 << 52) + 53'd4095);
    assume (56'(u_i) < (inverse_i ? Prime + (Prime >>> 1) : Prime));
    reduced : assert (out0_o < P && out1_o < P);
    is_sum : assert (sum == out0 || sum == out0 + Prime || sum == out0 + 2 * Prime);
    is_difference : assert (diff == out1 || diff == out1 - Prime || diff == out1 - 2 * Prime);
  end

endmodule
