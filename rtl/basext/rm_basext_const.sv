// SPDX-License-Identifier: Apache-2.0
// Holds the moduli and constants of a base extension, which are loaded at run time.
//
// The words come one a beat, in the order
//
//   m, |Q^-1|_m
//   for i < l: q_i, |Qhat_i^-1|_(q_i), |Qhat_i|_m
//   for j < k: p_j, |Q|_(p_j), and |Qhat_i|_(p_j) for i < l
//
// as rm_basext_words takes them. A modulus is 1 modulo 2^Low and more than 1. A constant is below
// its modulus and held times R of rm_wide_mul.
//
// Each word is checked in the cycle after it came. done_o is high in the cycle after the check that
// ends the load. A read takes one cycle. source_o and mu_const_o belong to source_i;
// redundant_const_o and target_const_o belong to column_i of target row_i, as do the words of
// target row_i itself. One word and one read of each a cycle.
module rm_basext_const
  import rm_basext_isa_pkg::*, rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    localparam int unsigned WordBits = stream_bits(Width),
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned IWidth = (MaxL > 1) ? $clog2(MaxL) : 1,
    localparam int unsigned JWidth = (MaxK > 1) ? $clog2(MaxK) : 1
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    // Load.
    input  logic                start_i,
    input  logic [  LWidth-1:0] l_i,
    input  logic [  KWidth-1:0] k_i,
    input  logic                valid_i,
    input  logic [WordBits-1:0] word_i,
    input  logic                last_i,
    output logic                done_o,
    output code_e               code_o,
    // Whether there is a redundant modulus. It is 1 modulo 2^Low and more than 1, so it is above l,
    // as the method needs.
    output logic                exact_o,
    // Reads.
    input  logic [  IWidth-1:0] source_i,
    output logic [   Width-1:0] source_o,
    output logic [   Width-1:0] mu_const_o,
    input  logic [  JWidth-1:0] row_i,
    input  logic [  IWidth-1:0] column_i,
    output logic [   Width-1:0] target_o,
    output logic [   Width-1:0] product_o,
    output logic [   Width-1:0] target_const_o,
    output logic [   Width-1:0] redundant_const_o,
    output logic [   Width-1:0] redundant_o,
    output logic [   Width-1:0] inverse_o
);

  logic take, ends;
  part_e part;
  logic [1:0] kind;
  logic [LWidth-1:0] i, column;
  logic [KWidth-1:0] j;
  logic [Width-1:0] word, inverse_q;

  rm_basext_words #(
      .Width(Width),
      .Low(Low),
      .MaxL(MaxL),
      .MaxK(MaxK),
      .Form(Folded)
  ) u_words (
      .clk_i,
      .rst_ni,
      .start_i,
      .l_i,
      .k_i,
      .valid_i,
      .word_i,
      .last_i,
      .done_o,
      .code_o,
      .exact_o,
      .head_o(redundant_o),
      .take_o(take),
      .part_o(part),
      .kind_o(kind),
      .source_o(i),
      .target_o(j),
      .column_o(column),
      .ends_o(ends),
      .word_o(word)
  );

  logic unused_place;
  assign unused_place = ^{ends, i, j, column};

  always_ff @(posedge clk_i) begin
    if (take && part == Head && kind == 2'd1) inverse_q <= word;
  end

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL)
  ) u_sources (
      .clk_i,
      .we_i(take && part == Sources && kind == 2'd0),
      .waddr_i(IWidth'(i)),
      .wdata_i(word),
      .re_i(1'b1),
      .raddr_i(source_i),
      .rdata_o(source_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL)
  ) u_mu_constants (
      .clk_i,
      .we_i(take && part == Sources && kind == 2'd1),
      .waddr_i(IWidth'(i)),
      .wdata_i(word),
      .re_i(1'b1),
      .raddr_i(source_i),
      .rdata_o(mu_const_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL)
  ) u_redundant_constants (
      .clk_i,
      .we_i(take && part == Sources && kind == 2'd2),
      .waddr_i(IWidth'(i)),
      .wdata_i(word),
      .re_i(1'b1),
      .raddr_i(column_i),
      .rdata_o(redundant_const_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxK)
  ) u_targets (
      .clk_i,
      .we_i(take && part == Targets && kind == 2'd0),
      .waddr_i(JWidth'(j)),
      .wdata_i(word),
      .re_i(1'b1),
      .raddr_i(row_i),
      .rdata_o(target_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxK)
  ) u_products (
      .clk_i,
      .we_i(take && part == Targets && kind == 2'd1),
      .waddr_i(JWidth'(j)),
      .wdata_i(word),
      .re_i(1'b1),
      .raddr_i(row_i),
      .rdata_o(product_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(1 << (IWidth + JWidth))
  ) u_matrix (
      .clk_i,
      .we_i(take && part == Targets && kind == 2'd2),
      .waddr_i({JWidth'(j), IWidth'(column)}),
      .wdata_i(word),
      .re_i(1'b1),
      .raddr_i({row_i, column_i}),
      .rdata_o(target_const_o)
  );

  assign inverse_o = inverse_q;

endmodule
