// SPDX-License-Identifier: Apache-2.0
// A true dual-port memory. Each port p in {a, b} does in a cycle with en:
//
//   rdata := M[addr], and if we: M[addr] := wdata
//
// Latency 1 cycle from addr to rdata, one access a cycle on each port. The read register keeps its
// value while en is low. The user must not write one address through both ports in one cycle. No
// reset: a word is undefined until it is written. A read that meets a write returns what block RAM
// and UltraRAM return:
//
//   Style             port that writes         other port at that address
//   all but "ultra"   reads the old word       reads the old word
//   "ultra"           holds its read register  a reads the old word, b reads the new word
//
// Style also goes to the synthesiser. "ultra" is for UltraScale+ only.
module rm_ram_2rw #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 1024,
    parameter Style = "block",
    localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
    input  logic                 clk_i,
    input  logic                 a_en_i,
    input  logic                 a_we_i,
    input  logic [AddrWidth-1:0] a_addr_i,
    input  logic [    Width-1:0] a_wdata_i,
    output logic [    Width-1:0] a_rdata_o,
    input  logic                 b_en_i,
    input  logic                 b_we_i,
    input  logic [AddrWidth-1:0] b_addr_i,
    input  logic [    Width-1:0] b_wdata_i,
    output logic [    Width-1:0] b_rdata_o
);

  (* ram_style = Style *) logic [Width-1:0] mem[Depth];
  logic [Width-1:0] a_rdata_q, b_rdata_q;

  // Plain `always`: two processes write one memory, which is what a true dual-port RAM is.
  if (Style == "ultra") begin : gen_ultra
    always @(posedge clk_i) begin
      if (a_en_i) begin
        if (a_we_i) mem[a_addr_i] <= a_wdata_i;
        else a_rdata_q <= mem[a_addr_i];
      end
    end

    always @(posedge clk_i) begin
      if (b_en_i) begin
        if (b_we_i) mem[b_addr_i] <= b_wdata_i;
        else if (a_en_i && a_we_i && a_addr_i == b_addr_i) b_rdata_q <= a_wdata_i;
        else b_rdata_q <= mem[b_addr_i];
      end
    end
  end else begin : gen_block
    always @(posedge clk_i) begin
      if (a_en_i) begin
        a_rdata_q <= mem[a_addr_i];
        if (a_we_i) mem[a_addr_i] <= a_wdata_i;
      end
    end

    always @(posedge clk_i) begin
      if (b_en_i) begin
        b_rdata_q <= mem[b_addr_i];
        if (b_we_i) mem[b_addr_i] <= b_wdata_i;
      end
    end
  end

  assign a_rdata_o = a_rdata_q;
  assign b_rdata_o = b_rdata_q;

endmodule
