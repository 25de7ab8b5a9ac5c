// SPDX-License-Identifier: Apache-2.0
// Configures the dyadic cores for a word: which operand enters where.
//
//   word   u      v      w      result        word   u      v      w      result
//   COPY   a      0      1      u, passed     MUL    0      a      b      out0
//   ADD    a      b      1      out0          MAC    c      a      b      out0
//   SUB    a      b      1      out1          MULI   0      a      k      out0
//   NEG    0      a      1      out1          SUBM   a      b      k      out1, pre
//   ADDI   a      k      1      out0          RED    k      a      1      out0, reduce
//   PRNG   b      0      1      u, passed
//
// k is the constant that the instruction word names, 0 for none. An entry without an operand is 0,
// and w is then 1. Operands are taken as they come (u_o, v_o, w_o), or late (u_late_o and so on).
// All operands of a word with a key (key_i) are late, and so is b of a word with a generated
// operand, and k.
//
// Latency 1; held.
module rm_ring_mode
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
(
    input  logic   clk_i,
    input  op_e    op_i,
    input  logic   key_i,
    input  logic   gen_i,
    output mode_t  mode_o,
    output logic   pass_o,
    output entry_t u_o,
    output entry_t v_o,
    output entry_t w_o,
    output entry_t u_late_o,
    output entry_t v_late_o,
    output entry_t w_late_o,
    output logic   one_o      // w is 1
);

  mode_t mode;
  logic pass;
  entry_t u, v, w, late;

  assign late = '{a: key_i, b: key_i || gen_i, c: key_i, k: 1'b1};

  always_comb begin
    {u, v, w} = '0;
    mode = '0;
    pass = 1'b0;
    unique case (op_i)
      OpCopy: {u.a, pass} = '1;
      OpPrng: {u.b, pass} = '1;
      OpAdd: {u.a, v.b} = '1;
      OpSub: {u.a, v.b, mode.second} = '1;
      OpNeg: {v.a, mode.second} = '1;
      OpMul: {v.a, w.b} = '1;
      OpMac: {u.c, v.a, w.b} = '1;
      OpMuli: {v.a, w.k} = '1;
      OpAddi: {u.a, v.k} = '1;
      OpSubm: {u.a, v.b, w.k, mode.pre, mode.second} = '1;
      OpRed: {u.k, v.a, mode.reduce} = '1;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    mode_o <= mode;
    pass_o <= pass;
    u_o <= u & ~late;
    v_o <= v & ~late;
    w_o <= w & ~late;
    u_late_o <= u & late;
    v_late_o <= v & late;
    w_late_o <= w & late;
    one_o <= w == '0;
  end

endmodule
