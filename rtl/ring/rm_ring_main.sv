// SPDX-License-Identifier: Apache-2.0
// The main cores of an RPAU with their row networks: transforms, automorphisms and coefficient-wise
// words on rows of polynomial memory.
//
// rm_ring_cores has the cores. rm_ring_ask and rm_ring_take read polynomial memory for them, and
// rm_ring_land writes it, with the network behind the cores.
//
//   step ── address ── memory ── port ── network ── core (── core) ── network ── port ── memory
//   0       2          4         5       7          7 + C (7 + 2 C)    + 2        + 1     C = MulLatency + 1
//
// A transform goes through as many cores as a pass has Stages, with rows in the order of lanes. An
// automorphism's row comes two cycles later than others, through the registers of the second
// operand. The network permutes it, and the cores give its coefficients their signs. In a
// coefficient-wise word every core takes a lane, in the order of columns. The network brings a row
// of a key or of the generator into that order; then the first operand goes beside the network
// (rm_ring_entry). SPLIT and JOIN read a row of each operand in turn, and write a row of each
// result in turn. The second result comes from a register behind the cores in the step after. A row
// with a narrow slot takes at least as many beats as its parts; each beat's words stay until the
// row is whole. A generated operand's rows come in parts, a row in as many beats (rm_ring_feed).
//
// An instruction word granted in cycle t reads polynomial memory from cycle t + 3 on, with a key
// operand a cycle later, and with a generated operand GenLatency cycles later. Its last result is
// in memory in cycle t + timing::duration - 1.
module rm_ring_main
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogRow = 3,
    parameter int unsigned LogPeriod = 2,
    parameter int unsigned GenLatency = 93,
    parameter memory_t Memory = DefaultMemory,
    parameter int unsigned Stages = 2,
    parameter int unsigned Width = 60,
    parameter int unsigned QWidth = 60,
    parameter int unsigned Moduli = 1,
    parameter logic [Moduli-1:0][63:0] Q = {Moduli{64'h0800_0000_0230_0001}},
    parameter int unsigned MulLatency = 12,
    localparam int unsigned Groups = groups_of(Memory),
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned Lanes = Row >> LogPeriod,
    localparam int unsigned LogSteps = LogN - LogRow,
    localparam int unsigned Passes = pass_count(LogN, Stages),
    localparam int unsigned PassWidth = $clog2(Passes),
    localparam int unsigned Half = Row / 2,
    localparam int unsigned RotWidth = (LogRow > 1) ? $clog2(LogRow) : 1
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    input  logic [SizeWidth-1:0]               log_n_i,  // held
    input  logic                               start_i,
    input  word_t                              word_i,
    input  logic [WhichWidth-1:0]              which_i,  // of the word, from the cycle after start_i on
    input  logic [LogPeriod-1:0]               turns_i,
    input  logic [    Width-1:0]               constant_i,  // of the word, from the address stages on
    input  logic [    Width-1:0]               zeta_i,
    input  logic [     LogN+1:0]               galois_i,  // of the word, of AUTOC inverted; with its first step
    output logic                               busy_o,
    // Twiddles: pass and step for each core's tables, its words 4 cycles later. Where they are generated (Stages = 1), the
    // factor with them, and the product of a step's.
    output logic [          1:0]               tw_ring_o,
    output logic [          1:0][PassWidth-1:0] tw_pass_o,
    output logic [          1:0][ LogSteps-1:0] tw_step_o,
    input  logic [     Half-1:0][    Width-1:0] tw_a_i,
    input  logic [   Half/2-1:0][    Width-1:0] tw_b_i,
    input  logic [    Width-1:0]               tw_factor_i,
    output logic                               tw_next_valid_o,
    output logic [ LogSteps-1:0]               tw_next_step_o,
    output logic [     Half-1:0][    Width-1:0] tw_next_o,
    // Key memory: a row in the order of the index, three cycles after the request.
    output logic                               key_req_o,
    input  logic [      Row-1:0][    Width-1:0] key_i,
    // The generator: parts of rows, GenLatency + 3 cycles later.
    output logic                               gen_valid_o,
    output logic [LogPeriod-1:0]               gen_part_o,
    input  logic [    Lanes-1:0][    Width-1:0] gen_i,
    // Memory.
    output logic [   Groups-1:0]               re_o,
    output logic [   Groups-1:0][SlotWidth-1:0] rslot_o,
    output logic                               strides_o,
    output logic [BeatWidth-1:0]               part_o,
    output logic [      Row-1:0][ LogSteps-1:0] raddr_o,
    input  logic [   Groups-1:0][Row-1:0][Width-1:0] rdata_i,
    output logic [   Groups-1:0]               we_o,
    output logic [SlotWidth-1:0]               wslot_o,
    output logic [      Row-1:0][ LogSteps-1:0] waddr_o,
    output logic [      Row-1:0][    Width-1:0] wdata_o
);

  localparam int unsigned CoreLatency = MulLatency + 1;
  localparam int unsigned AtMemory = 2;
  localparam int unsigned AtPort = AtMemory + 2;  // data, before the port's register
  localparam int unsigned AtNetwork = AtPort + 1;
  localparam int unsigned AtCore = AtNetwork + 2;
  localparam int unsigned AtOut1 = AtCore + CoreLatency;
  localparam int unsigned AtPass = AtCore + Stages * CoreLatency;  // a transform's
  localparam int unsigned Moved = 2;  // cycles by which an automorphism's rows come later
  localparam int unsigned AtMoved = AtOut1 + Moved;
  localparam int unsigned AtLast = (AtPass > AtMoved ? AtPass : AtMoved) + 1;
  localparam int unsigned TwiddleLatency = 4;

  typedef struct packed {
    logic beat;
    logic row;  // the row's operands are complete
    logic second;  // the second result of the row before is written
    logic transform;
    logic moves;
    logic first;
    logic half;
    logic [BeatWidth-1:0] sub;
    logic [PassWidth-1:0] pass;
    logic [LogSteps-1:0] step;
  } tag_t;

  // ---- The word. ----

  word_t word_q;
  reads_t reads, reads_q;
  logic [BeatWidth-1:0] more;
  logic transform, inverse, transform_q, inverse_q, has_key, has_key_q, has_gen, has_gen_q;
  logic late_start_q, fed_start, late_start;
  logic moves_q, whole_q, coefficients_q, aside_q;
  logic [LogPeriod-1:0] turns_q;

  rm_ring_reads #(
      .Memory(Memory)
  ) u_reads (
      .word_i,
      .reads_o(reads)
  );

  // A row of generated residues takes at least as many beats as it has parts.
  assign more = (has_gen_q && (reads_q.more >> LogPeriod) == '0) ? BeatWidth'((1 << LogPeriod) - 1) :
      reads_q.more;

  assign transform = is_transform(word_i.op);
  assign inverse = word_i.op == OpIntt;
  assign has_key = word_i.b_kind == KindKey;
  assign has_gen = word_i.b_kind == KindGenerator;
  assign aside_q = has_key_q || has_gen_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      word_q <= word_i;
      reads_q <= reads;
      turns_q <= turns_i;
      transform_q <= transform;
      inverse_q <= inverse;
      moves_q <= is_permutation(word_i.op);
      coefficients_q <= word_i.op == OpAutoc;
      whole_q <= word_i.op == OpSplit || word_i.op == OpJoin;
      has_key_q <= has_key;
      has_gen_q <= has_gen;
    end
  end

  // A row of key memory comes a stage later than others: such a word steps a cycle later, and asks for its key
  // rows a cycle before the others are read.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) late_start_q <= 1'b0;
    else late_start_q <= start_i && has_key;
  end

  assign late_start = late_start_q || fed_start;

  // ---- Steps. ----

  tag_t tag;
  tag_t [AtLast:1] tag_q;
  logic tail, first_row;

  rm_ring_seq #(
      .LogN(LogN),
      .LogRow(LogRow),
      .LogPeriod(LogPeriod),
      .MulLatency(MulLatency),
      .Stages(Stages)
  ) u_seq (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .start_i((start_i && !has_key && !has_gen) || late_start),
      .transform_i(!late_start && transform),
      .inverse_i(inverse),
      .more_i(more),
      // Words of keys and of generated limbs have neither halves nor a tail.
      .halves_i(!late_start && word_i.op == OpAutoh),
      .tail_i(!late_start && (word_i.op == OpSplit || word_i.op == OpJoin)),
      .tail_more_i(reads_q.tail),
      .turns_i(late_start ? turns_q : turns_i),
      .busy_o,
      .beat_o(tag.beat),
      .first_pass_o(tag.first),
      .pass_o(tag.pass),
      .step_o(tag.step),
      .first_row_o(first_row),
      .sub_o(tag.sub),
      .half_o(tag.half),
      .last_sub_o(tag.row),
      .tail_o(tail)
  );

  assign tag.second = whole_q && tag.beat && tag.sub == reads_q.tail && (tag.step != '0 || tail);
  assign tag.transform = transform_q;
  assign tag.moves = moves_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tag_q <= '0;
    else tag_q <= {tag_q[AtLast-1:1], tag};
  end

  // ---- The generator. ----

  logic [Row-1:0][Width-1:0] fed;

  rm_ring_feed #(
      .LogN(LogN),
      .LogRow(LogRow),
      .LogPeriod(LogPeriod),
      .Stages(Stages),
      .Latency(GenLatency),
      .Width(Width)
  ) u_feed (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .start_i(start_i && has_gen),
      .more_i (more),
      .turns_i,
      .valid_o(gen_valid_o),
      .part_o (gen_part_o),
      .start_o(fed_start),
      .take_i (has_gen_q && tag_q[AtPort-1].beat && (32'(tag_q[AtPort-1].sub) >> LogPeriod) == 0),
      .place_i(tag_q[AtPort-1].sub[LogPeriod-1:0]),
      .gen_i,
      .row_o  (fed)
  );

  // ---- Reading. ----

  logic [LogRow-1:0] mask;
  logic [RotWidth-1:0] rotate;
  logic [LogRow+RotWidth-1:0] place, place_q, place_moved, place_read;

  // The index from which an automorphism's row comes, and the half of the limb that it is in.
  logic [LogN-1:0] from;
  logic from_half;  // a cycle before the others
  logic [LogRow:0] offset, offset_q;

  rm_ring_turn #(
      .LogN  (LogN),
      .LogRow(LogRow)
  ) u_turn (
      .clk_i,
      .log_n_i,
      .op_i    (word_q.op),
      .galois_i,
      .next_i  (tag.row),
      .first_i (first_row && !tag.half),
      .x_o     (from),
      .half_o  (from_half),
      .offset_o(offset)
  );

  always_ff @(posedge clk_i) offset_q <= offset;

  rm_ring_agen #(
      .LogN  (LogN),
      .LogRow(LogRow),
      .Stages(Stages)
  ) u_read (
      .clk_i,
      .log_n_i,
      .linear_i (!transform_q),
      .inverse_i(inverse_q),
      .pass_i   (tag.pass),
      .step_i   (tag.step),
      .given_i  (moves_q),
      .top_i    (coefficients_q),
      .x_i      (from),
      .mask_o   (mask),
      .rotate_o (rotate),
      .addr_o   (raddr_o)
  );

  logic [2:0][BeatWidth-1:0] beats;  // of a's, b's and the result's rows
  tag_t at_ask, at_take;

  assign at_ask = tag_q[AtMemory-1];
  assign key_req_o = has_key_q && at_ask.beat && at_ask.sub == '0;

  rm_ring_ask #(
      .LogRow(LogRow),
      .Memory(Memory)
  ) u_ask (
      .clk_i,
      .rst_ni,
      .reads_i    (reads_q),
      .dst_i      (word_q.dst),
      .transform_i(transform_q),
      .moves_i    (moves_q),
      .beat_i     (at_ask.beat),
      .first_i    (at_ask.first),
      .sub_i      (at_ask.sub),
      .from_half_i(from_half),
      .beats_o    (beats),
      .re_o,
      .rslot_o,
      .strides_o,
      .part_o
  );

  logic [2:0][Row-1:0][Width-1:0] operand;
  logic [2:0][Row-1:0][Width-1:0] others, others_q;  // the second, the third, and the second again

  assign at_take = tag_q[AtPort-1];

  rm_ring_take #(
      .LogRow(LogRow),
      .Width (Width),
      .Memory(Memory)
  ) u_take (
      .clk_i,
      .op_i       (word_q.op),
      .dst_i      (word_q.dst),
      .reads_i    (reads_q),
      .beats_i    (beats),
      .transform_i(transform_q),
      .moves_i    (moves_q),
      .has_key_i  (has_key_q),
      .has_gen_i  (has_gen_q),
      .beat_i     (at_take.beat),
      .first_i    (at_take.first),
      .whole_i    (at_take.row),
      .sub_i      (at_take.sub),
      .from_half_i(from_half),
      .rdata_i,
      .key_i,
      .fed_i      (fed),
      .second_i   (others_q[0]),
      .operand_o  (operand)
  );

  // Rows of transforms and automorphisms are brought into the order of lanes, those of keys and the generator into that
  // of columns, in which others are. The network is told two cycles before.
  assign place = (transform_q || moves_q || aside_q) ? {mask, rotate} : '0;

  always_ff @(posedge clk_i) place_q <= place;

  rm_delay #(
      .Width(LogRow + RotWidth),
      .Depth(Moved)
  ) u_place_moved (
      .clk_i,
      .d_i(place_q),
      .q_o(place_moved)
  );

  assign place_read = moves_q ? place_moved : place_q;

  // ---- Automorphisms. ----

  logic [RotWidth-1:0] top_rotate_q;  // coefficients' window is at the top
  logic [Row-1:0][LogRow-1:0] moved;  // for each place the column it takes
  logic [Row-1:0] minus;

  always_ff @(posedge clk_i) top_rotate_q <= RotWidth'((32'(log_n_i) - LogRow) % LogRow);

  rm_ring_affine #(
      .LogRow(LogRow),
      .Late  (AtCore - AtNetwork + 2)
  ) u_affine (
      .clk_i,
      .times_i  (galois_i[LogRow:0]),
      .reverse_i(!coefficients_q),
      .rotate_i (top_rotate_q),
      .offset_i (offset_q),
      .minus_o  (minus),
      .column_o (moved)
  );

  logic [Row-1:0][Width-1:0] row;
  rm_ring_network #(
      .LogRow(LogRow),
      .Width (Width)
  ) u_lanes (
      .clk_i,
      .given_i (moves_q),
      .column_i(moved),
      .mask_i  (place_read[RotWidth+:LogRow]),
      .rotate_i(place_read[RotWidth-1:0]),
      .row_i   (operand[0]),
      .row_o   (row)
  );

  // How the word's rows enter the cores. A constant in the place of an operand takes no multiplexer: its register is
  // filled with ones first, then every bit is cleared that the constant has not.
  mode_t mode;
  logic pass, u_is_row, v_is_row, w_is_b, w_is_k, b_is_k, c_is_k, has_c;
  logic [2:0] is_row;
  logic [2:0][Width-1:0] constants, keep_q;

  rm_ring_entry u_entry (
      .clk_i,
      .op_i      (word_q.op),
      .aside_i   (aside_q),
      .mode_o    (mode),
      .pass_o    (pass),
      .u_is_row_o(u_is_row),
      .v_is_row_o(v_is_row),
      .w_is_b_o  (w_is_b),
      .w_is_k_o  (w_is_k),
      .b_is_k_o  (b_is_k),
      .c_is_k_o  (c_is_k),
      .has_c_o   (has_c)
  );

  assign is_row = {w_is_b, has_c, !b_is_k};
  assign constants[0] = constant_i;
  assign constants[1] = c_is_k ? constant_i : '0;
  assign constants[2] = !w_is_k ? Width'(1) : whole_q ? zeta_i : constant_i;

  always_ff @(posedge clk_i) begin
    others_q <= {operand[1], operand[2:1]};
    for (int unsigned i = 0; i < 3; i++) begin
      keep_q[i] <= is_row[i] ? '1 : constants[i];
      if (!is_row[i]) others_q[i] <= '1;
    end
  end

  for (genvar i = 0; i < 3; i++) begin : gen_other
    for (genvar l = 0; l < Row; l++) begin : gen_lane
      logic [Width-1:0] cleared;
      for (genvar b = 0; b < Width; b++) begin : gen_bit
        assign cleared[b] = keep_q[i][b] ? others_q[i][l][b] : 1'b0;
      end
      always_ff @(posedge clk_i) others[i][l] <= cleared;
    end
  end

  logic [Row-1:0][Width-1:0] out;
  logic b_idle, b_idle_out;

  assign tw_ring_o = (inverse_q && word_q.ring != '0) ? ~word_q.ring : word_q.ring;
  assign tw_next_valid_o = tag_q[AtOut1].transform && tag_q[AtOut1].row;
  assign tw_next_step_o = tag_q[AtOut1].step;

  // The step of which the cores take twiddles, and whether cores B have no pair in the pass.
  if (Stages == 2) begin : gen_chained
    logic odd_q;
    logic [PassWidth-1:0] top_q;

    always_ff @(posedge clk_i) begin
      odd_q <= log_n_i[0];
      top_q <= PassWidth'((32'(log_n_i) + 1) / Stages - 1);
    end

    assign tw_pass_o[0] = tag_q[(inverse_q?AtCore : AtOut1)-TwiddleLatency].pass;
    assign tw_step_o[0] = tag_q[(inverse_q?AtCore : AtOut1)-TwiddleLatency].step;
    assign tw_pass_o[1] = tag_q[(inverse_q?AtOut1 : AtCore)-TwiddleLatency].pass;
    assign tw_step_o[1] = tag_q[(inverse_q?AtOut1 : AtCore)-TwiddleLatency].step;
    assign b_idle = odd_q && transform_q && tag_q[inverse_q?AtOut1 : AtCore].pass == top_q;
    assign b_idle_out = odd_q && tag_q[(inverse_q?AtPass : AtOut1)-1].pass == top_q;
  end else begin : gen_single
    assign tw_pass_o = {2{tag_q[AtCore-TwiddleLatency].pass}};
    assign tw_step_o = {2{tag_q[AtCore-TwiddleLatency].step}};
    assign {b_idle, b_idle_out} = '0;
  end

  rm_ring_cores #(
      .LogRow(LogRow),
      .Stages(Stages),
      .Width(Width),
      .QWidth(QWidth),
      .Moduli(Moduli),
      .Q(Q),
      .MulLatency(MulLatency)
  ) u_cores (
      .clk_i,
      .which_i,
      .transform_i (transform_q),
      .inverse_i   (inverse_q),
      .mode_i      (mode),
      .passes_i    (moves_q ? ~minus : {Row{pass}}),
      .u_is_row_i  (u_is_row),
      .v_is_row_i  (v_is_row),
      .row_i       (row),
      .b_i         (others[0]),
      .c_i         (others[1]),
      .w_i         (others[2]),
      .keep_i      (tag_q[AtOut1].row),
      .second_i    (tag_q[AtOut1-1].second),
      .tw_a_i,
      .tw_b_i,
      .b_idle_i    (b_idle),
      .b_idle_out_i(b_idle_out),
      .factor_i    (tw_factor_i),
      .next_o      (tw_next_o),
      .row_o       (out)
  );

  // ---- Writing. ----

  tag_t tag_out;
  logic [LogSteps-1:0] write_step;
  logic write, write_second;

  // The line of tags is longer than the pipeline of most words. Each word takes its tags from the place that fits its own
  // latency.
  assign tag_out = transform_q ? tag_q[AtPass-1] : moves_q ? tag_q[AtMoved-1] : tag_q[AtOut1-1];
  assign write_step = tag_out.second ? tag_out.step - 1'b1 : tag_out.step;

  // Known a cycle before the row is written.
  assign write_second = moves_q ? tag_q[AtMoved+1].half : tag_q[AtOut1+1].second;
  assign write = (tag_q[AtPass+1].transform && tag_q[AtPass+1].row) ||
      (tag_q[AtMoved+1].moves && tag_q[AtMoved+1].row) ||
      (!tag_q[AtOut1+1].transform && !tag_q[AtOut1+1].moves &&
       (tag_q[AtOut1+1].row || tag_q[AtOut1+1].second));

  rm_ring_land #(
      .LogN(LogN),
      .LogRow(LogRow),
      .Memory(Memory),
      .Stages(Stages),
      .Width(Width),
      .MulLatency(MulLatency)
  ) u_land (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .transform_i   (transform_q),
      .inverse_i     (inverse_q),
      .moves_i       (moves_q),
      .coefficients_i(coefficients_q),
      .mask_i        (place_q[RotWidth+:LogRow]),
      .rotate_i      (place_q[RotWidth-1:0]),
      .pass_i        (tag_out.pass),
      .step_i        (write_step),
      .moved_step_i  (tag_q[AtMoved-3].step),
      .write_i       (write),
      .slot_i        (write_second ? word_q.c : word_q.dst),
      .row_i         (out),
      .we_o,
      .wslot_o,
      .waddr_o,
      .wdata_o
  );

  logic unused;
  assign unused = ^{word_q, reads_q, tag_out, at_ask, at_take};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      // The number of a row's beats, and the beat in which an operand is read, come from different functions of
      // rm_ring_pkg, which must agree.
      for (int unsigned i = 0; i < 3; i++) begin
        read_in_row : assert (!tag.beat || !reads_q.has[i] || reads_q.last[i] <= more);
      end
    end
  end
`endif

endmodule
