// SPDX-License-Identifier: Apache-2.0
// Connects a machine to a host and to memory by AXI4 and AXI4-Lite; every machine of Ringmill uses
// this shell.
//
// The machine takes commands of 32 bits, each answered with a code, and has one stream in and one
// out; its units raise busy and done bits. AXI4 managers read a range of memory into the stream in,
// and write the stream out to one. docs/isa/shell.md has the registers that the host sees. irq_o is
// high while an enabled event is there. The registers Machine and Config are the parameters of these
// names, and Count has the first of Counts numbers. The address registers of port p are PortStride p
// above those of port 0.
//
// Addresses are multiples of a port's word, and the number of beats is 1 to 2^24 - 1. A start with
// other values, or during a transfer of the same direction, is an error and changes nothing. So is
// any access that the table of docs/isa/shell.md does not have.
//
// A beat of DataWidth bits lies across the ports, DataWidth / Ports bits each, the lowest at port
// 0. So it is one word of each of Ports ranges of memory. A beat passes when every port has its
// word, or room for it. Until then the ports that are ahead wait, so a port's words must not queue
// behind another's. A transfer is done when it is done at every port, and failed if it failed at
// one.
//
// Latencies are those of rm_axil, rm_axi_read and rm_axi_write; one beat a cycle each way.
module rm_shell
  import rm_shell_isa_pkg::*;
#(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned Ports = 1,
    parameter int unsigned AddrWidth = 64,
    parameter int unsigned Burst = 32,
    parameter logic [31:0] Machine = '0,
    parameter logic [31:0] Config = '0,
    parameter int unsigned Counts = 0,
    localparam int unsigned PortWidth = DataWidth / Ports
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    output logic                   irq_o,
    // AXI4-Lite: control and status.
    input  logic                   s_awvalid_i,
    output logic                   s_awready_o,
    input  logic [           11:0] s_awaddr_i,
    input  logic                   s_wvalid_i,
    output logic                   s_wready_o,
    input  logic [           31:0] s_wdata_i,
    input  logic [            3:0] s_wstrb_i,
    output logic                   s_bvalid_o,
    input  logic                   s_bready_i,
    output logic [            1:0] s_bresp_o,
    input  logic                   s_arvalid_i,
    output logic                   s_arready_o,
    input  logic [           11:0] s_araddr_i,
    output logic                   s_rvalid_o,
    input  logic                   s_rready_i,
    output logic [           31:0] s_rdata_o,
    output logic [            1:0] s_rresp_o,
    // AXI4: memory, by port.
    output logic [Ports-1:0]                  m_arvalid_o,
    input  logic [Ports-1:0]                  m_arready_i,
    output logic [Ports-1:0][AddrWidth-1:0]   m_araddr_o,
    output logic [Ports-1:0][7:0]             m_arlen_o,
    output logic [Ports-1:0][2:0]             m_arsize_o,
    output logic [Ports-1:0][1:0]             m_arburst_o,
    input  logic [Ports-1:0]                  m_rvalid_i,
    output logic [Ports-1:0]                  m_rready_o,
    input  logic [Ports-1:0][PortWidth-1:0]   m_rdata_i,
    input  logic [Ports-1:0][1:0]             m_rresp_i,
    input  logic [Ports-1:0]                  m_rlast_i,
    output logic [Ports-1:0]                  m_awvalid_o,
    input  logic [Ports-1:0]                  m_awready_i,
    output logic [Ports-1:0][AddrWidth-1:0]   m_awaddr_o,
    output logic [Ports-1:0][7:0]             m_awlen_o,
    output logic [Ports-1:0][2:0]             m_awsize_o,
    output logic [Ports-1:0][1:0]             m_awburst_o,
    output logic [Ports-1:0]                  m_wvalid_o,
    input  logic [Ports-1:0]                  m_wready_i,
    output logic [Ports-1:0][PortWidth-1:0]   m_wdata_o,
    output logic [Ports-1:0][PortWidth/8-1:0] m_wstrb_o,
    output logic [Ports-1:0]                  m_wlast_o,
    input  logic [Ports-1:0]                  m_bvalid_i,
    output logic [Ports-1:0]                  m_bready_o,
    input  logic [Ports-1:0][1:0]             m_bresp_i,
    // The machine.
    output logic                   cmd_valid_o,
    output logic [           31:0] cmd_o,
    input  logic                   rsp_valid_i,
    input  logic [            7:0] rsp_code_i,
    input  logic [            7:0] busy_i,
    input  logic [            7:0] done_i,
    input  logic [            7:0] end_code_i,
    input  logic [      1:0][31:0] counts_i,
    output logic                   in_valid_o,
    input  logic                   in_ready_i,
    output logic [  DataWidth-1:0] in_data_o,
    output logic                   in_last_o,
    input  logic                   out_valid_i,
    output logic                   out_ready_o,
    input  logic [  DataWidth-1:0] out_data_i,
    input  logic                   out_last_i
);

  localparam int unsigned CountWidth = 24;
  localparam int unsigned ByteBits = $clog2(PortWidth / 8);
  localparam logic [31:0] Id = 32'h524d0001;

  if (!(Ports inside {1, 2, 4}) || Ports * PortWidth != DataWidth) begin : gen_check_ports
    $error("Ports must be 1, 2 or 4, and divide a beat");
  end
  if (PortWidth > 1024) begin : gen_check_width
    $error("a port of AXI4 has 1024 bits at most: a beat of DataWidth bits needs more Ports");
  end
  if (Counts > 2) begin : gen_check_counts
    $error("a machine keeps two numbers at most");
  end

  logic valid, write, ready, error, word_aligned;
  logic [11:0] addr;
  logic [31:0] wdata, rdata;

  rm_axil #(
      .AddrWidth(12)
  ) u_lite (
      .clk_i,
      .rst_ni,
      .s_awvalid_i,
      .s_awready_o,
      .s_awaddr_i,
      .s_wvalid_i,
      .s_wready_o,
      .s_wdata_i,
      .s_wstrb_i,
      .s_bvalid_o,
      .s_bready_i,
      .s_bresp_o,
      .s_arvalid_i,
      .s_arready_o,
      .s_araddr_i,
      .s_rvalid_o,
      .s_rready_i,
      .s_rdata_o,
      .s_rresp_o,
      .valid_o(valid),
      .write_o(write),
      .addr_o(addr),
      .wdata_o(wdata),
      .ready_i(ready),
      .rdata_i(rdata),
      .error_i(error)
  );

  // An access is looked at in its first cycle, judged in its second and carried out in its third.
  logic seen_q, judged_q, error_d, error_q;
  logic [31:0] rdata_d, rdata_q;

  // Index 0: the read, 1: the write; then the port.
  logic [1:0] start, moving, finished, failed, startable_q;
  logic [1:0][Ports-1:0] port_busy, port_done, port_failed, aligned;
  logic [1:0][Ports-1:0][AddrWidth-1:0] at_q;
  logic [1:0][CountWidth-1:0] beats_q;
  logic [Events-1:0] events_d, events_q, enable_q, cleared;
  logic waiting_q, cmd_valid_q, answered_q, irq_q;
  logic [Ports-1:0] length;
  logic [7:0] code_q;
  logic [31:0] cmd_q, high_q;
  logic [63:0] cycles_q;
  logic go;

  assign word_aligned = addr[1:0] == 2'b00;
  assign ready = judged_q;
  assign error = error_q;
  assign rdata = rdata_q;
  assign go = valid && write && judged_q && !error_q;

  for (genvar i = 0; i < 2; i++) begin : gen_transfer
    // The inputs of this check stay the same until the access is judged, except that a transfer may
    // end.
    always_ff @(posedge clk_i) begin
      startable_q[i] <= !moving[i] && &aligned[i] &&
          wdata[CountWidth-1:0] != '0 && wdata[31:CountWidth] == '0;
    end
    assign start[i] = go && addr == (i == 0 ? RegisterReadBeats : RegisterWriteBeats);

    // The done pulse of a port comes in the cycle in which its busy bit falls.
    assign moving[i] = |port_busy[i];
    assign finished[i] = |port_done[i] && !moving[i];
    assign failed[i] = |port_failed[i];

    for (genvar p = 0; p < Ports; p++) begin : gen_port
      assign aligned[i][p] = at_q[i][p][ByteBits-1:0] == '0;
    end
  end

  // Returns the register of the lower half of a port's address, of the read (`which` = 0) or of the
  // write (1).
  function automatic logic [11:0] address_of(int unsigned which, int unsigned port);
    return ((which == 0) ? RegisterRead : RegisterWrite) + 12'(PortStride * port);
  endfunction

  always_comb begin
    error_d = !word_aligned;
    rdata_d = '0;
    unique case ({addr[11:2], 2'b00})
      RegisterId: begin
        rdata_d = Id;
        error_d |= write;
      end
      RegisterMachine: begin
        rdata_d = Machine;
        error_d |= write;
      end
      RegisterConfig: begin
        rdata_d = Config;
        error_d |= write;
      end
      RegisterCommand: error_d |= !write || waiting_q;
      RegisterAnswer: begin
        rdata_d = 32'(answered_q) << AnswerAnsweredLow | 32'(code_q) << AnswerCodeLow;
        error_d |= write;
      end
      RegisterBusy: begin
        rdata_d = 32'(moving[1]) << BusyWriteLow | 32'(moving[0]) << BusyReadLow |
            32'(busy_i) << BusyUnitsLow;
        error_d |= write;
      end
      RegisterEvents: rdata_d = 32'(events_q);
      RegisterEnable: begin
        rdata_d = 32'(enable_q);
        error_d |= write && wdata[31:Events] != '0;
      end
      RegisterEnd: begin
        rdata_d = {24'd0, end_code_i};
        error_d |= write;
      end
      RegisterCycles: begin
        rdata_d = cycles_q[31:0];
        error_d |= write;
      end
      RegisterCyclesHigh: begin
        rdata_d = high_q;
        error_d |= write;
      end
      RegisterCount: begin
        rdata_d = (Counts > 0) ? counts_i[0] : '0;
        error_d |= write || Counts < 1;
      end
      RegisterCountSecond: begin
        rdata_d = (Counts > 1) ? counts_i[1] : '0;
        error_d |= write || Counts < 2;
      end
      RegisterReadBeats: begin
        rdata_d = 32'(beats_q[0]);
        error_d |= write && !startable_q[0];
      end
      RegisterWriteBeats: begin
        rdata_d = 32'(beats_q[1]);
        error_d |= write && !startable_q[1];
      end
      default: begin
        error_d = 1'b1;
        for (int unsigned i = 0; i < 2; i++) begin
          for (int unsigned p = 0; p < Ports; p++) begin
            if (addr == address_of(i, p)) begin
              rdata_d = at_q[i][p][31:0];
              error_d = 1'b0;
            end
            if (addr == address_of(i, p) + 12'd4) begin
              rdata_d = 32'(at_q[i][p][AddrWidth-1:32]);
              error_d = 1'b0;
            end
          end
        end
      end
    endcase
  end

  // An event wins over a clear of its bit in the same cycle.
  assign cleared = (go && addr == RegisterEvents) ? wdata[Events-1:0] : '0;
  assign events_d = (events_q & ~cleared) | {
    finished[1] && |length,
    finished[1] && failed[1],
    finished[0] && failed[0],
    finished,
    done_i
  };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      seen_q <= 1'b0;
      judged_q <= 1'b0;
      cmd_valid_q <= 1'b0;
      waiting_q <= 1'b0;
      answered_q <= 1'b0;
      code_q <= '0;
      events_q <= '0;
      enable_q <= '0;
      irq_q <= 1'b0;
      cycles_q <= '0;
      at_q <= '0;
      beats_q <= '0;
    end else begin
      seen_q <= valid && !seen_q && !judged_q;
      judged_q <= seen_q;
      cmd_valid_q <= go && addr == RegisterCommand;
      waiting_q <= (go && addr == RegisterCommand) || (waiting_q && !rsp_valid_i);
      answered_q <= !(go && addr == RegisterCommand) && (answered_q || rsp_valid_i);
      if (rsp_valid_i) code_q <= rsp_code_i;
      events_q <= events_d;
      irq_q <= |(events_q & enable_q);
      cycles_q <= cycles_q + 1'b1;
      if (go && addr == RegisterEnable) enable_q <= wdata[Events-1:0];
      for (int unsigned i = 0; i < 2; i++) begin
        for (int unsigned p = 0; p < Ports; p++) begin
          if (go && addr == address_of(i, p)) at_q[i][p][31:0] <= wdata;
          if (go && addr == address_of(i, p) + 12'd4) begin
            at_q[i][p][AddrWidth-1:32] <= wdata[AddrWidth-33:0];
          end
        end
        if (start[i]) beats_q[i] <= wdata[CountWidth-1:0];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    error_q <= error_d;
    rdata_q <= rdata_d;
    if (go && addr == RegisterCommand) cmd_q <= wdata;
    if (seen_q && !write && addr == RegisterCycles) high_q <= cycles_q[63:32];
  end

  assign cmd_valid_o = cmd_valid_q;
  assign cmd_o = cmd_q;
  assign irq_o = irq_q;

  // The words of a beat, as each port has them or takes them.
  logic [Ports-1:0] in_valid, in_last, out_ready;
  logic in_move, out_move;
  logic [Ports-1:0][PortWidth-1:0] in_data, out_data;

  assign in_valid_o = &in_valid;
  assign in_move = in_valid_o && in_ready_i;
  assign in_data_o = in_data;
  assign in_last_o = in_last[0];
  assign out_ready_o = &out_ready;
  assign out_move = out_valid_i && out_ready_o;
  assign out_data = out_data_i;

  for (genvar p = 0; p < Ports; p++) begin : gen_memory
    rm_axi_read #(
        .DataWidth(PortWidth),
        .AddrWidth(AddrWidth),
        .CountWidth(CountWidth),
        .Burst(Burst)
    ) u_read (
        .clk_i,
        .rst_ni,
        .start_i(start[0]),
        .addr_i(at_q[0][p]),
        .beats_i(wdata[CountWidth-1:0]),
        .busy_o(port_busy[0][p]),
        .done_o(port_done[0][p]),
        .error_o(port_failed[0][p]),
        .m_arvalid_o(m_arvalid_o[p]),
        .m_arready_i(m_arready_i[p]),
        .m_araddr_o(m_araddr_o[p]),
        .m_arlen_o(m_arlen_o[p]),
        .m_rvalid_i(m_rvalid_i[p]),
        .m_rready_o(m_rready_o[p]),
        .m_rdata_i(m_rdata_i[p]),
        .m_rresp_i(m_rresp_i[p]),
        .m_rlast_i(m_rlast_i[p]),
        .valid_o(in_valid[p]),
        .ready_i(in_move),
        .data_o(in_data[p]),
        .last_o(in_last[p])
    );

    rm_axi_write #(
        .DataWidth(PortWidth),
        .AddrWidth(AddrWidth),
        .CountWidth(CountWidth),
        .Burst(Burst)
    ) u_write (
        .clk_i,
        .rst_ni,
        .start_i(start[1]),
        .addr_i(at_q[1][p]),
        .beats_i(wdata[CountWidth-1:0]),
        .busy_o(port_busy[1][p]),
        .done_o(port_done[1][p]),
        .error_o(port_failed[1][p]),
        .length_o(length[p]),
        .m_awvalid_o(m_awvalid_o[p]),
        .m_awready_i(m_awready_i[p]),
        .m_awaddr_o(m_awaddr_o[p]),
        .m_awlen_o(m_awlen_o[p]),
        .m_wvalid_o(m_wvalid_o[p]),
        .m_wready_i(m_wready_i[p]),
        .m_wdata_o(m_wdata_o[p]),
        .m_wstrb_o(m_wstrb_o[p]),
        .m_wlast_o(m_wlast_o[p]),
        .m_bvalid_i(m_bvalid_i[p]),
        .m_bready_o(m_bready_o[p]),
        .m_bresp_i(m_bresp_i[p]),
        .valid_i(out_move),
        .ready_o(out_ready[p]),
        .data_i(out_data[p]),
        .last_i(out_last_i)
    );
  end

  // A beat's ports end together.
  logic unused_last;
  assign unused_last = ^in_last;

  // Words of the whole port, one after another.
  assign m_arsize_o = {Ports{3'(ByteBits)}};
  assign m_awsize_o = {Ports{3'(ByteBits)}};
  assign m_arburst_o = {Ports{2'b01}};
  assign m_awburst_o = {Ports{2'b01}};

endmodule
