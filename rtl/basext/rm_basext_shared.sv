// SPDX-License-Identifier: Apache-2.0
// Extends residues modulo l moduli to k targets, with a redundant residue: Batch targets at a time
// (Shenoy and Kumaresan; Kırbıyık's thesis, Algorithm 2).
//
// The targets share their common parts: each mu_i is computed once and kept, and there is one
// redundant channel.
//
//   a_(p_j) = sum_i mu_i |Qhat_i|_(p_j) + alpha |-Q|_(p_j) mod p_j
//   mu_i    = a_i |Qhat_i^-1|_(q_i) mod q_i
//   alpha   = sum_i mu_i |q_i^-1|_m + a_m |-Q^-1|_m mod m
//
// So Post-Sum is one more row of the same sum, and Sum and Post-Sum overlap: a target's last
// product, with alpha, follows the products of the sources in the pipeline. Without alpha it is the
// fast extension (the thesis's Algorithm 1).
//
// Schedule: a row is one residue polynomial, N / Lanes coefficients. A round is the l + 1 rows of
// one polynomial for min(Batch, l + 1) targets. Channel j works j rows behind the first channel. So
// its target ends in a row of its own, and goes straight into the output. The kept mu of a row are
// read for the channels behind, and the next polynomial's mu are written in their place.
// Polynomials of a command follow each other without a gap. For one polynomial of many
//
//   ceil(k / Batch) (l + 1) N / Lanes cycles, with Batch + 2 multipliers a lane
//
// A coefficient needs (k + 2) (l + 1) - 1 products: l for mu_i, 1 for a_m, l + 1 for the redundant
// channel (the last is by 1), and k (l + 1) for the targets. So with k = Batch the multipliers idle
// in no cycle. The floor, with a_m's product by 1 left out, is k (l + 1) + 2 l + 1. The last
// polynomial of a command takes one more row for each target of its last round beyond one.
//
//   Lanes coefficients a cycle; Batch + 2 modular multipliers and Batch + 1 adders a lane; memories
//   of Batch + 1 + shared_kept words for each of the N / Lanes coefficients of a lane.
//
// l, k, N, every modulus and every constant are set at run time. rm_basext_job has commands and
// codes, rm_basext_shared_rows streams and cycles, rm_basext_shared_const the constants. Any q = 1
// mod 2 N serves as source, target and redundant modulus. A residue must be below its modulus; the
// bits of a word from Width on are ignored. One clock. Streams of Lanes words of 32 bits (moduli of
// up to 32) or 64 bits.
module rm_basext_shared
  import rm_basext_isa_pkg::*, rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Lanes = 1,
    parameter int unsigned MinLogN = 8,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned MaxL = 7,
    parameter int unsigned MaxK = 7,
    parameter int unsigned Batch = 7,
    localparam int unsigned WordBits = stream_bits(Width)
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  logic                           cmd_valid_i,
    output logic                           cmd_ready_o,
    input  logic [     1:0]                cmd_op_i,
    input  logic [     7:0]                cmd_l_i,
    input  logic [     7:0]                cmd_k_i,
    input  logic [     4:0]                cmd_log_n_i,
    output logic                           done_o,
    output logic [     2:0]                code_o,
    input  logic                           in_valid_i,
    output logic                           in_ready_o,
    input  logic [Lanes-1:0][WordBits-1:0] in_data_i,
    input  logic                           in_last_i,
    output logic                           out_valid_o,
    input  logic                           out_ready_i,
    output logic [Lanes-1:0][WordBits-1:0] out_data_o,
    output logic                           out_last_o
);

  localparam int unsigned Low = MinLogN + 1;
  localparam int unsigned Latency = shared_latency(Width, Low);
  localparam int unsigned Queue = 1 << $clog2(Latency + 2);
  localparam int unsigned Rounds = shared_rounds(MaxK, Batch);
  localparam int unsigned Places = shared_places(MaxL, MaxK, Batch);
  localparam int unsigned LWidth = $clog2(MaxL + 1);
  localparam int unsigned KWidth = $clog2(MaxK + 1);
  localparam int unsigned BWidth = (Batch > 1) ? $clog2(Batch) : 1;
  localparam int unsigned RWidth = (Rounds > 1) ? $clog2(Rounds) : 1;
  localparam int unsigned PWidth = $clog2(Places);
  localparam int unsigned AddrWidth = MaxLogN - $clog2(Lanes);

  if ((Lanes & (Lanes - 1)) != 0 || Lanes == 0 || Lanes > 64 || MinLogN < 8 || MaxLogN > 16 ||
      MinLogN > MaxLogN || MaxL == 0 || MaxL > 64 || MaxK == 0 || MaxK > 64 || Batch == 0 ||
      Batch > MaxL || Batch > MaxK || Lanes * WordBits > 2048 || (1 << MinLogN) < 4 * Lanes ||
      Width > 61 || Width < Low + 1)
  begin : gen_check
    $error("Lanes a power of two within the port, log N 8 to 16, l and k 1 to 64, 61 bits at most, %s",
           "and a batch of no more targets than either");
  end

  // ---- Streams and control. ----

  logic valid, ready, last, load_start, load_valid, load_done, exact_loaded, exact;
  logic idle, run, exact_next, takes;
  logic [4:0] log_n;
  logic [Lanes-1:0][WordBits-1:0] data;
  code_e load_code, code;
  logic [LWidth-1:0] l, batch, slot;
  logic [KWidth-1:0] k;
  logic issue, fresh, tail, give, at_last, at_final, given, pop;
  logic [AddrWidth-1:0] addr;
  logic [RWidth-1:0] round, past_round;
  logic [PWidth-1:0] base, past_base;
  logic [BWidth-1:0] channel;

  rm_skid #(
      .Width(Lanes * WordBits + 1)
  ) u_in (
      .clk_i,
      .rst_ni,
      .valid_i(in_valid_i),
      .ready_o(in_ready_o),
      .data_i({in_last_i, in_data_i}),
      .valid_o(valid),
      .ready_i(ready),
      .data_o({last, data})
  );

  rm_basext_job #(
      .Lanes(Lanes),
      .MinLogN(MinLogN),
      .MaxLogN(MaxLogN),
      .MaxL(MaxL),
      .MaxK(MaxK),
      .Fill(Latency + 2),
      .Queue(Queue)
  ) u_job (
      .clk_i,
      .rst_ni,
      .cmd_valid_i,
      .cmd_ready_o,
      .cmd_op_i,
      .cmd_l_i,
      .cmd_k_i,
      .cmd_log_n_i,
      .done_o,
      .code_o(code),
      .in_valid_i(valid),
      .in_ready_o(ready),
      .in_last_i(last),
      .load_start_o(load_start),
      .load_valid_o(load_valid),
      .l_o(l),
      .k_o(k),
      .load_done_i(load_done),
      .load_code_i(load_code),
      .exact_i(exact_loaded),
      .idle_o(idle),
      .run_o(run),
      .exact_next_o(exact_next),
      .exact_o(exact),
      .log_n_o(log_n),
      .moves_i(1'b1),
      .takes_i(takes),
      .gives_i(give),
      .final_i(at_final),
      .issue_o(issue),
      .addr_o(addr),
      .at_end_o(at_last),
      .given_i(given),
      .popped_i(pop)
  );

  rm_basext_shared_rows #(
      .MaxL(MaxL),
      .MaxK(MaxK),
      .Batch(Batch),
      .Rounds(Rounds),
      .Places(Places)
  ) u_rows (
      .clk_i,
      .idle_i(idle),
      .cmd_k_i,
      .exact_next_i(exact_next),
      .l_i(l),
      .k_i(k),
      .batch_o(batch),
      .issue_i(issue),
      .at_end_i(at_last),
      .takes_o(takes),
      .gives_o(give),
      .final_o(at_final),
      .fresh_o(fresh),
      .slot_o(slot),
      .tail_o(tail),
      .round_o(round),
      .base_o(base),
      .past_round_o(past_round),
      .past_base_o(past_base),
      .channel_o(channel)
  );

  logic unused_job;
  assign unused_job = ^{run, log_n};

  assign code_o = code;

  // ---- Constants. ----

  logic [LWidth-1:0] column;
  logic [Width-1:0] source_word, mu_const, redundant_const, redundant, load_word;
  logic [Batch-1:0] modulus_we, const_we;
  logic [RWidth-1:0] load_round;
  logic [PWidth-1:0] load_place;

  rm_basext_shared_const #(
      .Width(Width),
      .Low(Low),
      .MaxL(MaxL),
      .MaxK(MaxK),
      .Batch(Batch),
      .Rounds(Rounds),
      .Places(Places)
  ) u_const (
      .clk_i,
      .rst_ni,
      .start_i(load_start),
      .l_i(l),
      .k_i(k),
      .batch_i(batch),
      .valid_i(load_valid),
      .word_i(data[0]),
      .last_i(last),
      .done_o(load_done),
      .code_o(load_code),
      .exact_o(exact_loaded),
      .modulus_we_o(modulus_we),
      .const_we_o(const_we),
      .round_o(load_round),
      .place_o(load_place),
      .word_o(load_word),
      .source_i(slot),
      .source_o(source_word),
      .mu_const_o(mu_const),
      .column_i(column),
      .redundant_const_o(redundant_const),
      .redundant_o(redundant)
  );

  // ---- Lanes. ----

  logic [Lanes-1:0][Width-1:0] residue, result, queued;
  logic put, put_last;

  for (genvar t = 0; t < Lanes; t++) begin : gen_word
    assign residue[t] = data[t][Width-1:0];
    assign out_data_o[t] = WordBits'(queued[t]);
  end

  rm_basext_shared_array #(
      .Width(Width),
      .Low(Low),
      .Lanes(Lanes),
      .AddrWidth(AddrWidth),
      .LWidth(LWidth),
      .Batch(Batch),
      .Rounds(Rounds),
      .Places(Places),
      .Rows(shared_kept(MaxL, MaxK, Batch))
  ) u_array (
      .clk_i,
      .rst_ni,
      .exact_i(exact),
      .issue_i(issue),
      .fresh_i(fresh),
      .slot_i(slot),
      .tail_i(tail),
      .addr_i(addr),
      .round_i(round),
      .base_i(base),
      .past_round_i(past_round),
      .past_base_i(past_base),
      .give_i(give),
      .channel_i(channel),
      .last_i(at_last),
      .final_i(at_last & at_final),
      .data_i(residue),
      .source_i(source_word),
      .mu_const_i(mu_const),
      .column_o(column),
      .redundant_const_i(redundant_const),
      .redundant_i(redundant),
      .modulus_we_i(modulus_we),
      .const_we_i(const_we),
      .load_round_i(load_round),
      .load_place_i(load_place),
      .load_word_i(load_word),
      .valid_o(put),
      .last_o(put_last),
      .final_o(given),
      .out_o(result)
  );

  // ---- The output queue. The control issues only results for which there is room in it. ----

  logic queue_ready;
  logic [$clog2(Queue+1)-1:0] queue_count;

  rm_fifo #(
      .Width(Lanes * Width + 1),
      .Depth(Queue)
  ) u_out (
      .clk_i,
      .rst_ni,
      .valid_i(put),
      .ready_o(queue_ready),
      .data_i({put_last, result}),
      .valid_o(out_valid_o),
      .ready_i(out_ready_i),
      .data_o({out_last_o, queued}),
      .count_o(queue_count)
  );

  assign pop = out_valid_o & out_ready_i;

  logic unused_count;
  assign unused_count = ^{queue_count, data};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) queue_has_room : assert (!put || queue_ready);
  end
`else
  logic unused_ready;
  assign unused_ready = queue_ready;
`endif

endmodule
