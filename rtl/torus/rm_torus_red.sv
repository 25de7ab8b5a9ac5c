// SPDX-License-Identifier: Apache-2.0
// Reduces a product of rm_torus_raw modulo P, up to at most one P too much: x = t modulo P for t =
// low + 2^52 H.
//
// H = high + carry[0] + carry[1] is signed, -2^51 <= H < 2^51. With high = a 2^40 + b, a signed,
// 2^52 = P + 2^12 - 1 gives
//
//   v = low + (a + b + carries) (2^12 - 1) - a 2^40, -P < v < 3 P
//   x = v mod 2^52 + (2^12 - 1) floor(v / 2^52), 0 <= x < 2^52 + 2^12 - 1
//
// Certificate: t = x + (H + a + floor(v / 2^52)) P. No stage has more than a sum of two numbers.
//
// Latency RedLatency cycles (a + H; the lower part less that; v, and Slack registers; x), one
// reduction a cycle.
module rm_torus_red
  import rm_torus_pkg::*;
#(
    parameter int unsigned Slack = 0
) (
    input  logic             clk_i,
    input  logic [Width-1:0] low_i,
    input  logic [Width-1:0] high_i,
    input  logic [      1:0] carry_i,
    output logic [  Width:0] x_o
);

  // u = a 2^40 + (a + b + carry[0]).
  logic [53:0] u_d;
  logic [52:0] u_q;
  logic [51:0] low_q;
  logic [2:0] a_q;
  logic carry_q, carry_q2;

  assign u_d = {{high_i[51], high_i}, 1'b1} + {53'($signed(high_i[51:40])), carry_i[0]};

  // less: low - u, less the other carry. ab: a + b + carry[0], taken out of u again.
  logic [54:0] less_d;
  logic [53:0] less_q;
  logic [42:0] ab_d, ab_q;

  assign less_d = {2'b00, low_q, 1'b1} + {~{u_q[52], u_q}, ~carry_q};
  assign ab_d = {u_q[42:40] - a_q, u_q[39:0]};

  // The upper bits of v = less + 2^12 ab.
  logic [43:0] upper_d;
  logic [54:0] v_q, v_late;

  assign upper_d = {less_q[53], less_q[53:12], 1'b1} + {ab_q, carry_q2};

  rm_delay #(
      .Width(55),
      .Depth(Slack)
  ) u_slack (
      .clk_i,
      .d_i(v_q),
      .q_o(v_late)
  );

  // v / 2^52 is -1 to 2.
  logic [52:0] fold, x_q;

  always_comb begin
    unique case (v_late[54:52])
      3'b111: fold = 53'h1F_FFFF_FFFF_F001;
      3'b001: fold = 53'd4095;
      3'b010: fold = 53'd8190;
      default: fold = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    u_q <= u_d[53:1];
    low_q <= low_i;
    a_q <= high_i[42:40];
    carry_q <= carry_i[1];
    less_q <= less_d[54:1];
    ab_q <= ab_d;
    carry_q2 <= carry_q;
    v_q <= {upper_d[43:1], less_q[11:0]};
    x_q <= {1'b0, v_late[51:0]} + fold;
  end

  assign x_o = x_q;

  logic unused_bits;
  assign unused_bits = ^{u_d[0], less_d[0], upper_d[0]};

endmodule
