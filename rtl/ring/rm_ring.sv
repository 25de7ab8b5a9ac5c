// SPDX-License-Identifier: Apache-2.0
// The ring machine (docs/machines/ring.md): computes with the limbs of a ciphertext on Rpaus units,
// each with primes of its own, which are connected in a ring.
//
//   programs ── fetch x 4 ── board ── dispatch ── RPAU 0 ── hop ── RPAU 1 ── hop ── ...
//
// Four streams of micro instruction words (words) run side by side; the board starts their words.
// run_i starts the procedure that the program memories and tables hold. done_o is high for a cycle
// at its end: when all of its words have retired, or, with another code than CodeOk, when it was
// stopped (rm_ring_board) and the words in flight have ended. With it come cycles_o, from the first
// grant to the end of the last word and Dispatch, and code_o. Unless that is CodeOk, stream_o is
// the stream of the refused word or of the wrong transfer, or for CodeForEver the first that has
// not ended.
//
// load_* writes programs and tables while nothing runs. load_select_i says on which RPAUs. Kind 15
// is a program's word (load_table_i its stream, load_addr_i its place). Kind 13 is log2 of the
// coefficients of its limbs (LogN at reset), for which the tables of twiddles must be loaded. The
// other kinds are rm_ring_rpau's. Limbs come and go by the link, as words of a program say
// (rm_ring_link).
//
// For lockstep, watch_* is what each RPAU writes, and granted_o what the board grants.
module rm_ring
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Rpaus = 2,
    parameter int unsigned LogN = 6,
    parameter int unsigned LogRow = 2,
    parameter int unsigned LogLanes = 1,
    parameter int unsigned Shared = 8,
    parameter int unsigned Singles = 3,
    parameter int unsigned Narrow = 2,
    parameter int unsigned LogParts = 1,
    parameter int unsigned Width = 60,
    // The primes of each RPAU, by layer; Q where there are none.
    parameter int unsigned Moduli = 1,
    // The layers, of which each has a prime at a time.
    parameter int unsigned Layers = Moduli,
    parameter logic [Moduli-1:0][63:0] Q = {Moduli{64'h0800_0000_0230_0001}},
    parameter logic [Moduli-1:0][63:0] Q0 = Q,
    parameter logic [Moduli-1:0][63:0] Q1 = Q,
    parameter logic [Moduli-1:0][63:0] Q2 = Q,
    parameter logic [Moduli-1:0][63:0] Q3 = Q,
    parameter logic [Moduli-1:0][63:0] Q4 = Q,
    parameter logic [Moduli-1:0][63:0] Q5 = Q,
    parameter logic [Moduli-1:0][63:0] Q6 = Q,
    parameter logic [Moduli-1:0][63:0] Q7 = Q,
    parameter logic [Moduli-1:0][63:0] Q8 = Q,
    parameter logic [Moduli-1:0][63:0] Q9 = Q,
    parameter int unsigned Stages = 2,
    parameter int unsigned MulLatency = 12,
    parameter int unsigned GenLatency = 93,
    parameter int unsigned Fold = 9,
    parameter bit Reduces = 1'b1,
    parameter int unsigned Reducer = 3,
    parameter int unsigned Hop = 2,
    parameter int unsigned Crossing = 2,
    parameter int unsigned Dies = 4,
    parameter int unsigned Dispatch = 4,
    parameter int unsigned Controllers = 2,
    parameter int unsigned KeySlots = 18,
    parameter int unsigned KeyLogGroup = 1,
    parameter int unsigned KeyStripes = 9,
    parameter int unsigned Constants = 256,
    parameter int unsigned StreamRows = 128,
    parameter int unsigned Seeds = 64,
    parameter int unsigned GaloisRows = 128,
    parameter int unsigned Words = 4096,
    localparam memory_t Memory = '{
        shared: Shared, singles: Singles, narrow: Narrow, log_row: LogRow, log_parts: LogParts
    },
    localparam int unsigned Groups = groups_of(Memory),
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned LogPeriod = LogRow - LogLanes,
    localparam int unsigned LogSteps = LogN - LogRow
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     run_i,
    output logic                     done_o,
    output logic [ 3:0]              code_o,
    output logic [ 1:0]              stream_o,
    output logic [63:0]              cycles_o,
    input  logic                     load_i,
    input  logic [Rpaus-1:0]         load_select_i,
    input  logic [ 3:0]              load_kind_i,
    input  logic [ 7:0]              load_table_i,
    input  logic [15:0]              load_addr_i,
    input  logic [63:0]              load_data_i,
    output logic                     want_o,
    output logic                     want_store_o,
    output logic                     want_key_o,
    output logic [ 3:0]              want_rpau_o,
    output logic [11:0]              want_place_o,
    input  logic                     in_valid_i,
    output logic                     in_ready_o,
    input  logic [63:0]              in_data_i,
    input  logic                     in_last_i,
    output logic                     out_valid_o,
    input  logic                     out_ready_i,
    output logic [63:0]              out_data_o,
    output logic                     out_last_o,
    output logic                     running_o,
    output logic [Streams-1:0]       granted_o,
    output logic [Rpaus-1:0][Groups-1:0][Row-1:0]               watch_we_o,
    output logic [Rpaus-1:0][Groups-1:0][SlotWidth-1:0]         watch_slot_o,
    output logic [Rpaus-1:0][Groups-1:0][Row-1:0][LogSteps-1:0] watch_addr_o,
    output logic [Rpaus-1:0][Groups-1:0][Row-1:0][Width-1:0]    watch_data_o
);

  localparam int unsigned CountWidth = 16;
  localparam logic [9:0][Moduli-1:0][63:0] Primes = {Q9, Q8, Q7, Q6, Q5, Q4, Q3, Q2, Q1, Q0};

  if (Rpaus > 10 || Dispatch == 0) begin : gen_check
    $error("ten RPAUs at most, and a cycle of dispatch");
  end

  function automatic int unsigned widest(logic [Moduli-1:0][63:0] primes);
    int unsigned bits;
    bits = 0;
    for (int unsigned m = 0; m < Moduli; m++) if (bits_of(primes[m]) > bits) bits = bits_of(primes[m]);
    return bits;
  endfunction

  // Returns the number of an RPAU's own primes. If it has fewer than others, its list is filled up
  // with its first prime, and it is built without these repetitions.
  function automatic int unsigned own_moduli(logic [Moduli-1:0][63:0] primes);
    int unsigned own;
    own = 1;
    for (int unsigned m = 1; m < Moduli; m++) if (primes[m] != primes[0]) own = m + 1;
    return own;
  endfunction

  // Returns the die of an RPAU. The ring goes up through the dies and down again.
  function automatic int unsigned die(int unsigned rpau);
    int unsigned at;
    at = 2 * Dies * rpau / Rpaus;
    return min2(at, 2 * Dies - 1 - min2(at, 2 * Dies - 1));
  endfunction

  function automatic int unsigned hop_cycles(int unsigned from);
    int unsigned a, b;
    a = die(from);
    b = die((from + 1) % Rpaus);
    return Hop + Crossing * (a > b ? a - b : b - a);
  endfunction

  // ---- Streams. ----

  logic [Streams-1:0] full, valid, grant, pop;
  logic [Streams-1:0][63:0] word;
  logic [Streams-1:0][Queues-1:0][CountWidth-1:0] needs;
  code_e [Streams-1:0] codes;
  code_e code;
  logic [Streams-1:0][LogPeriod-1:0] turns;
  logic filling_q, go, running, done, link_end, link_bad;

  for (genvar s = 0; s < Streams; s++) begin : gen_stream
    rm_ring_fetch #(
        .Rpaus(Rpaus),
        .Memory(Memory),
        .Controllers(Controllers),
        .Constants(Constants),
        .StreamRows(StreamRows),
        .GaloisRows(GaloisRows),
        .Layers(Moduli),
        .Words(Words),
        .CountWidth(CountWidth)
    ) u_fetch (
        .clk_i,
        .rst_ni,
        .stream_i   (2'(s)),
        .load_i     (load_i && load_kind_i == TableProgram && load_table_i == 8'(s)),
        .load_addr_i(load_addr_i[$clog2(Words)-1:0]),
        .load_data_i,
        .run_i,
        .full_o     (full[s]),
        .valid_o    (valid[s]),
        .pop_i      (pop[s]),
        .word_o     (word[s]),
        .needs_o    (needs[s]),
        .code_o     (codes[s])
    );
  end

  logic [SizeWidth-1:0] log_n_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) log_n_q <= SizeWidth'(LogN);
    else if (load_i && load_kind_i == TableSize) log_n_q <= load_data_i[SizeWidth-1:0];
  end

  // The board starts when each queue is full or has its stream's end.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) filling_q <= 1'b0;
    else filling_q <= run_i || (filling_q && !go);
  end

  assign go = filling_q && (&full);

  rm_ring_board #(
      .Rpaus(Rpaus),
      .LogN(LogN),
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
      .Dispatch(Dispatch),
      .CountWidth(CountWidth)
  ) u_board (
      .clk_i,
      .rst_ni,
      .log_n_i  (log_n_q),
      .go_i     (go),
      .running_o(running),
      .valid_i  (valid),
      .word_i   (word),
      .needs_i  (needs),
      .code_i   (codes),
      .link_end_i(link_end),
      .link_bad_i(link_bad),
      .grant_o  (grant),
      .pop_o    (pop),
      .turns_o  (turns),
      .done_o   (done),
      .code_o   (code),
      .stream_o,
      .cycles_o
  );

  assign done_o = done;
  assign code_o = code;
  assign running_o = running;
  assign granted_o = grant;

  // ---- Dispatch: the same to every RPAU, which takes its own words a cycle before they start. ----

  logic [Streams-1:0] sent;
  word_t [Streams-1:0] sent_word;
  logic [Streams-1:0][LogPeriod-1:0] sent_turns;

  rm_valid #(
      .Depth(Dispatch - 1)
  ) u_sent[Streams-1:0] (
      .clk_i,
      .rst_ni,
      .valid_i(grant),
      .valid_o(sent)
  );

  rm_delay #(
      .Width(Streams * (64 + LogPeriod)),
      .Depth(Dispatch - 1)
  ) u_dispatch (
      .clk_i,
      .d_i({turns, word}),
      .q_o({sent_turns, sent_word})
  );

  // ---- The link: a transfer is any stream's, one at a time. ----

  logic [Rpaus-1:0] out_valid, in_valid, store_valid;
  logic [Rpaus-1:0][Row-1:0][Width-1:0] out_row, in_row;
  logic link_start, load_valid;
  logic [63:0] link_word;
  logic [LogN-1:0] load_index;
  logic [Width-1:0] load_residue;

  logic link_start_d;
  logic [63:0] link_word_d;

  always_comb begin
    link_start_d = 1'b0;
    link_word_d = sent_word[0];
    for (int unsigned s = 0; s < Streams; s++) begin
      if (sent[s] && on_link(sent_word[s].op)) begin
        link_start_d = 1'b1;
        link_word_d = sent_word[s];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) link_start <= 1'b0;
    else link_start <= link_start_d;
  end

  always_ff @(posedge clk_i) link_word <= link_word_d;

  rm_ring_link #(
      .LogN(LogN),
      .LogRow(LogRow),
      .Width(Width)
  ) u_link (
      .clk_i,
      .rst_ni,
      .log_n_i     (log_n_q),
      .start_i     (link_start),
      .word_i      (word_t'(link_word)),
      .end_o       (link_end),
      .bad_o       (link_bad),
      .want_o,
      .store_o     (want_store_o),
      .key_o       (want_key_o),
      .rpau_o      (want_rpau_o),
      .place_o     (want_place_o),
      .in_valid_i,
      .in_ready_o,
      .in_data_i,
      .in_last_i,
      .out_valid_o,
      .out_ready_i,
      .out_data_o,
      .out_last_o,
      .load_valid_o(load_valid),
      .load_index_o(load_index),
      .load_data_o (load_residue),
      .row_valid_i (store_valid[0]),
      .row_i       (out_row[0])
  );

  // ---- RPAUs. ----

  typedef struct packed {
    logic main;
    logic dyadic;
    logic ring;
  } starts_t;

  typedef struct packed {
    logic [63:0] main;
    logic [LogPeriod-1:0] main_turns;
    logic [63:0] dyadic;
    logic [63:0] ring;
    logic [LogPeriod-1:0] ring_turns;
  } words_t;

  // A load's wires, along the ring.
  logic [Rpaus-1:0] residue_valid, residue_passes;
  logic [Rpaus-1:0][LogN+Width-1:0] residue;

  assign residue_valid[0] = load_valid;
  assign residue[0] = {load_index, load_residue};

  for (genvar r = 0; r < Rpaus; r++) begin : gen_rpau
    localparam int unsigned Next = (r + 1) % Rpaus;

    starts_t starts_d, starts_q;
    words_t words_d, words_q;

    // Of each kind at most one stream has a word for the RPAU in a cycle.
    always_comb begin
      starts_d = '0;
      words_d.main = sent_word[0];
      words_d.main_turns = sent_turns[0];
      words_d.dyadic = sent_word[1];
      words_d.ring = sent_word[0];
      words_d.ring_turns = sent_turns[0];
      for (int unsigned s = 0; s < Streams; s++) begin
        if (sent[s]) begin
          if (sent_word[s].op == OpBcast || sent_word[s].op == OpStore) begin
            starts_d.ring = 1'b1;
            words_d.ring = sent_word[s];
            words_d.ring_turns = sent_turns[s];
          end else if (sent_word[s].mask[r] && sent_word[s].op != OpLoad) begin
            if (s % 2 == 0) begin
              starts_d.main = 1'b1;
              words_d.main = sent_word[s];
              words_d.main_turns = sent_turns[s];
            end else begin
              starts_d.dyadic = 1'b1;
              words_d.dyadic = sent_word[s];
            end
          end
        end
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) starts_q <= '0;
      else starts_q <= starts_d;
    end

    always_ff @(posedge clk_i) words_q <= words_d;

    rm_ring_rpau #(
        .Rpaus(Rpaus),
        .LogN(LogN),
        .LogRow(LogRow),
        .LogLanes(LogLanes),
        .Shared(Shared),
        .Singles(Singles),
        .Narrow(Narrow),
        .LogParts(LogParts),
        // If rows that arrive are reduced, an RPAU has only residues modulo its own primes.
        .Width(Reduces ? widest(Primes[r]) : Width),
        .RingWidth(Width),
        .QWidth(widest(Primes[r])),
        .Moduli(own_moduli(Primes[r])),
        .Layers(min2(own_moduli(Primes[r]), Layers)),
        .Q(Primes[r][own_moduli(Primes[r])-1:0]),
        .Stages(Stages),
        .MulLatency(MulLatency),
        .GenLatency(GenLatency),
        .Fold(Fold),
        .Reduces(Reduces),
        .Reducer(Reducer),
        .KeySlots(KeySlots),
        .KeyLogGroup(KeyLogGroup),
        .KeyStripes(KeyStripes),
        .Constants(Constants),
        .StreamRows(StreamRows),
        .Seeds(Seeds),
        .GaloisRows(GaloisRows)
    ) u_rpau (
        .clk_i,
        .rst_ni,
        .log_n_i         (log_n_q),
        .main_start_i    (starts_q.main),
        .main_word_i     (words_q.main),
        .main_turns_i    (words_q.main_turns),
        .dyadic_start_i  (starts_q.dyadic),
        .dyadic_word_i   (words_q.dyadic),
        .place_i         (4'(r)),
        .ring_start_i    (starts_q.ring),
        .ring_word_i     (words_q.ring),
        .ring_turns_i    (words_q.ring_turns),
        .ring_valid_i    (in_valid[r]),
        .ring_row_i      (in_row[r]),
        .ring_valid_o    (out_valid[r]),
        .ring_row_o      (out_row[r]),
        .store_valid_o   (store_valid[r]),
        .link_start_i    (link_start),
        .link_word_i     (link_word),
        .link_valid_i    (residue_valid[r]),
        .link_index_i    (residue[r][LogN+Width-1:Width]),
        .link_data_i     (residue[r][Width-1:0]),
        .link_valid_o    (residue_passes[r]),
        .load_i          (load_i && load_select_i[r]),
        .load_kind_i,
        .load_table_i    (load_table_i[LogRow-1:0]),
        .load_addr_i,
        .load_data_i,
        .watch_we_o      (watch_we_o[r]),
        .watch_slot_o    (watch_slot_o[r]),
        .watch_addr_o    (watch_addr_o[r]),
        .watch_data_o    (watch_data_o[r])
    );

    // A hop: its registers, and those of a border between dies.
    rm_valid #(
        .Depth(hop_cycles(r))
    ) u_hop_valid (
        .clk_i,
        .rst_ni,
        .valid_i(out_valid[r]),
        .valid_o(in_valid[Next])
    );

    if (r + 1 < Rpaus) begin : gen_load_wires
      rm_valid #(
          .Depth(hop_cycles(r))
      ) u_load_valid (
          .clk_i,
          .rst_ni,
          .valid_i(residue_passes[r]),
          .valid_o(residue_valid[r+1])
      );

      rm_delay #(
          .Width(LogN + Width),
          .Depth(hop_cycles(r))
      ) u_load (
          .clk_i,
          .d_i(residue[r]),
          .q_o(residue[r+1])
      );
    end

    // Registers of their own, each of which can stand on its side of a border.
    logic [hop_cycles(r):0][Row*Width-1:0] hop_row;

    assign hop_row[0] = out_row[r];
    assign in_row[Next] = hop_row[hop_cycles(r)];

    for (genvar i = 0; i < hop_cycles(r); i++) begin : gen_hop
      rm_copy #(
          .Width(Row * Width)
      ) u_hop (
          .clk_i,
          .d_i(hop_row[i]),
          .q_o(hop_row[i+1])
      );
    end
  end

  logic unused;
  assign unused = ^{load_table_i, load_addr_i, store_valid, link_word, residue_passes[Rpaus-1]};

endmodule
