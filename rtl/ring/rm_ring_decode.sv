// Whether a micro word names only what the machine has: code_o is CodeOk, or why the word is refused.
//
// A word of another stream, of RPAUs beyond the machine, a transfer of several, of a slot beyond the memory, of
// cores which lack it, of a table's row beyond its depth; one whose result comes in rows that a narrow slot cannot take; one that is not the encoding of its own decoding; one
// that this machine was not built for.
//
// Latency 0 (combinational).
module rm_ring_decode
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Rpaus = 10,
    parameter memory_t Memory = DefaultMemory,
    parameter int unsigned Controllers = 2,
    parameter int unsigned Constants = 256,
    parameter int unsigned StreamRows = 128,
    parameter int unsigned GaloisRows = 128,
    parameter int unsigned Layers = 1
) (
    input  logic [63:0] word_i,
    input  logic [ 1:0] stream_i,
    output code_e       code_o
);

  word_t word;
  logic coefficient_wise, core_word, main_only, known, wait_ok, c_is_slot, slot_ok, row_ok, one;

  localparam int unsigned Slots = Memory.shared + Memory.singles + Memory.narrow;

  assign word = word_t'(word_i);

  always_comb begin
    coefficient_wise = 1'b0;
    core_word = 1'b0;
    unique case (word.op)
      OpCopy, OpAdd, OpSub, OpNeg, OpMul, OpMac, OpMuli, OpAddi, OpSubm, OpRed: begin
        coefficient_wise = 1'b1;
        core_word = 1'b1;
      end
      OpNtt, OpIntt, OpAuto, OpAutoh, OpSplit, OpJoin, OpPrng, OpAutoc: core_word = 1'b1;
      default: ;
    endcase
  end

  assign known = 32'(word.op) <= LastOp && word.ring != 2'd3 &&
      (word.b_kind == KindKey || (word.b_kind == KindSlot && word.b < 7'd32) || word.b == '0);
  assign wait_ok = word_i[58:WaitQueueLow+WaitQueueWidth] == '0 &&
      32'(word_i[WaitQueueLow+:WaitQueueWidth]) < Queues;
  assign main_only = core_word && !coefficient_wise && word.op != OpPrng;
  assign one = (word.mask & (word.mask - 1'b1)) == '0;
  assign c_is_slot = word.op == OpMac || is_pair(word.op);
  assign slot_ok = 32'(word.dst) < Slots && 32'(word.a) < Slots &&
      (word.b_kind != KindSlot || 32'(word.b) < Slots) && (!c_is_slot || 32'(word.c) < Slots);
  assign row_ok = on_link(word.op) ||
      (is_generated(word.op, word.b_kind) ? 32'(word.imm) < StreamRows :
       is_permutation(word.op) ? 32'(word.imm) < GaloisRows : 32'(word.imm) < Constants);

  always_comb begin
    code_o = CodeOk;
    if (word.op == OpEnd) begin
      if (word_i != '0) code_o = CodeNotAWord;
    end else if (word.op == OpWait) begin
      if (!wait_ok) code_o = CodeNotAWord;
    end else if (!known) begin
      code_o = CodeNotAWord;
    end else if ({word.controller, word.thread} != stream_i ||
                 32'(word.controller) >= Controllers) begin
      code_o = CodeStream;
    end else if (word.mask == '0 || (32'(word.mask) >> Rpaus) != '0 ||
                 (on_link(word.op) && !one)) begin
      code_o = CodeMask;
    end else if (word.op == OpBcast && 32'(word.c) >= Rpaus) begin
      code_o = CodeSource;
    end else if (!slot_ok) begin
      code_o = CodeSlot;
    end else if (word.thread ? main_only : word.op == OpPrng) begin
      code_o = CodeUnit;
    end else if ((is_transform(word.op) || word.op == OpAutoc || word.op == OpBcast) &&
                 is_narrow(word.dst, Memory)) begin
      code_o = CodeNarrow;
    end else if (!row_ok) begin
      code_o = CodeRow;
    end else if (32'(word.layer) >= Layers || (word.b_kind == KindGenerator && main_only)) begin
      code_o = CodeNotBuilt;
    end
  end

endmodule
