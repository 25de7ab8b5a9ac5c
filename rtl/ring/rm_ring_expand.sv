// SPDX-License-Identifier: Apache-2.0
// Expands generated key halves from their seeds: looks up the stream and the seed that a word
// names, and owns the generator (rm_ring_generator).
//
// One instruction word has the generator at a time. The rows of a dyadic word (a word of the dyadic
// cores) come by themselves; a word of the main cores asks for each part. load_* writes the tables:
// kinds 6 and 7 a stream and the place of its seed, 8 a word of a seed (rm_ring_rpau).
module rm_ring_expand
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned LogRow = 5,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned LogSteps = 9,
    parameter int unsigned Width = 60,
    parameter int unsigned QWidth = 60,
    parameter int unsigned Moduli = 1,
    parameter logic [Moduli-1:0][63:0] Q = {Moduli{64'h0800_0000_0230_0001}},
    parameter int unsigned GenLatency = 93,
    parameter int unsigned Fold = 9,
    parameter int unsigned StreamRows = 128,
    parameter int unsigned Seeds = 64,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned LogPeriod = LogRow - LogLanes,
    localparam int unsigned StreamWidth = $clog2(StreamRows),
    localparam int unsigned SeedWidth = $clog2(Seeds)
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic [SizeWidth-1:0]        log_n_i,     // held
    input  logic [LogSteps-1:0]         last_row_i,  // held
    input  logic                        load_i,
    input  logic [ 3:0]                 load_kind_i,
    input  logic [15:0]                 load_addr_i,
    input  logic [63:0]                 load_data_i,
    input  logic                        main_start_i,
    input  word_t                       main_word_i,
    input  logic                        dyadic_start_i,
    input  word_t                       dyadic_word_i,
    input  logic [1:0][WhichWidth-1:0]  which_i,  // of both units' words, from the cycle after their starts on
    input  logic [LogPeriod+1:0]        period_i,  // of dyadic_word_i, in the cycle after dyadic_start_i
    input  logic                        part_valid_i,
    input  logic [LogPeriod-1:0]        part_i,
    output logic [Lanes-1:0][Width-1:0] residue_o
);

  logic main, dyadic, minus_q, is_dyadic_q;
  logic [StreamWidth-1:0] index_q;
  logic [63:0] stream;
  logic [SeedWidth-1:0] seed_place;
  logic [7:0][31:0] seed;
  logic [31:0] half_q;
  logic [Lanes-1:0][QWidth-1:0] residue;

  assign main = main_start_i && is_generated(main_word_i.op, main_word_i.b_kind);
  assign dyadic = dyadic_start_i && is_generated(dyadic_word_i.op, dyadic_word_i.b_kind);

  always_ff @(posedge clk_i) begin
    if (main || dyadic) begin
      is_dyadic_q <= dyadic;
      minus_q <= (dyadic ? dyadic_word_i.ring : main_word_i.ring) == RingHalfMinus;
      index_q <= dyadic ? dyadic_word_i.imm[StreamWidth-1:0] : main_word_i.imm[StreamWidth-1:0];
    end
    // The number of blocks of a limb, 2^(log_n - 2), one bit set: the second half's blocks come
    // after so many.
    for (int unsigned i = 0; i < 32; i++) half_q[i] <= i + 2 == 32'(log_n_i);
  end

  rm_ram_1r1w #(
      .Width(64),
      .Depth(StreamRows),
      .Style("distributed")
  ) u_streams (
      .clk_i,
      .we_i   (load_i && load_kind_i == TableStream),
      .waddr_i(load_addr_i[StreamWidth-1:0]),
      .wdata_i(load_data_i),
      .re_i   (1'b1),
      .raddr_i(index_q),
      .rdata_o(stream)
  );

  rm_ram_1r1w #(
      .Width(SeedWidth),
      .Depth(StreamRows),
      .Style("distributed")
  ) u_seed_places (
      .clk_i,
      .we_i   (load_i && load_kind_i == TableSeedPlace),
      .waddr_i(load_addr_i[StreamWidth-1:0]),
      .wdata_i(load_data_i[SeedWidth-1:0]),
      .re_i   (1'b1),
      .raddr_i(index_q),
      .rdata_o(seed_place)
  );

  for (genvar i = 0; i < 8; i++) begin : gen_seed
    rm_ram_1r1w #(
        .Width(32),
        .Depth(Seeds),
        .Style("distributed")
    ) u_seeds (
        .clk_i,
        .we_i   (load_i && load_kind_i == TableSeed && load_addr_i[2:0] == 3'(i)),
        .waddr_i(load_addr_i[3+:SeedWidth]),
        .wdata_i(load_data_i[31:0]),
        .re_i   (1'b1),
        .raddr_i(seed_place),
        .rdata_o(seed[i])
    );
  end

  rm_ring_generator #(
      .LogRow(LogRow),
      .LogLanes(LogLanes),
      .LogSteps(LogSteps),
      .QWidth(QWidth),
      .Moduli(Moduli),
      .Q(Q),
      .Latency(GenLatency),
      .Fold(Fold),
      .PeriodWidth(LogPeriod + 2)
  ) u_generator (
      .clk_i,
      .rst_ni,
      .last_row_i,
      .start_i     (main || dyadic),
      .dyadic_i    (dyadic),
      .period_i,
      .part_valid_i,
      .part_i,
      .which_i     (which_i[is_dyadic_q]),
      .seed_i      (seed),
      .stream_i    (stream),
      .counter_i   (minus_q ? half_q : '0),
      .residue_o   (residue)
  );

  for (genvar i = 0; i < Lanes; i++) begin : gen_wide
    assign residue_o[i] = Width'(residue[i]);
  end

  logic unused;
  assign unused = ^{main_word_i, dyadic_word_i, load_addr_i, load_data_i};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else one_at_a_time : assert (!(main && dyadic));
  end
`endif

endmodule
