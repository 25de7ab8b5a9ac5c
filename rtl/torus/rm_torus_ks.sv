// SPDX-License-Identifier: Apache-2.0
// Switches the key of LWE ciphertexts modulo 2^32: the masks of the key are made on the chip (Kong
// and Li, Algorithm 4 and Section III-C; `ringmill_math::torus::SwitchRows`).
//
// From ciphertexts (a, b) of dimension N it computes ciphertexts of dimension n,
//
//   out = (0, b) - sum over i < N and j < Levels of d_(i,j) KS_(i,j)
//
// d_(i,j) is digit j of a_i in base 2^LogBase, rounded and signed. KS_(i,j) is row i Levels + j of
// the key. The row's mask is stream i Levels + j of the public seed (rm_chacha20), a different
// stream for every row. Its body comes from the key's owner. The unit holds no secret, and its time
// does not depend on data: a digit of zero takes its cycle like any other.
//
// A block of the generator is 16 mask words. Cores generators work side by side on Lanes = 16 Cores
// columns. A pass is all rows for these columns, and ceil(n / Lanes) passes make a switch. Batch
// ciphertexts are switched together, so the work that depends on the key alone is done once.
//
//   ceil(n / Lanes) N Levels 20 / Rounds cycles for up to Batch ciphertexts, and a cycle a pass
//
// The floor by blocks is N Levels ceil(n / 16) 20 / (Rounds Cores) cycles. Each of Batch (Lanes +
// 1) lanes has LogBase sums of 32 bits.
//
// The words of the ciphertexts come from a memory: mem_addr_o = i < N asks for a_i of each
// ciphertext, N for b, and mem_word_i comes in the next cycle. The memory keeps them until done_o.
// Bodies come in the order of the rows during the first pass (rm_torus_ks_job has commands and
// codes). A result leaves word by word, in the order of rm_torus_ks_give, each with its ciphertext
// and column (n is the body). Latency of a row product_latency + latency(Steps) cycles. One clock.
module rm_torus_ks
  import rm_torus_isa_pkg::*, rm_torus_ks_pkg::*;
#(
    parameter int unsigned Batch = 1,
    parameter int unsigned Cores = 1,
    parameter int unsigned Rounds = 20,
    parameter int unsigned Steps = 1,
    parameter int unsigned LogBase = 1,
    parameter int unsigned Levels = 15,
    parameter int unsigned MaxLarge = 1024,
    parameter int unsigned MaxSmall = 630
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    cmd_valid_i,
    output logic                    cmd_ready_o,
    input  logic [     15:0]        cmd_large_i,
    input  logic [     15:0]        cmd_small_i,
    input  logic [      7:0]        cmd_count_i,
    input  logic [      7:0] [31:0] cmd_seed_i,
    output logic                    done_o,
    output logic [      1:0]        code_o,
    output logic                    mem_read_o,
    output logic [     15:0]        mem_addr_o,
    input  logic [Batch-1:0] [31:0] mem_word_i,
    input  logic                    in_valid_i,
    output logic                    in_ready_o,
    input  logic [     31:0]        in_body_i,
    input  logic                    in_last_i,
    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output logic [     31:0]        out_word_o,
    output logic [     15:0]        out_column_o,
    output logic [      7:0]        out_ciphertext_o,
    output logic                    out_last_o
);

  // Mask words of a block: all of it (`ringmill_math::expand_words`).
  localparam int unsigned BlockWords = 16;
  localparam int unsigned Lanes = BlockWords * Cores;
  localparam int unsigned Mask = rm_chacha_pkg::latency(Steps);
  localparam int unsigned Product = product_latency(LogBase);
  localparam int unsigned RowWidth = (MaxLarge * Levels > 1) ? $clog2(MaxLarge * Levels) : 1;
  localparam int unsigned BlockWidth = $clog2(MaxSmall / BlockWords + 2 * Cores + 1);

  if (Batch == 0 || Batch > 128 || Cores == 0 || LogBase == 0 || Levels == 0 ||
      LogBase * Levels > 32 || MaxLarge == 0 || MaxLarge > 65534 || MaxSmall == 0 ||
      MaxSmall > 65534 || Lanes > 4096)
  begin : gen_check
    $error("1 to 128 ciphertexts, N and n up to 65534, digits of 1 bit or more and 32 in all");
  end

  // ---- Control. ----

  logic valid, ready, last, begins, issue, place, fresh, has_body, is_final, given;
  logic [31:0] body;
  logic [15:0] n_large, n_small, word;
  logic [7:0] count;
  logic [RowWidth-1:0] row;
  logic [BlockWidth-1:0] block;
  logic [7:0][31:0] seed_q;
  switch_code_e code;

  rm_skid #(
      .Width(33)
  ) u_in (
      .clk_i,
      .rst_ni,
      .valid_i(in_valid_i),
      .ready_o(in_ready_o),
      .data_i({in_last_i, in_body_i}),
      .valid_o(valid),
      .ready_i(ready),
      .data_o({last, body})
  );

  rm_torus_ks_job #(
      .Batch(Batch),
      .Cores(Cores),
      .Lanes(Lanes),
      .Levels(Levels),
      .MaxLarge(MaxLarge),
      .MaxSmall(MaxSmall),
      .Fill(Mask + Product),
      .RowWidth(RowWidth),
      .BlockWidth(BlockWidth)
  ) u_job (
      .clk_i,
      .rst_ni,
      .cmd_valid_i,
      .cmd_ready_o,
      .cmd_large_i,
      .cmd_small_i,
      .cmd_count_i,
      .done_o,
      .code_o(code),
      .in_valid_i(valid),
      .in_ready_o(ready),
      .in_last_i(last),
      .begin_o(begins),
      .large_o(n_large),
      .small_o(n_small),
      .count_o(count),
      .place_i(place),
      .issue_o(issue),
      .word_o(word),
      .fresh_o(fresh),
      .row_o(row),
      .block_o(block),
      .body_o(has_body),
      .final_o(is_final),
      .given_i(given)
  );

  always_ff @(posedge clk_i) begin
    if (cmd_valid_i && cmd_ready_o) seed_q <= cmd_seed_i;
  end

  assign code_o = code;

  // ---- Words of the ciphertexts, and their digits. ----

  logic load_q, fresh_q, next_q;

  assign mem_read_o = begins || (issue && fresh);
  assign mem_addr_o = begins ? n_large : word;

  always_ff @(posedge clk_i) begin
    load_q <= begins;
    fresh_q <= issue && fresh;
    next_q <= issue;
  end

  logic [Batch-1:0][LogBase-1:0] digit;

  for (genvar c = 0; c < Batch; c++) begin : gen_ciphertext
    logic [LogBase-1:0] early;

    rm_torus_ks_digits #(
        .LogBase(LogBase),
        .Levels(Levels)
    ) u_digits (
        .clk_i,
        .fresh_i(fresh_q),
        .next_i(next_q),
        .word_i(mem_word_i[c]),
        .digit_o(early)
    );

    // Two cycles behind the issue; to the lanes with the mask, bit k in the cycle of its sum.
    for (genvar k = 0; k < LogBase; k++) begin : gen_bit
      rm_delay #(
          .Width(1),
          .Depth(Mask - 2 + ((k == LogBase - 1) ? 0 : k))
      ) u_bit (
          .clk_i,
          .d_i(early[k]),
          .q_o(digit[c][k])
      );
    end
  end

  // ---- Masks. ----

  logic [Cores-1:0] places, comes;
  logic [Lanes-1:0][31:0] mask;
  logic [31:0] body_late;

  for (genvar g = 0; g < Cores; g++) begin : gen_core
    rm_chacha20 #(
        .Rounds(Rounds),
        .Steps(Steps),
        .StreamWidth(RowWidth),
        .CounterWidth(BlockWidth)
    ) u_core (
        .clk_i,
        .rst_ni,
        .seed_i(seed_q),
        .valid_i(issue),
        .ready_o(places[g]),
        .stream_i(row),
        .counter_i(block + BlockWidth'(g)),
        .valid_o(comes[g]),
        .words_o(mask[BlockWords*g+:BlockWords])
    );
  end

  // All generators work in step.
  assign place = places[0];

  logic unused_steps;
  assign unused_steps = ^{places, comes};

  rm_delay #(
      .Depth(Mask)
  ) u_body (
      .clk_i,
      .d_i(body),
      .q_o(body_late)
  );

  // ---- Sums. ----

  logic sum_row, sum_body, sum_final, capture_q, body_valid;
  logic [Lanes-1:0][Batch-1:0][31:0] sum;
  logic [Batch-1:0][31:0] sum_of_bodies;

  rm_valid #(
      .Depth(Product)
  ) u_row (
      .clk_i,
      .rst_ni,
      .valid_i(comes[0]),
      .valid_o(sum_row)
  );

  rm_delay #(
      .Width(2),
      .Depth(Mask + Product)
  ) u_flags (
      .clk_i,
      .d_i({has_body, is_final}),
      .q_o({sum_body, sum_final})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) capture_q <= 1'b0;
    else capture_q <= sum_row && sum_final;
  end

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lane
    rm_torus_ks_lane #(
        .Batch(Batch),
        .LogBase(LogBase)
    ) u_lane (
        .clk_i,
        .mask_i(mask[lane]),
        .digit_i(digit),
        .valid_i(sum_row),
        .clear_i(load_q || capture_q),
        .init_i('0),
        .sum_o(sum[lane])
    );
  end

  assign body_valid = sum_row && sum_body;

  rm_torus_ks_lane #(
      .Batch(Batch),
      .LogBase(LogBase),
      .Inits(1'b1)
  ) u_bodies (
      .clk_i,
      .mask_i(body_late),
      .digit_i(digit),
      .valid_i(body_valid),
      .clear_i(load_q),
      .init_i(mem_word_i),
      .sum_o(sum_of_bodies)
  );

  rm_torus_ks_give #(
      .Batch(Batch),
      .Lanes(Lanes)
  ) u_give (
      .clk_i,
      .rst_ni,
      .begin_i(begins),
      .small_i(n_small),
      .count_i(count),
      .capture_i(capture_q),
      .sum_i(sum),
      .body_i(sum_of_bodies),
      .given_o(given),
      .out_valid_o,
      .out_ready_i,
      .out_word_o,
      .out_column_o,
      .out_ciphertext_o,
      .out_last_o
  );

endmodule
