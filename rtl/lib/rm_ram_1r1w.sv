// SPDX-License-Identifier: Apache-2.0
// A memory with one write port and one read port: M[waddr] := wdata;  rdata := M[raddr].
//
// Latency 1 + OutReg cycles from raddr_i to rdata_o, one read and one write a cycle. A read that
// meets a write to the same address returns the old word. The read register keeps its value while
// re_i is low. No reset: a word is undefined until it is written. Style "block", "ultra" or
// "distributed" goes to the synthesiser; with "auto" the synthesiser chooses.
module rm_ram_1r1w #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 1024,
    parameter bit OutReg = 1'b0,
    /* verilator lint_off UNUSEDPARAM */  // for the synthesiser only
    parameter Style = "auto",
    /* verilator lint_on UNUSEDPARAM */
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

  (* ram_style = Style *) logic [Width-1:0] mem[Depth];
  logic [Width-1:0] rdata_q;

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
    if (re_i) rdata_q <= mem[raddr_i];
  end

  rm_delay #(
      .Width(Width),
      .Depth(int'(OutReg))
  ) u_out (
      .clk_i,
      .d_i(rdata_q),
      .q_o(rdata_o)
  );

endmodule
