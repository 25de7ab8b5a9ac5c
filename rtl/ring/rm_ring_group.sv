// SPDX-License-Identifier: Apache-2.0
// A port group of polynomial memory: Slots slots of 2^LogN residues that share one read port and
// one write port of a row a cycle.
//
// There is a memory for each column. A residue of index x lies in column xor(pieces of x) at
// address x >> LogRow of its slot.
//
// The readers are the main cores (an address a column) and the sender (ring and link: a row of
// neighbours). The dyadic cores read in the cycles in which neither of these reads; their request
// stands until dy_gnt_o. Writes go likewise. They include the rows that arrive from the ring, and
// single residues from the link.
//
// Latency: 2 from address to rdata_o. A write's operands are registered (the port's stage), and
// land in the cycle after. Assertions check that a column has at most one read and one write a
// cycle.
module rm_ring_group
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned Slots = 8,
    parameter int unsigned Width = 60,
    parameter Style = "ultra",
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned LogSteps = LogN - LogRow
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    // Reads.
    input  logic                               main_re_i,
    input  logic [SlotWidth-1:0]               main_rslot_i,
    input  logic [      Row-1:0][LogSteps-1:0] main_raddr_i,
    input  logic                               send_re_i,
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
    input  logic [      Row-1:0][LogSteps-1:0] main_waddr_i,
    input  logic [      Row-1:0][   Width-1:0] main_wdata_i,
    input  logic                               recv_we_i,
    input  logic [SlotWidth-1:0]               recv_slot_i,
    input  logic [ LogSteps-1:0]               recv_row_i,
    input  logic [      Row-1:0][   Width-1:0] recv_data_i,
    input  logic                               load_we_i,
    input  logic [SlotWidth-1:0]               load_slot_i,
    input  logic [     LogN-1:0]               load_index_i,
    input  logic [    Width-1:0]               load_data_i,
    input  logic                               dy_wreq_i,
    output logic                               dy_wgnt_o,
    input  logic [SlotWidth-1:0]               dy_wslot_i,
    input  logic [ LogSteps-1:0]               dy_wrow_i,
    input  logic [      Row-1:0][   Width-1:0] dy_wdata_i,
    // What is written, as the memories see it.
    output logic [      Row-1:0]               watch_we_o,
    output logic [SlotWidth-1:0]               watch_slot_o,
    output logic [      Row-1:0][LogSteps-1:0] watch_addr_o,
    output logic [      Row-1:0][   Width-1:0] watch_data_o
);

  localparam int unsigned Depth = Slots << LogSteps;
  localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1;

  // ---- Reads. ----

  logic [SlotWidth-1:0] rslot;
  logic [Row-1:0][LogSteps-1:0] raddr;

  // A row is one address for all columns, each of which chooses between it and the main cores'.
  (* keep *) logic [LogSteps-1:0] rrow;

  assign dy_gnt_o = dy_req_i && !main_re_i && !send_re_i;
  assign rslot = main_re_i ? main_rslot_i : send_re_i ? send_slot_i : dy_rslot_i;
  assign rrow = send_re_i ? send_row_i : dy_rrow_i;
  always_comb begin
    for (int unsigned c = 0; c < Row; c++) raddr[c] = main_re_i ? main_raddr_i[c] : rrow;
  end

  // ---- Writes. ----

  logic [Row-1:0] we_d, we_q;
  logic [SlotWidth-1:0] wslot_d, wslot_q;
  logic [LogSteps-1:0] wrow;
  logic [Row-1:0][LogSteps-1:0] waddr_d, waddr_q;
  logic [Row-1:0][Width-1:0] wdata_d, wdata_q;

  // Whose the write is, in two bits: with them a bit of four sources is one look-up table.
  (* keep *) logic [1:0] from;

  assign dy_wgnt_o = dy_wreq_i && !main_we_i && !recv_we_i && !load_we_i;
  assign from = main_we_i ? 2'd0 : recv_we_i ? 2'd1 : load_we_i ? 2'd2 : 2'd3;
  assign wslot_d = main_we_i ? main_wslot_i : recv_we_i ? recv_slot_i :
      load_we_i ? load_slot_i : dy_wslot_i;
  assign wrow = recv_we_i ? recv_row_i : load_we_i ? load_index_i[LogN-1:LogRow] : dy_wrow_i;
  always_comb begin
    for (int unsigned c = 0; c < Row; c++) begin
      we_d[c] = main_we_i || recv_we_i || dy_wgnt_o ||
          (load_we_i && LogRow'(column_of(IndexWidth'(load_index_i), LogRow)) == LogRow'(c));
      waddr_d[c] = main_we_i ? main_waddr_i[c] : wrow;
      unique case (from)
        2'd0: wdata_d[c] = main_wdata_i[c];
        2'd1: wdata_d[c] = recv_data_i[c];
        2'd2: wdata_d[c] = load_data_i;
        default: wdata_d[c] = dy_wdata_i[c];
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) we_q <= '0;
    else we_q <= we_d;
  end

  always_ff @(posedge clk_i) begin
    wslot_q <= wslot_d;
    waddr_q <= waddr_d;
    wdata_q <= wdata_d;
  end

  for (genvar c = 0; c < Row; c++) begin : gen_column
    rm_ram_1r1w #(
        .Width (Width),
        .Depth (Depth),
        .OutReg(1'b1),
        .Style (Style)
    ) u_ram (
        .clk_i,
        .we_i   (we_q[c]),
        .waddr_i(AddrWidth'({wslot_q, waddr_q[c]})),
        .wdata_i(wdata_q[c]),
        .re_i   (1'b1),
        .raddr_i(AddrWidth'({rslot, raddr[c]})),
        .rdata_o(rdata_o[c])
    );
  end

  assign watch_we_o = we_q;
  assign watch_slot_o = wslot_q;
  assign watch_addr_o = waddr_q;
  assign watch_data_o = wdata_q;

  // A slot beyond the group's: the board has refused the word.
  logic unused_slot;
  assign unused_slot = ^{rslot, wslot_q};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else begin
      one_reader : assert (!(main_re_i && send_re_i));
      one_writer :
      assert ($countones({main_we_i, recv_we_i, load_we_i}) <= 1);
    end
  end
`endif

endmodule
