// SPDX-License-Identifier: Apache-2.0
// Reads a range of memory as a stream, by the read channels of an AXI4 manager.
//
// The stream is beats_i words from addr_i on, with last_o on the last word. addr_i is a multiple of
// the word, and beats_i is not 0. Up to Ahead bursts are in flight at once. done_o is high for one
// cycle after the last word left. error_o then says that some answer was not OKAY, so the words of
// the stream may be wrong.
//
// One word a cycle.
module rm_axi_read #(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned AddrWidth = 64,
    parameter int unsigned CountWidth = 24,
    parameter int unsigned Burst = 32,
    parameter int unsigned Ahead = 4
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  start_i,
    input  logic [ AddrWidth-1:0] addr_i,
    input  logic [CountWidth-1:0] beats_i,
    output logic                  busy_o,
    output logic                  done_o,
    output logic                  error_o,
    // AXI4.
    output logic                  m_arvalid_o,
    input  logic                  m_arready_i,
    output logic [ AddrWidth-1:0] m_araddr_o,
    output logic [           7:0] m_arlen_o,
    input  logic                  m_rvalid_i,
    output logic                  m_rready_o,
    input  logic [ DataWidth-1:0] m_rdata_i,
    input  logic [           1:0] m_rresp_i,
    input  logic                  m_rlast_i,
    // Stream.
    output logic                  valid_o,
    input  logic                  ready_i,
    output logic [ DataWidth-1:0] data_o,
    output logic                  last_o
);

  localparam int unsigned AheadBits = $clog2(Ahead + 1);

  logic allow, asked, answered, arrived, left, bad, failed_q, busy_q, done_q, last_q;
  logic bursts_busy;
  logic [AheadBits-1:0] ahead_q;
  logic [CountWidth-1:0] left_q;

  assign allow = ahead_q != AheadBits'(Ahead);
  assign asked = m_arvalid_o && m_arready_i;
  assign arrived = m_rvalid_i && m_rready_o;
  assign answered = arrived && m_rlast_i;
  assign left = valid_o && ready_i;

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
      // While a burst is on offer it is not counted yet, so no other is prepared.
      .allow_i(allow && !m_arvalid_o),
      .busy_o(bursts_busy),
      .valid_o(m_arvalid_o),
      .ready_i(m_arready_i),
      .addr_o(m_araddr_o),
      .len_o(m_arlen_o)
  );

  rm_skid #(
      .Width(DataWidth + 1)
  ) u_skid (
      .clk_i,
      .rst_ni,
      .valid_i(m_rvalid_i),
      .ready_o(m_rready_o),
      .data_i({m_rresp_i != 2'b00, m_rdata_i}),
      .valid_o,
      .ready_i,
      .data_o({bad, data_o})
  );

  assign last_o = last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      done_q <= 1'b0;
      failed_q <= 1'b0;
      ahead_q <= '0;
      left_q <= '0;
      last_q <= 1'b0;
    end else begin
      busy_q <= start_i || (busy_q && !(left && last_o));
      done_q <= left && last_o;
      failed_q <= !start_i && (failed_q || (left && bad));
      ahead_q <= ahead_q + AheadBits'(asked) - AheadBits'(answered);
      if (start_i) begin
        left_q <= beats_i;
        last_q <= beats_i == CountWidth'(1);
      end else if (left) begin
        left_q <= left_q - 1'b1;
        last_q <= left_q == CountWidth'(2);
      end
    end
  end

  logic unused_busy;
  assign unused_busy = bursts_busy;

  assign busy_o = busy_q;
  assign done_o = done_q;
  assign error_o = failed_q;

endmodule
