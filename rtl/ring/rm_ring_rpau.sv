// SPDX-License-Identifier: Apache-2.0
// A residue polynomial arithmetic unit (RPAU): polynomial memory in port groups, main and dyadic
// cores, and its ends of ring and link (docs/machines/ring.md, "Parts of an RPAU").
//
// Slots 0 to Shared - 1 share the ports of group 0. Each of the Singles slots that follow has ports
// of its own. The Narrow slots behind them lie in one memory whose ports take 2^LogParts cycles for
// a row. Limbs have 2^log_n_i coefficients.
//
// Instruction words come from the board, which knows when units and ports are free. A start bit
// comes with its word and the turns: the cycles of its ports that it leaves to a word of the dyadic
// cores. This is the cycle that the parts' headers call the grant. Rows from the ring (ring_*_i)
// and to the ring (ring_*_o) or the link (store_valid_o) come one a cycle in the order of the
// columns. A load's residues come one by one (link_*), in the order of their index, from the third
// cycle after its word's on. Nothing is reported back but watch_*, for lockstep: every write as the
// memories see it.
//
// load_* writes the tables, of these kinds:
//
//   0        a constant
//   1 to 4   twiddles (rm_ring_twiddles)
//   5        a key index's slot
//   6, 7     a generator's stream and the place of its seed
//   8        a word of a seed
//   9        a prime's zeta (rm_ring_entry)
//   10, 11   a Galois element and its inverse modulo 4 N
//   12       which of the Moduli primes a layer has, its own number at reset
//
// A layer is one of the RPAU's primes in a program, with the limbs modulo it. Twiddles of layer l
// are those of rings 3 l to 3 l + 2. They must be loaded again if the layer takes another prime.
module rm_ring_rpau
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
    // Bits of the RPAU's residues (Width), of residues on the ring (RingWidth) and of its widest prime (QWidth).
    parameter int unsigned Width = 60,
    parameter int unsigned RingWidth = Width,
    parameter int unsigned QWidth = 60,
    // The number of the RPAU's primes (Q), and of those that have tables at a time, one for each layer.
    parameter int unsigned Moduli = 1,
    parameter int unsigned Layers = Moduli,
    parameter logic [Moduli-1:0][63:0] Q = {Moduli{64'h0800_0000_0230_0001}},
    parameter int unsigned Stages = 2,
    parameter int unsigned MulLatency = 12,
    parameter int unsigned GenLatency = 93,
    parameter int unsigned Fold = 9,
    parameter bit Reduces = 1'b1,
    parameter int unsigned Reducer = 3,
    parameter int unsigned KeySlots = 18,
    parameter int unsigned KeyLogGroup = 1,
    parameter int unsigned KeyStripes = 9,
    parameter int unsigned Constants = 256,
    parameter int unsigned StreamRows = 128,
    parameter int unsigned Seeds = 64,
    parameter int unsigned GaloisRows = 128,
    localparam memory_t Memory = '{
        shared: Shared, singles: Singles, narrow: Narrow, log_row: LogRow, log_parts: LogParts
    },
    localparam int unsigned Groups = groups_of(Memory),
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned LogPeriod = LogRow - LogLanes,
    localparam int unsigned LogSteps = LogN - LogRow,
    localparam int unsigned ConstWidth = $clog2(Constants),
    localparam int unsigned GaloisIndex = $clog2(GaloisRows),
    localparam int unsigned KeyWidth = $clog2(KeySlots + 1)
) (
    input  logic                                        clk_i,
    input  logic                                        rst_ni,
    input  logic [SizeWidth-1:0]                        log_n_i,  // held while words are in flight
    // Words.
    input  logic                                        main_start_i,
    input  logic [       63:0]                          main_word_i,
    input  logic [LogPeriod-1:0]                        main_turns_i,
    input  logic                                        dyadic_start_i,
    input  logic [       63:0]                          dyadic_word_i,
    // Ring and link.
    input  logic [          3:0]                        place_i,  // the RPAU's number
    input  logic                                        ring_start_i,
    input  logic [       63:0]                          ring_word_i,
    input  logic [LogPeriod-1:0]                        ring_turns_i,
    input  logic                                        ring_valid_i,
    input  logic [      Row-1:0][RingWidth-1:0]         ring_row_i,
    output logic                                        ring_valid_o,
    output logic [      Row-1:0][RingWidth-1:0]         ring_row_o,
    output logic                                        store_valid_o,  // ring_row_o is the link's
    input  logic                                        link_start_i,
    input  logic [       63:0]                          link_word_i,
    input  logic                                        link_valid_i,
    input  logic [     LogN-1:0]                        link_index_i,
    input  logic [RingWidth-1:0]                        link_data_i,
    output logic                                        link_valid_o,  // to the next RPAU
    // Tables.
    input  logic                                        load_i,
    input  logic [          3:0]                        load_kind_i,
    input  logic [   LogRow-1:0]                        load_table_i,
    input  logic [         15:0]                        load_addr_i,
    input  logic [         63:0]                        load_data_i,
    // Writes.
    output logic [   Groups-1:0][Row-1:0]               watch_we_o,
    output logic [   Groups-1:0][SlotWidth-1:0]         watch_slot_o,
    output logic [   Groups-1:0][Row-1:0][LogSteps-1:0] watch_addr_o,
    output logic [   Groups-1:0][Row-1:0][RingWidth-1:0] watch_data_o
);

  localparam int unsigned PassWidth = $clog2(pass_count(LogN, Stages));
  localparam int unsigned Half = Row / 2;
  localparam int unsigned Rings = 3 * Layers;
  localparam int unsigned TableWidth = $clog2(Rings);

  word_t main_word, dyadic_word, ring_word, link_word;
  logic [Groups-1:0][Row-1:0][Width-1:0] rdata;
  logic main_busy, dyadic_busy;

  assign main_word = word_t'(main_word_i);
  assign dyadic_word = word_t'(dyadic_word_i);
  assign ring_word = word_t'(ring_word_i);
  assign link_word = word_t'(link_word_i);

  // ---- Primes: of the main cores' word, of the dyadic ones', of the ring's. ----

  logic [7:0][WhichWidth-1:0] prime_q;
  logic [2:0][WhichWidth-1:0] which_q;
  logic [2:0] layer_q;  // of the main cores' word

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned layer = 0; layer < 8; layer++) prime_q[layer] <= WhichWidth'(layer);
    end else if (load_i && load_kind_i == TablePrime) begin
      prime_q[load_addr_i[2:0]] <= load_data_i[WhichWidth-1:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (main_start_i) begin
      which_q[0] <= prime_q[main_word.layer];
      layer_q <= main_word.layer;
    end
    if (dyadic_start_i) which_q[1] <= prime_q[dyadic_word.layer];
    if (ring_start_i) which_q[2] <= prime_q[ring_word.layer];
  end

  // ---- Constants. ----

  logic [2:0][Width-1:0] constant;  // of the main cores, of the dyadic ones, of the broadcast
  logic [2:0][11:0] index_q;

  always_ff @(posedge clk_i) begin
    if (main_start_i) index_q[0] <= main_word_i[11:0];
    if (dyadic_start_i) index_q[1] <= dyadic_word_i[11:0];
    if (ring_start_i) index_q[2] <= ring_word_i[11:0];
  end

  for (genvar u = 0; u < 3; u++) begin : gen_constants
    rm_ram_1r1w #(
        .Width(Width),
        .Depth(Constants),
        .Style("distributed")
    ) u_constants (
        .clk_i,
        .we_i   (load_i && load_kind_i == TableConstant),
        .waddr_i(load_addr_i[ConstWidth-1:0]),
        .wdata_i(load_data_i[Width-1:0]),
        .re_i   (1'b1),
        .raddr_i(index_q[u][ConstWidth-1:0]),
        .rdata_o(constant[u])
    );
  end

  // ---- What automorphisms and half rings need. ----

  logic [Moduli-1:0][Width-1:0] zetas_q;
  logic [Width-1:0] zeta;
  logic [LogN+1:0] galois;

  always_ff @(posedge clk_i) begin
    for (int unsigned m = 0; m < Moduli; m++) begin
      if (load_i && load_kind_i == TableZeta && load_addr_i[WhichWidth-1:0] == WhichWidth'(m)) begin
        zetas_q[m] <= load_data_i[Width-1:0];
      end
    end
  end

  always_comb begin
    zeta = zetas_q[0];
    for (int unsigned m = 1; m < Moduli; m++) begin
      if (which_q[0] == WhichWidth'(m)) zeta = zetas_q[m];
    end
  end

  // The Galois elements, and behind them their inverses, which AUTOC takes.
  rm_ram_1r1w #(
      .Width(LogN + 2),
      .Depth(2 << GaloisIndex),
      .Style("distributed")
  ) u_galois (
      .clk_i,
      .we_i   (load_i && (load_kind_i == TableGalois || load_kind_i == TableGaloisInverse)),
      .waddr_i({load_kind_i[0], load_addr_i[GaloisIndex-1:0]}),
      .wdata_i(load_data_i[LogN+1:0]),
      .re_i   (main_start_i),
      .raddr_i({main_word.op == OpAutoc, main_word_i[GaloisIndex-1:0]}),
      .rdata_o(galois)
  );

  // ---- Twiddles. ----

  logic [1:0] tw_ring;
  logic [TableWidth-1:0] table_ring;
  logic [1:0][PassWidth-1:0] tw_pass;
  logic [1:0][LogSteps-1:0] tw_step;
  logic [Half-1:0][Width-1:0] tw_a;
  logic [Half/2-1:0][Width-1:0] tw_b;

  assign table_ring = TableWidth'(3 * 32'(layer_q)) + TableWidth'(tw_ring);

  logic [Width-1:0] tw_factor;
  logic tw_next_valid;
  logic [LogSteps-1:0] tw_next_step;
  logic [Half-1:0][Width-1:0] tw_next;

  rm_ring_twiddles #(
      .LogN(LogN),
      .LogRow(LogRow),
      .Stages(Stages),
      .Width(Width),
      .Rings(Rings),
      .MulLatency(MulLatency)
  ) u_twiddles (
      .clk_i,
      .load_i,
      .load_kind_i,
      .load_table_i,
      .load_addr_i,
      .load_data_i,
      .log_n_i,
      .ring_i      (table_ring),
      .pass_i      (tw_pass),
      .step_i      (tw_step),
      .a_o         (tw_a),
      .b_o         (tw_b),
      .factor_o    (tw_factor),
      .next_valid_i(tw_next_valid),
      .next_step_i (tw_next_step),
      .next_i      (tw_next)
  );

  // ---- Keys, and key halves from their seed. ----

  // Whether the load's wires bring this RPAU's limb, and whether it is a key's.
  logic link_here, here_q, here_key_q;
  logic [SlotWidth-1:0] load_inner_q;
  logic [Groups-1:0] load_group_q;

  assign link_here = link_start_i && link_word.op == OpLoad && link_word.mask[place_i];
  // Residues that have come are no longer on the wires when the next transfer's word has reached
  // every RPAU.
  assign link_valid_o = link_valid_i && !here_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) here_q <= 1'b0;
    else if (link_start_i) here_q <= link_here;
  end

  always_ff @(posedge clk_i) begin
    if (link_start_i) begin
      here_key_q <= link_word.b_kind == KindKey;
      load_inner_q <= inner_of(link_word.dst, Memory);
      load_group_q <= Groups'(groups_at(link_word.dst, Memory));
    end
  end

  logic main_key_req, dy_key_req, dy_key_gnt;
  logic [2:0] key_start_q, key_start_q2;  // of the main cores, of the dyadic ones, of the link
  logic [2:0][6:0] key_index_q;
  logic [2:0][KeyWidth-1:0] key_slot;
  logic [Row-1:0][QWidth-1:0] key_own;
  logic [Row-1:0][Width-1:0] key_row;

  always_ff @(posedge clk_i) begin
    key_start_q <= {link_here, dyadic_start_i, main_start_i};
    key_start_q2 <= key_start_q;
    if (main_start_i) key_index_q[0] <= main_word.b;
    if (dyadic_start_i) key_index_q[1] <= dyadic_word.b;
    if (link_here) key_index_q[2] <= link_word.b;
  end

  for (genvar u = 0; u < 3; u++) begin : gen_key_table
    rm_ram_1r1w #(
        .Width(KeyWidth),
        .Depth(128),
        .Style("distributed")
    ) u_key_table (
        .clk_i,
        .we_i   (load_i && load_kind_i == TableKeySlot),
        .waddr_i(load_addr_i[6:0]),
        .wdata_i(load_data_i[KeyWidth-1:0]),
        .re_i   (1'b1),
        .raddr_i(key_index_q[u]),
        .rdata_o(key_slot[u])
    );
  end

  rm_ring_keys #(
      .LogN(LogN),
      .LogRow(LogRow),
      .Slots(KeySlots),
      .LogGroup(KeyLogGroup),
      .Stripes(KeyStripes),
      .Width(QWidth)
  ) u_keys (
      .clk_i,
      .start_i     (key_start_q2[1:0]),
      .slot_i      (key_slot[1:0]),
      .req_i       ({dy_key_req, main_key_req}),
      .gnt_o       (dy_key_gnt),
      .row_o       (key_own),
      .load_start_i(key_start_q2[2]),
      .load_slot_i (key_slot[2]),
      .load_i      (link_valid_i && here_q && here_key_q),
      .load_data_i (link_data_i[QWidth-1:0])
  );

  for (genvar c = 0; c < Row; c++) begin : gen_key
    assign key_row[c] = Width'(key_own[c]);
  end

  logic [LogPeriod+1:0] period;
  logic gen_valid;
  logic [LogPeriod-1:0] gen_part;
  logic [Lanes-1:0][Width-1:0] generated;
  logic [LogSteps-1:0] last_row_q;  // of a limb

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < LogSteps; i++) last_row_q[i] <= i + LogRow < 32'(log_n_i);
  end

  rm_ring_expand #(
      .LogRow(LogRow),
      .LogLanes(LogLanes),
      .LogSteps(LogSteps),
      .Width(Width),
      .QWidth(QWidth),
      .Moduli(Moduli),
      .Q(Q),
      .GenLatency(GenLatency),
      .Fold(Fold),
      .StreamRows(StreamRows),
      .Seeds(Seeds)
  ) u_expand (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .last_row_i    (last_row_q),
      .load_i,
      .load_kind_i,
      .load_addr_i,
      .load_data_i,
      .main_start_i,
      .main_word_i   (main_word),
      .dyadic_start_i,
      .dyadic_word_i (dyadic_word),
      .which_i       (which_q[1:0]),
      .period_i      (period),
      .part_valid_i  (gen_valid),
      .part_i        (gen_part),
      .residue_o     (generated)
  );

  // ---- Units. ----

  logic [Groups-1:0] main_re, main_we, send_re, dy_req, dy_gnt, dy_wreq, dy_wgnt;
  logic [Groups-1:0][SlotWidth-1:0] main_rslot, dy_rslot;
  logic [SlotWidth-1:0] main_wslot, send_rslot, dy_wslot;
  logic [Row-1:0][LogSteps-1:0] main_raddr, main_waddr;
  logic [LogSteps-1:0] send_rrow, dy_rrow, dy_wrow;
  logic [BeatWidth-1:0] main_part, send_part;
  logic main_strides;
  logic [Row-1:0][Width-1:0] main_wdata, dy_wdata;

  rm_ring_main #(
      .LogN(LogN),
      .LogRow(LogRow),
      .LogPeriod(LogPeriod),
      .GenLatency(GenLatency),
      .Memory(Memory),
      .Stages(Stages),
      .Width(Width),
      .QWidth(QWidth),
      .Moduli(Moduli),
      .Q(Q),
      .MulLatency(MulLatency)
  ) u_main (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .start_i   (main_start_i),
      .word_i    (main_word),
      .which_i   (which_q[0]),
      .turns_i   (main_turns_i),
      .constant_i(constant[0]),
      .zeta_i    (zeta),
      .galois_i  (galois),
      .busy_o    (main_busy),
      .tw_ring_o (tw_ring),
      .tw_pass_o (tw_pass),
      .tw_step_o (tw_step),
      .tw_a_i    (tw_a),
      .tw_b_i    (tw_b),
      .tw_factor_i(tw_factor),
      .tw_next_valid_o(tw_next_valid),
      .tw_next_step_o(tw_next_step),
      .tw_next_o (tw_next),
      .gen_valid_o(gen_valid),
      .gen_part_o(gen_part),
      .gen_i     (generated),
      .key_req_o (main_key_req),
      .key_i     (key_row),
      .re_o      (main_re),
      .rslot_o   (main_rslot),
      .strides_o (main_strides),
      .part_o    (main_part),
      .raddr_o   (main_raddr),
      .rdata_i   (rdata),
      .we_o      (main_we),
      .wslot_o   (main_wslot),
      .waddr_o   (main_waddr),
      .wdata_o   (main_wdata)
  );

  rm_ring_dyadic #(
      .LogN(LogN),
      .LogRow(LogRow),
      .LogLanes(LogLanes),
      .Memory(Memory),
      .Width(Width),
      .QWidth(QWidth),
      .Moduli(Moduli),
      .Q(Q),
      .MulLatency(MulLatency),
      .GenLatency(GenLatency)
  ) u_dyadic (
      .clk_i,
      .rst_ni,
      .last_row_i(last_row_q),
      .start_i   (dyadic_start_i),
      .word_i    (dyadic_word),
      .which_i   (which_q[1]),
      .constant_i(constant[1]),
      .busy_o    (dyadic_busy),
      .period_o  (period),
      .req_o     (dy_req),
      .gnt_i     (dy_gnt),
      .rslot_o   (dy_rslot),
      .rrow_o    (dy_rrow),
      .rdata_i   (rdata),
      .wreq_o    (dy_wreq),
      .wgnt_i    (dy_wgnt),
      .wslot_o   (dy_wslot),
      .wrow_o    (dy_wrow),
      .wdata_o   (dy_wdata),
      .key_req_o (dy_key_req),
      .key_gnt_i (dy_key_gnt),
      .key_i     (key_row),
      .gen_i     (generated)
  );

  logic is_source, sent_valid;
  logic [Row-1:0][Width-1:0] sent;

  rm_ring_send #(
      .LogN(LogN),
      .LogRow(LogRow),
      .LogPeriod(LogPeriod),
      .Memory(Memory),
      .Stages(Stages),
      .Width(Width)
  ) u_send (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .start_i(ring_start_i && is_source),
      .slot_i (ring_word.a),
      .turns_i(ring_turns_i),
      .re_o   (send_re),
      .rslot_o(send_rslot),
      .rrow_o (send_rrow),
      .part_o (send_part),
      .rdata_i(rdata),
      .valid_o(sent_valid),
      .row_o  (sent)
  );

  // ---- The ring's node. ----

  logic recv_valid;
  logic [SlotWidth-1:0] recv_inner_q;
  logic [Groups-1:0] recv_group_q;
  logic [LogSteps-1:0] recv_row;
  logic [Row-1:0][Width-1:0] recv_data;

  always_ff @(posedge clk_i) begin
    if (ring_start_i) begin
      recv_inner_q <= inner_of(ring_word.dst, Memory);
      recv_group_q <= Groups'(groups_at(ring_word.dst, Memory));
    end
  end

  rm_ring_node #(
      .Rpaus(Rpaus),
      .LogRow(LogRow),
      .LogSteps(LogSteps),
      .Width(Width),
      .RingWidth(RingWidth),
      .QWidth(QWidth),
      .Moduli(Moduli),
      .Q(Q),
      .Reduces(Reduces),
      .Reducer(Reducer)
  ) u_node (
      .clk_i,
      .rst_ni,
      .place_i,
      .start_i      (ring_start_i),
      .word_i       (ring_word),
      .is_source_o  (is_source),
      .which_i      (which_q[2]),
      .constant_i   (constant[2]),
      .sent_valid_i (sent_valid),
      .sent_i       (sent),
      .ring_valid_i,
      .ring_row_i,
      .ring_valid_o,
      .ring_row_o,
      .store_valid_o,
      .recv_valid_o (recv_valid),
      .recv_row_o   (recv_row),
      .recv_data_o  (recv_data)
  );

  // ---- Memory. ----

  logic [Groups-1:0][Row-1:0][Width-1:0] written;

  for (genvar g = 0; g <= Singles; g++) begin : gen_group
    localparam int unsigned Slots = (g == 0) ? Shared : 1;

    rm_ring_group #(
        .LogN(LogN),
        .LogRow(LogRow),
        .Slots(Slots),
        .Width(Width),
        .Style((g == 0) ? "ultra" : "block")
    ) u_group (
        .clk_i,
        .rst_ni,
        .main_re_i   (main_re[g]),
        .main_rslot_i(main_rslot[g]),
        .main_raddr_i(main_raddr),
        .send_re_i   (send_re[g]),
        .send_slot_i (send_rslot),
        .send_row_i  (send_rrow),
        .dy_req_i    (dy_req[g]),
        .dy_gnt_o    (dy_gnt[g]),
        .dy_rslot_i  (dy_rslot[g]),
        .dy_rrow_i   (dy_rrow),
        .rdata_o     (rdata[g]),
        .main_we_i   (main_we[g]),
        .main_wslot_i(main_wslot),
        .main_waddr_i(main_waddr),
        .main_wdata_i(main_wdata),
        .recv_we_i   (recv_valid && recv_group_q[g]),
        .recv_slot_i (recv_inner_q),
        .recv_row_i  (recv_row),
        .recv_data_i (recv_data),
        .load_we_i   (link_valid_i && here_q && !here_key_q && load_group_q[g]),
        .load_slot_i (load_inner_q),
        .load_index_i(link_index_i),
        .load_data_i (link_data_i[Width-1:0]),
        .dy_wreq_i   (dy_wreq[g]),
        .dy_wgnt_o   (dy_wgnt[g]),
        .dy_wslot_i  (dy_wslot),
        .dy_wrow_i   (dy_wrow),
        .dy_wdata_i  (dy_wdata),
        .watch_we_o  (watch_we_o[g]),
        .watch_slot_o(watch_slot_o[g]),
        .watch_addr_o(watch_addr_o[g]),
        .watch_data_o(written[g])
    );
  end

  // No broadcast ends in a narrow slot, so these hold residues of the RPAU's own primes alone, as key memory does.
  if (Narrow > 0) begin : gen_narrow
    localparam int unsigned G = Groups - 1;

    logic [Row-1:0][QWidth-1:0] own_rdata, own_main_wdata, own_dy_wdata, own_written;

    for (genvar c = 0; c < Row; c++) begin : gen_column
      assign rdata[G][c] = Width'(own_rdata[c]);
      assign own_main_wdata[c] = main_wdata[c][QWidth-1:0];
      assign own_dy_wdata[c] = dy_wdata[c][QWidth-1:0];
      assign written[G][c] = Width'(own_written[c]);
    end

    rm_ring_narrow #(
        .LogN(LogN),
        .LogRow(LogRow),
        .LogParts(LogParts),
        .Slots(Narrow),
        .Width(QWidth)
    ) u_narrow (
        .clk_i,
        .rst_ni,
        .main_re_i     (main_re[G]),
        .main_strides_i(main_strides),
        .main_part_i   (main_part),
        .main_rslot_i  (main_rslot[G]),
        .main_raddr_i  (main_raddr),
        .send_re_i     (send_re[G]),
        .send_part_i   (send_part),
        .send_slot_i   (send_rslot),
        .send_row_i    (send_rrow),
        .dy_req_i      (dy_req[G]),
        .dy_gnt_o      (dy_gnt[G]),
        .dy_rslot_i    (dy_rslot[G]),
        .dy_rrow_i     (dy_rrow),
        .rdata_o       (own_rdata),
        .main_we_i     (main_we[G]),
        .main_wslot_i  (main_wslot),
        .main_wrow_i   (main_waddr[0]),
        .main_wdata_i  (own_main_wdata),
        .load_we_i     (link_valid_i && here_q && !here_key_q && load_group_q[G]),
        .load_slot_i   (load_inner_q),
        .load_index_i  (link_index_i),
        .load_data_i   (link_data_i[QWidth-1:0]),
        .dy_wreq_i     (dy_wreq[G]),
        .dy_wgnt_o     (dy_wgnt[G]),
        .dy_wslot_i    (dy_wslot),
        .dy_wrow_i     (dy_wrow),
        .dy_wdata_i    (own_dy_wdata),
        .watch_we_o    (watch_we_o[G]),
        .watch_slot_o  (watch_slot_o[G]),
        .watch_addr_o  (watch_addr_o[G]),
        .watch_data_o  (own_written)
    );
  end else begin : gen_rows_only
    logic unused_narrow;
    assign unused_narrow = ^{main_strides, main_part, send_part};
  end

  for (genvar g = 0; g < Groups; g++) begin : gen_watch
    for (genvar c = 0; c < Row; c++) begin : gen_column
      assign watch_data_o[g][c] = RingWidth'(written[g][c]);
    end
  end

  logic unused;
  assign unused = ^{main_busy, dyadic_busy, index_q, load_table_i, load_addr_i, load_data_i, link_data_i,
      main_word, dyadic_word, ring_word, link_word, constant[2], recv_group_q};

endmodule
