// SPDX-License-Identifier: Apache-2.0
// The twiddles of the main cores, from tables or generated.
//
// With two stages a pass, they come from tables for the cores A and B (rm_ring_twiddle). With one
// stage, they are generated for the cores A (rm_ring_powers).
//
// load_* writes the tables of kinds TableFlatA to TableDeepB (docs/isa/ring.md). Latency 4 from pass
// and step to the words, a step a cycle; log_n_i is held.
module rm_ring_twiddles
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned Stages = 2,
    parameter int unsigned Width = 60,
    parameter int unsigned Rings = 3,
    parameter int unsigned MulLatency = 12,
    localparam int unsigned Half = (1 << LogRow) / 2,
    localparam int unsigned LogSteps = LogN - LogRow,
    localparam int unsigned PassWidth = $clog2(pass_count(LogN, Stages)),
    localparam int unsigned RingWidth = $clog2(Rings)
) (
    input  logic                             clk_i,
    input  logic                             load_i,
    input  logic [           3:0]            load_kind_i,
    input  logic [    LogRow-1:0]            load_table_i,
    input  logic [          15:0]            load_addr_i,
    input  logic [          63:0]            load_data_i,
    input  logic [ SizeWidth-1:0]            log_n_i,
    input  logic [ RingWidth-1:0]            ring_i,
    input  logic [1:0][PassWidth-1:0]        pass_i,  // of A and B
    input  logic [1:0][ LogSteps-1:0]        step_i,
    output logic [      Half-1:0][Width-1:0] a_o,
    output logic [    Half/2-1:0][Width-1:0] b_o,
    output logic [     Width-1:0]            factor_o,
    input  logic                             next_valid_i,
    input  logic [  LogSteps-1:0]            next_step_i,
    input  logic [      Half-1:0][Width-1:0] next_i
);

  localparam int unsigned TableA = (Half > 1) ? $clog2(Half) : 1;
  localparam int unsigned TableB = (Half > 2) ? $clog2(Half / 2) : 1;

  if (Stages == 2) begin : gen_stored
    localparam int unsigned Deep = table_base(LogN, LogRow, Stages, pass_count(LogN, Stages));
    localparam int unsigned DeepWidth = $clog2(Rings * Deep);

    rm_ring_twiddle #(
        .LogN  (LogN),
        .LogRow(LogRow),
        .Stages(Stages),
        .Tables(Half),
        .Width (Width),
        .Rings (Rings)
    ) u_a (
        .clk_i,
        .load_i      (load_i && (load_kind_i == TableFlatA || load_kind_i == TableDeepA)),
        .load_deep_i (load_kind_i == TableDeepA),
        .load_table_i(load_table_i[TableA-1:0]),
        .load_addr_i (load_addr_i[DeepWidth-1:0]),
        .load_data_i (load_data_i[Width-1:0]),
        .log_n_i,
        .ring_i,
        .pass_i      (pass_i[0]),
        .step_i      (step_i[0]),
        .word_o      (a_o)
    );

    rm_ring_twiddle #(
        .LogN  (LogN),
        .LogRow(LogRow),
        .Stages(Stages),
        .Tables(Half / 2),
        .Width (Width),
        .Rings (Rings)
    ) u_b (
        .clk_i,
        .load_i      (load_i && (load_kind_i == TableFlatB || load_kind_i == TableDeepB)),
        .load_deep_i (load_kind_i == TableDeepB),
        .load_table_i(load_table_i[TableB-1:0]),
        .load_addr_i (load_addr_i[DeepWidth-1:0]),
        .load_data_i (load_data_i[Width-1:0]),
        .log_n_i,
        .ring_i,
        .pass_i      (pass_i[1]),
        .step_i      (step_i[1]),
        .word_o      (b_o)
    );

    assign factor_o = '0;

    logic unused_next;
    assign unused_next = ^{next_valid_i, next_step_i, next_i};
  end else begin : gen_generated
    localparam int unsigned First = first_values(MulLatency);
    localparam int unsigned AddrWidth = $clog2(Rings * first_base(LogN, LogRow, First, LogN));

    rm_ring_powers #(
        .LogN  (LogN),
        .LogRow(LogRow),
        .Tables(Half),
        .Width (Width),
        .Rings (Rings),
        .MulLatency(MulLatency)
    ) u_a (
        .clk_i,
        .load_i       (load_i && (load_kind_i == TableDeepA || load_kind_i == TableDeepB)),
        .load_factor_i(load_kind_i == TableDeepB),
        .load_table_i (load_table_i[TableA-1:0]),
        .load_addr_i  (load_addr_i[AddrWidth-1:0]),
        .load_data_i  (load_data_i[Width-1:0]),
        .log_n_i,
        .ring_i,
        .pass_i       (pass_i[0]),
        .step_i       (step_i[0]),
        .word_o       (a_o),
        .factor_o,
        .next_valid_i,
        .next_step_i,
        .next_i
    );

    assign b_o = '0;

    logic unused_b;
    assign unused_b = ^{pass_i[1], step_i[1]};
  end

  logic unused;
  assign unused = ^{load_table_i, load_addr_i, load_data_i};

endmodule
