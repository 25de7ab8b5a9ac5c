// SPDX-License-Identifier: Apache-2.0
// A base-extension unit behind AXI4 and AXI4-Lite. rm_shell has the map of registers.
//
// With Batch 0 the unit is the folded one (rm_basext_folded). With Batch above 0 it is the shared
// one (rm_basext_shared), which makes Batch targets at a time.
//
// docs/isa/basext.md has the bits of Command and Config, and the answers. Only a command that is
// taken starts anything. Bit 0 of events and busy is the unit. End says how the unit's last command
// ended (code_e), also if the unit refused it.
//
// A beat of the bus is a beat of the streams, lane 0 lowest, divided over Ports ports of AXI4 from
// port 0 up. Constants lie in lane 0; the unit ignores the other lanes of their beats. A read is a
// polynomial, or the constants of a load, and its last beat is the last of the stream. A write
// takes the residues modulo one target.
module rm_basext_axi
  import rm_basext_isa_pkg::*, rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Lanes = 4,
    parameter int unsigned MinLogN = 8,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    parameter int unsigned AddrWidth = 64,
    parameter int unsigned Ports = 1,
    parameter int unsigned Batch = 0,
    localparam int unsigned DataWidth = Lanes * stream_bits(Width),
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
    input  logic [Ports-1:0][1:0]             m_bresp_i
);

  logic cmd_valid, known, take, take_q, answer_q, ready, done, finished_q;
  logic [31:0] cmd, cmd_q;
  logic [7:0] answer_code_q;
  logic [2:0] code, end_q;
  logic in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [DataWidth-1:0] in_data, out_data;

  if (Lanes % Ports != 0) begin : gen_check
    $error("Ports must divide Lanes: a port has whole words");
  end

  assign known = cmd[31:CommandLogNLow+CommandLogNWidth] == '0 &&
      cmd[CommandLLow-1:CommandOpLow+CommandOpWidth] == '0;
  // The unit sees a command one cycle after it was taken, so its ready is not up to date in that
  // cycle.
  assign take = cmd_valid && known && ready && !take_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      take_q <= 1'b0;
      answer_q <= 1'b0;
      finished_q <= 1'b0;
      end_q <= 3'(Ok);
    end else begin
      take_q <= take;
      answer_q <= cmd_valid;
      finished_q <= done;
      if (done) end_q <= code;
    end
  end

  always_ff @(posedge clk_i) begin
    cmd_q <= cmd;
    answer_code_q <= !known ? AnswerBadCommand : take ? AnswerTaken : AnswerBusy;
  end

  rm_shell #(
      .DataWidth(DataWidth),
      .Ports(Ports),
      .AddrWidth(AddrWidth),
      .Machine((Batch == 0) ? 32'h42415345 : 32'h42415353),  // "BASE", "BASS"
      .Config({
        ConfigLogPortsWidth'($clog2(Ports)),
        ConfigMaxLogNWidth'(MaxLogN),
        ConfigMaxLWidth'(MaxL),
        ConfigMaxKWidth'(MaxK),
        ConfigLanesWidth'(Lanes)
      })
  ) u_shell (
      .clk_i,
      .rst_ni,
      .irq_o,
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
      .m_arvalid_o,
      .m_arready_i,
      .m_araddr_o,
      .m_arlen_o,
      .m_arsize_o,
      .m_arburst_o,
      .m_rvalid_i,
      .m_rready_o,
      .m_rdata_i,
      .m_rresp_i,
      .m_rlast_i,
      .m_awvalid_o,
      .m_awready_i,
      .m_awaddr_o,
      .m_awlen_o,
      .m_awsize_o,
      .m_awburst_o,
      .m_wvalid_o,
      .m_wready_i,
      .m_wdata_o,
      .m_wstrb_o,
      .m_wlast_o,
      .m_bvalid_i,
      .m_bready_o,
      .m_bresp_i,
      .cmd_valid_o(cmd_valid),
      .cmd_o(cmd),
      .rsp_valid_i(answer_q),
      .rsp_code_i(answer_code_q),
      .busy_i(8'(!ready || take_q)),
      .done_i(8'(finished_q)),
      .end_code_i(8'(end_q)),
      .counts_i('0),
      .in_valid_o(in_valid),
      .in_ready_i(in_ready),
      .in_data_o(in_data),
      .in_last_o(in_last),
      .out_valid_i(out_valid),
      .out_ready_o(out_ready),
      .out_data_i(out_data),
      .out_last_i(out_last)
  );

  if (Batch == 0) begin : gen_folded
    rm_basext_folded #(
        .Width(Width),
        .Lanes(Lanes),
        .MinLogN(MinLogN),
        .MaxLogN(MaxLogN),
        .MaxL(MaxL),
        .MaxK(MaxK)
    ) u_basext (
        .clk_i,
        .rst_ni,
        .cmd_valid_i(take_q),
        .cmd_ready_o(ready),
        .cmd_op_i(cmd_q[CommandOpLow+:CommandOpWidth]),
        .cmd_l_i(cmd_q[CommandLLow+:CommandLWidth]),
        .cmd_k_i(cmd_q[CommandKLow+:CommandKWidth]),
        .cmd_log_n_i(cmd_q[CommandLogNLow+:CommandLogNWidth]),
        .done_o(done),
        .code_o(code),
        .in_valid_i(in_valid),
        .in_ready_o(in_ready),
        .in_data_i(in_data),
        .in_last_i(in_last),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_data_o(out_data),
        .out_last_o(out_last)
    );
  end else begin : gen_shared
    rm_basext_shared #(
        .Width(Width),
        .Lanes(Lanes),
        .MinLogN(MinLogN),
        .MaxLogN(MaxLogN),
        .MaxL(MaxL),
        .MaxK(MaxK),
        .Batch(Batch)
    ) u_basext (
        .clk_i,
        .rst_ni,
        .cmd_valid_i(take_q),
        .cmd_ready_o(ready),
        .cmd_op_i(cmd_q[CommandOpLow+:CommandOpWidth]),
        .cmd_l_i(cmd_q[CommandLLow+:CommandLWidth]),
        .cmd_k_i(cmd_q[CommandKLow+:CommandKWidth]),
        .cmd_log_n_i(cmd_q[CommandLogNLow+:CommandLogNWidth]),
        .done_o(done),
        .code_o(code),
        .in_valid_i(in_valid),
        .in_ready_o(in_ready),
        .in_data_i(in_data),
        .in_last_i(in_last),
        .out_valid_o(out_valid),
        .out_ready_i(out_ready),
        .out_data_o(out_data),
        .out_last_o(out_last)
    );
  end

  logic unused_cmd;
  assign unused_cmd = ^cmd_q;

endmodule
