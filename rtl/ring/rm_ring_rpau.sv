// A residue polynomial arithmetic unit: polynomial memory in port groups, main and dyadic cores, and its ends
// of ring and link (docs/machines/ring.md, "Parts of an RPAU").
//
// Slots 0 to Shared - 1 share the ports of group 0, each of the Singles that follow has ports of its own. Words
// come from the board, which knows when units and ports are free: a start_i bit in the cycle of the grant, with
// the word and the turns of its ports that it leaves to a dyadic word. What is given to the ring (send_*) is a
// row a cycle in the order of the columns, and so is what comes from it (recv_*). Nothing is reported back but
// what watch_* shows, for lockstep: every write as the memories see it.
//
// Tables are written by load_*: kind 0 a constant, 1 and 2 twiddles of core A's and B's tables that have one
// word a pass, 3 and 4 those that have several (rm_ring_twiddle).
module rm_ring_rpau
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned Shared = 8,
    parameter int unsigned Singles = 3,
    parameter int unsigned Width = 60,
    parameter int unsigned QWidth = 60,
    parameter logic [63:0] Q = 64'h0800_0000_0230_0001,
    parameter int unsigned MulLatency = 12,
    parameter int unsigned GenLatency = 93,
    parameter int unsigned Constants = 256,
    localparam int unsigned Groups = 1 + Singles,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned LogPeriod = LogRow - LogLanes,
    localparam int unsigned LogSteps = LogN - LogRow,
    localparam int unsigned ConstWidth = $clog2(Constants)
) (
    input  logic                                        clk_i,
    input  logic                                        rst_ni,
    // Words.
    input  logic                                        main_start_i,
    input  logic [       63:0]                          main_word_i,
    input  logic [LogPeriod-1:0]                        main_turns_i,
    input  logic                                        dyadic_start_i,
    input  logic [       63:0]                          dyadic_word_i,
    // Ring and link.
    input  logic                                        send_start_i,
    input  logic [SlotWidth-1:0]                        send_slot_i,
    input  logic [LogPeriod-1:0]                        send_turns_i,
    output logic                                        send_valid_o,
    output logic [      Row-1:0][Width-1:0]             send_row_o,
    input  logic                                        recv_start_i,
    input  logic [SlotWidth-1:0]                        recv_slot_i,
    input  logic                                        recv_valid_i,
    input  logic [      Row-1:0][Width-1:0]             recv_row_i,
    input  logic                                        link_valid_i,
    input  logic [SlotWidth-1:0]                        link_slot_i,
    input  logic [     LogN-1:0]                        link_index_i,
    input  logic [    Width-1:0]                        link_data_i,
    // Tables.
    input  logic                                        load_i,
    input  logic [          2:0]                        load_kind_i,
    input  logic [   LogRow-1:0]                        load_table_i,
    input  logic [         15:0]                        load_addr_i,
    input  logic [    Width-1:0]                        load_data_i,
    // Writes.
    output logic [   Groups-1:0][Row-1:0]               watch_we_o,
    output logic [   Groups-1:0][SlotWidth-1:0]         watch_slot_o,
    output logic [   Groups-1:0][Row-1:0][LogSteps-1:0] watch_addr_o,
    output logic [   Groups-1:0][Row-1:0][Width-1:0]    watch_data_o
);

  localparam int unsigned PassWidth = $clog2(pass_count(LogN));
  localparam int unsigned Half = Row / 2;
  localparam int unsigned DeepWidth = $clog2(3 * table_base(LogN, LogRow, pass_count(LogN)));
  localparam int unsigned TableA = (Half > 1) ? $clog2(Half) : 1;
  localparam int unsigned TableB = (Half > 2) ? $clog2(Half / 2) : 1;

  logic [Groups-1:0][Row-1:0][Width-1:0] rdata;
  logic main_busy, dyadic_busy;

  // ---- Constants. ----

  logic [1:0][Width-1:0] constant;  // of the main cores, of the dyadic ones
  logic [1:0][11:0] index_q;

  always_ff @(posedge clk_i) begin
    if (main_start_i) index_q[0] <= main_word_i[11:0];
    if (dyadic_start_i) index_q[1] <= dyadic_word_i[11:0];
  end

  for (genvar u = 0; u < 2; u++) begin : gen_constants
    rm_ram_1r1w #(
        .Width(Width),
        .Depth(Constants),
        .Style("distributed")
    ) u_constants (
        .clk_i,
        .we_i   (load_i && load_kind_i == 3'd0),
        .waddr_i(load_addr_i[ConstWidth-1:0]),
        .wdata_i(load_data_i),
        .re_i   (1'b1),
        .raddr_i(index_q[u][ConstWidth-1:0]),
        .rdata_o(constant[u])
    );
  end

  // ---- Twiddles. ----

  logic [1:0] tw_ring;
  logic [1:0][PassWidth-1:0] tw_pass;
  logic [1:0][LogSteps-1:0] tw_step;
  logic [Half-1:0][Width-1:0] tw_a;
  logic [Half/2-1:0][Width-1:0] tw_b;

  rm_ring_twiddle #(
      .LogN  (LogN),
      .LogRow(LogRow),
      .Tables(Half),
      .Width (Width)
  ) u_tables_a (
      .clk_i,
      .load_i      (load_i && (load_kind_i == 3'd1 || load_kind_i == 3'd3)),
      .load_deep_i (load_kind_i == 3'd3),
      .load_table_i(load_table_i[TableA-1:0]),
      .load_addr_i (load_addr_i[DeepWidth-1:0]),
      .load_data_i,
      .ring_i      (tw_ring),
      .pass_i      (tw_pass[0]),
      .step_i      (tw_step[0]),
      .word_o      (tw_a)
  );

  rm_ring_twiddle #(
      .LogN  (LogN),
      .LogRow(LogRow),
      .Tables(Half / 2),
      .Width (Width)
  ) u_tables_b (
      .clk_i,
      .load_i      (load_i && (load_kind_i == 3'd2 || load_kind_i == 3'd4)),
      .load_deep_i (load_kind_i == 3'd4),
      .load_table_i(load_table_i[TableB-1:0]),
      .load_addr_i (load_addr_i[DeepWidth-1:0]),
      .load_data_i,
      .ring_i      (tw_ring),
      .pass_i      (tw_pass[1]),
      .step_i      (tw_step[1]),
      .word_o      (tw_b)
  );

  // ---- Units. ----

  logic [Groups-1:0] main_re, main_we, send_re, dy_req, dy_gnt, dy_wreq, dy_wgnt;
  logic [Groups-1:0][SlotWidth-1:0] main_rslot, dy_rslot;
  logic [SlotWidth-1:0] main_wslot, send_rslot, dy_wslot;
  logic [Row-1:0][LogSteps-1:0] main_raddr, main_waddr;
  logic [LogSteps-1:0] send_rrow, dy_rrow, dy_wrow;
  logic [Row-1:0][Width-1:0] main_wdata, dy_wdata;

  rm_ring_main #(
      .LogN(LogN),
      .LogRow(LogRow),
      .LogPeriod(LogPeriod),
      .Shared(Shared),
      .Groups(Groups),
      .Width(Width),
      .QWidth(QWidth),
      .Q(Q),
      .MulLatency(MulLatency)
  ) u_main (
      .clk_i,
      .rst_ni,
      .start_i   (main_start_i),
      .word_i    (word_t'(main_word_i)),
      .turns_i   (main_turns_i),
      .constant_i(constant[0]),
      .busy_o    (main_busy),
      .tw_ring_o (tw_ring),
      .tw_pass_o (tw_pass),
      .tw_step_o (tw_step),
      .tw_a_i    (tw_a),
      .tw_b_i    (tw_b),
      .re_o      (main_re),
      .rslot_o   (main_rslot),
      .raddr_o   (main_raddr),
      .rdata_i   (rdata),
      .we_o      (main_we),
      .wslot_o   (main_wslot),
      .waddr_o   (main_waddr),
      .wdata_o   (main_wdata)
  );

  logic key_req;

  rm_ring_dyadic #(
      .LogN(LogN),
      .LogRow(LogRow),
      .LogLanes(LogLanes),
      .Shared(Shared),
      .Groups(Groups),
      .Width(Width),
      .QWidth(QWidth),
      .Q(Q),
      .MulLatency(MulLatency),
      .GenLatency(GenLatency)
  ) u_dyadic (
      .clk_i,
      .rst_ni,
      .start_i   (dyadic_start_i),
      .word_i    (word_t'(dyadic_word_i)),
      .constant_i(constant[1]),
      .busy_o    (dyadic_busy),
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
      .key_req_o (key_req),
      .key_gnt_i (1'b1),
      .key_i     ('0),
      .gen_i     ('0)
  );

  rm_ring_send #(
      .LogN(LogN),
      .LogRow(LogRow),
      .LogPeriod(LogPeriod),
      .Shared(Shared),
      .Groups(Groups),
      .Width(Width)
  ) u_send (
      .clk_i,
      .rst_ni,
      .start_i(send_start_i),
      .slot_i (send_slot_i),
      .turns_i(send_turns_i),
      .re_o   (send_re),
      .rslot_o(send_rslot),
      .rrow_o (send_rrow),
      .rdata_i(rdata),
      .valid_o(send_valid_o),
      .row_o  (send_row_o)
  );

  // ---- What comes from the ring. ----

  logic [SlotWidth-1:0] recv_slot_q;
  logic [LogSteps-1:0] recv_row_q;

  always_ff @(posedge clk_i) begin
    if (recv_start_i) begin
      recv_slot_q <= recv_slot_i;
      recv_row_q <= '0;
    end else if (recv_valid_i) begin
      recv_row_q <= recv_row_q + 1'b1;
    end
  end

  // ---- Memory. ----

  for (genvar g = 0; g < Groups; g++) begin : gen_group
    localparam int unsigned Slots = (g == 0) ? Shared : 1;

    rm_ring_group #(
        .LogN(LogN),
        .LogRow(LogRow),
        .Slots(Slots),
        .Width(Width)
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
        .recv_we_i   (recv_valid_i && group_of(recv_slot_q, Shared) == g),
        .recv_slot_i (inner_of(recv_slot_q, Shared)),
        .recv_row_i  (recv_row_q),
        .recv_data_i (recv_row_i),
        .load_we_i   (link_valid_i && group_of(link_slot_i, Shared) == g),
        .load_slot_i (inner_of(link_slot_i, Shared)),
        .load_index_i(link_index_i),
        .load_data_i (link_data_i),
        .dy_wreq_i   (dy_wreq[g]),
        .dy_wgnt_o   (dy_wgnt[g]),
        .dy_wslot_i  (dy_wslot),
        .dy_wrow_i   (dy_wrow),
        .dy_wdata_i  (dy_wdata),
        .watch_we_o  (watch_we_o[g]),
        .watch_slot_o(watch_slot_o[g]),
        .watch_addr_o(watch_addr_o[g]),
        .watch_data_o(watch_data_o[g])
    );
  end

  logic unused;
  assign unused = ^{main_busy, dyadic_busy, key_req, index_q, load_table_i, load_addr_i};

endmodule
