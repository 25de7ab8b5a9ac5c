// SPDX-License-Identifier: Apache-2.0
// The moduli and constants of channel number Index of the shared base extension, one of each a
// round, for all lanes.
//
// The bank also tells the channel to which round a row belongs. A channel is Index rows behind the
// first: in the rows before row Index it is still at the target of the round before.
//
// Load: a target's modulus at (round), or a constant at (place), with its strobe. slot_i (the row),
// fresh_i, and the rounds and places of this round and the one before come with each coefficient.
// new_o (x is this row's, not a kept one), const_o and modulus_o come two cycles later. first_o
// (the sum begins) and p_o come Mul + 2 cycles later.
module rm_basext_shared_bank
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Index = 0,
    parameter int unsigned Rounds = 4,
    parameter int unsigned Places = 8,
    parameter int unsigned SWidth = 3,
    localparam int unsigned RWidth = (Rounds > 1) ? $clog2(Rounds) : 1,
    localparam int unsigned PWidth = (Places > 1) ? $clog2(Places) : 1
) (
    input  logic                                           clk_i,
    input  logic                                           modulus_we_i,
    input  logic [    RWidth-1:0]                          load_round_i,
    input  logic                                           const_we_i,
    input  logic [    PWidth-1:0]                          load_place_i,
    input  logic [     Width-1:0]                          word_i,
    input  logic [    SWidth-1:0]                          slot_i,
    input  logic                                           fresh_i,
    input  logic [    RWidth-1:0]                          round_i,
    input  logic [    PWidth-1:0]                          place_i,
    input  logic [    RWidth-1:0]                          past_round_i,
    input  logic [    PWidth-1:0]                          past_place_i,
    output logic                                           new_o,
    output logic [     Width-1:0]                          const_o,
    output logic [steps(Width):0][modulus_bits(Width)-1:0] modulus_o,
    output logic                                           first_o,
    output logic [     Width-1:0]                          p_o
);

  localparam int unsigned Mul = mul_latency(Width, Low);

  logic present;
  logic [Width-1:0] word, const_q, modulus, p_q;

  if (Index == 0) begin : gen_first
    assign present = 1'b1;
  end else begin : gen_behind
    assign present = slot_i >= SWidth'(Index);
  end

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(Rounds)
  ) u_moduli (
      .clk_i,
      .we_i(modulus_we_i),
      .waddr_i(load_round_i),
      .wdata_i(word_i),
      .re_i(1'b1),
      .raddr_i(present ? round_i : past_round_i),
      .rdata_o(modulus)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(Places)
  ) u_constants (
      .clk_i,
      .we_i(const_we_i),
      .waddr_i(load_place_i),
      .wdata_i(word_i),
      .re_i(1'b1),
      .raddr_i(present ? place_i : past_place_i),
      .rdata_o(word)
  );

  rm_wide_moduli #(
      .Width(Width),
      .Low(Low)
  ) u_modulus (
      .clk_i,
      .q_i(modulus),
      .q_o(modulus_o)
  );

  // The correction's modulus, one cycle later, is the adder's.
  always_ff @(posedge clk_i) begin
    const_q <= word;
    p_q <= modulus_o[steps(Width)][Width-1:0];
  end

  rm_delay #(
      .Width(1),
      .Depth(2)
  ) u_new (
      .clk_i,
      .d_i(present & fresh_i),
      .q_o(new_o)
  );

  rm_delay #(
      .Width(1),
      .Depth(Mul + 2)
  ) u_first (
      .clk_i,
      .d_i(slot_i == SWidth'(Index)),
      .q_o(first_o)
  );

  assign const_o = const_q;
  assign p_o = p_q;

endmodule
