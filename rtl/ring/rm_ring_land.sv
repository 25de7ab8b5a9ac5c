// SPDX-License-Identifier: Apache-2.0
// Writes the result rows of the main cores to polynomial memory: through the network into the order
// of columns, at each column's address, in the result's slot.
//
// Latency 3 from a row's step to its write, 2 from the row, and 1 from the signal that the row is
// written.
module rm_ring_land
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogRow = 3,
    parameter memory_t Memory = DefaultMemory,
    parameter int unsigned Stages = 2,
    parameter int unsigned Width = 60,
    parameter int unsigned MulLatency = 12,
    localparam int unsigned Groups = groups_of(Memory),
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned LogSteps = LogN - LogRow,
    localparam int unsigned PassWidth = $clog2(pass_count(LogN, Stages)),
    localparam int unsigned RotWidth = (LogRow > 1) ? $clog2(LogRow) : 1
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  logic [SizeWidth-1:0]           log_n_i,  // held
    // Properties of the word, held.
    input  logic                           transform_i,
    input  logic                           inverse_i,
    input  logic                           moves_i,
    input  logic                           coefficients_i,
    // The mask and the rotation that rm_ring_main gives the network before the cores when it reads a transform's row.
    input  logic [LogRow-1:0]              mask_i,
    input  logic [RotWidth-1:0]            rotate_i,
    // The step of a row (of an automorphism two cycles earlier). The row comes a cycle later; whether it is written, and to
    // which slot, two cycles later.
    input  logic [PassWidth-1:0]           pass_i,
    input  logic [LogSteps-1:0]            step_i,
    input  logic [LogSteps-1:0]            moved_step_i,
    input  logic                           write_i,
    input  logic [SlotWidth-1:0]           slot_i,
    input  logic [Row-1:0][Width-1:0]      row_i,
    output logic [Groups-1:0]              we_o,
    output logic [SlotWidth-1:0]           wslot_o,
    output logic [Row-1:0][LogSteps-1:0]   waddr_o,
    output logic [Row-1:0][Width-1:0]      wdata_o
);

  // Cycles from a row at the network before the cores to the same row behind them.
  localparam int unsigned Through = 1 + Stages * (MulLatency + 1);
  localparam int unsigned PlaceWidth = LogRow + RotWidth;

  logic [PlaceWidth-1:0] place_pass, place_q;

  rm_delay #(
      .Width(PlaceWidth),
      .Depth(Through)
  ) u_place_pass (
      .clk_i,
      .d_i({mask_i, rotate_i}),
      .q_o(place_pass)
  );

  // The target row of an automorphism. Rows are written in the order of their reversed numbers,
  // rows of coefficients in the order of the numbers themselves, with their window at the top.
  logic [SizeWidth-1:0] short_q;
  logic [LogSteps-1:0] reversed;
  logic [LogN-1:0] to_d, to_q;

  always_ff @(posedge clk_i) short_q <= SizeWidth'(LogN) - log_n_i;

  always_comb for (int unsigned i = 0; i < LogSteps; i++) reversed[i] = moved_step_i[LogSteps-1-i];

  assign to_d = coefficients_i ? LogN'(moved_step_i) : {reversed >> short_q, LogRow'(0)};

  rm_delay #(
      .Width(LogN),
      .Depth(4)
  ) u_to (
      .clk_i,
      .d_i(to_d),
      .q_o(to_q)
  );

  // An automorphism's rows stand in the order of the network's places, lanes of others in that of columns.
  always_ff @(posedge clk_i) begin
    place_q <= transform_i ? place_pass :
        moves_i ? {LogRow'(column_of(IndexWidth'(to_d), LogRow)), RotWidth'(0)} : '0;
  end

  logic [Row-1:0][LogRow-1:0] as_they_are;
  always_comb for (int unsigned p = 0; p < Row; p++) as_they_are[p] = LogRow'(p);

  rm_ring_network #(
      .LogRow(LogRow),
      .Width (Width),
      .Write (1'b1)
  ) u_columns (
      .clk_i,
      .given_i (moves_i),
      .column_i(as_they_are),
      .mask_i  (place_q[RotWidth+:LogRow]),
      .rotate_i(place_q[RotWidth-1:0]),
      .row_i,
      .row_o   (wdata_o)
  );

  logic [PassWidth-1:0] pass_q;
  logic [LogSteps-1:0] step_q;

  always_ff @(posedge clk_i) begin
    pass_q <= pass_i;
    step_q <= step_i;
  end

  logic [LogRow-1:0] unused_mask;
  logic [RotWidth-1:0] unused_rotate;

  rm_ring_agen #(
      .LogN  (LogN),
      .LogRow(LogRow),
      .Stages(Stages)
  ) u_write (
      .clk_i,
      .log_n_i,
      .linear_i (!transform_i),
      .inverse_i,
      .pass_i   (pass_q),
      .step_i   (step_q),
      .given_i  (moves_i),
      .top_i    (coefficients_i),
      .x_i      (to_q),
      .mask_o   (unused_mask),
      .rotate_o (unused_rotate),
      .addr_o   (waddr_o)
  );

  logic [SlotWidth-1:0] slot_q;
  logic [Groups-1:0] we_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) we_q <= '0;
    else we_q <= write_i ? Groups'(groups_at(slot_i, Memory)) : '0;
  end

  always_ff @(posedge clk_i) slot_q <= inner_of(slot_i, Memory);

  assign we_o = we_q;
  assign wslot_o = slot_q;

  logic unused;
  assign unused = ^{unused_mask, unused_rotate};

endmodule
