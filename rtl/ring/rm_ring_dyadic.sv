// SPDX-License-Identifier: Apache-2.0
// The dyadic cores of an RPAU: compute coefficient-wise words on Lanes coefficients a cycle, beside
// the main cores, with row buffers of their own.
//
// An instruction word takes a row of each operand in a period. A period is P = Row / Lanes cycles,
// or as many as its busiest port has reads if these are more (a row of a narrow slot has several).
// A row is asked for in the first cycle of its period. Within the period its group's port grants
// the cycles that other words leave. With t the grant and j the row:
//
//   t + 3 + late + j period          rows are asked for
//   period - 1 cycles later, + 4     all operands have come: memory 2, port 1, buffer 1
//   ... + g, g < P                   core takes coefficients g Lanes to g Lanes + Lanes - 1 of the row
//   P cycles later + C               the result's row is in a buffer, to be written within P cycles
//
// C = MulLatency + 1. late is 1 for an operand of key memory (at the cores alone), GenLatency for a
// generated operand. Parts are in the order of their index: the order of the columns, with the
// row's mask. Inside a part each lane has a column, so rows that come in the order of the index, of
// keys and generator, are exchanged.
//
// A row of an operand stays with its port group's other rows until it is cut into parts. So the
// choice among groups is one among parts, which are narrow. Groups of one slot have one row. Other
// groups have a row for each operand, which is 0 if the operand is not theirs.
//
// The word's rows have landed in cycle t + timing::duration - 1 at the latest. The grants of the
// ports depend on the words beside it.
module rm_ring_dyadic
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogRow = 3,
    parameter int unsigned LogLanes = 1,
    parameter memory_t Memory = DefaultMemory,
    parameter int unsigned Width = 60,
    parameter int unsigned QWidth = 60,
    parameter int unsigned Moduli = 1,
    parameter logic [Moduli-1:0][63:0] Q = {Moduli{64'h0800_0000_0230_0001}},
    parameter int unsigned MulLatency = 12,
    parameter int unsigned GenLatency = 93,
    localparam int unsigned Groups = groups_of(Memory),
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned LogPeriod = LogRow - LogLanes,
    localparam int unsigned LogSteps = LogN - LogRow
) (
    input  logic                                     clk_i,
    input  logic                                     rst_ni,
    input  logic [ LogSteps-1:0]                     last_row_i,  // held
    input  logic                                     start_i,
    input  word_t                                    word_i,
    input  logic [WhichWidth-1:0]                    which_i,  // of the word, from the cycle after start_i on
    input  logic [    Width-1:0]                     constant_i,
    output logic                                     busy_o,
    output logic [LogPeriod+1:0]                     period_o,  // of the word, from the cycle after start_i on
    // Memory.
    output logic [   Groups-1:0]                     req_o,
    input  logic [   Groups-1:0]                     gnt_i,
    output logic [   Groups-1:0][SlotWidth-1:0]      rslot_o,
    output logic [ LogSteps-1:0]                     rrow_o,
    input  logic [   Groups-1:0][Row-1:0][Width-1:0] rdata_i,
    output logic [   Groups-1:0]                     wreq_o,
    input  logic [   Groups-1:0]                     wgnt_i,
    output logic [SlotWidth-1:0]                     wslot_o,
    output logic [ LogSteps-1:0]                     wrow_o,
    output logic [      Row-1:0][Width-1:0]          wdata_o,
    // Key memory: a row in the order of the index, three cycles after the grant.
    output logic                                     key_req_o,
    input  logic                                     key_gnt_i,
    input  logic [      Row-1:0][Width-1:0]          key_i,
    // The generator: residues in the cycle in which the cores take them.
    input  logic [    Lanes-1:0][Width-1:0]          gen_i
);

  localparam int unsigned Period = 1 << LogPeriod;
  localparam int unsigned CoreLatency = MulLatency + 1;
  localparam int unsigned CountWidth = $clog2(GenLatency + 4 * Period + 16);

  if (LogPeriod < 1) begin : gen_check
    $error("a row has more coefficients than there are lanes");
  end

  typedef struct packed {
    logic valid;
    logic [LogPeriod-1:0] part;
    logic [LogSteps-1:0] row;
  } tag_t;

  // ---- The word, and its periods. ----

  word_t word_q;
  reads_t reads_d, reads_q;
  logic has_key_q, has_gen_q;
  logic [CountWidth-1:0] period, first_d, first_q;

  rm_ring_reads #(
      .Memory(Memory)
  ) u_reads (
      .word_i,
      .reads_o(reads_d)
  );

  assign period = ((reads_q.more >> LogPeriod) != '0) ? CountWidth'(reads_q.more) + 1'b1 :
      CountWidth'(Period);
  assign period_o = period[LogPeriod+1:0];
  assign first_d = is_generated(word_i.op, word_i.b_kind) ? CountWidth'(GenLatency + 1) : CountWidth'(1);

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      word_q <= word_i;
      reads_q <= reads_d;
      has_key_q <= word_i.b_kind == KindKey;
      has_gen_q <= is_generated(word_i.op, word_i.b_kind);
      first_q <= first_d;
    end
  end

  // Two counters tick once a period: one asks for a row's operands, the other takes over a row that has come, for
  // the cores from the next cycle on.
  logic start_q, ask_busy_q, load_busy_q, ask_tick, load_tick;
  logic [CountWidth-1:0] ask_count_q, load_count_q;
  logic [LogSteps-1:0] ask_row_q, load_row_q;

  assign ask_tick = ask_busy_q && ask_count_q == '0;
  assign load_tick = load_busy_q && load_count_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      start_q <= 1'b0;
      ask_busy_q <= 1'b0;
      load_busy_q <= 1'b0;
    end else begin
      start_q <= start_i;
      ask_busy_q <= start_i || (ask_busy_q && !(ask_tick && ask_row_q == last_row_i));
      load_busy_q <= start_i || (load_busy_q && !(load_tick && load_row_q == last_row_i));
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      ask_count_q <= first_d;
      ask_row_q <= '0;
      load_row_q <= '0;
    end else begin
      ask_count_q <= ask_tick ? period - 1'b1 : ask_count_q - 1'b1;
      if (ask_tick) ask_row_q <= ask_row_q + 1'b1;
      if (load_tick) load_row_q <= load_row_q + 1'b1;
    end
    // The counter is set a cycle after start_i, when the word's fields are there. In that cycle it must not be at
    // its end.
    if (start_i) load_count_q <= '1;
    else if (start_q) load_count_q <= first_q + period + CountWidth'(2);
    else load_count_q <= load_tick ? period - 1'b1 : load_count_q - 1'b1;
  end

  // ---- Asking. ----

  logic [2:0] pending_d, pending_q, served;
  logic key_pending_q;
  logic [LogSteps-1:0] row_q;
  logic [Groups-1:0][2:0] at;
  logic [2:0][Groups-1:0] group_q;  // of a, b and c
  logic [2:0][SlotWidth-1:0] inner_q;
  logic c_is_a_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 3; i++) begin
      group_q[i] <= Groups'(groups_at(reads_q.slot[i], Memory));
      inner_q[i] <= inner_of(reads_q.slot[i], Memory);
    end
    c_is_a_q <= reads_q.slot[2] == reads_q.slot[0];
  end

  always_comb begin
    req_o = '0;
    rslot_o = '0;
    at = '0;
    for (int unsigned g = 0; g < Groups; g++) begin
      for (int unsigned i = 3; i > 0; i--) begin
        if (pending_q[i-1] && group_q[i-1][g]) begin
          req_o[g] = 1'b1;
          rslot_o[g] = inner_q[i-1];
          at[g] = 3'd1 << (i - 1);
        end
      end
    end
  end

  always_comb begin
    served = '0;
    for (int unsigned g = 0; g < Groups; g++) if (gnt_i[g]) served |= at[g];
    pending_d = pending_q & ~served;
    if (ask_tick) pending_d = reads_q.has & ~reads_q.again;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pending_q <= '0;
      key_pending_q <= 1'b0;
    end else begin
      pending_q <= pending_d;
      key_pending_q <= ask_tick ? has_key_q : key_pending_q && !key_gnt_i;
    end
  end

  always_ff @(posedge clk_i) if (ask_tick) row_q <= ask_row_q;

  assign rrow_o = row_q;
  assign key_req_o = key_pending_q;

  // An operand that is the same slot as another one is taken with it.
  logic [2:0] taken;
  always_comb begin
    taken = served;
    if (reads_q.again.b) taken[1] = served[0];
    if (reads_q.again.c) taken[2] = c_is_a_q ? served[0] : taken[1];
  end

  // ---- Operands: memory 2, port 1, buffer 1. ----

  localparam int unsigned Many = (Memory.narrow > 0) ? 2 : 1;
  localparam int unsigned PlaceWidth = (Memory.singles > 0) ? $clog2(Memory.singles + 1) : 1;

  // A row, divided into the parts that the cores take in a cycle.
  typedef logic [Period-1:0][Lanes-1:0][Width-1:0] parts_t;

  logic [1:0][2:0] taken_q;  // [k]: k + 1 cycles ago
  logic [2:0] key_taken_q;
  // For each operand, the group of many slots that it is in, and its number among the groups of one slot (or the
  // number of none).
  logic [2:0][Many-1:0] among_q;
  logic [2:0][PlaceWidth-1:0] single_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      taken_q <= '0;
      key_taken_q <= '0;
    end else begin
      taken_q <= {taken_q[0], taken};
      key_taken_q <= {key_taken_q[1:0], key_pending_q && key_gnt_i};
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 3; i++) begin
      for (int unsigned k = 0; k < Many; k++) begin
        among_q[i][k] <= in_group(reads_q.slot[i], (k == 0) ? 0 : Groups - 1, Memory);
      end
      single_q[i] <= PlaceWidth'(Memory.singles);
      for (int unsigned n = 0; n < Memory.singles; n++) begin
        if (in_group(reads_q.slot[i], n + 1, Memory)) single_q[i] <= PlaceWidth'(n);
      end
    end
  end

  // ---- Parts of rows, as the cores take them; with an operand of key memory, which is late, a cycle before. ----

  tag_t tag, late_q, core;
  logic valid_q;
  logic [LogPeriod-1:0] part_q, part_d;
  logic [LogSteps-1:0] row_now_q, row_now_d;
  // A part of coefficients is a part of columns, whose number is that of the part xor the high bits of the row's
  // mask.
  (* keep *) logic [LogPeriod-1:0] at_part_q;
  logic [LogRow-1:0] mask_d;
  logic [LogLanes-1:0] lane_mask_q;  // its low ones

  assign tag.valid = valid_q;
  assign tag.part = part_q;
  assign tag.row = row_now_q;
  assign core = has_key_q ? late_q : tag;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      late_q <= '0;
    end else begin
      valid_q <= load_tick || (valid_q && !(&part_q));
      late_q <= '{valid: valid_q && has_key_q, part: tag.part, row: tag.row};
    end
  end

  always_ff @(posedge clk_i) begin
    part_q <= part_d;
    row_now_q <= row_now_d;
    at_part_q <= part_d ^ mask_d[LogRow-1:LogLanes];
    lane_mask_q <= mask_d[LogLanes-1:0];
  end

  assign part_d = load_tick ? '0 : part_q + 1'b1;
  assign row_now_d = load_tick ? load_row_q : row_now_q;
  assign mask_d = LogRow'(column_of(IndexWidth'(row_now_d), LogRow));

  logic [2:0][Lanes-1:0][Width-1:0] operand, operand_q;
  (* keep *) logic [(1<<PlaceWidth)-1:0][1:0][Lanes-1:0][Width-1:0] single_halves;

  // Returns the number of a part in one half of a row.
  function automatic logic [LogPeriod-1:0] whole_part(logic [LogPeriod-1:0] now, logic half);
    logic [LogPeriod-1:0] part;
    part = now;
    part[LogPeriod-1] = half;
    return part;
  endfunction

  for (genvar n = 0; n < (1 << PlaceWidth); n++) begin : gen_single
    if (n < Memory.singles) begin : gen_slot
      logic take;
      parts_t come_q, held_q;

      always_comb begin
        take = 1'b0;
        for (int unsigned i = 0; i < 3; i++) take |= taken_q[1][i] && single_q[i] == PlaceWidth'(n);
      end

      always_ff @(posedge clk_i) begin
        if (take) come_q <= rdata_i[n+1];
        if (load_tick) held_q <= come_q;
      end

      for (genvar h = 0; h < 2; h++) begin : gen_which
        assign single_halves[n][h] = held_q[whole_part(at_part_q, 1'(h))];
      end
    end else begin : gen_none
      assign single_halves[n] = '0;
    end
  end

  for (genvar i = 0; i < 3; i++) begin : gen_operand
    // A part is chosen first within each half of a row: a choice among four is one look-up table. The choice among
    // halves then takes both groups.
    (* keep *) logic [Many-1:0][1:0][Lanes-1:0][Width-1:0] halves;
    logic [1:0][Lanes-1:0][Width-1:0] half;

    for (genvar k = 0; k < Many; k++) begin : gen_many
      parts_t come_q, held_q;

      always_ff @(posedge clk_i) begin
        if (taken_q[1][i] && among_q[i][k]) come_q <= rdata_i[(k==0)?0 : Groups-1];
        if (!among_q[i][k]) held_q <= '0;
        else if (load_tick) held_q <= come_q;
      end

      for (genvar h = 0; h < 2; h++) begin : gen_which
        assign halves[k][h] = held_q[whole_part(at_part_q, 1'(h))];
      end
    end

    always_comb begin
      half = halves[0];
      for (int unsigned k = 1; k < Many; k++) half |= halves[k];
    end

    always_comb begin
      operand[i] = half[at_part_q[LogPeriod-1]];
      for (int unsigned n = 0; n < Memory.singles; n++) begin
        if (single_q[i] == PlaceWidth'(n)) operand[i] |= single_halves[n][at_part_q[LogPeriod-1]];
      end
    end
  end

  always_ff @(posedge clk_i) operand_q <= operand;

  // ---- Keys: a row in the order of the index, held as long but for its first part. ----

  parts_t key_come_q, key_held_q, key_parts;
  logic [Lanes-1:0][Width-1:0] key_part, key_part_q;  // of late parts
  always_comb begin
    key_parts = key_held_q;
    key_parts[0] = key_come_q[0];
    for (int unsigned i = 0; i < Lanes; i++) key_part[i] = key_parts[tag.part][LogLanes'(i)^lane_mask_q];
  end

  always_ff @(posedge clk_i) begin
    if (key_taken_q[2]) key_come_q <= key_i;
    if (tag.valid && tag.part == '0) key_held_q <= key_come_q;
    key_part_q <= key_part;
  end

  // ---- Cores. ----

  tag_t [CoreLatency:1] tag_q;
  logic [LogRow-1:0] mask_out;
  logic [LogPeriod-1:0] part_out;
  logic [Lanes-1:0][Width-1:0] result;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tag_q <= '0;
    else tag_q <= {tag_q[CoreLatency-1:1], core};
  end

  mode_t mode;
  logic pass, one;
  entry_t to_u, to_v, to_w, late_u, late_v, late_w;

  rm_ring_mode u_mode (
      .clk_i,
      .op_i    (word_q.op),
      .key_i   (has_key_q),
      .gen_i   (has_gen_q),
      .mode_o  (mode),
      .pass_o  (pass),
      .u_o     (to_u),
      .v_o     (to_v),
      .w_o     (to_w),
      .u_late_o(late_u),
      .v_late_o(late_v),
      .w_late_o(late_w),
      .one_o   (one)
  );

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [Width-1:0] a, b, c, late_a, late_b, late_c, u, v, w, out0, out1;

    assign a = operand[0][i];
    assign b = operand[1][i];
    assign c = operand[2][i];
    assign late_a = operand_q[0][i];
    assign late_b = has_gen_q ? gen_i[LogLanes'(i)^lane_mask_q] : key_part_q[i];
    assign late_c = operand_q[2][i];

    assign u = (late_a & {Width{late_u.a}}) | (late_b & {Width{late_u.b}}) |
        (late_c & {Width{late_u.c}}) | (constant_i & {Width{late_u.k}}) |
        (a & {Width{to_u.a}}) | (c & {Width{to_u.c}});
    assign v = (late_a & {Width{late_v.a}}) | (late_b & {Width{late_v.b}}) |
        (constant_i & {Width{late_v.k}}) | (a & {Width{to_v.a}}) | (b & {Width{to_v.b}});
    assign w = (late_b & {Width{late_w.b}}) | (constant_i & {Width{late_w.k}}) | Width'(one) |
        (b & {Width{to_w.b}});

    rm_ring_core #(
        .Width(Width),
        .QWidth(QWidth),
        .Moduli(Moduli),
        .Q(Q),
        .MulLatency(MulLatency)
    ) u_core (
        .clk_i,
        .which_i,
        .mode_i(mode),
        .pass_i(pass),
        .u_i   (u),
        .v_i   (v),
        .w_i   (w),
        .out0_o(out0),
        .out1_o(out1)
    );

    assign result[i] = mode.second ? out1 : out0;
  end

  // ---- Results: two rows, each written within a period. ----

  logic [1:0][Row-1:0][Width-1:0] results_q;
  logic row_made, wpending_q, wgnt;
  logic [LogSteps-1:0] wrow_q;

  assign mask_out = LogRow'(column_of(IndexWidth'(tag_q[CoreLatency].row), LogRow));
  assign part_out = tag_q[CoreLatency].part ^ mask_out[LogRow-1:LogLanes];

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (tag_q[CoreLatency].valid) begin
        results_q[tag_q[CoreLatency].row[0]][{part_out, LogLanes'(i)}] <= result[i];
      end
    end
    if (row_made) wrow_q <= tag_q[CoreLatency].row;
  end

  assign row_made = tag_q[CoreLatency].valid && (&tag_q[CoreLatency].part);
  assign wgnt = |(wreq_o & wgnt_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wpending_q <= 1'b0;
    else wpending_q <= row_made || (wpending_q && !wgnt);
  end

  assign wreq_o = wpending_q ? Groups'(groups_at(word_q.dst, Memory)) : '0;
  assign wslot_o = inner_of(word_q.dst, Memory);
  assign wrow_o = wrow_q;
  assign wdata_o = results_q[wrow_q[0]];
  assign busy_o = ask_busy_q || load_busy_q || tag.valid || late_q.valid || wpending_q;

  logic unused;
  assign unused = ^{word_q, reads_q, to_u, to_v, to_w, late_v, late_w, mask_d, mask_out, operand_q[1]};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      // All requests of a period are served in it.
      rows_in_time : assert (!(ask_tick && (pending_q & ~served) != '0));
      keys_in_time : assert (!(ask_tick && key_pending_q && !key_gnt_i));
      written_in_time : assert (!(row_made && wpending_q && !wgnt));
    end
  end
`endif

endmodule
