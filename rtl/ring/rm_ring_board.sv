// SPDX-License-Identifier: Apache-2.0
// The scoreboard of the ring machine: decides when a word of the four streams starts, and until
// when it holds the units and ports that it uses (docs/machines/ring.md, "Issue").
//
// A word is an instruction word. Its duration is computed (docs/machines/ring.md, "Cycles of a
// word"). Only the link's station reports back, as the host decides how long a transfer takes.
// link_end_i marks the cycle of the transfer's last beat, with link_bad_i if the host's limb was
// too long or short.
//
// There is a record for each word in flight: one a stream for the cores' words, one for the ring,
// one for the link. The link's record stays open until its transfer has ended. A record has the
// word's RPAUs and port groups (of the first Groups, and key memory behind them). It has the turns
// of each read port: the cycles of a period that a dyadic word (a word of the dyadic cores) takes,
// or that another word leaves to it. It counts down to the word's end, and to the end of its
// source's read port. The four streams are asked in their order, each seeing the grants before it.
//
// A stream's next word becomes known step by step after a grant:
//
//   cycle 2   the word comes
//   cycle 3   its operands are registered
//   cycle 4   the units and ports that it uses
//   cycle 5   which of these each record and each other stream's next word uses
//   cycle 6   whether it must wait for the record; from then on (Again) it is asked
//
// A record takes its word one cycle after the grant, and its counts three cycles after the grant.
// In the first two cycles after the grant the record is known by the resources that its word shared
// with the next words.
//
// go_i: the streams' words are there. Again cycles later is the procedure's cycle 0. At the end
// done_o is high for a cycle, with the procedure's cycles and its code. The code is CodeOk,
// CodeForEver (all streams wait for each other), CodeLink (link_bad_i), or the reason for which a
// stream's word was refused. After the last two no more words are granted, and the words in flight
// end first.
module rm_ring_board
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Rpaus = 10,
    parameter int unsigned LogN = 14,
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
    parameter int unsigned Dispatch = 4,
    parameter int unsigned CountWidth = 16,
    localparam int unsigned LogPeriod = LogRow - LogLanes
) (
    input  logic                                            clk_i,
    input  logic                                            rst_ni,
    input  logic [SizeWidth-1:0]                            log_n_i,  // held from go_i on
    input  logic                                            go_i,
    output logic                                            running_o,
    input  logic [Streams-1:0]                              valid_i,
    input  logic [Streams-1:0][63:0]                        word_i,
    input  logic [Streams-1:0][Queues-1:0][CountWidth-1:0]  needs_i,
    input  logic [Streams-1:0][3:0]                         code_i,
    input  logic                                            link_end_i,
    input  logic                                            link_bad_i,
    output logic [Streams-1:0]                              grant_o,
    output logic [Streams-1:0]                              pop_o,
    output logic [Streams-1:0][LogPeriod-1:0]               turns_o,
    output logic                                            done_o,
    output code_e                                           code_o,
    output logic [1:0]                                      stream_o,
    output logic [63:0]                                     cycles_o
);

  localparam int unsigned Period = 1 << LogPeriod;
  localparam int unsigned Groups = groups_of(Memory);
  localparam int unsigned Ports = Groups + 1;  // key memory's is the last
  localparam int unsigned Parts = 1 << Memory.log_parts;  // of a narrow slot's row
  // The ports of narrow slots, which words never share.
  localparam logic [Ports-1:0] Narrow = (Memory.narrow > 0) ? Ports'(1) << (Groups - 1) : '0;
  localparam int unsigned Records = Streams + 2;
  localparam int unsigned LinkRecord = Streams + 1;
  localparam int unsigned TotalWidth = LogN + 8;
  localparam int unsigned Again = 6;
  localparam int unsigned Counts = 3;  // from the grant to the counts

  typedef logic [TotalWidth-1:0] total_t;

  // ---- Steps. ----

  // Returns the cycles that `steps` steps take if they leave `turns` cycles of each period.
  function automatic int unsigned paced(int unsigned steps, int unsigned turns);
    return (steps * Period + Period - turns - 1) / (Period - turns);
  endfunction

  typedef struct packed {
    logic early;
    total_t base;
    total_t source;
  } span_t;

  // Tables of the cycles of each kind of steps, by the number of turns that the steps leave; one table for each size of limbs.
  localparam int unsigned Kinds = 19;  // of steps_e
  localparam int unsigned Lefts = 1 << LogPeriod;
  typedef total_t [Lefts-1:0] lefts_t;
  typedef lefts_t [Kinds-1:0] table_t;

  function automatic table_t steps_at(int unsigned log_n);
    table_t t;
    int unsigned rows, passes, pause;
    rows = 1 << (log_n - LogRow);
    passes = pass_count(log_n, Stages);
    pause = pass_wait(log_n, LogRow, Stages, MulLatency);
    t = '0;
    // A dyadic word takes three turns at most.
    for (int unsigned k = 0; k < min2(Period, 4); k++) begin
      t[StepsRows1][k] = total_t'(paced(rows, k));
      t[StepsRows2][k] = total_t'(paced(rows * 2, k));
      t[StepsRows3][k] = total_t'(paced(rows * 3, k));
      t[StepsRowsP][k] = total_t'(paced(rows * Parts, k));
      t[StepsRows2P][k] = total_t'(paced(rows * 2 * Parts, k));
      t[StepsRows3P][k] = total_t'(paced(rows * 3 * Parts, k));
      t[StepsRowsS][k] = total_t'(paced(rows << LogRow, k));
      t[StepsRowsD][k] = total_t'(rows * Period);
      t[StepsRowsG][k] = total_t'(paced(rows * Period, k));
      t[StepsPair][k] = total_t'(paced(rows * 2 + 1, k));
      t[StepsPairP][k] = total_t'(paced(rows * Parts + 1, k));
      t[StepsPair2P][k] = total_t'(paced(rows * 2 * Parts + 1, k));
      t[StepsPairPL][k] = total_t'(paced(rows * Parts + Parts - 1, k));
      t[StepsPair2PL][k] = total_t'(paced(rows * 2 * Parts + Parts - 1, k));
      t[StepsPair2PP][k] = total_t'(paced(rows * 2 * Parts + Parts, k));
      t[StepsPasses1][k] = total_t'(passes * paced(rows, k) + (passes - 1) * pause);
      t[StepsPassesP][k] = total_t'(paced(rows * Parts, k) + (passes - 1) * (paced(rows, k) + pause));
      t[StepsPassesS][k] = total_t'(paced(rows << LogRow, k) +
                                    (passes - 1) * (paced(rows, k) + pause));
    end
    return t;
  endfunction

  typedef table_t [(1<<SizeWidth)-1:0] tables_t;

  function automatic tables_t all_steps();
    tables_t t;
    for (int unsigned n = 0; n < 1 << SizeWidth; n++) begin
      t[n] = (n > LogRow && n <= LogN) ? steps_at(n) : '0;
    end
    return t;
  endfunction

  localparam tables_t Tables = all_steps();
  table_t steps_q;

  always_ff @(posedge clk_i) steps_q <= Tables[log_n_i];

  // ---- Words. ----

  // The resources that a word uses.
  typedef struct packed {
    logic slow;  // a dyadic word
    logic cores;
    logic ring;
    logic link;
    logic generates;
    logic alone;  // and shares no port
    logic [Rpaus-1:0] readers;
    logic [Rpaus-1:0] writers;
    logic [Ports-1:0] source;
    logic [Ports-1:0] reads;  // but for the source
    logic [Ports-1:0] both;
    logic [Ports-1:0] writes;
    logic [3:1][Ports-1:0] turns;  // [k]: read ports of which it asks for at least k
  } uses_t;

  // The ports of a word's slots, one mask for each slot that it has.
  typedef struct packed {
    logic [Ports-1:0] a;
    logic [Ports-1:0] b;  // none if b is another operand again
    logic [Ports-1:0] c;
    logic [Ports-1:0] key;
    logic [Ports-1:0] dst;
    logic [Ports-1:0] second;
  } ports_t;

  /* verilator lint_off UNUSEDSIGNAL */  // each function takes some of the fields
  function automatic logic [Ports-1:0] port_of(logic [SlotWidth-1:0] slot);
    logic [Ports-1:0] port;
    for (int unsigned g = 0; g < Ports; g++) port[g] = g < Groups && in_group(slot, g, Memory);
    return port;
  endfunction

  function automatic ports_t ports_of(word_t w);
    ports_t p;
    operands_t has, again;
    logic [Ports-1:0] key;
    has = operands_of(w.op, w.b_kind);
    again = again_of(w.op, has, {w.c, w.b[SlotWidth-1:0], w.a});
    key = Ports'(1) << (Ports - 1);
    p.a = has.a ? port_of(w.a) : '0;
    p.b = (has.b && !again.b) ? port_of(w.b[SlotWidth-1:0]) : '0;
    p.c = (has.c && !again.c) ? port_of(w.c) : '0;
    p.key = (w.b_kind == KindKey && w.op != OpBcast && !on_link(w.op)) ? key : '0;
    if (w.op == OpLoad && w.b_kind == KindKey) p.dst = key;
    else p.dst = (w.op != OpStore) ? port_of(w.dst) : '0;
    p.second = is_pair(w.op) ? port_of(w.c) : '0;
    return p;
  endfunction

  function automatic uses_t uses_of(word_t w, ports_t p);
    uses_t u;
    u.link = on_link(w.op);
    u.alone = w.op == OpLoad;
    u.ring = w.op == OpBcast || w.op == OpStore;
    u.cores = !u.ring && !u.link;
    u.slow = u.cores && w.thread;
    u.generates = u.cores && is_generated(w.op, w.b_kind);
    u.writers = w.mask[Rpaus-1:0];
    u.readers = (w.op == OpBcast) ? Rpaus'(16'd1 << w.c) : w.mask[Rpaus-1:0];
    u.source = p.a;
    u.reads = p.b | p.c | p.key;
    if (is_transform(w.op)) u.reads |= p.dst;
    u.both = u.source | u.reads;
    u.writes = p.dst | p.second;
    u.turns[1] = p.a | p.b | p.c | p.key;
    u.turns[2] = (p.a & p.b) | (p.a & p.c) | (p.b & p.c);
    u.turns[3] = p.a & p.b & p.c;
    // No word shares the port of narrow slots, so no turns are asked of it.
    for (int unsigned k = 1; k <= 3; k++) u.turns[k] &= ~Narrow;
    return u;
  endfunction

  // ---- What two words have in common. ----

  // The reasons for which a word must wait for a word in flight, with those at the read port of
  // that word's source apart. Both need the same unit or port, or the word in flight leaves too few
  // turns for a dyadic word.
  typedef struct packed {
    logic whole;
    logic [3:1] reads;  // [k]: at least k turns
    logic writes;
    logic source;
    logic [3:1] source_reads;
  } meets_t;

  // Returns in bit k whether a word asks for at least k turns of one of the ports `ports`.
  function automatic logic [3:1] turns_of(logic [3:1][Ports-1:0] turns, logic [Ports-1:0] ports);
    logic [3:1] at_least;
    for (int unsigned k = 1; k <= 3; k++) at_least[k] = (turns[k] & ports) != '0;
    return at_least;
  endfunction

  function automatic meets_t meets(uses_t w, uses_t flying);
    meets_t m;
    logic [Ports-1:0] reads, writes, source, alone;
    logic units, readers;
    units = (w.writers & flying.writers) != '0;
    readers = (w.readers & flying.readers) != '0;
    reads = w.both & flying.reads;
    source = w.both & flying.source;
    writes = w.writes & flying.writes;
    m = '0;
    // Ports that the word shares with no other.
    alone = w.alone ? '1 : Narrow;
    if (w.slow == flying.slow) begin
      m.whole = (readers && reads != '0) || (units && writes != '0);
      m.source = readers && source != '0;
    end else if (w.slow) begin
      m.whole = (readers && (reads & Narrow) != '0) || (units && (writes & Narrow) != '0);
      m.source = readers && (source & Narrow) != '0;
      // A dyadic word takes the turns that the other word leaves.
      m.reads = readers ? turns_of(w.turns, flying.reads) : '0;
      m.source_reads = readers ? turns_of(w.turns, flying.source) : '0;
      m.writes = units && writes != '0;
      if (Period <= 3) begin
        m.whole |= readers && (w.turns[min2(Period, 3)] & flying.reads) != '0;
        m.source |= readers && (w.turns[min2(Period, 3)] & flying.source) != '0;
      end
    end else begin
      m.whole = (readers && (reads & alone) != '0) || (units && (writes & alone) != '0);
      m.source = readers && (source & alone) != '0;
      if (Period <= 3) begin
        m.whole |= readers && (flying.turns[min2(Period, 3)] & w.both & flying.reads) != '0;
        m.source |= readers && (flying.turns[min2(Period, 3)] & w.both & flying.source) != '0;
      end
    end
    // Both words need the same unit, the generator, the ring or the link.
    m.whole |= w.cores && flying.cores && w.slow == flying.slow && units;
    m.whole |= w.generates && flying.generates && units;
    m.source |= w.ring && flying.ring;
    m.whole |= w.link && flying.link;
    return m;
  endfunction

  // A number of turns, with bit k set if there are at least k.
  typedef logic [3:1] turns_t;

  // Returns whether a word must wait for a word that leaves `left` turns: {until its source's port is free, until its end}.
  function automatic logic [1:0] waits(meets_t m, turns_t left);
    return {
      m.source || (m.source_reads & ~left) != '0,
      m.whole || (m.reads & ~left) != '0 || (m.writes && !left[1])
    };
  endfunction

  // The same for a word that has just begun: the other must wait in any case (whole), or if fewer
  // turns are left than it asks for.
  typedef struct packed {
    logic whole;
    turns_t turns;
  } begun_t;

  function automatic begun_t begun(meets_t m);
    begun_t b;
    b.whole = m.whole || m.source;
    b.turns = m.reads | m.source_reads;
    b.turns[1] |= m.writes;
    return b;
  endfunction

  function automatic logic hinders(begun_t b, turns_t left);
    return b.whole || (b.turns & ~left) != '0;
  endfunction

  // Returns the turns that a word must leave to a dyadic word in flight.
  function automatic turns_t turns_beside(uses_t w, uses_t flying);
    turns_t at_least;
    at_least = '0;
    if (flying.slow && !w.slow) begin
      if ((w.readers & flying.readers) != '0) at_least = turns_of(flying.turns, w.both);
      at_least[1] |= (w.writers & flying.writers) != '0 && (w.writes & flying.writes & ~Narrow) != '0;
    end
    return at_least;
  endfunction

  /* verilator lint_on UNUSEDSIGNAL */

  // ---- State. ----

  uses_t [Records-1:0] record_q, record_d;
  turns_t [Records-1:0] left_q, left_d;  // turns that it leaves
  span_t [Records-1:0] span_q, span_d;
  logic [Records-1:0] live_q, source_q, open_q;
  logic [Records-1:0][Counts:1] fresh_q;  // [k]: granted k cycles ago
  logic [Records-1:0][1:0][Streams-1:0] from_q;  // and to which stream, one and two cycles ago
  total_t [Records-1:0] steps_now_q, steps_now_d, source_steps_q, source_steps_d;
  total_t [Records-1:0] count_q, count_d, source_count_q, source_count_d;
  logic [Records-1:0] last, source_last;
  logic [Queues-1:0][CountWidth-1:0] retired_q, retired_d;
  logic [Again-1:0] going_q;
  logic running_q, stopped_q, idle_q;
  code_e code_q;
  logic [1:0] stream_q, link_stream_q;
  logic [63:0] cycles_q;

  // The next word of each stream, and what is known of it.
  word_t [Streams-1:0] word_q;
  ports_t [Streams-1:0] ports_q;
  uses_t [Streams-1:0] uses_q;
  span_t [Streams-1:0] ready_span;
  steps_e [Streams-1:0] ready_kind, ready_source_kind;
  lefts_t [Streams-1:0] ready_steps_q, ready_source_q;
  logic [Streams-1:0] is_end_q, is_bad_q, is_late_q, enough_q;
  logic [Streams-1:0][$clog2(Again)-1:0] wait_q;
  meets_t [Streams-1:0][Records-1:0] flying_meets_q;
  turns_t [Streams-1:0][Records-1:0] flying_beside_q, beside_q, beside_d;
  logic [Streams-1:0][Records-1:0] waits_q, waits_d;  // for a record, two cycles after its grant and later
  logic [Streams-1:0][Streams-1:0] waits_begun_q;  // for a word that was granted in the cycle before
  begun_t [Streams-1:0][Streams-1:0] begun_q;
  turns_t [Streams-1:0][Streams-1:0] also_q;
  turns_t [Streams-1:0] leaves, leaves_q, leaves_q2;
  logic [Streams-1:0] ready, ends, refused;
  logic [Records-1:0][Streams-1:0] into;
  logic [Streams-1:0][Streams-1:0] waits_also;
  logic flying, all_end, finished;

  // ---- What is asked. ----

  // Only streams 1 and 3, and their records, have dyadic words.
  uses_t [Streams-1:0] asked;
  uses_t [Records-1:0] flown;

  always_comb begin
    asked = uses_q;
    flown = record_q;
    for (int unsigned s = 0; s < Streams; s += 2) asked[s].slow = 1'b0;
    for (int unsigned r = 0; r < Records; r++) begin
      if (r % 2 == 0 || r >= Streams) flown[r].slow = 1'b0;
    end
  end

  word_t [Streams-1:0] next;

  for (genvar s = 0; s < Streams; s++) begin : gen_next
    assign next[s] = word_t'(word_i[s]);

    rm_ring_span #(
        .Rpaus(Rpaus),
        .LogRow(LogRow),
        .LogLanes(LogLanes),
        .Memory(Memory),
        .Stages(Stages),
        .MulLatency(MulLatency),
        .GenLatency(GenLatency),
        .Reduces(Reduces),
        .Reducer(Reducer),
        .Hop(Hop),
        .Crossing(Crossing),
        .Dies(Dies),
        .TotalWidth(TotalWidth)
    ) u_span (
        .clk_i,
        .word_i       (word_q[s]),
        .kind_o       (ready_kind[s]),
        .source_kind_o(ready_source_kind[s]),
        .early_o      (ready_span[s].early),
        .base_o       (ready_span[s].base),
        .source_o     (ready_span[s].source)
    );
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned s = 0; s < Streams; s++) begin
      word_q[s] <= next[s];
      ports_q[s] <= ports_of(next[s]);
      uses_q[s] <= uses_of(word_q[s], ports_q[s]);
      is_end_q[s] <= word_i[s][WordOpLow+:WordOpWidth] == OpEnd && code_i[s] == CodeOk;
      is_bad_q[s] <= code_i[s] != CodeOk;
      for (int unsigned g = 0; g < Streams; g++) begin
        begun_q[s][g] <= begun(meets(asked[s], asked[g]));
        also_q[s][g] <= turns_beside(asked[s], asked[g]);
      end
      for (int unsigned r = 0; r < Records; r++) begin
        flying_meets_q[s][r] <= meets(asked[s], flown[r]);
        flying_beside_q[s][r] <= turns_beside(asked[s], flown[r]);
      end
    end
  end

  always_comb begin
    retired_d = retired_q;
    for (int unsigned r = 0; r < Records; r++) begin
      // A counter stays at its largest value, because no WAIT asks for more.
      if (last[r] && !(&retired_q[r])) retired_d[r] = retired_q[r] + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    retired_q <= go_i ? '0 : retired_d;
    for (int unsigned s = 0; s < Streams; s++) begin
      logic enough;
      enough = 1'b1;
      for (int unsigned q = 0; q < Queues; q++) enough &= retired_d[q] >= needs_i[s][q];
      enough_q[s] <= enough;
    end
  end

  // ---- Grants. ----

  for (genvar s = 0; s < Streams; s++) begin : gen_ready
    assign ready[s] = running_q && !is_late_q[s] && enough_q[s];
    assign ends[s] = ready[s] && is_end_q[s];
    assign refused[s] = ready[s] && is_bad_q[s];
  end

  // The turns are computed for both cases, with a grant of stream 1 in this cycle and without,
  // because that grant comes late. Stream 1 is the dyadic stream before a main one.
  turns_t [Streams-1:0] leaves_beside;

  always_comb begin
    grant_o = '0;
    turns_o = '0;
    waits_also = '0;
    leaves = '0;
    leaves_beside = '0;
    for (int unsigned s = 0; s < Streams; s++) begin
      logic free;
      free = ready[s] && !is_end_q[s] && !is_bad_q[s] && !stopped_q && !live_q[s];
      for (int unsigned r = 0; r < Records; r++) begin
        free &= !waits_q[s][r];
        if (live_q[r]) leaves[s] |= beside_q[s][r];
      end
      for (int unsigned g = 0; g < Streams; g++) free &= !(pop_o[g] && waits_begun_q[s][g]);
      for (int unsigned g = 0; g < s; g++) free &= !(grant_o[g] && waits_also[s][g]);
      grant_o[s] = free;
      leaves_beside[s] = leaves[s] | ((s > 1) ? also_q[s][1] : '0);
      for (int unsigned w = 0; w < Streams; w++) begin
        waits_also[w][s] = (s > 1 && grant_o[1]) ? hinders(begun_q[w][s], leaves_beside[s]) :
            hinders(begun_q[w][s], leaves[s]);
      end
      if (s > 1 && grant_o[1]) leaves[s] = leaves_beside[s];
      turns_o[s] = LogPeriod'({leaves[s][2], leaves[s][3] || (leaves[s][1] && !leaves[s][2])});
    end
  end

  for (genvar r = 0; r < Records; r++) begin : gen_into
    for (genvar s = 0; s < Streams; s++) begin : gen_stream
      if (r == LinkRecord) begin : gen_link
        assign into[r][s] = grant_o[s] && uses_q[s].link;
      end else if (r == Streams) begin : gen_ring
        assign into[r][s] = grant_o[s] && uses_q[s].ring && !uses_q[s].link;
      end else begin : gen_cores
        assign into[r][s] = r == s && grant_o[s] && uses_q[s].cores;
      end
    end
  end

  // A record takes its word a cycle after the grant; what the next words have in common with it is known two cycles later. Until
  // then they go by what they have in common with the stream's word.
  always_comb begin
    record_d = record_q;
    left_d = left_q;
    span_d = span_q;
    for (int unsigned r = 0; r < Records; r++) begin
      for (int unsigned g = 0; g < Streams; g++) begin
        if (from_q[r][0][g]) begin
          record_d[r] = uses_q[g];
          left_d[r] = leaves_q[g];
          span_d[r] = ready_span[g];
        end
      end
    end
    for (int unsigned s = 0; s < Streams; s++) begin
      for (int unsigned r = 0; r < Records; r++) begin
        logic [1:0] known;
        logic stays;
        known = waits(flying_meets_q[s][r], left_q[r]);
        stays = live_q[r] && !last[r];
        waits_d[s][r] = stays && (known[0] || (known[1] && source_q[r] && !source_last[r]));
        if (fresh_q[r][1] || fresh_q[r][2]) begin
          waits_d[s][r] = 1'b0;
          for (int unsigned g = 0; g < Streams; g++) begin
            waits_d[s][r] |= (from_q[r][0][g] && hinders(begun_q[s][g], leaves_q[g])) ||
                (from_q[r][1][g] && hinders(begun_q[s][g], leaves_q2[g]));
          end
        end
        beside_d[s][r] = flying_beside_q[s][r];
        // Records of the streams, in the cycles in which their words are new.
        if (r < Streams && (grant_o[r] || fresh_q[r][1] || fresh_q[r][2])) beside_d[s][r] = also_q[s][r];
      end
    end
  end

  // The cycles of a stream's next word are looked up for every number of turns left. That number is
  // known two cycles after the grant.
  always_ff @(posedge clk_i) begin
    for (int unsigned s = 0; s < Streams; s++) begin
      ready_steps_q[s] <= steps_q[ready_kind[s]];
      ready_source_q[s] <= steps_q[ready_source_kind[s]];
    end
  end

  always_comb begin
    steps_now_d = '0;
    source_steps_d = '0;
    for (int unsigned r = 0; r < Records; r++) begin
      for (int unsigned g = 0; g < Streams; g++) begin
        logic [LogPeriod-1:0] left;
        left = LogPeriod'({leaves_q2[g][2], leaves_q2[g][3] || (leaves_q2[g][1] && !leaves_q2[g][2])});
        if (from_q[r][1][g]) begin
          steps_now_d[r] = ready_steps_q[g][left];
          source_steps_d[r] = ready_source_q[g][left];
        end
      end
    end
  end

  // ---- Ends. ----

  for (genvar r = 0; r < Records; r++) begin : gen_count
    logic fresh;
    assign fresh = fresh_q[r] != '0;
    assign last[r] = live_q[r] && !fresh && !open_q[r] && count_q[r] == total_t'(1);
    assign source_last[r] = !fresh && source_count_q[r] == total_t'(1);
    always_comb begin
      count_d[r] = count_q[r] - total_t'(!open_q[r]);
      source_count_d[r] = source_count_q[r] - 1'b1;
      if (fresh_q[r][Counts]) begin
        // In the next cycle, Counts + 1 cycles of the word have passed.
        count_d[r] = span_q[r].base + steps_now_q[r] - (open_q[r] ? '0 : total_t'(Counts + 1));
        source_count_d[r] = (span_q[r].early ? span_q[r].source + source_steps_q[r] :
                             span_q[r].base + steps_now_q[r]) - total_t'(Counts + 1);
      end
    end
  end

  assign flying = live_q != '0;

  // The program is finished when no word is in flight and all streams have ended, or were stopped.
  assign all_end = &ends;
  assign finished = running_q && !flying && (all_end || stopped_q || idle_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      going_q <= '0;
      running_q <= 1'b0;
      stopped_q <= 1'b0;
      idle_q <= 1'b0;
      live_q <= '0;
      source_q <= '0;
      open_q <= '0;
      fresh_q <= '0;
      from_q <= '0;
      pop_o <= '0;
      is_late_q <= '1;
    end else begin
      going_q <= {going_q[Again-2:0], go_i};
      running_q <= going_q[Again-1] || (running_q && !finished);
      stopped_q <= !go_i && (stopped_q || refused != '0 || link_bad_i);
      // All streams wait for each other, so that nothing can change any more.
      idle_q <= running_q && !finished && !flying && grant_o == '0 && refused == '0 && is_late_q == '0 && !all_end;
      pop_o <= grant_o;
      for (int unsigned r = 0; r < Records; r++) begin
        fresh_q[r] <= {fresh_q[r][Counts-1:1], into[r] != '0};
        from_q[r] <= {from_q[r][0], into[r]};
        live_q[r] <= into[r] != '0 || (live_q[r] && !last[r]);
        source_q[r] <= into[r] != '0 || (source_q[r] && !source_last[r] && !last[r]);
        if (r == LinkRecord) open_q[r] <= into[r] != '0 || (open_q[r] && !link_end_i);
      end
      for (int unsigned s = 0; s < Streams; s++) begin
        is_late_q[s] <= go_i || grant_o[s] || (is_late_q[s] && (!valid_i[s] || wait_q[s] != '0));
      end
    end
  end

  always_ff @(posedge clk_i) begin
    record_q <= record_d;
    left_q <= left_d;
    span_q <= span_d;
    count_q <= count_d;
    source_count_q <= source_count_d;
    waits_q <= waits_d;
    beside_q <= beside_d;
    waits_begun_q <= waits_also;
    leaves_q <= leaves;
    leaves_q2 <= leaves_q;
    steps_now_q <= steps_now_d;
    source_steps_q <= source_steps_d;
    for (int unsigned s = 0; s < Streams; s++) begin
      if (grant_o[s] || go_i) wait_q[s] <= ($clog2(Again))'(Again - 2);
      else if (wait_q[s] != '0) wait_q[s] <= wait_q[s] - 1'b1;
      if (grant_o[s] && uses_q[s].link) link_stream_q <= 2'(s);
    end
    cycles_q <= going_q[Again-1] ? 64'(Dispatch) : cycles_q + 1'b1;
    if (go_i) begin
      code_q <= CodeOk;
    end else if (!stopped_q) begin
      if (link_bad_i) begin
        code_q <= CodeLink;
        stream_q <= link_stream_q;
      end
      for (int unsigned s = Streams; s > 0; s--) begin
        if (refused[s-1]) begin
          code_q <= code_e'(code_i[s-1]);
          stream_q <= 2'(s - 1);
        end
      end
    end
  end

  assign running_o = running_q;
  assign done_o = finished;
  assign cycles_o = cycles_q;

  always_comb begin
    code_o = code_q;
    stream_o = stream_q;
    if (!stopped_q && !all_end) begin
      code_o = CodeForEver;
      for (int unsigned s = Streams; s > 0; s--) if (!ends[s-1]) stream_o = 2'(s - 1);
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      // The queues are ahead: a stream that has not ended has its next word.
      words_ahead : assert (!running_q || stopped_q || (&valid_i));
      source_first : assert ((source_q & ~live_q) == '0);
    end
  end
`endif

endmodule
