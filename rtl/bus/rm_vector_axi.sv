// SPDX-License-Identifier: Apache-2.0
// The vector machine (rm_vector) behind AXI4 and AXI4-Lite. rm_shell has the map of registers.
//
// There are two AXI4 managers. Manager 0 is the shell's and carries the data that the host sends.
// Manager 1 goes to distant memory for the machine's own LOADs and STOREs. Chunk n is at the byte
// address base + n 4 W for W = 2^(LogRadix + LogSpan) words in a chunk. It is words of 32 bits, row
// after row, in beats of DataWidth bits.
//
// Command: 0 tables, 1 instructions, 2 clears the queue after a fault. The answer is 0 if the
// command is taken, 1 for any other number, and 8 while words of a read still wait. A read is a
// stream of words of 128 bits; a word with bit 127 set is skipped. A word of tables is entry_t of
// rm_vector_top_pkg (TableCount and TableBase are this module's), a word of instructions is word_t.
//
// Instructions come in one read or in many reads. These may follow one another while the machine
// runs, without a new command 1 between them. The queue asks for batches of Batch instructions,
// with an event for each. The second count is the number of instructions that it has asked for and
// that have not come; a read of at most that number goes straight in. A full queue holds the read
// up. While a fault stands, words are dropped, so that the read ends. Command 2 is then taken as
// soon as the instructions before the fault were sent (8 until then).
//
// Bits of events and busy:
//
//   0   a program has ended (HCF, and its stores are in distant memory); busy until then
//   1   the queue ran dry in a program
//   2   a word at the queue's head is no instruction
//   3   distant memory answered with an error
//   4   the queue asks for a batch
//
// End is the fault of the word at the queue's head (fault_e), or 0 for none. Counts: the cycles in
// which the queue had run dry since it was last cleared; the instructions asked for.
//
// Config: LogRadix in bits 3 to 0, LogSpan in 7 to 4, Registers in 15 to 8, Slots in 31 to 16.
module rm_vector_axi
  import rm_vector_isa_pkg::*;
  import rm_vector_fault_pkg::*;
  import rm_vector_top_pkg::*;
#(
    parameter int unsigned LogRadix = 2,
    parameter int unsigned LogSpan = 1,
    parameter int unsigned Slots = 8,
    parameter int unsigned Registers = 16,
    parameter int unsigned Moduli = 4,
    parameter int unsigned Queue = 64,
    parameter int unsigned Batch = 16,
    parameter int unsigned LoadChunks = 16,
    parameter int unsigned StoreChunks = 16,
    parameter int unsigned Distant = 1048576,
    parameter int unsigned Buffer = 6,
    parameter int unsigned Mac = 4,
    parameter int unsigned Transform = 3,
    parameter bit Ultra = 1'b0,
    parameter int unsigned DataWidth = 128,
    parameter int unsigned AddrWidth = 64,
    localparam int unsigned Managers = 2
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
    // AXI4: the host's words, distant memory.
    output logic [Managers-1:0]                  m_arvalid_o,
    input  logic [Managers-1:0]                  m_arready_i,
    output logic [Managers-1:0][AddrWidth-1:0]   m_araddr_o,
    output logic [Managers-1:0][7:0]             m_arlen_o,
    output logic [Managers-1:0][2:0]             m_arsize_o,
    output logic [Managers-1:0][1:0]             m_arburst_o,
    input  logic [Managers-1:0]                  m_rvalid_i,
    output logic [Managers-1:0]                  m_rready_o,
    input  logic [Managers-1:0][DataWidth-1:0]   m_rdata_i,
    input  logic [Managers-1:0][1:0]             m_rresp_i,
    input  logic [Managers-1:0]                  m_rlast_i,
    output logic [Managers-1:0]                  m_awvalid_o,
    input  logic [Managers-1:0]                  m_awready_i,
    output logic [Managers-1:0][AddrWidth-1:0]   m_awaddr_o,
    output logic [Managers-1:0][7:0]             m_awlen_o,
    output logic [Managers-1:0][2:0]             m_awsize_o,
    output logic [Managers-1:0][1:0]             m_awburst_o,
    output logic [Managers-1:0]                  m_wvalid_o,
    input  logic [Managers-1:0]                  m_wready_i,
    output logic [Managers-1:0][DataWidth-1:0]   m_wdata_o,
    output logic [Managers-1:0][DataWidth/8-1:0] m_wstrb_o,
    output logic [Managers-1:0]                  m_wlast_o,
    input  logic [Managers-1:0]                  m_bvalid_i,
    output logic [Managers-1:0]                  m_bready_o,
    input  logic [Managers-1:0][1:0]             m_bresp_i
);

  localparam int unsigned ChunkWidth = 32 << (LogRadix + LogSpan);
  localparam int unsigned Beats = ChunkWidth / DataWidth;
  localparam int unsigned BeatWidth = (Beats > 1) ? $clog2(Beats) : 1;
  localparam int unsigned LogBytes = $clog2(ChunkWidth / 8);
  localparam int unsigned ByteBits = $clog2(DataWidth / 8);

  localparam logic [31:0] Tables = 32'd0;
  localparam logic [31:0] Instructions = 32'd1;
  localparam logic [31:0] Clear = 32'd2;
  localparam logic [7:0] Ok = 8'd0;
  localparam logic [7:0] BadCommand = 8'd1;
  localparam logic [7:0] Busy = 8'd8;

  if (ChunkWidth % DataWidth != 0 || DataWidth % 128 != 0) begin : gen_check
    $error("rm_vector_axi: a chunk is whole beats, and a beat whole words of 128 bits");
  end

  logic cmd_valid, known, take, answer_q, is_tables_q, clear_q;
  logic [31:0] cmd;
  logic [7:0] code_q;
  logic in_valid, in_ready, in_last, words_valid, words_ready, unused_words_last;
  logic [DataWidth-1:0] in_data;
  logic [127:0] word;
  entry_t entry;
  logic table_valid, instr_valid, instr_ready;
  logic [10:0] moduli_q;
  logic [AddrWidth-1:0] base_q;
  fault_e fault;
  logic halt, idle, pending, halted_q, exhausted, ended_q, dry_q, faulty_q, fault_seen_q, failed, failed_q;
  logic memory_idle, refill;
  logic [$clog2(Queue+1)-1:0] asked;
  logic [31:0] underrun;

  assign known = cmd inside {Tables, Instructions, Clear};
  assign take = cmd_valid && known && !words_valid && !in_valid && (cmd != Clear || !pending);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answer_q <= 1'b0;
      clear_q <= 1'b0;
      is_tables_q <= 1'b1;
      moduli_q <= '0;
      halted_q <= 1'b0;
      ended_q <= 1'b0;
      dry_q <= 1'b0;
      faulty_q <= 1'b0;
      fault_seen_q <= 1'b0;
      failed_q <= 1'b0;
    end else begin
      answer_q <= cmd_valid;
      clear_q <= take && cmd == Clear;
      if (take && cmd != Clear) is_tables_q <= cmd == Tables;
      if (table_valid && entry.kind == TableCount) moduli_q <= entry.word[10:0];
      halted_q <= halt || (halted_q && !ended_q);
      ended_q <= halted_q && !ended_q && idle && memory_idle;
      dry_q <= exhausted;
      faulty_q <= fault != FaultNone;
      fault_seen_q <= fault != FaultNone && !faulty_q;
      failed_q <= failed;
    end
  end

  always_ff @(posedge clk_i) begin
    code_q <= !known ? BadCommand : take ? Ok : Busy;
    if (table_valid && entry.kind == TableBase) begin
      if (entry.pass[0]) base_q[AddrWidth-1:32] <= entry.word[AddrWidth-33:0];
      else base_q[31:0] <= entry.word;
    end
  end

  logic [AddrWidth-1:0] shell_araddr, shell_awaddr;
  logic unused_out_ready;

  rm_shell #(
      .DataWidth(DataWidth),
      .Ports(1),
      .AddrWidth(AddrWidth),
      .Machine(32'h56454354),  // "VECT"
      .Config({16'(Slots), 8'(Registers), 4'(LogSpan), 4'(LogRadix)}),
      .Counts(2)
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
      .m_arvalid_o(m_arvalid_o[0]),
      .m_arready_i(m_arready_i[0]),
      .m_araddr_o(shell_araddr),
      .m_arlen_o(m_arlen_o[0]),
      .m_arsize_o(m_arsize_o[0]),
      .m_arburst_o(m_arburst_o[0]),
      .m_rvalid_i(m_rvalid_i[0]),
      .m_rready_o(m_rready_o[0]),
      .m_rdata_i(m_rdata_i[0]),
      .m_rresp_i(m_rresp_i[0]),
      .m_rlast_i(m_rlast_i[0]),
      .m_awvalid_o(m_awvalid_o[0]),
      .m_awready_i(m_awready_i[0]),
      .m_awaddr_o(shell_awaddr),
      .m_awlen_o(m_awlen_o[0]),
      .m_awsize_o(m_awsize_o[0]),
      .m_awburst_o(m_awburst_o[0]),
      .m_wvalid_o(m_wvalid_o[0]),
      .m_wready_i(m_wready_i[0]),
      .m_wdata_o(m_wdata_o[0]),
      .m_wstrb_o(m_wstrb_o[0]),
      .m_wlast_o(m_wlast_o[0]),
      .m_bvalid_i(m_bvalid_i[0]),
      .m_bready_o(m_bready_o[0]),
      .m_bresp_i(m_bresp_i[0]),
      .cmd_valid_o(cmd_valid),
      .cmd_o(cmd),
      .rsp_valid_i(answer_q),
      .rsp_code_i(code_q),
      .busy_i({7'd0, !idle || pending || !memory_idle}),
      .done_i({3'd0, refill, failed_q, fault_seen_q, dry_q, ended_q}),
      .end_code_i({5'd0, fault}),
      .counts_i({32'(asked), underrun}),
      .in_valid_o(in_valid),
      .in_ready_i(in_ready),
      .in_data_o(in_data),
      .in_last_o(in_last),
      .out_valid_i(1'b0),
      .out_ready_o(unused_out_ready),
      .out_data_i('0),
      .out_last_i(1'b0)
  );

  assign m_araddr_o[0] = shell_araddr;
  assign m_awaddr_o[0] = shell_awaddr;

  rm_beat_words #(
      .DataWidth(DataWidth),
      .Bits(128),
      .CountWidth(20)
  ) u_words (
      .clk_i,
      .rst_ni,
      // A count of 0 lets every word of a read pass.
      .count_i('0),
      .valid_i(in_valid),
      .ready_o(in_ready),
      .data_i(in_data),
      .last_i(in_last),
      .valid_o(words_valid),
      .ready_i(words_ready),
      .data_o(word),
      .last_o(unused_words_last)
  );

  assign entry = entry_t'(word[$bits(entry_t)-1:0]);
  assign table_valid = words_valid && is_tables_q && !word[127];
  assign instr_valid = words_valid && !is_tables_q && !word[127];
  assign words_ready = is_tables_q || word[127] || instr_ready || fault != FaultNone;

  // ---- The machine. ----

  logic want_valid, want_ready, chunk_valid, chunk_ready, out_valid, out_ready;
  logic [31:0] want_address, out_address;
  logic [ChunkWidth-1:0] chunk, out_chunk;
  logic unused_sent, unused_enters;
  word_t unused_fault_word;
  logic [31:0] unused_number;
  writers_t unused_wrote;

  rm_vector #(
      .LogRadix(LogRadix),
      .LogSpan(LogSpan),
      .Slots(Slots),
      .Registers(Registers),
      .Moduli(Moduli),
      .Queue(Queue),
      .Batch(Batch),
      .LoadChunks(LoadChunks),
      .StoreChunks(StoreChunks),
      .Distant(Distant),
      .Buffer(Buffer),
      .Mac(Mac),
      .Transform(Transform),
      .Ultra(Ultra)
  ) u_vector (
      .clk_i,
      .rst_ni,
      .table_valid_i(table_valid),
      .table_i(entry),
      .moduli_i(moduli_q),
      .clear_i(clear_q),
      .refill_o(refill),
      // The request is always taken: the host sees it as an event and in the second count.
      .refill_ready_i(1'b1),
      .asked_o(asked),
      .valid_i(instr_valid),
      .ready_o(instr_ready),
      .word_i(word_t'(word[$bits(word_t)-1:0])),
      .fault_o(fault),
      .fault_word_o(unused_fault_word),
      .number_o(unused_number),
      .exhausted_o(exhausted),
      .acknowledge_i(1'b1),
      .underrun_o(underrun),
      .halt_o(halt),
      .idle_o(idle),
      .pending_o(pending),
      .want_valid_o(want_valid),
      .want_ready_i(want_ready),
      .want_address_o(want_address),
      .chunk_valid_i(chunk_valid),
      .chunk_ready_o(chunk_ready),
      .chunk_i(chunk),
      .out_valid_o(out_valid),
      .out_ready_i(out_ready),
      .out_address_o(out_address),
      .out_chunk_o(out_chunk),
      .sent_o(unused_sent),
      .enters_o(unused_enters),
      .wrote_o(unused_wrote)
  );

  // ---- Distant memory: a chunk at a time, each way. ----

  logic read_busy, read_done, read_failed, write_busy, write_done, write_failed;
  logic beat_valid, beat_ready, beat_last, write_start, sending_q, sent, send_ready, last_beat;
  logic unused_length, unused_chunk_last, unused_cut;
  logic [DataWidth-1:0] beat;
  logic [Beats-1:0][DataWidth-1:0] out_beats;
  logic [BeatWidth-1:0] beat_q;

  assign want_ready = !read_busy;
  assign memory_idle = !write_busy && !sending_q;
  assign failed = (read_done && read_failed) || (write_done && write_failed);

  rm_axi_read #(
      .DataWidth(DataWidth),
      .AddrWidth(AddrWidth)
  ) u_load (
      .clk_i,
      .rst_ni,
      .start_i(want_valid && want_ready),
      .addr_i(base_q + (AddrWidth'(want_address) << LogBytes)),
      .beats_i(24'(Beats)),
      .busy_o(read_busy),
      .done_o(read_done),
      .error_o(read_failed),
      .m_arvalid_o(m_arvalid_o[1]),
      .m_arready_i(m_arready_i[1]),
      .m_araddr_o(m_araddr_o[1]),
      .m_arlen_o(m_arlen_o[1]),
      .m_rvalid_i(m_rvalid_i[1]),
      .m_rready_o(m_rready_o[1]),
      .m_rdata_i(m_rdata_i[1]),
      .m_rresp_i(m_rresp_i[1]),
      .m_rlast_i(m_rlast_i[1]),
      .valid_o(beat_valid),
      .ready_i(beat_ready),
      .data_o(beat),
      .last_o(beat_last)
  );

  rm_beat_join #(
      .InWidth(DataWidth),
      .OutWidth(ChunkWidth)
  ) u_chunk (
      .clk_i,
      .rst_ni,
      .valid_i(beat_valid),
      .ready_o(beat_ready),
      .data_i(beat),
      .last_i(beat_last),
      .valid_o(chunk_valid),
      .ready_i(chunk_ready),
      .data_o(chunk),
      .last_o(unused_chunk_last),
      .cut_o(unused_cut)
  );

  assign write_start = out_valid && !sending_q && !write_busy;
  assign out_beats = out_chunk;
  assign last_beat = beat_q == BeatWidth'(Beats - 1);
  assign sent = sending_q && send_ready;
  assign out_ready = sent && last_beat;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sending_q <= 1'b0;
      beat_q <= '0;
    end else begin
      sending_q <= write_start || (sending_q && !out_ready);
      if (sent) beat_q <= last_beat ? '0 : beat_q + 1'b1;
    end
  end

  rm_axi_write #(
      .DataWidth(DataWidth),
      .AddrWidth(AddrWidth)
  ) u_store (
      .clk_i,
      .rst_ni,
      .start_i(write_start),
      .addr_i(base_q + (AddrWidth'(out_address) << LogBytes)),
      .beats_i(24'(Beats)),
      .busy_o(write_busy),
      .done_o(write_done),
      .error_o(write_failed),
      .length_o(unused_length),
      .m_awvalid_o(m_awvalid_o[1]),
      .m_awready_i(m_awready_i[1]),
      .m_awaddr_o(m_awaddr_o[1]),
      .m_awlen_o(m_awlen_o[1]),
      .m_wvalid_o(m_wvalid_o[1]),
      .m_wready_i(m_wready_i[1]),
      .m_wdata_o(m_wdata_o[1]),
      .m_wstrb_o(m_wstrb_o[1]),
      .m_wlast_o(m_wlast_o[1]),
      .m_bvalid_i(m_bvalid_i[1]),
      .m_bready_o(m_bready_o[1]),
      .m_bresp_i(m_bresp_i[1]),
      .valid_i(sending_q),
      .ready_o(send_ready),
      .data_i(out_beats[beat_q]),
      .last_i(last_beat)
  );

  assign m_arsize_o[1] = 3'(ByteBits);
  assign m_awsize_o[1] = 3'(ByteBits);
  assign m_arburst_o[1] = 2'b01;
  assign m_awburst_o[1] = 2'b01;

  logic unused_word;
  assign unused_word = ^word;

endmodule
