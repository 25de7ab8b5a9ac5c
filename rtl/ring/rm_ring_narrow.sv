// SPDX-License-Identifier: Apache-2.0
// The narrow slots of an RPAU: Slots slots of 2^LogN residues in one memory of words of Group
// residues, with one read and one write port.
//
// Memory word i of a slot holds the residues from i Group on, in the order of their columns. So a
// row takes Parts = 2^LogRow / Group reads or writes, and nothing is exchanged inside a word.
//
// To readers and writers of rows it is a port group (rm_ring_group). Rows stand in the order of
// columns, residue x in column xor(pieces of x). A row is read in parts and collected: rdata_o has
// it two cycles after its last part was read.
//
//   main_*    part main_part_i of the row at main_raddr_i[0]; with main_strides_i the one residue that stands in column
//             main_part_i, at that column's address
//   send_*    part send_part_i of a row of neighbours
//   dy_*      a row that is asked for until dy_gnt_o, which is up as its last part is read
//
// A row is written in as many cycles, from the next one on. The next row comes as its last part is
// written, or later. A limb from the link comes residue by residue, in order, and is written word
// by word.
//
// Nothing shares its ports: the board gives each to one instruction word from its grant to its end.
// Assertions check that there is at most one read and one write a cycle.
module rm_ring_narrow
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned LogParts = 2,
    parameter int unsigned Slots = 2,
    parameter int unsigned Width = 60,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned LogSteps = LogN - LogRow
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    // Reads.
    input  logic                               main_re_i,
    input  logic                               main_strides_i,
    input  logic [BeatWidth-1:0]               main_part_i,
    input  logic [SlotWidth-1:0]               main_rslot_i,
    input  logic [      Row-1:0][LogSteps-1:0] main_raddr_i,
    input  logic                               send_re_i,
    input  logic [BeatWidth-1:0]               send_part_i,
    input  logic [SlotWidth-1:0]               send_slot_i,
    input  logic [ LogSteps-1:0]               send_row_i,
    input  logic                               dy_req_i,
    output logic                               dy_gnt_o,
    input  logic [SlotWidth-1:0]               dy_rslot_i,
    input  logic [ LogSteps-1:0]               dy_rrow_i,
    output logic [      Row-1:0][   Width-1:0] rdata_o,
    // Writes.
    input  logic                               main_we_i,
    input  logic [SlotWidth-1:0]               main_wslot_i,
    input  logic [ LogSteps-1:0]               main_wrow_i,
    input  logic [      Row-1:0][   Width-1:0] main_wdata_i,
    input  logic                               load_we_i,
    input  logic [SlotWidth-1:0]               load_slot_i,
    input  logic [     LogN-1:0]               load_index_i,
    input  logic [    Width-1:0]               load_data_i,
    input  logic                               dy_wreq_i,
    output logic                               dy_wgnt_o,
    input  logic [SlotWidth-1:0]               dy_wslot_i,
    input  logic [ LogSteps-1:0]               dy_wrow_i,
    input  logic [      Row-1:0][   Width-1:0] dy_wdata_i,
    // What is written, as the memory sees it, in the order of columns.
    output logic [      Row-1:0]               watch_we_o,
    output logic [SlotWidth-1:0]               watch_slot_o,
    output logic [      Row-1:0][LogSteps-1:0] watch_addr_o,
    output logic [      Row-1:0][   Width-1:0] watch_data_o
);

  localparam int unsigned LogGroup = LogRow - LogParts;
  localparam int unsigned Group = 1 << LogGroup;
  localparam int unsigned Parts = 1 << LogParts;
  localparam int unsigned Depth = Slots << (LogN - LogGroup);
  localparam int unsigned AddrWidth = $clog2(Depth);

  if (LogParts < 1 || LogGroup < 1) begin : gen_check
    $error("a word has some of a row's residues");
  end

  // The place of a word: its slot, its row, and its part of the row.
  typedef struct packed {
    logic [SlotWidth-1:0] slot;
    logic [LogSteps-1:0] row;
    logic [LogParts-1:0] part;
  } place_t;

  // ---- Reads. ----

  // A word that was asked for: the mask of its row, and whether only one of its columns is wanted.
  typedef struct packed {
    logic valid;
    logic strides;
    logic [LogRow-1:0] column;  // the one that is wanted
    logic [LogParts-1:0] part;
    logic [LogRow-1:0] mask;
  } want_t;

  place_t read;
  want_t want, want_q, want_q2;
  logic [LogParts-1:0] dy_part_q;
  logic [LogRow-1:0] column;
  logic [LogSteps-1:0] strided;
  logic [Group-1:0][Width-1:0] word;
  logic [Row-1:0] come;
  logic [Row-1:0][Width-1:0] row_d, row_q;

  assign dy_gnt_o = dy_req_i && (&dy_part_q);
  assign column = LogRow'(main_part_i);
  assign strided = main_raddr_i[column];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) dy_part_q <= '0;
    else if (dy_req_i) dy_part_q <= dy_part_q + 1'b1;
  end

  always_comb begin
    want.valid = main_re_i || send_re_i || dy_req_i;
    want.strides = main_re_i && main_strides_i;
    want.column = column;
    if (main_re_i && main_strides_i) begin
      read.slot = main_rslot_i;
      read.row = strided;
      read.part = LogParts'((column ^ LogRow'(column_of(IndexWidth'(strided), LogRow))) >> LogGroup);
    end else if (main_re_i) begin
      read.slot = main_rslot_i;
      read.row = main_raddr_i[0];
      read.part = LogParts'(main_part_i);
    end else if (send_re_i) begin
      read.slot = send_slot_i;
      read.row = send_row_i;
      read.part = LogParts'(send_part_i);
    end else begin
      read.slot = dy_rslot_i;
      read.row = dy_rrow_i;
      read.part = dy_part_q;
    end
    want.part = read.part;
    want.mask = LogRow'(column_of(IndexWidth'(read.row), LogRow));
  end

  // ---- Writes. ----

  logic writing_q, of_dyadic_q;
  logic [LogParts-1:0] wpart_q;
  logic [SlotWidth-1:0] wslot_q;
  logic [LogSteps-1:0] wrow_q;
  logic [1:0][Row-1:0][Width-1:0] rows_q;  // of the main cores, of the dyadic ones
  logic [LogRow-1:0] wmask, load_mask, write_mask;
  logic [1:0][Group-1:0][Width-1:0] chosen;
  logic [Group-1:0][Width-1:0] loaded_q, wcolumns;
  logic load_word_q;
  place_t write, load_place_q;

  assign dy_wgnt_o = dy_wreq_i && !main_we_i && (!writing_q || (&wpart_q));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      writing_q <= 1'b0;
      load_word_q <= 1'b0;
    end else begin
      writing_q <= main_we_i || dy_wgnt_o || (writing_q && !(&wpart_q));
      load_word_q <= load_we_i && (&load_index_i[LogGroup-1:0]);
    end
  end

  assign load_mask = LogRow'(column_of(IndexWidth'(load_index_i[LogN-1:LogRow]), LogRow));

  // Each unit's row has registers of its own, so that the choice between them is of a word and not of a row. Loaded residues
  // are in the order of columns, too.
  always_ff @(posedge clk_i) begin
    if (main_we_i) rows_q[0] <= main_wdata_i;
    if (dy_wgnt_o) rows_q[1] <= dy_wdata_i;
    if (main_we_i || dy_wgnt_o) begin
      of_dyadic_q <= !main_we_i;
      wpart_q <= '0;
      wslot_q <= main_we_i ? main_wslot_i : dy_wslot_i;
      wrow_q <= main_we_i ? main_wrow_i : dy_wrow_i;
    end else begin
      wpart_q <= wpart_q + 1'b1;
    end
    if (load_we_i) begin
      loaded_q[load_index_i[LogGroup-1:0]^load_mask[LogGroup-1:0]] <= load_data_i;
      load_place_q <= place_t'({load_slot_i, load_index_i[LogN-1:LogGroup]});
    end
  end

  // The columns of a word are its residues' numbers, but for the row's mask: its high bits choose the word's columns. Its low
  // ones exchange residues inside the word, which keeps them as they come.
  assign wmask = LogRow'(column_of(IndexWidth'(wrow_q), LogRow));

  for (genvar u = 0; u < 2; u++) begin : gen_unit
    logic [Parts-1:0][Group-1:0][Width-1:0] wparts;

    assign wparts = rows_q[u];
    assign chosen[u] = wparts[wpart_q^wmask[LogRow-1:LogGroup]];
  end

  assign wcolumns = load_word_q ? loaded_q : chosen[of_dyadic_q];
  assign write = load_word_q ? load_place_q : place_t'({wslot_q, wrow_q, wpart_q});
  assign write_mask = LogRow'(column_of(IndexWidth'(write.row), LogRow));

  rm_ram_1r1w #(
      .Width (Group * Width),
      .Depth (Depth),
      .OutReg(1'b1),
      .Style ("ultra")
  ) u_ram (
      .clk_i,
      .we_i   (writing_q || load_word_q),
      .waddr_i(AddrWidth'(write)),
      .wdata_i(wcolumns),
      .re_i   (1'b1),
      .raddr_i(AddrWidth'(read)),
      .rdata_o(word)
  );

  // ---- Rows, column by column. ----

  always_ff @(posedge clk_i) begin
    want_q <= want;
    want_q2 <= want_q;
    row_q <= row_d;
  end

  always_comb begin
    for (int unsigned c = 0; c < Row; c++) begin
      logic [LogParts-1:0] part;
      part = LogParts'(c >> LogGroup) ^ want_q2.mask[LogRow-1:LogGroup];
      come[c] = want_q2.valid && (want_q2.strides ? want_q2.column == LogRow'(c) :
          part == want_q2.part);
      row_d[c] = come[c] ? word[LogGroup'(c)] : row_q[c];
    end
  end

  assign rdata_o = row_d;

  // ---- What is written. ----

  assign watch_slot_o = write.slot;

  // All columns show the word's residues. The enables select the columns that the word has.
  always_comb begin
    for (int unsigned c = 0; c < Row; c++) begin
      logic [LogParts-1:0] part;
      part = LogParts'(c >> LogGroup) ^ write_mask[LogRow-1:LogGroup];
      watch_we_o[c] = (writing_q || load_word_q) && part == write.part;
      watch_addr_o[c] = write.row;
      watch_data_o[c] = wcolumns[LogGroup'(c)];
    end
  end

  // The high bits of part numbers are not used, because a row has few parts. The board has refused words with a slot beyond the
  // memory.
  logic unused;
  assign unused = ^{main_part_i, send_part_i, read, write, load_index_i, wmask, load_mask,
      write_mask};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      one_reader : assert ($countones({main_re_i, send_re_i, dy_req_i}) <= 1);
      one_writer : assert ($countones({main_we_i, load_we_i, dy_wgnt_o}) <= 1);
      written_in_time : assert (!((main_we_i || load_word_q) && writing_q && !(&wpart_q)));
    end
  end
`endif

endmodule
