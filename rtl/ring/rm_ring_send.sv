// SPDX-License-Identifier: Apache-2.0
// Sends the rows of a slot to the ring or the link, in order, as the columns have them: the source
// of a broadcast or a store.
//
// A narrow slot gives a row in parts (part_o), which it holds until the last part is there.
//
// An instruction word granted in cycle t reads its first row in cycle t + 3. The row stands at
// row_o three cycles later; for a narrow slot, three cycles after its last part.
module rm_ring_send
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned LogPeriod = 3,
    parameter memory_t Memory = DefaultMemory,
    parameter int unsigned Stages = 2,
    parameter int unsigned Width = 60,
    localparam int unsigned Groups = groups_of(Memory),
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned LogSteps = LogN - LogRow
) (
    input  logic                                     clk_i,
    input  logic                                     rst_ni,
    input  logic [SizeWidth-1:0]                     log_n_i,
    input  logic                                     start_i,
    input  logic [SlotWidth-1:0]                     slot_i,
    input  logic [LogPeriod-1:0]                     turns_i,
    output logic [   Groups-1:0]                     re_o,
    output logic [SlotWidth-1:0]                     rslot_o,
    output logic [ LogSteps-1:0]                     rrow_o,
    output logic [BeatWidth-1:0]                     part_o,
    input  logic [   Groups-1:0][Row-1:0][Width-1:0] rdata_i,
    output logic                                     valid_o,
    output logic [      Row-1:0][Width-1:0]          row_o
);

  localparam int unsigned Passes = pass_count(LogN, Stages);
  localparam int unsigned PassWidth = $clog2(Passes);

  logic [SlotWidth-1:0] slot_q, inner_q;
  logic beat, row_end, unused_busy, unused_first, unused_row, unused_tail, unused_half;
  logic [PassWidth-1:0] unused_pass;
  logic [BeatWidth-1:0] sub;
  logic [1:0][BeatWidth-1:0] sub_q;
  logic [LogSteps-1:0] step;
  logic [1:0][LogSteps-1:0] step_q;
  logic beat_q;
  logic [4:0] row_end_q;
  logic [Groups-1:0] own_q, re_q;
  logic [Groups-1:0][Row-1:0][Width-1:0] given_q;

  always_ff @(posedge clk_i) if (start_i) slot_q <= slot_i;

  rm_ring_seq #(
      .LogN(LogN),
      .LogRow(LogRow),
      .LogPeriod(LogPeriod),
      .Stages(Stages)
  ) u_seq (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .start_i,
      .transform_i(1'b0),
      .inverse_i(1'b0),
      .more_i(parts_of(slot_q, Memory) - BeatWidth'(1)),
      .halves_i(1'b0),
      .tail_i(1'b0),
      .tail_more_i('0),
      .turns_i,
      .busy_o(unused_busy),
      .beat_o(beat),
      .first_pass_o(unused_first),
      .pass_o(unused_pass),
      .step_o(step),
      .first_row_o(unused_row),
      .sub_o(sub),
      .half_o(unused_half),
      .last_sub_o(row_end),
      .tail_o(unused_tail)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q <= '0;
      row_end_q <= '0;
      re_q <= '0;
    end else begin
      beat_q <= beat;
      re_q <= beat_q ? own_q : '0;
      row_end_q <= {row_end_q[3:0], row_end};
    end
  end

  always_ff @(posedge clk_i) begin
    step_q <= {step_q[0], step};
    sub_q <= {sub_q[0], sub};
    inner_q <= inner_of(slot_q, Memory);
    own_q <= Groups'(groups_at(slot_q, Memory));
  end

  // Registers of groups that are not the slot's are held at 0 by a synchronous reset, so that the
  // choice is one gate for each bit.
  always_ff @(posedge clk_i) begin
    for (int unsigned g = 0; g < Groups; g++) begin
      if (own_q[g]) given_q[g] <= rdata_i[g];
      else given_q[g] <= '0;
    end
  end

  always_comb begin
    row_o = '0;
    for (int unsigned g = 0; g < Groups; g++) row_o |= given_q[g];
  end

  assign re_o = re_q;
  assign rslot_o = inner_q;
  assign rrow_o = step_q[1];
  assign part_o = sub_q[1];
  assign valid_o = row_end_q[4];

  logic unused;
  assign unused = ^{unused_busy, unused_first, unused_row, unused_pass, unused_half, unused_tail};

endmodule
