// SPDX-License-Identifier: Apache-2.0
// Configures the main cores for a coefficient-wise word: which of its rows enters where, and which
// operands the row registers hold.
//
// A word is an instruction word. Its operand `row` comes through the network, b and c beside it.
// The registers hold the word's operands a, b and c, with two exceptions. JOIN swaps a and b. For a
// word with a key or a generated operand (aside_i) the network takes that operand and b, and c
// holds a unless the word is MAC. k is the constant that the word names, 0 for none; for SPLIT and
// JOIN it is zeta.
//
//   word   u      v      w   result             word   u      v      w   result
//   COPY   a      .      1   u, passed          MUL    0      row    b   out0
//   ADD    a      b      1   out0               MAC    c      row    b   out0
//   SUB    a      b      1   out1               MULI   0      a      k   out0
//   NEG    0      a      1   out1               SUBM   a      b      k   out1, pre
//   ADDI   a      k      1   out0               RED    k      a      1   out0, reduce
//   SPLIT  a      b      k   out0, out1         JOIN   b      a      k   out0, out1, pre, half
//   AUTO   0      row    1   out1: -a, a where passed (by the row's signs)
//
// The halves of the ring are modulo x^N - zeta and x^N + zeta, with 1 / zeta = -zeta, so JOIN takes
// its operands the other way round. AUTO stands for AUTOH and AUTOC, too. Transforms take mode_o
// and has_c_o alone, and c as 0.
//
// Latency 1; held.
module rm_ring_entry
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
(
    input  logic  clk_i,
    input  op_e   op_i,
    input  logic  aside_i,
    output mode_t mode_o,
    output logic  pass_o,
    output logic  u_is_row_o,  // or c
    output logic  v_is_row_o,  // or b
    output logic  w_is_b_o,
    output logic  w_is_k_o,    // or 1
    output logic  b_is_k_o,
    output logic  c_is_k_o,
    output logic  has_c_o      // c is a row; if neither, 0
);

  mode_t mode;
  logic pass, u_is_a, v_is_a, v_is_b, w_is_b, w_is_k, b_is_k, c_is_k, c_is_c;

  always_comb begin
    {u_is_a, v_is_a, v_is_b, w_is_b, w_is_k, b_is_k, c_is_k, c_is_c} = '0;
    mode = '0;
    pass = 1'b0;
    unique case (op_i)
      OpCopy: {u_is_a, pass} = '1;
      OpAdd: {u_is_a, v_is_b} = '1;
      OpSub: {u_is_a, v_is_b, mode.second} = '1;
      OpNeg: {v_is_a, mode.second} = '1;
      OpMul: w_is_b = 1'b1;
      OpMac: {w_is_b, c_is_c} = '1;
      OpMuli: {v_is_a, w_is_k} = '1;
      OpAddi: {u_is_a, b_is_k} = '1;
      OpSubm: {u_is_a, v_is_b, w_is_k, mode.pre, mode.second} = '1;
      OpRed: {v_is_a, c_is_k, mode.reduce} = '1;
      OpSplit: {u_is_a, v_is_b, w_is_k} = '1;
      OpJoin: {u_is_a, v_is_b, w_is_k, mode.pre, mode.half} = '1;
      OpAuto, OpAutoh, OpAutoc: {v_is_a, mode.second} = '1;
      OpIntt: {mode.pre, mode.half} = '1;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    mode_o <= mode;
    pass_o <= pass;
    u_is_row_o <= u_is_a && !aside_i;
    // The factors of a product may change places.
    v_is_row_o <= w_is_b || (aside_i ? v_is_b : v_is_a);
    w_is_b_o <= w_is_b;
    w_is_k_o <= w_is_k;
    b_is_k_o <= b_is_k;
    c_is_k_o <= c_is_k;
    has_c_o <= c_is_c || (u_is_a && aside_i);
  end

endmodule
