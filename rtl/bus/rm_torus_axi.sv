// SPDX-License-Identifier: Apache-2.0
// The TFHE bootstrapping engine (rm_torus) behind AXI4 and AXI4-Lite. rm_shell has the map of
// registers.
//
// docs/isa/torus.md has the bits of Command and Config, and the answers. Only a command that is
// taken starts anything. Bit 0 of events and busy is the engine. End says how the engine's last
// command ended (code_e), also if the engine refused it.
//
// A read is the stream of the command at work, and its last beat is the stream's last:
//
// - For a load, the stream is words of 32 bits, the lowest first; the rest of the last beat is
//   ignored.
// - For a switch it is words of the same kind: the seed, then the bodies.
// - For a run it is the key. Each beat of rm_torus takes as many beats here as it needs, the lowest
//   bits first.
//
// A write takes the stream of OpUnload or OpGive: words of 32 bits, the last beat filled with
// zeros. A beat is divided over Ports ports of AXI4.
module rm_torus_axi
  import rm_torus_isa_pkg::*, rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned Levels = 3,
    parameter int unsigned LogBase = 7,
    parameter int unsigned Dim = 24,
    parameter int unsigned Unroll = 1,
    parameter int unsigned Units = 3,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned LogPos = 0,
    parameter int unsigned Places = 2,
    parameter int unsigned Group = 1,
    parameter int unsigned KeyBeats = 512,
    parameter bit Pairs = 1'b0,
    parameter bit Coefficients = 1'b0,
    parameter int unsigned SwitchBase = 2,
    parameter int unsigned SwitchLevels = 5,
    parameter int unsigned Cores = 1,
    parameter int unsigned Rounds = 4,
    parameter int unsigned Steps = 2,
    parameter int unsigned DataWidth = 128,
    parameter int unsigned AddrWidth = 64,
    parameter int unsigned Ports = 1,
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

  localparam int unsigned KeyWidth = beat_width(2 * Levels, LogPos, Coefficients);
  localparam int unsigned CountWidth = 20;
  // Words of a load, and of a switching key.
  localparam logic [CountWidth-1:0] LoadWords = CountWidth'(1 + (1 << LogN) + Dim);
  localparam logic [CountWidth-1:0] SwitchWords = CountWidth'(8 + (1 << LogN) * SwitchLevels);

  logic cmd_valid, known, take, take_q, answer_q, ready, done, finished_q;
  logic [31:0] cmd, cmd_q;
  logic [7:0] answer_code_q;
  logic [2:0] code, end_q, op_q;
  logic in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [DataWidth-1:0] in_data, out_data;

  assign known = cmd[31:CommandPlaceLow+CommandPlaceWidth] == '0 &&
      cmd[CommandPlaceLow-1:CommandOpLow+CommandOpWidth] == '0;
  // The engine sees a command one cycle after it was taken, so its ready is not up to date in that
  // cycle.
  assign take = cmd_valid && known && ready && !take_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      take_q <= 1'b0;
      answer_q <= 1'b0;
      finished_q <= 1'b0;
      end_q <= 3'(Ok);
      op_q <= 3'(OpLoad);
    end else begin
      take_q <= take;
      answer_q <= cmd_valid;
      finished_q <= done;
      if (done) end_q <= code;
      if (take) op_q <= cmd[CommandOpLow+:CommandOpWidth];
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
      .Machine(32'h544f5255),  // "TORU"
      .Config({
        ConfigLogNWidth'(LogN),
        ConfigDimWidth'(Dim),
        ConfigPlacesWidth'(Places),
        ConfigUnrollWidth'(Unroll),
        ConfigLogWordsWidth'($clog2(DataWidth / 32))
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

  // ---- What a read is for. ----

  logic is_key, is_switch, words_valid, words_ready, words_last, key_valid, key_ready, key_last;
  logic key_cut, load_ready, switch_ready, beat_ready, join_ready;
  logic [31:0] words_data;
  logic [KeyWidth-1:0] key_data;

  assign is_key = op_q == OpRun;
  assign is_switch = op_q == OpSwitch;
  assign in_ready = is_key ? join_ready : beat_ready;
  assign words_ready = is_switch ? switch_ready : load_ready;

  rm_beat_words #(
      .DataWidth(DataWidth),
      .CountWidth(CountWidth)
  ) u_words (
      .clk_i,
      .rst_ni,
      .count_i(is_switch ? SwitchWords : LoadWords),
      .valid_i(in_valid && !is_key),
      .ready_o(beat_ready),
      .data_i(in_data),
      .last_i(in_last),
      .valid_o(words_valid),
      .ready_i(words_ready),
      .data_o(words_data),
      .last_o(words_last)
  );

  rm_beat_join #(
      .InWidth(DataWidth),
      .OutWidth(KeyWidth)
  ) u_join (
      .clk_i,
      .rst_ni,
      .valid_i(in_valid && is_key),
      .ready_o(join_ready),
      .data_i(in_data),
      .last_i(in_last),
      .valid_o(key_valid),
      .ready_i(key_ready),
      .data_o(key_data),
      .last_o(key_last),
      .cut_o(key_cut)
  );

  // ---- What a write takes. ----

  logic result_valid, result_ready, result_last;
  logic [31:0] result_data;

  rm_word_beats #(
      .DataWidth(DataWidth)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .valid_i(result_valid),
      .ready_o(result_ready),
      .data_i(result_data),
      .last_i(result_last),
      .valid_o(out_valid),
      .ready_i(out_ready),
      .data_o(out_data),
      .last_o(out_last)
  );

  rm_torus #(
      .LogN(LogN),
      .Levels(Levels),
      .LogBase(LogBase),
      .Dim(Dim),
      .Unroll(Unroll),
      .Units(Units),
      .LogLanes(LogLanes),
      .LogPos(LogPos),
      .Places(Places),
      .Group(Group),
      .KeyBeats(KeyBeats),
      .Pairs(Pairs),
      .Coefficients(Coefficients),
      .SwitchBase(SwitchBase),
      .SwitchLevels(SwitchLevels),
      .Cores(Cores),
      .Rounds(Rounds),
      .Steps(Steps)
  ) u_torus (
      .clk_i,
      .rst_ni,
      .cmd_valid_i(take_q),
      .cmd_ready_o(ready),
      .cmd_op_i(cmd_q[CommandOpLow+:CommandOpWidth]),
      .cmd_place_i(cmd_q[CommandPlaceLow+:CommandPlaceWidth]),
      .done_o(done),
      .code_o(code),
      .in_valid_i(words_valid && !is_switch),
      .in_ready_o(load_ready),
      .in_data_i(words_data),
      .in_last_i(words_last),
      .key_valid_i(key_valid),
      .key_ready_o(key_ready),
      .key_data_i(key_data),
      .key_last_i(key_last),
      .key_cut_i(key_cut),
      .switch_valid_i(words_valid && is_switch),
      .switch_ready_o(switch_ready),
      .switch_data_i(words_data),
      .switch_last_i(words_last),
      .out_valid_o(result_valid),
      .out_ready_i(result_ready),
      .out_data_o(result_data),
      .out_last_o(result_last)
  );

  logic unused_cmd;
  assign unused_cmd = ^cmd_q;

endmodule
