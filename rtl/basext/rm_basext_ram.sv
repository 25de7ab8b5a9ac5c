// SPDX-License-Identifier: Apache-2.0
// A memory for the words of the lanes, with the ports and latency of rm_ram_1r1w, cut so that it
// takes fewer blocks of RAM.
//
// Block RAM has columns of 9 bits (4,096 words in a block) or columns of 1, 2 or 4 bits (32,768
// bits). A deep memory keeps the few bits of a word beyond a multiple of nine in a memory of their
// own. So no such bit takes a column of nine: 2^14 words of 32 bits take 12 + 2.5 blocks instead of
// 16.
module rm_basext_ram #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 1024,
    parameter bit OutReg = 1'b0,
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 we_i,
    input  logic [AddrWidth-1:0] waddr_i,
    input  logic [    Width-1:0] wdata_i,
    input  logic                 re_i,
    input  logic [AddrWidth-1:0] raddr_i,
    output logic [    Width-1:0] rdata_o
);

  localparam int unsigned Odd = Width % 9;
  // More odd bits than that are best in a column of nine.
  localparam bit Divided = Odd != 0 && Odd <= 5 && Width > 9 && Depth >= 16384;
  localparam int unsigned Nines = Divided ? Width - Odd : Width;

  rm_ram_1r1w #(
      .Width(Nines),
      .Depth(Depth),
      .OutReg(OutReg)
  ) u_nines (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i(wdata_i[Nines-1:0]),
      .re_i,
      .raddr_i,
      .rdata_o(rdata_o[Nines-1:0])
  );

  if (Divided) begin : gen_odd
    rm_ram_1r1w #(
        .Width(Odd),
        .Depth(Depth),
        .OutReg(OutReg)
    ) u_odd (
        .clk_i,
        .we_i,
        .waddr_i,
        .wdata_i(wdata_i[Width-1:Nines]),
        .re_i,
        .raddr_i,
        .rdata_o(rdata_o[Width-1:Nines])
    );
  end

endmodule
