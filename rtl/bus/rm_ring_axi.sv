// SPDX-License-Identifier: Apache-2.0
// The ring machine (rm_ring) behind AXI4 and AXI4-Lite. rm_shell has the map of registers.
//
// docs/isa/ring.md has the commands and their answers, and the bits of End and Config. A command
// with other bits is answered by BadCommand, and one while the machine works by Busy. Ask is
// answered at any time.
//
// Bit 0 of events and busy is the tables or the procedure. Bit 1 says that the link asks for a
// limb. Then a read is the limb that goes to the machine, or a write takes the limb that comes from
// it. A limb has as many residues of 64 bits as the tables say (TableSize). End says how the last
// stream of tables or the last procedure ended, and which stream caused the code. Only one of
// tables and procedure is at work at a time.
module rm_ring_axi
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Rpaus = 2,
    parameter int unsigned LogN = 6,
    parameter int unsigned LogRow = 2,
    parameter int unsigned LogLanes = 1,
    parameter int unsigned Shared = 8,
    parameter int unsigned Singles = 3,
    parameter int unsigned Narrow = 2,
    parameter int unsigned LogParts = 1,
    parameter int unsigned Width = 60,
    parameter int unsigned Moduli = 1,
    parameter int unsigned Layers = Moduli,
    parameter logic [Moduli-1:0][63:0] Q = {Moduli{64'h0800_0000_0230_0001}},
    parameter logic [Moduli-1:0][63:0] Q0 = Q,
    parameter logic [Moduli-1:0][63:0] Q1 = Q,
    parameter logic [Moduli-1:0][63:0] Q2 = Q,
    parameter logic [Moduli-1:0][63:0] Q3 = Q,
    parameter logic [Moduli-1:0][63:0] Q4 = Q,
    parameter logic [Moduli-1:0][63:0] Q5 = Q,
    parameter logic [Moduli-1:0][63:0] Q6 = Q,
    parameter logic [Moduli-1:0][63:0] Q7 = Q,
    parameter logic [Moduli-1:0][63:0] Q8 = Q,
    parameter logic [Moduli-1:0][63:0] Q9 = Q,
    parameter int unsigned Stages = 2,
    parameter int unsigned MulLatency = 12,
    parameter int unsigned GenLatency = 93,
    parameter int unsigned Fold = 9,
    parameter bit Reduces = 1'b1,
    parameter int unsigned Reducer = 3,
    parameter int unsigned Hop = 2,
    parameter int unsigned Crossing = 2,
    parameter int unsigned Dies = 4,
    parameter int unsigned Dispatch = 4,
    parameter int unsigned Controllers = 2,
    parameter int unsigned KeySlots = 18,
    parameter int unsigned KeyLogGroup = 1,
    parameter int unsigned KeyStripes = 9,
    parameter int unsigned Constants = 256,
    parameter int unsigned StreamRows = 128,
    parameter int unsigned Seeds = 64,
    parameter int unsigned GaloisRows = 128,
    parameter int unsigned Words = 4096,
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

  localparam int unsigned Groups = 1 + Singles + ((Narrow > 0) ? 1 : 0);
  localparam int unsigned Row = 1 << LogRow;
  localparam int unsigned LogSteps = LogN - LogRow;
  localparam int unsigned CountWidth = LogN + 1;

  logic cmd_valid, known, take, work_q, tables_q, answer_q, finished_q, want, want_q, run_q;
  logic [31:0] cmd;
  logic [CommandOpWidth-1:0] command;
  logic [CommandByteWidth-1:0] byte_of;
  logic [7:0] answer_q_code, asked;
  logic [3:0] end_q, code;
  logic [1:0] stream_q, stream;
  logic [63:0] cycles, cycles_q;
  logic want_store, want_key, done, table_done, table_bad;
  logic [3:0] want_rpau;
  logic [11:0] want_place;
  logic in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [DataWidth-1:0] in_data, out_data;

  assign command = cmd[CommandOpLow+:CommandOpWidth];
  assign byte_of = cmd[CommandByteLow+:CommandByteWidth];
  assign known = cmd[31:CommandByteLow+CommandByteWidth] == '0 &&
      cmd[CommandByteLow-1:CommandOpLow+CommandOpWidth] == '0 && command <= CommandAsk &&
      (byte_of == '0 || command == CommandAsk);
  assign take = cmd_valid && known && !work_q && command != CommandAsk;

  always_comb begin
    unique case (byte_of)
      AskedWant: begin
        asked = 8'(want_store) << WantStoreLow | 8'(want_key) << WantKeyLow |
            8'(want_rpau) << WantRpauLow;
      end
      AskedPlace: asked = want_place[7:0];
      AskedPlace + 4'd1: asked = {4'd0, want_place[11:8]};
      default: asked = (byte_of >= AskedCycles) ? cycles_q[8*3'(byte_of-AskedCycles)+:8] : '0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      work_q <= 1'b0;
      tables_q <= 1'b0;
      run_q <= 1'b0;
      answer_q <= 1'b0;
      finished_q <= 1'b0;
      want_q <= 1'b0;
      end_q <= 4'(CodeOk);
      stream_q <= '0;
      cycles_q <= '0;
    end else begin
      work_q <= take || (work_q && !done && !table_done);
      tables_q <= (take && command == CommandTables) || (tables_q && !table_done);
      run_q <= take && command == CommandRun;
      answer_q <= cmd_valid;
      finished_q <= done || table_done;
      want_q <= want;
      if (done) begin
        end_q <= code;
        stream_q <= (code == 4'(CodeOk)) ? '0 : stream;
        cycles_q <= cycles;
      end else if (table_done) begin
        end_q <= table_bad ? 4'(CodeTable) : 4'(CodeOk);
        stream_q <= '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    answer_q_code <= !known ? AnswerBadCommand : (command == CommandAsk) ? asked :
        take ? AnswerTaken : AnswerBusy;
  end

  rm_shell #(
      .DataWidth(DataWidth),
      .Ports(Ports),
      .AddrWidth(AddrWidth),
      .Machine(32'h52494e47),  // "RING"
      .Config({
        ConfigLogNWidth'(LogN),
        ConfigRpausWidth'(Rpaus),
        ConfigLogRowWidth'(LogRow),
        ConfigLogLanesWidth'(LogLanes),
        ConfigSharedWidth'(Shared),
        ConfigSinglesWidth'(Singles),
        ConfigNarrowWidth'(Narrow),
        ConfigLogWordsWidth'($clog2(DataWidth / 64))
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
      .rsp_code_i(answer_q_code),
      .busy_i(8'({want, work_q})),
      .done_i(8'({want && !want_q, finished_q})),
      .end_code_i(8'(stream_q) << EndStreamLow | 8'(end_q) << EndCodeLow),
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

  // ---- What a read is for: tables, or a limb. ----

  logic word_valid, word_ready, word_last, limb_ready, table_ready;
  logic [63:0] word;

  assign word_ready = tables_q ? table_ready : limb_ready;

  logic load;
  logic [Rpaus-1:0] load_select;
  logic [3:0] load_kind;
  logic [7:0] load_table;
  logic [15:0] load_addr;
  logic [63:0] load_data;
  logic [SizeWidth-1:0] log_n_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) log_n_q <= SizeWidth'(LogN);
    else if (load && load_kind == TableSize) log_n_q <= load_data[SizeWidth-1:0];
  end

  rm_beat_words #(
      .DataWidth(DataWidth),
      .Bits(64),
      .CountWidth(CountWidth)
  ) u_words (
      .clk_i,
      .rst_ni,
      // A count of 0 lets every word of a beat pass, because a stream of tables has any number of
      // words.
      .count_i(tables_q ? '0 : CountWidth'(1) << log_n_q),
      .valid_i(in_valid),
      .ready_o(in_ready),
      .data_i(in_data),
      .last_i(in_last),
      .valid_o(word_valid),
      .ready_i(word_ready),
      .data_o(word),
      .last_o(word_last)
  );

  rm_ring_table #(
      .Rpaus(Rpaus),
      .LogN(LogN),
      .LogRow(LogRow),
      .KeySlots(KeySlots),
      .Constants(Constants),
      .StreamRows(StreamRows),
      .Seeds(Seeds),
      .GaloisRows(GaloisRows),
      .Words(Words),
      .Moduli(Moduli),
      .Layers(Layers),
      .Stages(Stages),
      .MulLatency(MulLatency)
  ) u_table (
      .clk_i,
      .rst_ni,
      .valid_i (word_valid && tables_q),
      .ready_o (table_ready),
      .data_i  (word),
      .last_i  (word_last),
      .done_o  (table_done),
      .bad_o   (table_bad),
      .load_o  (load),
      .select_o(load_select),
      .kind_o  (load_kind),
      .table_o (load_table),
      .addr_o  (load_addr),
      .data_o  (load_data)
  );

  // ---- What a write takes. ----

  logic limb_valid, limb_taken, limb_last;
  logic [63:0] limb;

  rm_word_beats #(
      .DataWidth(DataWidth),
      .Bits(64)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .valid_i(limb_valid),
      .ready_o(limb_taken),
      .data_i(limb),
      .last_i(limb_last),
      .valid_o(out_valid),
      .ready_i(out_ready),
      .data_o(out_data),
      .last_o(out_last)
  );

  logic unused_running;
  logic [rm_ring_isa_pkg::Streams-1:0] unused_granted;
  logic [Rpaus-1:0][Groups-1:0][Row-1:0] unused_we;
  logic [Rpaus-1:0][Groups-1:0][SlotWidth-1:0] unused_slot;
  logic [Rpaus-1:0][Groups-1:0][Row-1:0][LogSteps-1:0] unused_addr;
  logic [Rpaus-1:0][Groups-1:0][Row-1:0][Width-1:0] unused_data;

  rm_ring #(
      .Rpaus(Rpaus),
      .LogN(LogN),
      .LogRow(LogRow),
      .LogLanes(LogLanes),
      .Shared(Shared),
      .Singles(Singles),
      .Narrow(Narrow),
      .LogParts(LogParts),
      .Width(Width),
      .Moduli(Moduli),
      .Layers(Layers),
      .Q(Q),
      .Q0(Q0),
      .Q1(Q1),
      .Q2(Q2),
      .Q3(Q3),
      .Q4(Q4),
      .Q5(Q5),
      .Q6(Q6),
      .Q7(Q7),
      .Q8(Q8),
      .Q9(Q9),
      .Stages(Stages),
      .MulLatency(MulLatency),
      .GenLatency(GenLatency),
      .Fold(Fold),
      .Reduces(Reduces),
      .Reducer(Reducer),
      .Hop(Hop),
      .Crossing(Crossing),
      .Dies(Dies),
      .Dispatch(Dispatch),
      .Controllers(Controllers),
      .KeySlots(KeySlots),
      .KeyLogGroup(KeyLogGroup),
      .KeyStripes(KeyStripes),
      .Constants(Constants),
      .StreamRows(StreamRows),
      .Seeds(Seeds),
      .GaloisRows(GaloisRows),
      .Words(Words)
  ) u_ring (
      .clk_i,
      .rst_ni,
      .run_i        (run_q),
      .done_o       (done),
      .code_o       (code),
      .stream_o     (stream),
      .cycles_o     (cycles),
      .load_i       (load),
      .load_select_i(load_select),
      .load_kind_i  (load_kind),
      .load_table_i (load_table),
      .load_addr_i  (load_addr),
      .load_data_i  (load_data),
      .want_o       (want),
      .want_store_o (want_store),
      .want_key_o   (want_key),
      .want_rpau_o  (want_rpau),
      .want_place_o (want_place),
      .in_valid_i   (word_valid && !tables_q),
      .in_ready_o   (limb_ready),
      .in_data_i    (word),
      .in_last_i    (word_last),
      .out_valid_o  (limb_valid),
      .out_ready_i  (limb_taken),
      .out_data_o   (limb),
      .out_last_o   (limb_last),
      .running_o    (unused_running),
      .granted_o    (unused_granted),
      .watch_we_o   (unused_we),
      .watch_slot_o (unused_slot),
      .watch_addr_o (unused_addr),
      .watch_data_o (unused_data)
  );

  logic unused;
  assign unused = ^{unused_running, unused_granted, unused_we, unused_slot, unused_addr, unused_data};

endmodule
