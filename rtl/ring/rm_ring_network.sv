// SPDX-License-Identifier: Apache-2.0
// The row network of the ring machine: permutes a row between the columns of the memory and the
// lanes of the main cores.
//
// Lane l stands in column rotl(l, rotate) ^ mask; rotl rotates the LogRow bits of a lane's number.
//
//   Write = 0   row_o[l] = row_i[rotl(l, rotate) ^ mask]     columns to lanes
//   Write = 1   row_o[rotl(l, rotate) ^ mask] = row_i[l]     lanes to columns
//
// With given_i the lane at place p (rm_ring_place_pkg) stands in column column_i[p] ^ mask instead.
// There is an order of all bits in which each bit of column_i[p] is the place's bit, inverted or
// not by earlier bits.
//
// The network exchanges neighbours in bits of a place, two exchanges as a choice of four. If
// columns become lanes, it goes from the bit of the highest value down to bit 0. The lanes' side
// decides which places are exchanged: the word at a place has to come from a column with that bit
// set or clear. The exchange that repairs a rotation stands next to the columns.
//
// given_i, column_i, mask_i and rotate_i come two cycles before the row. Latency 2, a row a cycle.
module rm_ring_network
  import rm_ring_place_pkg::*;
#(
    parameter int unsigned LogRow = 5,
    parameter int unsigned Width = 60,
    parameter bit Write = 1'b0,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned RotWidth = (LogRow > 1) ? $clog2(LogRow) : 1
) (
    input  logic                            clk_i,
    input  logic                            given_i,
    input  logic [     Row-1:0][LogRow-1:0] column_i,
    input  logic [  LogRow-1:0]             mask_i,
    input  logic [RotWidth-1:0]             rotate_i,
    input  logic [     Row-1:0][ Width-1:0] row_i,
    output logic [     Row-1:0][ Width-1:0] row_o
);

  if (!has_basis(LogRow)) begin : gen_check
    $error("rows of so many lanes have no places");
  end

  // Returns a lane's number with its bits rotated to the left.
  function automatic logic [LogRow-1:0] rotl(logic [LogRow-1:0] lane, int unsigned by);
    return LogRow'({lane, lane} >> (LogRow - by));
  endfunction

  typedef logic [LogRow-1:0] lane_t;

  localparam lane_t Repair = lane_t'(repair(LogRow));

  // Returns a column's number after the exchange that repairs, if it repairs.
  function automatic lane_t repaired(lane_t column, bit repairs);
    return {column[LogRow-1:1], column[0] ^ (repairs && ^(column & Repair))};
  endfunction

  // Three functions return tables: the lane of each place, whether each rotation is repaired, and
  // the column of each place under each rotation.
  function automatic logic [Row-1:0][LogRow-1:0] lanes();
    for (int unsigned p = 0; p < Row; p++) lanes[p] = lane_t'(lane_of(LogRow, p));
  endfunction

  function automatic logic [LogRow-1:0] repairs();
    for (int unsigned by = 0; by < LogRow; by++) repairs[by] = is_repaired(LogRow, by);
  endfunction

  localparam logic [Row-1:0][LogRow-1:0] LaneOf = lanes();
  localparam logic [LogRow-1:0] Repairs = repairs();

  function automatic logic [LogRow-1:0][Row-1:0][LogRow-1:0] columns();
    for (int unsigned by = 0; by < LogRow; by++) begin
      for (int unsigned p = 0; p < Row; p++) begin
        columns[by][p] = repaired(rotl(LaneOf[p], by), Repairs[by]);
      end
    end
  endfunction

  localparam logic [LogRow-1:0][Row-1:0][LogRow-1:0] Columns = columns();

  localparam int unsigned Exchanges = LogRow + ((Repair != '0) ? 1 : 0);
  localparam int unsigned Levels = (Exchanges + 1) / 2;

  // Returns the bits of a place that exchange k inverts: bit k, or bit 0 for the exchange that
  // repairs.
  function automatic logic [LogRow-1:0] across(int unsigned k);
    return LogRow'((k < LogRow) ? 1 << k : (k < Exchanges) ? 1 : 0);
  endfunction

  // ---- Which exchanges. ----

  logic repair_d, repair_q;
  logic [LogRow-1:0] mask;
  logic [Row-1:0][LogRow-1:0] rotated, from_d, from_q;  // each place's column, repaired
  logic [2*Levels-1:0][Row-1:0] exchange;
  logic [Levels-1:0][Row-1:0][1:0] choice_d, choice_q;

  always_comb begin
    repair_d = 1'b0;
    for (int unsigned by = 0; by < LogRow; by++) begin
      if (!given_i && rotate_i == RotWidth'(by)) repair_d = Repairs[by];
    end
    mask = repaired(mask_i, repair_d);
    rotated = '0;
    for (int unsigned by = 0; by < LogRow; by++) begin
      if (rotate_i == RotWidth'(by)) rotated = Columns[by];
    end
    from_d = (given_i ? column_i : rotated) ^ {Row{mask}};
  end

  always_comb begin
    logic [Row-1:0][LogRow-1:0] from, moved;
    from = from_q;
    exchange = '0;
    for (int unsigned k = 0; k < LogRow; k++) begin
      for (int unsigned p = 0; p < Row; p++) begin
        exchange[k][p] = from[LogRow'(p)&~across(k)][k];
        moved[p] = exchange[k][p] ? from[LogRow'(p)^across(k)] : from[p];
      end
      from = moved;
    end
    if (Repair != '0) begin
      for (int unsigned p = 0; p < Row; p++) begin
        exchange[LogRow][p] = repair_q && ^(lane_t'(p) & Repair);
      end
    end
    // A level makes two exchanges, low and high, in one choice. The exchange nearer to the output
    // decides first.
    for (int unsigned v = 0; v < Levels; v++) begin
      for (int unsigned p = 0; p < Row; p++) begin
        logic high, low;
        logic [LogRow-1:0] by_high, by_low;
        by_high = Write && exchange[2*v+1][p] ? across(2 * v + 1) : '0;
        by_low = !Write && exchange[2*v][p] ? across(2 * v) : '0;
        high = exchange[2*v+1][LogRow'(p)^by_low];
        low = exchange[2*v][LogRow'(p)^by_high];
        choice_d[v][p] = {high, low};
      end
    end
  end

  always_ff @(posedge clk_i) begin
    repair_q <= repair_d;
    from_q <= from_d;
    choice_q <= choice_d;
  end

  // ---- The row. ----

  localparam int unsigned Early = (Levels + 1) / 2;  // levels of the first cycle

  // Returns the number of the level that a row passes after `after` other levels.
  function automatic int unsigned level(int unsigned after);
    return Write ? after : Levels - 1 - after;
  endfunction

  logic [Levels-1:0][Row-1:0][1:0] choice_q2;
  logic [Row-1:0][Width-1:0] early_d, early_q, late_d, late_q;

  logic [Levels-1:0][Row-1:0][1:0] choice;
  // The rows before and after each level. The first level takes the input row, and level Early takes
  // a register.
  logic [Levels-1:0][Row-1:0][Width-1:0] taken, given;

  for (genvar i = 0; i < Levels; i++) begin : gen_level
    localparam int unsigned V = level(i);

    if (i == Early) begin : gen_late
      assign taken[i] = early_q;
    end else if (i > 0) begin : gen_next
      assign taken[i] = given[i-1];
    end
    assign choice[i] = (i < Early) ? choice_q[V] : choice_q2[V];

    for (genvar p = 0; p < Row; p++) begin : gen_place
      localparam int unsigned Low = p ^ 32'(across(2 * V));
      localparam int unsigned High = p ^ 32'(across(2 * V + 1));
      localparam int unsigned Both = Low ^ High ^ p;

      assign given[i][p] = choice[i][p][1] ? (choice[i][p][0] ? taken[i][Both] : taken[i][High]) :
          (choice[i][p][0] ? taken[i][Low] : taken[i][p]);
    end
  end

  assign early_d = given[Early-1];
  assign late_d = (Levels > Early) ? given[Levels-1] : early_q;

  for (genvar p = 0; p < Row; p++) begin : gen_end
    assign taken[0][p] = Write ? row_i[LaneOf[p]] : row_i[p];
    if (Write) begin : gen_column
      assign row_o[p] = late_q[p];
    end else begin : gen_lane
      assign row_o[LaneOf[p]] = late_q[p];
    end
  end

  always_ff @(posedge clk_i) begin
    choice_q2 <= choice_q;
    early_q <= early_d;
    late_q <= late_d;
  end

  logic unused;  // those of the first cycle's levels
  assign unused = ^choice_q2;

endmodule
