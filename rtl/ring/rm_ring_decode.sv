// SPDX-License-Identifier: Apache-2.0
// Checks that a micro word names only resources that the machine has: code_o is CodeOk, or the
// reason for which the word is refused.
//
// A word is refused if it
//
// - is not the encoding of its own decoding,
// - belongs to another stream, or to a controller that this machine lacks,
// - names no RPAU or one beyond the machine, or is a transfer of several RPAUs,
// - is a broadcast from an RPAU beyond the machine,
// - names a slot beyond the memory,
// - is for cores which lack its operation,
// - has a result that comes in rows which a narrow slot cannot take,
// - names a row of a table beyond its depth,
// - needs a layer or a part without which this machine was built.
//
// Of several reasons code_o has the first in this order. END and WAIT are refused for the first
// reason only.
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
    output code_e       code_o,
    output logic        ok_o,    // CodeOk
    output logic        wait_o   // it is a WAIT
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

  assign known = 32'(word.op) <= LastOpcode && word.ring != RingPart &&
      (word.b_kind == KindKey || (word.b_kind == KindSlot && word.b < 7'd32) || word.b == '0);
  assign wait_ok = word_i[WaitOpLow-1:WaitQueueLow+WaitQueueWidth] == '0 &&
      32'(word_i[WaitQueueLow+:WaitQueueWidth]) < Queues;
  assign main_only = core_word && !coefficient_wise && word.op != OpPrng;
  assign one = (word.mask & (word.mask - 1'b1)) == '0;
  assign c_is_slot = word.op == OpMac || is_pair(word.op);
  assign slot_ok = 32'(word.dst) < Slots && 32'(word.a) < Slots &&
      (word.b_kind != KindSlot || 32'(word.b) < Slots) && (!c_is_slot || 32'(word.c) < Slots);
  assign row_ok = on_link(word.op) ||
      (is_generated(word.op, word.b_kind) ? 32'(word.imm) < StreamRows :
       is_permutation(word.op) ? 32'(word.imm) < GaloisRows : 32'(word.imm) < Constants);

  // Each reason is computed by itself, so that the first one is selected by little logic. All
  // except not_a_word concern only words that are neither END nor WAIT.
  localparam int unsigned Reasons = 8;

  (* keep *) logic ordinary, not_a_word;
  (* keep *) logic [Reasons-1:0] bad;
  code_e first;

  assign ordinary = word.op != OpEnd && word.op != OpWait;
  assign not_a_word = (word.op == OpEnd) ? word_i != '0 : (word.op == OpWait) ? !wait_ok : !known;
  assign bad[0] = {word.controller, word.thread} != stream_i || 32'(word.controller) >= Controllers;
  assign bad[1] = word.mask == '0 || (32'(word.mask) >> Rpaus) != '0 || (on_link(word.op) && !one);
  assign bad[2] = word.op == OpBcast && 32'(word.c) >= Rpaus;
  assign bad[3] = !slot_ok;
  assign bad[4] = word.thread ? main_only : word.op == OpPrng;
  assign bad[5] = (is_transform(word.op) || word.op == OpAutoc || word.op == OpBcast) &&
      is_narrow(word.dst, Memory);
  assign bad[6] = !row_ok;
  assign bad[7] = 32'(word.layer) >= Layers || (word.b_kind == KindGenerator && main_only);

  always_comb begin
    first = CodeNotBuilt;
    if (bad[0]) first = CodeStream;
    else if (bad[1]) first = CodeMask;
    else if (bad[2]) first = CodeSource;
    else if (bad[3]) first = CodeSlot;
    else if (bad[4]) first = CodeUnit;
    else if (bad[5]) first = CodeNarrow;
    else if (bad[6]) first = CodeRow;
  end

  assign ok_o = !not_a_word && !(ordinary && bad != '0);
  assign wait_o = word.op == OpWait && wait_ok;

  assign code_o = ok_o ? CodeOk : not_a_word ? CodeNotAWord : first;

endmodule
