// SPDX-License-Identifier: Apache-2.0
// Brings generated operands to the main cores: asks the generator for a row's parts ahead of time,
// and joins them to rows.
//
// The module asks in the same beats that the row will have when the instruction word (word) reads
// it. The word steps Latency cycles later than others: from start_o on, in the same beats as here
// from start_i on (rm_ring_seq, with the same turns left out). In the first 2^LogPeriod beats of a
// row it asks for a part. The part comes Latency + 3 cycles later (take_i, its number). That is one
// cycle before the residues that the beat has read from polynomial memory. So row_o has the row
// whole with the row's last beat, in the order of the index.
module rm_ring_feed
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned LogPeriod = 3,
    parameter int unsigned Stages = 2,
    parameter int unsigned Latency = 93,
    parameter int unsigned Width = 60,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned Lanes = Row >> LogPeriod
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic [SizeWidth-1:0]        log_n_i,
    input  logic                        start_i,
    input  logic [BeatWidth-1:0]        more_i,  // from the cycle after start_i on, held
    input  logic [LogPeriod-1:0]        turns_i,
    output logic                        valid_o,
    output logic [LogPeriod-1:0]        part_o,
    output logic                        start_o,
    input  logic                        take_i,
    input  logic [LogPeriod-1:0]        place_i,
    input  logic [Lanes-1:0][Width-1:0] gen_i,
    output logic [Row-1:0][Width-1:0]   row_o
);

  localparam int unsigned PassWidth = $clog2(pass_count(LogN, Stages));
  localparam int unsigned CountWidth = $clog2(Latency + 1);

  logic beat, unused_busy, unused_first, unused_row, unused_half, unused_end, unused_tail;
  logic [PassWidth-1:0] unused_pass;
  logic [LogN-LogRow-1:0] unused_step;
  logic [BeatWidth-1:0] sub;

  rm_ring_seq #(
      .LogN(LogN),
      .LogRow(LogRow),
      .LogPeriod(LogPeriod),
      .Stages(Stages)
  ) u_ahead (
      .clk_i,
      .rst_ni,
      .log_n_i,
      .start_i,
      .transform_i(1'b0),
      .inverse_i(1'b0),
      .more_i,
      .halves_i(1'b0),
      .tail_i(1'b0),
      .tail_more_i('0),
      .turns_i,
      .busy_o(unused_busy),
      .beat_o(beat),
      .first_pass_o(unused_first),
      .pass_o(unused_pass),
      .step_o(unused_step),
      .first_row_o(unused_row),
      .sub_o(sub),
      .half_o(unused_half),
      .last_sub_o(unused_end),
      .tail_o(unused_tail)
  );

  assign valid_o = beat && (32'(sub) >> LogPeriod) == 0;
  assign part_o = sub[LogPeriod-1:0];

  // A word waits for its first step, whose cycle is counted down.
  logic waits_q;
  logic [CountWidth-1:0] count_q;

  assign start_o = waits_q && count_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waits_q <= 1'b0;
    else waits_q <= start_i || (waits_q && !start_o);
  end

  always_ff @(posedge clk_i) begin
    count_q <= start_i ? CountWidth'(Latency - 1) : count_q - 1'b1;
  end

  logic [Row-1:0][Width-1:0] row_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Lanes; i++) if (take_i) row_q[LogRow'(32'(place_i)*Lanes+i)] <= gen_i[i];
  end

  assign row_o = row_q;

  logic unused;
  assign unused = ^{unused_busy, unused_first, unused_row, unused_pass, unused_step, unused_half, unused_end,
      unused_tail, sub};

endmodule
