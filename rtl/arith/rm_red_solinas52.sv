// SPDX-License-Identifier: Apache-2.0
// Reduction modulo the Solinas prime p = 2^52 - 2^12 + 1: r = t mod p for t < p^2.
//
// With t = a 2^92 + b 2^52 + c (Kong and Li, equations (1) to (4)),
//
//   t = c + (a + b) (2^12 - 1) - a 2^40 = v mod p
//
// v lies in (-p, 2p), so the module subtracts or adds p at most once. Kong and Li's Algorithm 3
// tests one side only. Certificate: t = r + (a (2^40 + 1) + b + {-1, 0, 1}) p, and r < p.
//
// Latency 3 cycles (a + b; v; correction), one reduction a cycle.
module rm_red_solinas52 (
    input  logic         clk_i,
    input  logic [103:0] t_i,
    output logic [ 51:0] r_o
);

  localparam logic [54:0] P = 55'h0F_FFFF_FFFF_F001;

  logic [11:0] a_q;
  logic [40:0] ab_d, ab_q;
  logic [51:0] c_q;
  logic [54:0] v_d, v_q, v_less, v_more;
  logic [51:0] r_d, r_q;

  assign ab_d = 41'(t_i[103:92]) + 41'(t_i[91:52]);
  assign v_d = 55'(c_q) + {2'b0, ab_q, 12'b0} - 55'(ab_q) - {3'b0, a_q, 40'b0};

  assign v_less = v_q - P;
  assign v_more = v_q + P;
  assign r_d = v_q[54] ? v_more[51:0] : v_less[54] ? v_q[51:0] : v_less[51:0];

  always_ff @(posedge clk_i) begin
    a_q <= t_i[103:92];
    c_q <= t_i[51:0];
    ab_q <= ab_d;
    v_q <= v_d;
    r_q <= r_d;
  end

  assign r_o = r_q;

  logic unused_top;
  assign unused_top = ^{v_more[54:52], v_less[53:52]};

endmodule
