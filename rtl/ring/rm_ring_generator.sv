// SPDX-License-Identifier: Apache-2.0
// Generates key halves from their seed: residues of one stream in the order of their index, Lanes a
// cycle.
//
// A residue is 128 bits of ChaCha20 key stream modulo one of the primes
// (`ringmill_math::expand_uniform`).
//
// For the dyadic cores, rows of Row residues come after dyadic_i with start_i, a row every period_i
// cycles. A row has Lanes residues a cycle from its first cycle on. Residue 0 comes in cycle
// Latency + period_i + 6 after that of start_i, in which the cores take it. For the main cores,
// part_i asks for each part of a row, of Lanes residues, which comes Latency + 3 cycles later.
//
// A block of four residues is begun early enough. stream_i, seed_i and counter_i (the first block)
// come three cycles after start_i at the latest, and are held.
module rm_ring_generator
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogRow = 5,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned LogSteps = 9,
    parameter int unsigned QWidth = 60,
    parameter int unsigned Moduli = 1,
    parameter logic [Moduli-1:0][63:0] Q = {Moduli{64'h0800_0000_0230_0001}},
    parameter int unsigned Latency = 93,
    parameter int unsigned Fold = 9,
    parameter int unsigned PeriodWidth = 4,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned LogParts = LogRow - LogLanes
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    input  logic [           LogSteps-1:0]     last_row_i,  // held
    input  logic                               start_i,
    input  logic                               dyadic_i,  // with start_i
    input  logic [PeriodWidth-1:0]             period_i,  // in the cycle after start_i
    input  logic                               part_valid_i,
    input  logic [           LogParts-1:0]     part_i,
    input  logic [WhichWidth-1:0]              which_i,   // of the Moduli primes, held
    input  logic [            7:0][31:0]       seed_i,
    input  logic [           63:0]             stream_i,
    input  logic [           31:0]             counter_i,
    output logic [      Lanes-1:0][QWidth-1:0] residue_o
);

  // Blocks have four residues: LogTurns bits of a part's number say which of a block's parts it is.
  localparam int unsigned LogTurns = 2 - LogLanes;
  localparam int unsigned Turns = 1 << LogTurns;
  localparam int unsigned Ahead = rm_chacha_pkg::latency(1) + Fold;
  localparam int unsigned CountWidth = $clog2(Latency + 32) + PeriodWidth;

  if (LogLanes > 2 || Ahead + 1 > Latency) begin : gen_check
    $error("at most four lanes, and a generator of 80 stages");
  end

  // Parts of rows, as the cores take them, Ahead cycles early.
  logic start_q, busy_q, active_q, tick, rows_valid, part_valid, ready, words_valid, asked_valid;
  logic [CountWidth-1:0] count_q;
  logic [PeriodWidth-1:0] period_q;
  logic [LogSteps-1:0] row_q;
  logic [LogParts-1:0] part_q, rows_part, part, asked_part;
  logic [31:0] block_q;
  logic [3:0][127:0] words, held_q;

  assign tick = busy_q && count_q == '0;
  assign rows_valid = tick || active_q;
  assign rows_part = tick ? '0 : part_q;

  rm_valid #(
      .Depth(Latency - Ahead + 3)
  ) u_asked_valid (
      .clk_i,
      .rst_ni,
      .valid_i(part_valid_i),
      .valid_o(asked_valid)
  );

  rm_delay #(
      .Width(LogParts),
      .Depth(Latency - Ahead + 3)
  ) u_asked (
      .clk_i,
      .d_i(part_i),
      .q_o(asked_part)
  );

  assign part_valid = rows_valid || asked_valid;
  assign part = rows_valid ? rows_part : asked_part;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      active_q <= 1'b0;
    end else begin
      busy_q <= (start_i && dyadic_i) || (busy_q && !(tick && row_q == last_row_i));
      active_q <= rows_valid && !(&rows_part);
    end
  end

  always_ff @(posedge clk_i) begin
    start_q <= start_i;
    part_q <= rows_part + 1'b1;
    if (start_i) begin
      count_q <= '1;  // no tick
      row_q <= '0;
    end else if (start_q) begin
      count_q <= CountWidth'(Latency - Ahead + 4) + CountWidth'(period_i);
      period_q <= period_i;
    end else begin
      count_q <= tick ? CountWidth'(period_q) - 1'b1 : count_q - 1'b1;
      if (tick) row_q <= row_q + 1'b1;
    end
  end

  // A block for every Turns parts.
  logic block_valid;

  always_ff @(posedge clk_i) begin
    if (start_i) block_q <= '0;
    else if (block_valid) block_q <= block_q + 1'b1;
  end

  if (LogTurns == 0) begin : gen_whole
    assign block_valid = part_valid;
  end else begin : gen_parts
    assign block_valid = part_valid && part[LogTurns-1:0] == '0;
  end

  rm_chacha20 u_chacha (
      .clk_i,
      .rst_ni,
      .seed_i,
      .valid_i  (block_valid),
      .ready_o  (ready),
      .stream_i,
      .counter_i(counter_i + block_q),
      .valid_o  (words_valid),
      .words_o  (words)
  );

  // Which of its block's parts comes.
  logic [(LogTurns > 0 ? LogTurns : 1)-1:0] turn;

  if (LogTurns > 0) begin : gen_turns
    rm_delay #(
        .Width(LogTurns),
        .Depth(rm_chacha_pkg::latency(1))
    ) u_turn (
        .clk_i,
        .d_i(part[LogTurns-1:0]),
        .q_o(turn)
    );
  end else begin : gen_one
    assign turn = '0;
  end

  always_ff @(posedge clk_i) if (words_valid) held_q <= words;

  // The word's prime, long before its first residue.
  logic [Moduli-1:0] chosen_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned m = 0; m < Moduli; m++) chosen_q[m] <= which_i == WhichWidth'(m);
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [127:0] number;

    always_comb begin
      number = words[i];
      for (int unsigned k = 1; k < Turns; k++) begin
        if (32'(turn) == k) number = held_q[k*Lanes+i];
      end
    end

    logic [Moduli-1:0][QWidth-1:0] residues;

    for (genvar m = 0; m < Moduli; m++) begin : gen_modulus
      localparam int unsigned Bits = bits_of(Q[m]);
      logic [Bits-1:0] own;

      rm_ring_fold #(
          .QWidth (Bits),
          .Q      (Q[m]),
          .Latency(Fold)
      ) u_fold (
          .clk_i,
          .t_i(number),
          .r_o(own)
      );

      assign residues[m] = QWidth'(own);
    end

    always_comb begin
      residue_o[i] = residues[0];
      for (int unsigned m = 1; m < Moduli; m++) begin
        if (chosen_q[m]) residue_o[i] = residues[m];
      end
    end
  end

  logic unused;
  assign unused = ^{ready, turn, held_q, part, chosen_q};

endmodule
