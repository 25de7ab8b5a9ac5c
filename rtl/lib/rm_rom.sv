// SPDX-License-Identifier: Apache-2.0
// A constant table T that is read from the file InitFile: rdata := T[addr].
//
// The file has one hexadecimal word a line ($readmemh). Latency 1 cycle, one read a cycle. The read
// register keeps its value while re_i is low.
module rm_rom #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 1024,
    parameter InitFile = "",
    /* verilator lint_off UNUSEDPARAM */  // for the synthesiser only
    parameter Style = "auto",
    /* verilator lint_on UNUSEDPARAM */
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 re_i,
    input  logic [AddrWidth-1:0] addr_i,
    output logic [    Width-1:0] rdata_o
);

  (* rom_style = Style *) logic [Width-1:0] mem[Depth];
  logic [Width-1:0] rdata_q;

  initial $readmemh(InitFile, mem);

  always_ff @(posedge clk_i) begin
    if (re_i) rdata_q <= mem[addr_i];
  end

  assign rdata_o = rdata_q;

endmodule
