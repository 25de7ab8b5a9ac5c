// SPDX-License-Identifier: Apache-2.0
// rm_torus_red: for every low, high and carries with -2^51 <= H < 2^51, H = high + carry[0] + carry[1],
// 0 <= x < 2^52 + 2^12 - 1 and low + 2^52 H = x + (H + a + f) P, a = floor(high / 2^40), f = floor(v / 2^52)
// with v = low + (H + a - a 2^40) (2^12 - 1) - a 2^40, computed here without truncation.
module prop_torus_red
  import rm_torus_pkg::*;
(
    input logic             clk_i,
    input logic [Width-1:0] low_i,
    input logic [Width-1:0] high_i,
    input logic [      1:0] carry_i
);

  logic [Width:0] x_o;
  logic signed [115:0] t, h, a, low, ab, v, f, times;

  rm_torus_red u_red (
      .clk_i,
      .low_i,
      .high_i,
      .carry_i,
      .x_o
  );

  assign low = 116'(low_i);
  assign h = 116'($signed(high_i)) + 116'(carry_i[0]) + 116'(carry_i[1]);
  assign a = 116'($signed(high_i[51:40]));
  assign t = low + (h <<< 52);
  assign ab = h + a - (a <<< 40);
  assign v = low + (ab <<< 12) - ab - (a <<< 40);
  assign f = v >>> 52;
  // The multiple of P that the reduction takes off.
  assign times = h + a + f;

  always_comb begin
    assume (h >= -(116'sd1 <<< 51) && h < (116'sd1 <<< 51));
    in_range : assert (x_o < (53'd1 << 52) + 53'd4095);
    certificate : assert (t == 116'(x_o) + (times <<< 52) - (times <<< 12) + times);
  end

endmodule
