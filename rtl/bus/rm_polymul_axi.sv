// SPDX-License-Identifier: Apache-2.0
// The polynomial multiplier (rm_polymul) behind AXI4 and AXI4-Lite. rm_shell has the map of
// registers.
//
// docs/isa/polymul.md has the bits of Command and Config, and the units' bits of events and busy. A
// command with other bits set is answered with CodeBadOp and not passed on. End says how the last
// load or table command ended (code_e).
//
// A beat of the bus is a beat of the streams: Beat words of 32 bits, word 0 lowest.
module rm_polymul_axi
  import rm_polymul_isa_pkg::*, rm_polymul_pkg::*;
#(
    parameter int unsigned Units = 32,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned Beat = 4,
    parameter int unsigned AddrWidth = 64,
    localparam int unsigned DataWidth = 32 * Beat
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
    // AXI4: memory.
    output logic                   m_arvalid_o,
    input  logic                   m_arready_i,
    output logic [  AddrWidth-1:0] m_araddr_o,
    output logic [            7:0] m_arlen_o,
    output logic [            2:0] m_arsize_o,
    output logic [            1:0] m_arburst_o,
    input  logic                   m_rvalid_i,
    output logic                   m_rready_o,
    input  logic [  DataWidth-1:0] m_rdata_i,
    input  logic [            1:0] m_rresp_i,
    input  logic                   m_rlast_i,
    output logic                   m_awvalid_o,
    input  logic                   m_awready_i,
    output logic [  AddrWidth-1:0] m_awaddr_o,
    output logic [            7:0] m_awlen_o,
    output logic [            2:0] m_awsize_o,
    output logic [            1:0] m_awburst_o,
    output logic                   m_wvalid_o,
    input  logic                   m_wready_i,
    output logic [  DataWidth-1:0] m_wdata_o,
    output logic [DataWidth/8-1:0] m_wstrb_o,
    output logic                   m_wlast_o,
    input  logic                   m_bvalid_i,
    output logic                   m_bready_o,
    input  logic [            1:0] m_bresp_i
);

  logic cmd_valid, cmd_valid_q, known, rsp_valid, refused_q, unused_issue;
  logic [31:0] cmd;
  logic [2:0] busy, done;
  logic [$bits(code_e)-1:0] rsp_code, end_code;
  logic in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [DataWidth-1:0] in_data, out_data;

  assign known = cmd[31:CommandLogNLow+CommandLogNWidth] == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cmd_valid_q <= 1'b0;
      refused_q <= 1'b0;
    end else begin
      cmd_valid_q <= cmd_valid && known;
      refused_q <= cmd_valid && !known;
    end
  end

  rm_shell #(
      .DataWidth(DataWidth),
      .AddrWidth(AddrWidth),
      .Machine(32'h504f4c59),  // "POLY"
      .Config({ConfigMaxLogNWidth'(MaxLogN), ConfigUnitsWidth'(Units), ConfigBeatWidth'(Beat)})
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
      .rsp_valid_i(rsp_valid || refused_q),
      .rsp_code_i(refused_q ? 8'(CodeBadOp) : 8'(rsp_code)),
      .busy_i(8'(busy)),
      .done_i(8'(done)),
      .end_code_i(8'(end_code)),
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

  rm_polymul #(
      .Units(Units),
      .MaxLogN(MaxLogN),
      .Beat(Beat)
  ) u_polymul (
      .clk_i,
      .rst_ni,
      .cmd_valid_i(cmd_valid_q),
      .cmd_op_i(cmd[CommandOpLow+:CommandOpWidth]),
      .cmd_set_i(cmd[CommandSetLow]),
      .cmd_buf_i(cmd[CommandBufferLow]),
      .cmd_eval_i(cmd[CommandEvalLow]),
      .cmd_slot_i(cmd[CommandSlotLow]),
      .cmd_log_n_i(cmd[CommandLogNLow+:CommandLogNWidth]),
      .rsp_valid_o(rsp_valid),
      .rsp_code_o(rsp_code),
      .busy_o(busy),
      .done_o(done),
      .load_code_o(end_code),
      .issue_o(unused_issue),
      .in_valid_i(in_valid),
      .in_ready_o(in_ready),
      .in_data_i(in_data),
      .in_last_i(in_last),
      .out_valid_o(out_valid),
      .out_ready_i(out_ready),
      .out_data_o(out_data),
      .out_last_o(out_last)
  );

endmodule
