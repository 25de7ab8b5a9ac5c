// How cores do a coefficient-wise word: which operand enters where.
//
//   word   u      v      w      result        word   u      v      w      result
//   COPY   a      0      1      u, passed     MUL    0      a      b      out0
//   ADD    a      b      1      out0          MAC    c      a      b      out0
//   SUB    a      b      1      out1          MULI   0      a      k      out0
//   NEG    0      a      1      out1          SUBM   a      b      k      out1, pre
//   ADDI   a      k      1      out0          RED    k      a      1      out0, reduce
//   SPLIT  a      b      k      out0, out1    JOIN   b      a      k      out0, out1, pre, half
//   PRNG   a      0      1      u, passed     AUTO   0      a      1      out1: -a, a where passed
//
// k is the constant that the word names, 0 for none; of SPLIT and JOIN zeta, with x^N - zeta and x^N + zeta the
// halves of the ring: 1 / zeta = -zeta, so JOIN takes its operands the other way round. AUTO stands for AUTOH and
// AUTOC, too. Transforms take mode_o alone.
//
// Latency 0 (combinational).
module rm_ring_mode
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Width = 60
) (
    input  op_e              op_i,
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,
    input  logic [Width-1:0] c_i,
    input  logic [Width-1:0] k_i,
    output mode_t            mode_o,
    output logic             pass_o,
    output logic [Width-1:0] u_o,
    output logic [Width-1:0] v_o,
    output logic [Width-1:0] w_o
);

  logic u_is_a, u_is_b, u_is_c, u_is_k, v_is_a, v_is_b, v_is_k, w_is_b, w_is_k;

  always_comb begin
    {u_is_a, u_is_b, u_is_c, u_is_k, v_is_a, v_is_b, v_is_k, w_is_b, w_is_k} = '0;
    mode_o = '0;
    pass_o = 1'b0;
    unique case (op_i)
      OpCopy, OpPrng: begin
        u_is_a = 1'b1;
        pass_o = 1'b1;
      end
      OpAdd: {u_is_a, v_is_b} = '1;
      OpSub: {u_is_a, v_is_b, mode_o.second} = '1;
      OpNeg: {v_is_a, mode_o.second} = '1;
      OpMul: {v_is_a, w_is_b} = '1;
      OpMac: {u_is_c, v_is_a, w_is_b} = '1;
      OpMuli: {v_is_a, w_is_k} = '1;
      OpAddi: {u_is_a, v_is_k} = '1;
      OpSubm: {u_is_a, v_is_b, w_is_k, mode_o.pre, mode_o.second} = '1;
      OpRed: {u_is_k, v_is_a, mode_o.reduce} = '1;
      OpSplit: {u_is_a, v_is_b, w_is_k} = '1;
      OpJoin: {u_is_b, v_is_a, w_is_k, mode_o.pre, mode_o.half} = '1;
      OpAuto, OpAutoh, OpAutoc: {v_is_a, mode_o.second} = '1;
      OpIntt: {mode_o.pre, mode_o.half} = '1;
      default: ;
    endcase
  end

  assign u_o = u_is_a ? a_i : u_is_b ? b_i : u_is_c ? c_i : u_is_k ? k_i : '0;
  assign v_o = v_is_a ? a_i : v_is_b ? b_i : v_is_k ? k_i : '0;
  assign w_o = w_is_b ? b_i : w_is_k ? k_i : Width'(1);

endmodule
