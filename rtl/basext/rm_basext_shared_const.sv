// SPDX-License-Identifier: Apache-2.0
// Holds the moduli and constants of a shared base extension, which are loaded at run time.
//
// The words come one a beat, in the order
//
//   m, |-Q^-1|_m, |1|_m
//   for i < l: q_i, |Qhat_i^-1|_(q_i), |q_i^-1|_m
//   for j < k: p_j, |-Q|_(p_j), and |Qhat_i|_(p_j) for i < l
//
// as rm_basext_words takes them. A modulus is 1 modulo 2^Low and more than 1. A constant is below
// its modulus and held times R of rm_wide_mul.
//
// m is kept as source number l. Targets go to the channels in turns of batch_i. The words of target
// number j go out with modulus_we_o[j mod batch] at round j / batch. Its constants go out with
// const_we_o[j mod batch] at place (j / batch) (l + 1) + i, and |-Q|_(p_j) is number l.
//
// Each word is checked in the cycle after it came. done_o is high in the cycle after the check that
// ends the load. A read takes one cycle: source_o and mu_const_o for row source_i,
// redundant_const_o for column_i.
module rm_basext_shared_const
  import rm_basext_isa_pkg::*, rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    parameter int unsigned Batch = 8,
    parameter int unsigned Rounds = 16,
    parameter int unsigned Places = 132,
    localparam int unsigned WordBits = stream_bits(Width),
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned RWidth = (Rounds > 1) ? $clog2(Rounds) : 1,
    localparam int unsigned PWidth = $clog2(Places)
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    // Load.
    input  logic                start_i,
    input  logic [  LWidth-1:0] l_i,
    input  logic [  KWidth-1:0] k_i,
    input  logic [  LWidth-1:0] batch_i,
    input  logic                valid_i,
    input  logic [WordBits-1:0] word_i,
    input  logic                last_i,
    output logic                done_o,
    output code_e               code_o,
    // Whether there is a redundant modulus. It is 1 modulo 2^Low and more than 1, so it is above l,
    // as the method needs.
    output logic                exact_o,
    // To the channels.
    output logic [   Batch-1:0] modulus_we_o,
    output logic [   Batch-1:0] const_we_o,
    output logic [  RWidth-1:0] round_o,
    output logic [  PWidth-1:0] place_o,
    output logic [   Width-1:0] word_o,
    // Reads.
    input  logic [  LWidth-1:0] source_i,
    output logic [   Width-1:0] source_o,
    output logic [   Width-1:0] mu_const_o,
    input  logic [  LWidth-1:0] column_i,
    output logic [   Width-1:0] redundant_const_o,
    output logic [   Width-1:0] redundant_o
);

  logic take, of_target, ends, last_channel;
  part_e part;
  logic [1:0] kind;
  logic [LWidth-1:0] i, column, row;
  logic [KWidth-1:0] target;
  logic [Width-1:0] word;
  // The channel and the round of a target.
  logic [LWidth-1:0] channel_q;
  logic [RWidth-1:0] round_q;
  logic [PWidth-1:0] base_q;

  rm_basext_words #(
      .Width(Width),
      .Low(Low),
      .MaxL(MaxL),
      .MaxK(MaxK),
      .Form(Shared)
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
      .target_o(target),
      .column_o(column),
      .ends_o(ends),
      .word_o(word)
  );

  assign of_target = take && part == Targets;
  assign last_channel = channel_q + 1'b1 == batch_i;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      channel_q <= '0;
      round_q <= '0;
      base_q <= '0;
    end else if (of_target && ends) begin
      channel_q <= last_channel ? '0 : channel_q + 1'b1;
      if (last_channel) begin
        round_q <= round_q + 1'b1;
        base_q <= base_q + PWidth'(l_i) + 1'b1;
      end
    end
  end

  logic unused_target;
  assign unused_target = ^target;

  // ---- To memories. ----

  // Words of the redundant modulus are row l's.
  assign row = (part == Head) ? l_i : i;

  for (genvar j = 0; j < Batch; j++) begin : gen_channel
    assign modulus_we_o[j] = of_target && kind == 2'd0 && channel_q == LWidth'(j);
    assign const_we_o[j] = of_target && kind != 2'd0 && channel_q == LWidth'(j);
  end

  assign round_o = round_q;
  assign place_o = base_q + PWidth'((kind == 2'd1) ? l_i : column);
  assign word_o = word;

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL + 1)
  ) u_sources (
      .clk_i,
      .we_i(take && part != Targets && kind == 2'd0),
      .waddr_i(row),
      .wdata_i(word),
      .re_i(1'b1),
      .raddr_i(source_i),
      .rdata_o(source_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL + 1)
  ) u_mu_constants (
      .clk_i,
      .we_i(take && part != Targets && kind == 2'd1),
      .waddr_i(row),
      .wdata_i(word),
      .re_i(1'b1),
      .raddr_i(source_i),
      .rdata_o(mu_const_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL + 1)
  ) u_redundant_constants (
      .clk_i,
      .we_i(take && part != Targets && kind == 2'd2),
      .waddr_i(row),
      .wdata_i(word),
      .re_i(1'b1),
      .raddr_i(column_i),
      .rdata_o(redundant_const_o)
  );

endmodule
