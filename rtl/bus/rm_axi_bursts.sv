// SPDX-License-Identifier: Apache-2.0
// The address channel of an AXI4 transfer: cuts beats_i words from addr_i on into incrementing
// bursts.
//
// A burst has at most Burst words and ends where a multiple of Burst words begins, so none crosses
// 4 KiB. start_i hands the transfer over; addr_i is a multiple of the word. While allow_i is high,
// the module offers at most one burst every two cycles. busy_o is high until the last burst was
// taken.
module rm_axi_bursts #(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned AddrWidth = 64,
    parameter int unsigned CountWidth = 24,
    parameter int unsigned Burst = 32
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  start_i,
    input  logic [ AddrWidth-1:0] addr_i,
    input  logic [CountWidth-1:0] beats_i,
    input  logic                  allow_i,
    output logic                  busy_o,
    // Address channel.
    output logic                  valid_o,
    input  logic                  ready_i,
    output logic [ AddrWidth-1:0] addr_o,
    output logic [           7:0] len_o
);

  localparam int unsigned ByteBits = $clog2(DataWidth / 8);
  localparam int unsigned BurstBits = $clog2(Burst);

  if (2 ** BurstBits != Burst || Burst > 256 || Burst * (DataWidth / 8) > 4096) begin : gen_check
    $error("Burst must be a power of two, at most 256 words and 4 KiB");
  end

  logic [AddrWidth-1:ByteBits] word_q;
  logic [CountWidth-1:0] left_q;
  logic [BurstBits:0] aligned, size_q;
  logic [7:0] len_q;
  logic valid_q, sized_q, fetch;
  logic [AddrWidth-1:0] addr_q;

  // The number of words up to the next boundary of bursts.
  assign aligned = (BurstBits + 1)'(Burst) - {1'b0, word_q[ByteBits+:BurstBits]};
  assign fetch = sized_q && !valid_q && allow_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      sized_q <= 1'b0;
      left_q <= '0;
    end else begin
      valid_q <= valid_q ? !ready_i : fetch;
      sized_q <= sized_q ? !fetch : left_q != '0;
      if (start_i) left_q <= beats_i;
      else if (fetch) left_q <= left_q - CountWidth'(size_q);
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) word_q <= addr_i[AddrWidth-1:ByteBits];
    else if (fetch) word_q <= word_q + (AddrWidth - ByteBits)'(size_q);
    if (!sized_q) begin
      size_q <= (left_q < CountWidth'(aligned)) ? left_q[BurstBits:0] : aligned;
    end
    if (fetch) begin
      addr_q <= {word_q, ByteBits'(0)};
      len_q <= 8'(size_q - 1'b1);
    end
  end

  // The word's bytes are not looked at.
  logic unused_bytes;
  assign unused_bytes = ^addr_i[ByteBits-1:0];

  assign busy_o = valid_q || left_q != '0;
  assign valid_o = valid_q;
  assign addr_o = addr_q;
  assign len_o = len_q;

endmodule
