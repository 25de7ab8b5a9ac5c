// SPDX-License-Identifier: Apache-2.0
// Writes a stream to a range of memory, by the write channels of an AXI4 manager.
//
// The range is beats_i words from addr_i up. addr_i is a multiple of the word, and beats_i is not
// 0. The data of a burst follow its address. If a stream ends early (last_i), the beats that remain
// carry no bytes, so the rest of the range keeps its content. done_o is high for one cycle when
// every burst was answered. error_o then says that some answer was not OKAY. length_o says that
// last_i did not come exactly once, with the last beat.
//
// One word a cycle.
module rm_axi_write #(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned AddrWidth = 64,
    parameter int unsigned CountWidth = 24,
    parameter int unsigned Burst = 32,
    parameter int unsigned Ahead = 4
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   start_i,
    input  logic [  AddrWidth-1:0] addr_i,
    input  logic [ CountWidth-1:0] beats_i,
    output logic                   busy_o,
    output logic                   done_o,
    output logic                   error_o,
    output logic                   length_o,
    // AXI4.
    output logic                   m_awvalid_o,
    input  logic                   m_awready_i,
    output logic [  AddrWidth-1:0] m_awaddr_o,
    output logic [            7:0] m_awlen_o,
    output logic                   m_wvalid_o,
    input  logic                   m_wready_i,
    output logic [  DataWidth-1:0] m_wdata_o,
    output logic [DataWidth/8-1:0] m_wstrb_o,
    output logic                   m_wlast_o,
    input  logic                   m_bvalid_i,
    output logic                   m_bready_o,
    input  logic [            1:0] m_bresp_i,
    // Stream.
    input  logic                   valid_i,
    output logic                   ready_o,
    input  logic [  DataWidth-1:0] data_i,
    input  logic                   last_i
);

  localparam int unsigned AheadBits = $clog2(Ahead + 1);
  localparam int unsigned ByteBits = $clog2(DataWidth / 8);
  localparam int unsigned BurstBits = $clog2(Burst);

  logic bursts_busy, named, answered, move, room, wlast, final_q, ended_q;
  logic busy_q, done_q, failed_q, length_q, finish;
  // Bursts whose answer is awaited; of these, those whose data are not all on their way.
  logic [AheadBits-1:0] ahead_q, open_q;
  logic [CountWidth-1:0] left_q;
  logic [BurstBits-1:0] place_q;

  assign named = m_awvalid_o && m_awready_i;
  assign answered = m_bvalid_i && m_bready_o;
  assign wlast = final_q || place_q == BurstBits'(Burst - 1);
  // A beat moves into the buffer before the write channel.
  assign move = open_q != '0 && room && (valid_i || ended_q);
  assign ready_o = open_q != '0 && room && !ended_q;

  rm_axi_bursts #(
      .DataWidth(DataWidth),
      .AddrWidth(AddrWidth),
      .CountWidth(CountWidth),
      .Burst(Burst)
  ) u_bursts (
      .clk_i,
      .rst_ni,
      .start_i,
      .addr_i,
      .beats_i,
      .allow_i(ahead_q != AheadBits'(Ahead) && !m_awvalid_o),
      .busy_o(bursts_busy),
      .valid_o(m_awvalid_o),
      .ready_i(m_awready_i),
      .addr_o(m_awaddr_o),
      .len_o(m_awlen_o)
  );

  logic full;

  rm_skid #(
      .Width(DataWidth + 2)
  ) u_skid (
      .clk_i,
      .rst_ni,
      .valid_i(move),
      .ready_o(room),
      .data_i({wlast, !ended_q, data_i}),
      .valid_o(m_wvalid_o),
      .ready_i(m_wready_i),
      .data_o({m_wlast_o, full, m_wdata_o})
  );

  assign m_wstrb_o = {DataWidth / 8{full}};
  assign m_bready_o = 1'b1;
  assign finish = busy_q && !bursts_busy && left_q == '0 && ahead_q == AheadBits'(answered);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      done_q <= 1'b0;
      failed_q <= 1'b0;
      length_q <= 1'b0;
      ended_q <= 1'b0;
      ahead_q <= '0;
      open_q <= '0;
      left_q <= '0;
      final_q <= 1'b0;
    end else begin
      busy_q <= start_i || (busy_q && !finish);
      done_q <= finish;
      ahead_q <= ahead_q + AheadBits'(named) - AheadBits'(answered);
      open_q <= open_q + AheadBits'(named) - AheadBits'(move && wlast);
      if (start_i) begin
        left_q <= beats_i;
        final_q <= beats_i == CountWidth'(1);
        failed_q <= 1'b0;
        length_q <= 1'b0;
        ended_q <= 1'b0;
      end else begin
        if (move) begin
          left_q <= left_q - 1'b1;
          final_q <= left_q == CountWidth'(2);
        end
        if (answered && m_bresp_i != 2'b00) failed_q <= 1'b1;
        if (move && !ended_q && last_i != final_q) length_q <= 1'b1;
        if (move && last_i) ended_q <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) place_q <= addr_i[ByteBits+:BurstBits];
    else if (move) place_q <= place_q + 1'b1;
  end

  assign busy_o = busy_q;
  assign done_o = done_q;
  assign error_o = failed_q;
  assign length_o = length_q;

endmodule
