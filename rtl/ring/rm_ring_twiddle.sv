// SPDX-License-Identifier: Apache-2.0
// Stored twiddles of a stage's butterflies in a row: gives Tables words for a pass and step.
//
// A butterfly's twiddles of a pass are 2^u words in the order of the step, and repeat after 2^u
// steps. u is the number of index bits above the window. Passes of the largest limb with u > 0 lie
// one behind the other in a memory, those with u = 0 in distributed RAM. A smaller limb's last
// passes use the places of the largest limb's last passes. There are tables for Rings rings: three
// for each layer of the RPAU (rm_ring_rpau). One set serves both directions: a half ring's inverse
// transform takes the table of the other half (ring_i is the ring of the table).
//
// load_i writes a word: at `deep` to address ring * Deep + base(pass) + step, else to ring * Flat +
// pass - deep_passes. Latency 4 from pass and step to the words, a step a cycle. log_n_i is held,
// and ring_i from a cycle before on.
module rm_ring_twiddle
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned Stages = 2,
    parameter int unsigned Tables = 16,
    parameter int unsigned Width = 60,
    parameter int unsigned Rings = 3,
    localparam int unsigned LogSteps = LogN - LogRow,
    localparam int unsigned Passes = pass_count(LogN, Stages),
    localparam int unsigned PassWidth = $clog2(Passes),
    localparam int unsigned TableWidth = (Tables > 1) ? $clog2(Tables) : 1,
    localparam int unsigned DeepPasses = deep_passes(LogN, LogRow, Stages, 1),
    localparam int unsigned Deep = table_base(LogN, LogRow, Stages, Passes),
    localparam int unsigned Flat = Passes - DeepPasses,
    localparam int unsigned DeepWidth = $clog2(Rings * Deep),
    localparam int unsigned RingWidth = $clog2(Rings),
    localparam int unsigned FlatWidth = $clog2(Rings * Flat)
) (
    input  logic                         clk_i,
    input  logic                         load_i,
    input  logic                         load_deep_i,
    input  logic [TableWidth-1:0]        load_table_i,
    input  logic [ DeepWidth-1:0]        load_addr_i,
    input  logic [     Width-1:0]        load_data_i,
    input  logic [ SizeWidth-1:0]        log_n_i,
    input  logic [ RingWidth-1:0]        ring_i,
    input  logic [ PassWidth-1:0]        pass_i,
    input  logic [  LogSteps-1:0]        step_i,
    output logic [    Tables-1:0][Width-1:0] word_o
);

  // fewer_q: the passes by which a limb has fewer than the largest limb. bits_q: the bits of its
  // step's number.
  logic [SizeWidth-1:0] short, bits_q;
  logic [PassWidth-1:0] fewer_q, pass;
  logic [LogSteps-1:0] mask;

  assign short = SizeWidth'(LogN) - log_n_i;

  always_ff @(posedge clk_i) begin
    fewer_q <= PassWidth'(32'(short) / Stages);
    bits_q <= log_n_i - SizeWidth'(LogRow);
  end

  logic [DeepWidth-1:0] deep_d, deep_q, deep_ring_q;  // the ring's first word
  logic [FlatWidth-1:0] flat_d, flat_q, flat_q2, flat_ring_q;
  logic is_flat_q, is_flat_q2, is_flat_q3;

  assign pass = pass_i + fewer_q;

  always_comb begin
    deep_d = '0;
    flat_d = '0;
    for (int unsigned i = 0; i < LogSteps; i++) mask[i] = pass_pair(32'(pass_i), Stages) + i < 32'(bits_q);
    for (int unsigned p = 0; p < DeepPasses; p++) begin
      if (pass == PassWidth'(p)) begin
        deep_d = deep_ring_q + DeepWidth'(table_base(LogN, LogRow, Stages, p)) +
            DeepWidth'(step_i & mask);
      end
    end
    for (int unsigned p = DeepPasses; p < Passes; p++) begin
      if (pass == PassWidth'(p)) flat_d = flat_ring_q + FlatWidth'(p - DeepPasses);
    end
  end

  always_ff @(posedge clk_i) begin
    deep_ring_q <= DeepWidth'(32'(ring_i) * Deep);
    flat_ring_q <= FlatWidth'(32'(ring_i) * Flat);
    deep_q <= deep_d;
    flat_q <= flat_d;
    flat_q2 <= flat_q;
    is_flat_q <= pass >= PassWidth'(DeepPasses);
    is_flat_q2 <= is_flat_q;
    is_flat_q3 <= is_flat_q2;
  end

  for (genvar t = 0; t < Tables; t++) begin : gen_table
    logic load;
    logic [Width-1:0] deep, flat, word_q;

    assign load = load_i && load_table_i == TableWidth'(t);

    rm_ram_1r1w #(
        .Width(Width),
        .Depth(Rings * Deep),
        .OutReg(1'b1),
        .Style("block")
    ) u_deep (
        .clk_i,
        .we_i   (load && load_deep_i),
        .waddr_i(load_addr_i),
        .wdata_i(load_data_i),
        .re_i   (1'b1),
        .raddr_i(deep_q),
        .rdata_o(deep)
    );

    rm_ram_1r1w #(
        .Width(Width),
        .Depth(Rings * Flat),
        .Style("distributed")
    ) u_flat (
        .clk_i,
        .we_i   (load && !load_deep_i),
        .waddr_i(FlatWidth'(load_addr_i)),
        .wdata_i(load_data_i),
        .re_i   (1'b1),
        .raddr_i(flat_q2),
        .rdata_o(flat)
    );

    always_ff @(posedge clk_i) word_q <= is_flat_q3 ? flat : deep;

    assign word_o[t] = word_q;
  end

endmodule
