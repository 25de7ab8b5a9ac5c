// SPDX-License-Identifier: Apache-2.0
// Generates the twiddles of passes with one stage: a word for each of Tables butterflies and a
// step, and the factor by which the words become later ones.
//
// A butterfly's twiddles of a pass are 2^u in the order of the step. Each is the one before times
// the same number, and they repeat after 2^u steps. The First ones (fewer if 2^u is less) come from
// a memory. Each other twiddle is the one First steps before times factor_o, which all butterflies
// share. The owner of the multipliers gives that product back (next_*) MulLatency + 1 cycles after
// its twiddle. The product is kept until its step, which comes later if rows do not follow each
// other. A smaller limb's passes use the places of the largest limb's last passes. There are tables
// for Rings rings: three for each layer of the RPAU (rm_ring_rpau). One set serves both directions,
// as with stored twiddles (rm_ring_twiddle).
//
// load_i writes a word: a first value at ring * Depth + base(pass) + step, or with load_factor_i a
// pass's factor at ring * Generated + pass. Latency 4 from pass and step to the words, a step a
// cycle. log_n_i is held, and ring_i from the cycle before a word's first step on.
module rm_ring_powers
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned Tables = 16,
    parameter int unsigned Width = 60,
    parameter int unsigned Rings = 3,
    parameter int unsigned MulLatency = 12,
    localparam int unsigned LogSteps = LogN - LogRow,
    localparam int unsigned Passes = LogN,
    localparam int unsigned PassWidth = $clog2(Passes),
    localparam int unsigned TableWidth = (Tables > 1) ? $clog2(Tables) : 1,
    localparam int unsigned First = first_values(MulLatency),
    localparam int unsigned FirstWidth = $clog2(First),
    localparam int unsigned Depth = first_base(LogN, LogRow, First, Passes),
    localparam int unsigned AddrWidth = $clog2(Rings * Depth),
    localparam int unsigned Generated = deep_passes(LogN, LogRow, 1, First),
    localparam int unsigned FactorDepth = (Generated > 0) ? Rings * Generated : 1,
    localparam int unsigned FactorWidth = (FactorDepth > 1) ? $clog2(FactorDepth) : 1,
    localparam int unsigned RingWidth = $clog2(Rings)
) (
    input  logic                         clk_i,
    input  logic                         load_i,
    input  logic                         load_factor_i,
    input  logic [TableWidth-1:0]        load_table_i,
    input  logic [ AddrWidth-1:0]        load_addr_i,
    input  logic [     Width-1:0]        load_data_i,
    input  logic [ SizeWidth-1:0]        log_n_i,
    input  logic [ RingWidth-1:0]        ring_i,
    input  logic [ PassWidth-1:0]        pass_i,
    input  logic [  LogSteps-1:0]        step_i,
    output logic [    Tables-1:0][Width-1:0] word_o,
    output logic [     Width-1:0]        factor_o,
    input  logic                         next_valid_i,
    input  logic [  LogSteps-1:0]        next_step_i,
    input  logic [    Tables-1:0][Width-1:0] next_i
);

  // fewer_q: the passes by which a limb has fewer than the largest limb. bits_q: the bits of its
  // step's number.
  logic [PassWidth-1:0] fewer_q, pass;
  logic [SizeWidth-1:0] bits_q;
  logic [LogSteps-1:0] step;

  // The places where the words and the factors of the ring begin.
  logic [AddrWidth-1:0] ring_q;
  logic [FactorWidth-1:0] ring_factors_q;

  always_ff @(posedge clk_i) begin
    ring_q <= AddrWidth'(32'(ring_i) * Depth);
    ring_factors_q <= FactorWidth'(32'(ring_i) * Generated);
    fewer_q <= PassWidth'(SizeWidth'(LogN) - log_n_i);
    bits_q <= log_n_i - SizeWidth'(LogRow);
  end

  // The number of the step among its butterfly's twiddles, and whether it is one of the First.
  logic [FirstWidth-1:0] place, place_q, place_q2;
  logic first, first_q, first_q2, first_q3;
  logic [AddrWidth-1:0] addr_d, addr_q;
  logic [FactorWidth-1:0] factor_d, factor_q, factor_q2;

  assign pass = pass_i + fewer_q;
  assign first = (step >> FirstWidth) == '0;
  assign place = FirstWidth'(step);

  always_comb begin
    for (int unsigned i = 0; i < LogSteps; i++) step[i] = step_i[i] && 32'(pass_i) + i < 32'(bits_q);
    addr_d = '0;
    factor_d = '0;
    for (int unsigned p = 0; p < Passes; p++) begin
      if (pass == PassWidth'(p)) begin
        addr_d = ring_q + AddrWidth'(first_base(LogN, LogRow, First, p)) + AddrWidth'(place);
      end
    end
    for (int unsigned p = 0; p < Generated; p++) begin
      if (pass == PassWidth'(p)) factor_d = ring_factors_q + FactorWidth'(p);
    end
  end

  always_ff @(posedge clk_i) begin
    addr_q <= addr_d;
    place_q <= place;
    place_q2 <= place_q;
    factor_q <= factor_d;
    factor_q2 <= factor_q;
    first_q <= first;
    first_q2 <= first_q;
    first_q3 <= first_q2;
  end

  for (genvar t = 0; t < Tables; t++) begin : gen_table
    logic [Width-1:0] value, aside, word_q;

    rm_ram_1r1w #(
        .Width(Width),
        .Depth(Rings * Depth),
        .OutReg(1'b1),
        .Style("block")
    ) u_first (
        .clk_i,
        .we_i   (load_i && !load_factor_i && load_table_i == TableWidth'(t)),
        .waddr_i(load_addr_i),
        .wdata_i(load_data_i),
        .re_i   (1'b1),
        .raddr_i(addr_q),
        .rdata_o(value)
    );

    rm_ram_1r1w #(
        .Width(Width),
        .Depth(First),
        .Style("distributed")
    ) u_aside (
        .clk_i,
        .we_i   (next_valid_i),
        .waddr_i(FirstWidth'(next_step_i)),
        .wdata_i(next_i[t]),
        .re_i   (1'b1),
        .raddr_i(place_q2),
        .rdata_o(aside)
    );

    always_ff @(posedge clk_i) word_q <= first_q3 ? value : aside;

    assign word_o[t] = word_q;
  end

  logic [Width-1:0] factor, factor_word_q;

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(FactorDepth),
      .Style("distributed")
  ) u_factors (
      .clk_i,
      .we_i   (load_i && load_factor_i),
      .waddr_i(FactorWidth'(load_addr_i)),
      .wdata_i(load_data_i),
      .re_i   (1'b1),
      .raddr_i(factor_q2),
      .rdata_o(factor)
  );

  always_ff @(posedge clk_i) factor_word_q <= factor;

  assign factor_o = factor_word_q;

  logic unused_steps;
  assign unused_steps = ^next_step_i;

endmodule
