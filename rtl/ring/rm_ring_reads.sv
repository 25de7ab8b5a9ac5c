// SPDX-License-Identifier: Apache-2.0
// Decides how a word reads its operands (rm_ring_pkg), combinationally.
//
// A word is an instruction word. The decision is a module, so that synthesis maps it by itself and
// no deeper than it must be. The module first finds how operands lie to each other; the rest
// depends on few bits.
module rm_ring_reads
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter memory_t Memory = DefaultMemory
) (
    input  word_t  word_i,
    output reads_t reads_o
);

  (* keep *) places_t places;

  assign places = places_of(word_i.op, word_i.b_kind, word_i.dst,
                            {word_i.c, word_i.b[SlotWidth-1:0], word_i.a}, Memory);
  assign reads_o = reads_at(word_i.op, places, Memory);

  logic unused;
  assign unused = ^word_i;

endmodule
