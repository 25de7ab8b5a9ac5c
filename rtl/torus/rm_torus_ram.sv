// SPDX-License-Identifier: Apache-2.0
// A memory with one write and one read port, as rm_ram_1r1w, that selects the kind of RAM by its
// depth.
//
// A memory of up to 32 words lies in look-up tables, a deeper one in block RAM, because a look-up
// table holds half as many bits of 64 words.
//
// Latency 1 cycle from raddr_i to rdata_o, one read and one write a cycle. A read that meets a
// write of its address returns the old word. No reset.
module rm_torus_ram #(
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

  if (Depth <= 32) begin : gen_tables
    rm_ram_1r1w #(
        .Width(Width),
        .Depth(Depth),
        .Style("distributed")
    ) u_ram (
        .clk_i,
        .we_i,
        .waddr_i,
        .wdata_i,
        .re_i(1'b1),
        .raddr_i,
        .rdata_o
    );
  end else begin : gen_blocks
    rm_ram_1r1w #(
        .Width(Width),
        .Depth(Depth),
        .Style("block")
    ) u_ram (
        .clk_i,
        .we_i,
        .waddr_i,
        .wdata_i,
        .re_i(1'b1),
        .raddr_i,
        .rdata_o
    );
  end

endmodule
