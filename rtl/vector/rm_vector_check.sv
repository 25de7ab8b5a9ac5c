// SPDX-License-Identifier: Apache-2.0
// Checks a micro word for the faults that the word alone shows (the rules of
// crates/isa/src/vector/verify.rs).
//
// The result has a bit for each of fault_e; the first bit set counts. Scalars are not compared with
// their modulus: a scalar above it gives a wrong residue and harms nothing else. moduli_i is the
// number of moduli in the table.
//
// Latency 0 (combinational).
module rm_vector_check
  import rm_vector_isa_pkg::*;
  import rm_vector_fault_pkg::*;
#(
    parameter int unsigned Registers = 16,
    parameter int unsigned Chunks = 64,
    parameter int unsigned LogLimb = 2,
    parameter int unsigned LogN = 8,
    parameter int unsigned Distant = 1024
) (
    input  word_t       word_i,
    input  logic [10:0] moduli_i,
    output wrong_t      wrong_o
);

  // Wrong in one of the three operands.
  logic [2:0] operand, register, chunk;

  function automatic logic bad_kind(logic [3:0] kinds, kind_e kind, logic [13:0] index);
    return !kinds[kind] || (kind inside {KindNone, KindAccumulator} && index != '0);
  endfunction

  function automatic logic beyond(kind_e kind, kind_e of, logic [13:0] index, int unsigned limit);
    return kind == of && 32'(index) >= limit;
  endfunction

  logic modulus, immediate, target;

  always_comb begin
    operand = {
      bad_kind(d_kinds(word_i.op), word_i.d_kind, word_i.d),
      bad_kind(a_kinds(word_i.op), word_i.a_kind, word_i.a),
      bad_kind(b_kinds(word_i.op), word_i.b_kind, word_i.b)
    };
    register = {
      beyond(word_i.d_kind, KindRegister, word_i.d, Registers),
      beyond(word_i.a_kind, KindRegister, word_i.a, Registers),
      beyond(word_i.b_kind, KindRegister, word_i.b, Registers)
    };
    chunk = {
      beyond(word_i.d_kind, KindChunk, word_i.d, Chunks),
      beyond(word_i.a_kind, KindChunk, word_i.a, Chunks),
      beyond(word_i.b_kind, KindChunk, word_i.b, Chunks)
    };
    modulus = has_modulus(word_i.op) ? 11'(word_i.modulus) >= moduli_i : word_i.modulus != '0;
    unique case (word_i.op)
      OpLoad, OpStore: immediate = word_i.n >= Distant;
      OpMorph: immediate = !word_i.n[0] || word_i.n >= (32'd2 << LogN);
      OpMuli, OpMaci, OpAcci: immediate = 1'b0;
      default: immediate = word_i.n != '0;
    endcase
    target = word_i.op == OpMorph &&
        ((word_i.d & 14'((1 << LogLimb) - 1)) != '0 || word_i.d >> LogLimb == word_i.a >> LogLimb);
    wrong_o = '0;
    wrong_o[FaultOp] = !is_op(word_i.op);
    wrong_o[FaultOperand] = operand != '0;
    wrong_o[FaultRegister] = register != '0;
    wrong_o[FaultChunk] = chunk != '0;
    wrong_o[FaultModulus] = modulus;
    wrong_o[FaultImmediate] = immediate;
    wrong_o[FaultTarget] = target;
  end

endmodule
