// SPDX-License-Identifier: Apache-2.0
// Computes how long a word takes (docs/machines/ring.md, "Cycles of a word"): a base, and steps of
// a kind.
//
// A word is an instruction word. Its steps depend on the turns, the port cycles that it leaves to a
// word of the dyadic cores, and on the size of its limbs. If the read port of the word's source is
// free early, it is so after source cycles and the steps that read it.
//
// Latency 4, a word a cycle.
module rm_ring_span
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Rpaus = 10,
    parameter int unsigned LogRow = 5,
    parameter int unsigned LogLanes = 2,
    parameter memory_t Memory = DefaultMemory,
    parameter int unsigned Stages = 2,
    parameter int unsigned MulLatency = 12,
    parameter int unsigned GenLatency = 93,
    parameter bit Reduces = 1'b1,
    parameter int unsigned Reducer = 3,
    parameter int unsigned Hop = 2,
    parameter int unsigned Crossing = 2,
    parameter int unsigned Dies = 4,
    parameter int unsigned TotalWidth = 22
) (
    input  logic                  clk_i,
    input  word_t                 word_i,
    output steps_e                kind_o,
    output steps_e                source_kind_o,
    output logic                  early_o,
    output logic [TotalWidth-1:0] base_o,
    output logic [TotalWidth-1:0] source_o
);

  localparam int unsigned Period = 1 << (LogRow - LogLanes);
  localparam int unsigned Parts = 1 << Memory.log_parts;  // of a narrow slot's row
  localparam int unsigned Begin = 1 + 2;
  localparam int unsigned Through = 2 + 2 * (1 + 2) + 1;  // and each core
  localparam int unsigned Core = MulLatency + 1;
  localparam int unsigned ThroughDyadic = 2 + 2 * (1 + 1 + Period - 1) + Core + 1;

  typedef logic [TotalWidth-1:0] total_t;

  function automatic int unsigned die(int unsigned rpau);
    int unsigned at;
    at = 2 * Dies * rpau / Rpaus;
    return min2(at, 2 * Dies - 1 - min2(at, 2 * Dies - 1));
  endfunction

  // Returns the cycles on the ring from an RPAU to the one that is `hops` hops further.
  function automatic int unsigned way(int unsigned from, int unsigned hops);
    int unsigned cycles, a, b;
    cycles = 0;
    for (int unsigned i = 0; i < Rpaus; i++) begin
      if (i < hops) begin
        a = die((from + i) % Rpaus);
        b = die((from + i + 1) % Rpaus);
        cycles += Hop + Crossing * (a > b ? a - b : b - a);
      end
    end
    return cycles;
  endfunction

  typedef struct packed {
    steps_e kind;
    steps_e source_kind;
    logic early;
    total_t base;
    total_t source;
  } span_t;

  function automatic steps_e rows_of(logic [BeatWidth-1:0] beats);
    if (beats == BeatWidth'(1)) return StepsRows1;
    if (beats == BeatWidth'(2)) return StepsRows2;
    if (beats == BeatWidth'(3)) return StepsRows3;
    if (beats == BeatWidth'(Parts)) return StepsRowsP;
    if (beats == BeatWidth'(2 * Parts)) return StepsRows2P;
    if (beats == BeatWidth'(3 * Parts)) return StepsRows3P;
    return StepsRowsS;
  endfunction

  // Returns a word's span without its way on the ring.
  /* verilator lint_off UNUSEDSIGNAL */  // it takes some of the fields
  function automatic span_t span_of(word_t w, reads_t has);
    span_t t;
    logic [BeatWidth-1:0] beats, period;
    beats = has.more + BeatWidth'(1);
    period = (beats > BeatWidth'(Period)) ? beats : BeatWidth'(Period);
    t.kind = rows_of(beats);
    t.source_kind = rows_of(beats);
    t.early = 1'b0;
    t.source = total_t'(Begin + 2);
    // The last part of a row in a narrow slot is written Parts - 1 cycles later than the first.
    t.base = total_t'(Begin + Through + Core);
    if (is_narrow(is_pair(w.op) ? w.c : w.dst, Memory)) t.base += total_t'(Parts - 1);
    if (is_transform(w.op)) begin
      t.kind = (beats == BeatWidth'(1)) ? StepsPasses1 : has.strides ? StepsPassesS : StepsPassesP;
      t.base = total_t'(Begin + Through + Stages * Core);
      t.early = w.a != w.dst;
    end else if (w.op == OpBcast) begin
      t.base = total_t'(Begin + 2 + 2 + 1 + (Reduces ? Reducer + 2 : 0));
    end else if (w.op == OpLoad) begin
      // A load is counted from the last beat of the link's station on.
      t.kind = StepsNone;
      t.base = total_t'(2);
    end else if (w.op == OpStore) begin
      t.kind = StepsNone;
      t.base = total_t'(1);
      t.early = 1'b1;
      t.source = total_t'(Begin + 2 + 1 + 32'(Reduces));
    end else if (w.op == OpSplit || w.op == OpJoin) begin
      if (is_narrow(w.dst, Memory) && is_narrow(w.c, Memory)) t.kind = StepsPair2PP;
      else if (is_narrow(w.dst, Memory)) t.kind = (beats == BeatWidth'(Parts)) ? StepsPairPL : StepsPair2PL;
      else t.kind = (beats == BeatWidth'(2)) ? StepsPair :
          (beats == BeatWidth'(2 * Parts)) ? StepsPair2P : StepsPairP;
    end else if (is_permutation(w.op)) begin
      t.base += total_t'(2);
      if (w.op == OpAutoh) t.kind = (beats == BeatWidth'(1)) ? StepsRows2 : StepsRows2P;
    end else if (!w.thread) begin
      t.base += total_t'(w.b_kind == KindKey);
      if (w.b_kind == KindGenerator) begin
        t.base += total_t'(GenLatency);
        t.kind = (period == BeatWidth'(Period)) ? StepsRowsG : rows_of(period);
      end
    end else begin
      // A row takes a period, or as long as its busiest port needs. Rows of narrow slots are written
      // within that time.
      t.kind = (period == BeatWidth'(Period)) ? StepsRowsD : rows_of(period);
      t.base = total_t'(Begin + ThroughDyadic) +
          ((w.b_kind == KindKey) ? total_t'(1) :
           is_generated(w.op, w.b_kind) ? total_t'(GenLatency) : '0);
    end
    return t;
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */

  // ---- Stages: where its slots lie, how they are read, the span. ----

  word_t word_q, word_q2;
  places_t places_q;
  reads_t reads_q;
  span_t early_q, ready_q;

  always_ff @(posedge clk_i) begin
    word_q <= word_i;
    word_q2 <= word_q;
    places_q <= places_of(word_i.op, word_i.b_kind, word_i.dst,
                          {word_i.c, word_i.b[SlotWidth-1:0], word_i.a}, Memory);
    reads_q <= reads_at(word_q.op, places_q, Memory);
    early_q <= span_of(word_q2, reads_q);
  end

  // ---- On the ring: from a source to the last of its receivers one way round, for what goes there. ----

  logic [Rpaus-1:0] mask_q, behind_d, behind_q;  // behind: receivers, by their hops from the source
  logic [4:0] from_d, from_q;
  logic rings_q, stores_q, adds_q, adds_q2;
  total_t way_d, way_q;

  always_comb begin
    from_d = (word_i.op == OpBcast) ? word_i.c : 5'd0;
    behind_d = '0;
    for (int unsigned s = 0; s < Rpaus; s++) begin
      for (int unsigned hops = 0; hops < Rpaus; hops++) begin
        if (from_d == 5'(s)) behind_d[hops] |= word_i.mask[(s+hops)%Rpaus];
      end
    end
  end

  always_comb begin
    way_d = '0;
    for (int unsigned s = 0; s < Rpaus; s++) begin
      total_t most;
      most = '0;
      for (int unsigned hops = 0; hops < Rpaus; hops++) if (behind_q[hops]) most = total_t'(way(s, hops));
      if (rings_q && from_q == 5'(s)) way_d |= most;
      // A store's one RPAU to RPAU 0.
      if (stores_q && s > 0 && mask_q[s]) way_d |= total_t'(way(s, Rpaus - s));
    end
  end

  always_ff @(posedge clk_i) begin
    from_q <= from_d;
    behind_q <= behind_d;
    mask_q <= word_i.mask[Rpaus-1:0];
    rings_q <= word_i.op == OpBcast || word_i.op == OpLoad;
    stores_q <= word_i.op == OpStore;
    way_q <= way_d;
    // A store has its RPAU's ports until it is at the link.
    adds_q <= !stores_q;
    adds_q2 <= adds_q;
  end

  total_t way_q2;

  always_ff @(posedge clk_i) begin
    way_q2 <= way_q;
    ready_q <= early_q;
    ready_q.base <= early_q.base + (adds_q2 ? way_q2 : '0);
    ready_q.source <= early_q.source + way_q2;
  end

  assign kind_o = ready_q.kind;
  assign source_kind_o = ready_q.source_kind;
  assign early_o = ready_q.early;
  assign base_o = ready_q.base;
  assign source_o = ready_q.source;

  logic unused;
  assign unused = ^{word_q, word_q2, mask_q[0], reads_q};

endmodule
