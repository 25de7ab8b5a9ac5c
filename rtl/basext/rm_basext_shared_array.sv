// SPDX-License-Identifier: Apache-2.0
// The lanes of the shared base extension, with the constants and controls that are broadcast to
// them.
//
// A coefficient's result comes shared_latency(Width, Low) cycles after rm_basext_job issued it.
// With an issue come
//
// - data_i, the number of its row (slot_i, row l with tail_i), its place in the row, and whether
//   its polynomial is fresh (its residues come now, in contrast to kept ones),
// - the round, and the place of the constants of this round and of the one before,
// - whether channel number channel_i ends a target with it.
//
// exact_i holds for a command. The constants that rm_basext_shared_const reads for slot_i and
// column_o come a cycle after those. One coefficient a lane and cycle.
module rm_basext_shared_array
  import rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Lanes = 1,
    parameter int unsigned AddrWidth = 12,
    parameter int unsigned LWidth = 3,
    parameter int unsigned Batch = 7,
    parameter int unsigned Rounds = 4,
    parameter int unsigned Places = 14,
    parameter int unsigned Rows = 6,
    localparam int unsigned BWidth = (Batch > 1) ? $clog2(Batch) : 1,
    localparam int unsigned RWidth = (Rounds > 1) ? $clog2(Rounds) : 1,
    localparam int unsigned PWidth = $clog2(Places)
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        exact_i,
    // A coefficient.
    input  logic                        issue_i,
    input  logic                        fresh_i,
    input  logic [  LWidth-1:0]         slot_i,
    input  logic                        tail_i,
    input  logic [AddrWidth-1:0]        addr_i,
    input  logic [  RWidth-1:0]         round_i,
    input  logic [  PWidth-1:0]         base_i,
    input  logic [  RWidth-1:0]         past_round_i,
    input  logic [  PWidth-1:0]         past_base_i,
    input  logic                        give_i,
    input  logic [  BWidth-1:0]         channel_i,
    input  logic                        last_i,
    input  logic                        final_i,
    input  logic [Lanes-1:0][Width-1:0] data_i,
    // Constants.
    input  logic [   Width-1:0]         source_i,
    input  logic [   Width-1:0]         mu_const_i,
    output logic [  LWidth-1:0]         column_o,
    input  logic [   Width-1:0]         redundant_const_i,
    input  logic [   Width-1:0]         redundant_i,
    input  logic [   Batch-1:0]         modulus_we_i,
    input  logic [   Batch-1:0]         const_we_i,
    input  logic [  RWidth-1:0]         load_round_i,
    input  logic [  PWidth-1:0]         load_place_i,
    input  logic [   Width-1:0]         load_word_i,
    // Results.
    output logic                        valid_o,
    output logic                        last_o,
    output logic                        final_o,
    output logic [Lanes-1:0][Width-1:0] out_o
);

  localparam int unsigned Mul = rm_wide_pkg::mul_latency(Width, Low);
  localparam int unsigned Steps = rm_wide_pkg::steps(Width);
  localparam int unsigned BusWidth = rm_wide_pkg::modulus_bits(Width);
  localparam int unsigned Ahead = read_ahead(1 << AddrWidth);
  localparam int unsigned XWidth = AddrWidth + ((Rows > 1) ? $clog2(Rows) : 0);

  // ---- Control signals of a coefficient: cycle A is the read of the redundant channel's sum, D
  // that of the channels' operands, E that of their sums; deep memories are read a cycle before A
  // and E. ----

  typedef struct packed {
    logic                 fresh;
    logic                 tail;
    logic                 kept;
    logic                 give;
    logic                 last;
    logic                 finally_done;
    logic [BWidth-1:0]    channel;
    logic [LWidth-1:0]    slot;
    logic [AddrWidth-1:0] addr;
  } token_t;

  typedef struct packed {
    logic [RWidth-1:0] round;
    logic [PWidth-1:0] base;
    logic [RWidth-1:0] past_round;
    logic [PWidth-1:0] past_base;
  } rounds_t;

  token_t issued, a_early, a, b_q, c_q, d_q, e_early, e, f_q, g_q, h_q;
  rounds_t issued_rounds, a_early_rounds, a_rounds;
  logic a_read, a_valid, b_valid_q, c_valid_q, d_valid_q, e_read, e_valid, f_valid_q, g_valid_q, h_valid_q;
  logic b_first_q;
  logic [RWidth-1:0] b_round_q, b_past_round_q;
  logic [PWidth-1:0] b_place_q, b_past_place_q;

  // Rows that are kept.
  logic kept;

  if (Rows == 0) begin : gen_none
    assign kept = 1'b0;
  end else if (Rows >> LWidth != 0) begin : gen_all
    assign kept = 1'b1;
  end else begin : gen_some
    assign kept = slot_i < LWidth'(Rows);
  end

  assign issued = '{
      fresh: fresh_i,
      tail: tail_i,
      kept: kept,
      give: give_i,
      last: last_i,
      finally_done: final_i,
      channel: channel_i,
      slot: slot_i,
      addr: addr_i
  };
  assign issued_rounds = '{
      round: round_i,
      base: base_i,
      past_round: past_round_i,
      past_base: past_base_i
  };

  rm_delay #(
      .Width(LWidth),
      .Depth(Mul)
  ) u_column (
      .clk_i,
      .d_i(slot_i),
      .q_o(column_o)
  );

  rm_basext_token #(
      .Width($bits(token_t) + $bits(rounds_t)),
      .Depth(sum_delay(Width, Low)),
      .Ahead(Ahead)
  ) u_issue (
      .clk_i,
      .rst_ni,
      .valid_i(issue_i),
      .token_i({issued, issued_rounds}),
      .read_o(a_read),
      .read_token_o({a_early, a_early_rounds}),
      .valid_o(a_valid),
      .token_o({a, a_rounds})
  );

  rm_basext_token #(
      .Width($bits(token_t)),
      .Depth(Mul - 1),
      .Ahead(Ahead)
  ) u_sum (
      .clk_i,
      .rst_ni,
      .valid_i(d_valid_q),
      .token_i(d_q),
      .read_o(e_read),
      .read_token_o(e_early),
      .valid_o(e_valid),
      .token_o(e)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {b_valid_q, c_valid_q, d_valid_q, f_valid_q, g_valid_q, h_valid_q} <= '0;
    end else begin
      b_valid_q <= a_valid;
      c_valid_q <= b_valid_q;
      d_valid_q <= c_valid_q;
      f_valid_q <= e_valid;
      g_valid_q <= f_valid_q;
      h_valid_q <= g_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    b_q <= a;
    b_first_q <= a.slot == '0;
    b_round_q <= a_rounds.round;
    b_place_q <= a_rounds.base + PWidth'(a.slot);
    b_past_round_q <= a_rounds.past_round;
    b_past_place_q <= a_rounds.past_base + PWidth'(a.slot);
    c_q <= b_q;
    d_q <= c_q;
    f_q <= e;
    g_q <= f_q;
    h_q <= g_q;
  end

  assign valid_o = h_valid_q & h_q.give;
  assign last_o = h_q.last;
  assign final_o = h_valid_q & h_q.finally_done;

  // ---- Moduli and constants, broadcast. ----

  logic unused_token;
  assign unused_token = ^{h_q, a_early, a_early_rounds, e_early};

  logic [Width-1:0] mu_const_q, redundant_const_q;
  logic [BusWidth-1:0] redundant_q;
  logic [Steps:0][BusWidth-1:0] source_bus;
  logic [Batch-1:0] is_new, first;
  logic [Batch-1:0][Width-1:0] constants, moduli;
  logic [Batch-1:0][Steps:0][BusWidth-1:0] buses;

  rm_wide_moduli #(
      .Width(Width),
      .Low(Low)
  ) u_source (
      .clk_i,
      .q_i(source_i),
      .q_o(source_bus)
  );

  always_ff @(posedge clk_i) begin
    // This modulus stays for a whole command, so it needs no delay line.
    redundant_q <= {rm_wide_pkg::triple_of(64'(redundant_i), Low), redundant_i};
    mu_const_q <= mu_const_i;
    redundant_const_q <= redundant_const_i;
  end

  for (genvar j = 0; j < Batch; j++) begin : gen_bank
    rm_basext_shared_bank #(
        .Width(Width),
        .Low(Low),
        .Index(j),
        .Rounds(Rounds),
        .Places(Places),
        .SWidth(LWidth)
    ) u_bank (
        .clk_i,
        .modulus_we_i(modulus_we_i[j]),
        .load_round_i,
        .const_we_i(const_we_i[j]),
        .load_place_i,
        .word_i(load_word_i),
        .slot_i(b_q.slot),
        .fresh_i(b_q.fresh),
        .round_i(b_round_q),
        .place_i(b_place_q),
        .past_round_i(b_past_round_q),
        .past_place_i(b_past_place_q),
        .new_o(is_new[j]),
        .const_o(constants[j]),
        .modulus_o(buses[j]),
        .first_o(first[j]),
        .p_o(moduli[j])
    );
  end

  // ---- Lanes. ----

  logic [Lanes-1:0][Width-1:0] data_q, data2_q;

  always_ff @(posedge clk_i) begin
    data_q <= data_i;
    data2_q <= data_q;
  end

  for (genvar t = 0; t < Lanes; t++) begin : gen_lane
    rm_basext_shared_lane #(
        .Width(Width),
        .Low(Low),
        .Depth(1 << AddrWidth),
        .Batch(Batch),
        .Rows(Rows)
    ) u_lane (
        .clk_i,
        .data_i(data2_q[t]),
        .source_i(source_bus),
        .mu_const_i(mu_const_q),
        .redundant_i(redundant_q),
        .redundant_const_i(redundant_const_q),
        .a_re_i(a_read),
        .a_raddr_i(a_early.addr),
        .a_first_i(b_first_q),
        .a_we_i(c_valid_q & c_q.fresh),
        .a_waddr_i(c_q.addr),
        .tail_i(c_q.tail),
        .exact_i,
        .x_re_i((Ahead == 0) ? b_valid_q : a_valid),
        .x_raddr_i((Ahead == 0) ? XWidth'({b_q.slot, b_q.addr}) : XWidth'({a.slot, a.addr})),
        .x_we_i(d_valid_q & d_q.fresh & d_q.kept),
        .x_waddr_i(XWidth'({d_q.slot, d_q.addr})),
        .new_i(is_new),
        .const_i(constants),
        .modulus_i(buses),
        .e_re_i(e_read),
        .e_raddr_i(e_early.addr),
        .first_i(first),
        .p_i(moduli),
        .f_we_i(g_valid_q),
        .f_waddr_i(g_q.addr),
        .channel_i(g_q.channel),
        .out_o(out_o[t])
    );
  end

endmodule
