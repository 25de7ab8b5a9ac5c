// SPDX-License-Identifier: Apache-2.0
// The key stream of ChaCha20 from a public seed, which expands the masks of keys.
//
// `ringmill_math::expand_words` computes the same words; `expand_uniform` takes four of them for a
// residue. A block is
//
//   words = state + rounds(state), state = constants, seed, counter, stream, 0
//
// by the block function of RFC 8439, section 2.3. The 96-bit nonce is the stream as 8 bytes, then
// four zero bytes: words 13 and 14 are the low and the high half of the stream.
//
// Rounds, an even divisor of 20, is the number of rounds in hardware. A block goes round 20 /
// Rounds times, so the throughput is Rounds / 20 blocks a cycle. ready_o says whether the place
// that comes round is free. The pattern is fixed (with 20 rounds a place is always free), as
// nothing can stall a block.
//
// Latency latency(Steps) cycles from position to words, in order. The seed is held while blocks are
// in flight. Reset empties the pipeline.
module rm_chacha20
  import rm_chacha_pkg::*;
#(
    parameter int unsigned Rounds = 20,
    parameter int unsigned Steps = 1,
    parameter int unsigned StreamWidth = 64,
    parameter int unsigned CounterWidth = 32
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    input  logic [         7:0]   [31:0] seed_i,
    input  logic                         valid_i,
    output logic                         ready_o,
    input  logic [    StreamWidth-1:0]   stream_i,
    input  logic [   CounterWidth-1:0]   counter_i,
    output logic                         valid_o,
    output logic [        15:0]   [31:0] words_o
);

  localparam int unsigned Line = stages(Steps);
  localparam int unsigned Ring = Rounds * StepsOfRound / Steps;
  localparam int unsigned Turns = AllRounds / Rounds;
  // If blocks go round, the exclusive ors that a state owes would need a multiplexer like the
  // state.
  localparam bit Lazy = Steps == 1 && Turns == 1;

  if (Rounds % 2 != 0 || Turns * Rounds != AllRounds || StreamWidth > 64 || CounterWidth > 32)
  begin : gen_check
    $error("rounds that divide 20 and are even, 64 and 32 bits at most");
  end

  // Bit k is set if a block is in the pipeline that came k + 1 cycles ago.
  logic [Line-1:0] under_way_d, under_way_q;
  logic busy;
  // The state, before each stage of the ring and behind the last.
  logic [15:0][31:0] start;
  logic [Ring:0][15:0][31:0] x;
  logic [Ring:0][15:0][3:0][31:0] owed;
  // The position again, when its block leaves the last stage.
  logic [StreamWidth-1:0] stream;
  logic [CounterWidth-1:0] counter;
  logic [15:0][31:0] origin;
  logic [15:0][31:0] made, words_q;
  logic valid_q;

  // The place at the ring's end holds a block that has turns to go.
  always_comb begin
    busy = 1'b0;
    for (int unsigned turn = 1; turn < Turns; turn++) busy |= under_way_q[turn*Ring-1];
  end

  assign ready_o = !busy;
  assign under_way_d = Line'({under_way_q, valid_i && ready_o});

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      under_way_q <= '0;
      valid_q <= 1'b0;
    end else begin
      under_way_q <= under_way_d;
      valid_q <= under_way_q[Line-1];
    end
  end

  assign start = {32'd0, 64'(stream_i), 32'(counter_i), seed_i, constants()};
  assign x[0] = busy ? x[Ring] : start;
  assign owed[0] = '0;

  for (genvar i = 0; i < Ring; i++) begin : gen_stage
    rm_chacha_stage #(
        .First(i * Steps),
        .Steps(Steps),
        .Lazy (Lazy)
    ) u_stage (
        .clk_i,
        .x_i   (x[i]),
        .owed_i(owed[i]),
        .x_o   (x[i+1]),
        .owed_o(owed[i+1])
    );
  end

  rm_delay #(
      .Width(StreamWidth + CounterWidth),
      .Depth(Line)
  ) u_position (
      .clk_i,
      .d_i({stream_i, counter_i}),
      .q_o({stream, counter})
  );

  always_comb begin
    made = x[Ring];
    for (int unsigned i = 0; i < 16; i++) begin
      for (int unsigned k = 0; k < 4; k++) made[i] ^= owed[Ring][i][k];
    end
  end

  assign origin = {32'd0, 64'(stream), 32'(counter), seed_i, constants()};

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 16; i++) words_q[i] <= made[i] + origin[i];
  end

  assign valid_o = valid_q;
  assign words_o = words_q;

endmodule
