// The board: when a word starts, and until when it holds what it uses (docs/machines/ring.md, "Issue"). Durations
// are computed ("Cycles of a word"): nothing reports back but the link's station, as how long a transfer takes is for
// the host to say. link_end_i is its last beat's cycle, with link_bad_i where the host's limb was too long or short.
//
// A record for each word in flight: one a stream for the cores' words, one for the ring, one for the link; that
// one stands still (open) until its transfer has ended. A record has the word's RPAUs
// and port groups (of the first Groups, and key memory behind them), the turns that a dyadic word takes of each
// read port in a period, or that another one leaves, and counts down to the word's end, and to that of its
// source's read port. The four streams are asked in their order, each seeing the grants before it.
//
// go_i: the streams' words are there, and cycle 0 is the one after it. Then done_o is up for a cycle, with the
// procedure's cycles and its code: CodeOk, or why a stream's word was refused (after the words in flight have
// ended), or CodeForEver.
module rm_ring_board
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Rpaus = 10,
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned Shared = 8,
    parameter int unsigned Groups = 4,
    parameter int unsigned MulLatency = 12,
    parameter int unsigned GenLatency = 93,
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
    input  logic                                            go_i,
    output logic                                            running_o,
    input  logic [Streams-1:0]                              valid_i,
    input  logic [Streams-1:0][63:0]                        word_i,
    input  logic [Streams-1:0][Queues-1:0][CountWidth-1:0]  needs_i,
    input  logic [Streams-1:0][3:0]                         code_i,
    input  logic                                            link_end_i,
    input  logic                                            link_bad_i,
    output logic [Streams-1:0]                              grant_o,
    output logic [Streams-1:0][LogPeriod-1:0]               turns_o,
    output logic                                            done_o,
    output code_e                                           code_o,
    output logic [1:0]                                      stream_o,
    output logic [63:0]                                     cycles_o
);

  localparam int unsigned Period = 1 << LogPeriod;
  localparam int unsigned Rows = 1 << (LogN - LogRow);
  localparam int unsigned Ports = Groups + 1;  // key memory's is the last
  localparam int unsigned Records = Streams + 2;
  localparam int unsigned LinkRecord = Streams + 1;
  localparam int unsigned TotalWidth = LogN + 8;

  // ---- Cycles of a word. ----

  localparam int unsigned Begin = 1 + 2;
  localparam int unsigned Through = 2 + 2 * (1 + 2) + 1;  // and each core
  localparam int unsigned Core = MulLatency + 1;
  localparam int unsigned ThroughDyadic = 2 + 2 * (1 + 1 + Period - 1) + Core + 1;
  localparam int unsigned Wait = pass_wait(LogN, LogRow, MulLatency);

  // Cycles of so many steps that leave `turns` of each period.
  function automatic int unsigned paced(int unsigned steps, int unsigned turns);
    return (steps * Period + Period - turns - 1) / (Period - turns);
  endfunction

  function automatic int unsigned die(int unsigned rpau);
    int unsigned at;
    at = 2 * Dies * rpau / Rpaus;
    return min2(at, 2 * Dies - 1 - min2(at, 2 * Dies - 1));
  endfunction

  // Cycles on the ring from an RPAU to one so many hops on.
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

  typedef logic [TotalWidth-1:0] total_t;

  function automatic total_t farthest(logic [4:0] source, logic [15:0] mask);
    total_t most;
    most = '0;
    for (int unsigned s = 0; s < Rpaus; s++) begin
      for (int unsigned hops = 0; hops < Rpaus; hops++) begin
        if (source == 5'(s) && mask[(s+hops)%Rpaus]) most = total_t'(way(s, hops));
      end
    end
    return most;
  endfunction

  // From the one RPAU of a mask to RPAU 0.
  function automatic total_t back(logic [15:0] mask);
    total_t cycles;
    cycles = '0;
    for (int unsigned s = 1; s < Rpaus; s++) if (mask[s]) cycles = total_t'(way(s, Rpaus - s));
    return cycles;
  endfunction

  // ---- Words. ----

  typedef struct packed {
    logic slow;  // a dyadic word
    logic cores;
    logic ring;
    logic link;
    logic open;  // a transfer that has not ended
    logic alone;  // and shares no port
    logic [15:0] readers;
    logic [15:0] writers;
    logic [Ports-1:0] source;
    logic [Ports-1:0] reads;  // but for the source
    logic [Ports-1:0] writes;
    logic [Ports-1:0][1:0] turns;  // that it asks of a read port
    logic [LogPeriod-1:0] left;  // or leaves
    total_t count;
    total_t source_count;
  } record_t;

  /* verilator lint_off UNUSEDSIGNAL */  // each function takes some of the fields
  function automatic record_t footprint(word_t w);
    record_t r;
    reads_t has;
    r = '0;
    has = reads_of(w.op, w.b_kind, {w.c, w.b[SlotWidth-1:0], w.a}, Shared);
    r.link = on_link(w.op);
    r.open = r.link;
    r.alone = w.op == OpLoad;
    r.ring = w.op == OpBcast || w.op == OpStore;
    r.cores = !r.ring && !r.link;
    r.slow = r.cores && w.thread;
    r.writers = w.mask;
    r.readers = (w.op == OpBcast) ? 16'd1 << w.c : w.mask;
    if (has.has.a) begin
      r.source[group_of(w.a, Shared)] = 1'b1;
      r.turns[group_of(w.a, Shared)] = 2'd1;
    end
    if (w.op == OpLoad && w.b_kind == KindKey) r.writes[Ports-1] = 1'b1;
    else if (w.op != OpStore) r.writes[group_of(w.dst, Shared)] = 1'b1;
    if (is_pair(w.op)) r.writes[group_of(w.c, Shared)] = 1'b1;
    if (has.has.b && !has.again.b) begin
      r.reads[group_of(has.slot[1], Shared)] = 1'b1;
      r.turns[group_of(has.slot[1], Shared)] += 2'd1;
    end
    if (has.has.c && !has.again.c) begin
      r.reads[group_of(w.c, Shared)] = 1'b1;
      r.turns[group_of(w.c, Shared)] += 2'd1;
    end
    if (w.b_kind == KindKey && r.cores) begin
      r.reads[Ports-1] = 1'b1;
      r.turns[Ports-1] = 2'd1;
    end
    if (is_transform(w.op)) r.reads[group_of(w.dst, Shared)] = 1'b1;
    return r;
  endfunction

  // {until its source's read port is free, until its end}, leaving so many turns.
  function automatic total_t [1:0] cycles_of(word_t w, logic [LogPeriod-1:0] turns);
    total_t rows, pair, passes, total, source;
    reads_t has;
    has = reads_of(w.op, w.b_kind, {w.c, w.b[SlotWidth-1:0], w.a}, Shared);
    rows = '0;
    pair = '0;
    passes = '0;
    for (int unsigned k = 0; k < Period; k++) begin
      for (int unsigned beats = 1; beats <= 3; beats++) begin
        if (turns == LogPeriod'(k) && 32'(has.more) + 1 == beats) begin
          rows = total_t'(paced(Rows * beats, k));
          pair = total_t'(paced(Rows * 2 + 1, k));
          passes = total_t'(pass_count(LogN) * paced(Rows, k) + (pass_count(LogN) - 1) * Wait);
        end
      end
    end
    if (is_transform(w.op)) begin
      total = total_t'(Begin + Through + Stages * Core) + passes;
      source = (w.a == w.dst) ? total : total_t'(Begin + 2) + rows;
    end else if (w.op == OpBcast) begin
      total = total_t'(Begin + 2 + 2 + 1 + Reducer + 2) + rows + farthest(w.c, w.mask);
      source = total;
    end else if (w.op == OpLoad) begin
      // From the station's last beat on.
      total = farthest(5'd0, w.mask) + total_t'(2);
      source = total;
    end else if (w.op == OpStore) begin
      total = total_t'(1);
      source = total_t'(Begin + 2 + 1 + 1) + rows + back(w.mask);
    end else if (w.op == OpSplit || w.op == OpJoin) begin
      total = total_t'(Begin + Through + Core) + pair;
      source = total;
    end else if (is_permutation(w.op)) begin
      total = total_t'(Begin + Through + Core + 2) + rows;
      source = total;
    end else if (!w.thread) begin
      total = total_t'(Begin + Through + Core) + rows + total_t'(w.b_kind == KindKey);
      source = total;
    end else begin
      // A row takes a period, or as long as its busiest port.
      total = total_t'(Begin + ThroughDyadic) +
          total_t'((32'(has.more) + 1 > Period) ? (32'(has.more) + 1) * Rows : Period * Rows) +
          ((w.b_kind == KindKey) ? total_t'(1) :
           is_generated(w.op, w.b_kind) ? total_t'(GenLatency) : '0);
      source = total;
    end
    return {source, total};
  endfunction

  // Ports of two words that are the same: reads of each, writes of each.
  function automatic logic [1:0][Ports-1:0] shared_ports(record_t w, record_t flying);
    logic [1:0][Ports-1:0] both;
    both[0] = (w.source | w.reads) &
        (flying.reads | ((flying.source_count != '0) ? flying.source : '0));
    both[1] = w.writes & flying.writes;
    if ((w.readers & flying.readers) == '0) both[0] = '0;
    if ((w.writers & flying.writers) == '0) both[1] = '0;
    return both;
  endfunction

  // Whether a word must wait for one in flight.
  function automatic logic blocked(record_t w, record_t flying);
    logic [1:0][Ports-1:0] both;
    logic b;
    both = shared_ports(w, flying);
    b = 1'b0;
    if (w.slow == flying.slow) begin
      b = both != '0;
    end else if (w.slow) begin
      // It has the turns that the other leaves.
      for (int unsigned g = 0; g < Ports; g++) begin
        b |= both[0][g] && (32'(w.turns[g]) > 32'(flying.left) || 32'(w.turns[g]) >= Period);
        b |= both[1][g] && flying.left == '0;
      end
    end else begin
      for (int unsigned g = 0; g < Ports; g++) begin
        b |= both[0][g] && 32'(flying.turns[g]) >= Period;
      end
      b |= w.alone && both != '0;
    end
    // The unit, the ring or the link.
    b |= w.cores && flying.cores && w.slow == flying.slow && (w.writers & flying.writers) != '0;
    b |= w.ring && flying.ring && flying.source_count != '0;
    b |= w.link && flying.link;
    return b && flying.count != '0;
  endfunction

  // Turns of a dyadic word in flight that another word must leave.
  function automatic logic [LogPeriod-1:0] turns_beside(record_t w, record_t flying);
    logic [1:0][Ports-1:0] both;
    logic [LogPeriod-1:0] most;
    both = shared_ports(w, flying);
    most = '0;
    if (flying.slow && !w.slow && flying.count != '0) begin
      for (int unsigned g = 0; g < Ports; g++) begin
        if (both[0][g] && LogPeriod'(flying.turns[g]) > most) most = LogPeriod'(flying.turns[g]);
        if (both[1][g] && most == '0) most = LogPeriod'(1);
      end
    end
    return most;
  endfunction

  /* verilator lint_on UNUSEDSIGNAL */

  // ---- State. ----

  record_t [Records-1:0] record_q, record_d, seen;
  logic [Queues-1:0][CountWidth-1:0] retired_q;
  logic running_q, stopped_q;
  code_e code_q;
  logic [1:0] stream_q, link_stream_q;
  logic [63:0] cycles_q;
  logic [Streams-1:0] ready, ends, refused;
  logic flying, all_end, finished, stuck;

  // ---- Grants. ----

  for (genvar s = 0; s < Streams; s++) begin : gen_ready
    logic enough;
    always_comb begin
      enough = 1'b1;
      for (int unsigned q = 0; q < Queues; q++) enough &= retired_q[q] >= needs_i[s][q];
    end
    assign ready[s] = running_q && valid_i[s] && enough;
    assign ends[s] = ready[s] && word_i[s][63:59] == OpEnd && code_i[s] == CodeOk;
    assign refused[s] = ready[s] && code_i[s] != CodeOk;
  end

  always_comb begin
    seen = record_q;
    grant_o = '0;
    turns_o = '0;
    for (int unsigned s = 0; s < Streams; s++) begin
      record_t w;
      logic free;
      w = footprint(word_t'(word_i[s]));
      free = ready[s] && !ends[s] && !stopped_q && refused == '0 && record_q[s].count == '0;
      for (int unsigned r = 0; r < Records; r++) begin
        free &= !blocked(w, seen[r]);
        if (turns_beside(w, seen[r]) > turns_o[s]) turns_o[s] = turns_beside(w, seen[r]);
      end
      w.left = turns_o[s];
      {w.source_count, w.count} = cycles_of(word_t'(word_i[s]), turns_o[s]);
      grant_o[s] = free;
      if (free) seen[w.link ? LinkRecord : w.ring ? Streams : s] = w;
    end
  end

  always_comb begin
    record_d = seen;
    for (int unsigned r = 0; r < Records; r++) begin
      if (seen[r].count != '0 && !seen[r].open) record_d[r].count = seen[r].count - 1'b1;
      if (seen[r].source_count != '0) record_d[r].source_count = seen[r].source_count - 1'b1;
    end
    if (link_end_i) record_d[LinkRecord].open = 1'b0;
  end

  always_comb begin
    flying = 1'b0;
    for (int unsigned r = 0; r < Records; r++) flying |= record_q[r].count != '0;
  end

  // In the cycle of the last word's end.
  assign all_end = &ends;
  assign stuck = !flying && grant_o == '0 && &valid_i && refused == '0;
  assign finished = running_q && !flying && (all_end || stopped_q || refused != '0 || stuck);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      stopped_q <= 1'b0;
      record_q <= '0;
    end else begin
      running_q <= go_i || (running_q && !finished);
      stopped_q <= !go_i && (stopped_q || refused != '0 || link_bad_i);
      record_q <= record_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (go_i) begin
      retired_q <= '0;
      cycles_q <= '0;
      code_q <= CodeOk;
    end else begin
      cycles_q <= cycles_q + 1'b1;
      for (int unsigned r = 0; r < Records; r++) begin
        // A counter at its end stays, as no wait asks for more.
        if (record_q[r].count == total_t'(1) && !record_q[r].open && !(&retired_q[r])) begin
          retired_q[r] <= retired_q[r] + 1'b1;
        end
      end
      for (int unsigned s = 0; s < Streams; s++) begin
        if (grant_o[s] && on_link(op_e'(word_i[s][63:59]))) link_stream_q <= 2'(s);
      end
      if (!stopped_q) begin
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
  end

  assign running_o = running_q;
  assign done_o = finished;
  assign cycles_o = cycles_q + 64'(Dispatch);

  always_comb begin
    code_o = code_q;
    stream_o = stream_q;
    if (!stopped_q) begin
      code_o = CodeOk;
      for (int unsigned s = Streams; s > 0; s--) begin
        if (refused[s-1]) begin
          code_o = code_e'(code_i[s-1]);
          stream_o = 2'(s - 1);
        end
      end
      if (refused == '0 && !all_end) begin
        code_o = CodeForEver;
        for (int unsigned s = Streams; s > 0; s--) if (!ends[s-1]) stream_o = 2'(s - 1);
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      // The queues are ahead: a stream that has not ended has its next word.
      words_ahead : assert (!running_q || stopped_q || (&valid_i));
    end
  end
`endif

endmodule
