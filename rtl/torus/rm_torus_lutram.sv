// SPDX-License-Identifier: Apache-2.0
// A memory in distributed RAM with one write port and one read port: M[waddr] := wdata; rdata =
// M[raddr] in the cycle of raddr.
//
// Latency 0 from raddr_i to rdata_o, one read and one write a cycle. A read that meets a write of
// its address returns the old word. No reset.
module rm_torus_lutram #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 32,
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 we_i,
    input  logic [AddrWidth-1:0] waddr_i,
    input  logic [    Width-1:0] wdata_i,
    input  logic [AddrWidth-1:0] raddr_i,
    output logic [    Width-1:0] rdata_o
);

  (* ram_style = "distributed" *) logic [Width-1:0] mem[Depth];

  always_ff @(posedge clk_i) begin
    if (we_i) mem[waddr_i] <= wdata_i;
  end

  assign rdata_o = mem[raddr_i];

endmodule
