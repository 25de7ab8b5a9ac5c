// SPDX-License-Identifier: Apache-2.0
// The seed of column c by on-the-fly twiddling (BASALISC paper, section 6.1.2): computes w^c from
// two small tables and one multiplier.
//
// w^c = w^(high 2^LogLow) w^low. The tables have 2^LogLow and 2^LogHigh words for a modulus and
// direction, instead of one table of 2^(LogLow + LogHigh).
//
// Each cycle of load_i writes a word to a table, to the upper one with load_high_i. Its address is
// set_i with the index within the set below. set_i (a modulus and a direction) and column_i belong
// to the item that stage 0 takes, which reads both tables. q_i[k] is the modulus of the item that
// stage k + 1 takes. Latency 1 + MulStages moves, one column a move.
module rm_vector_seed
  import rm_vector_pkg::MulStages;
#(
    parameter int unsigned LogLow = 2,
    parameter int unsigned LogHigh = 2,
    parameter int unsigned Sets = 4,
    parameter int unsigned Width = 32,
    localparam int unsigned SetWidth = (Sets > 1) ? $clog2(Sets) : 1
) (
    input  logic                                        clk_i,
    input  logic                                        load_i,
    input  logic                                        load_high_i,
    input  logic [                        SetWidth-1:0] load_set_i,
    input  logic [rm_arith_pkg::max2(LogLow, LogHigh)-1:0] load_index_i,
    input  logic [                           Width-1:0] load_word_i,
    input  logic [                         MulStages:0] move_i,
    input  logic [                       MulStages-1:0][Width-1:0] q_i,
    input  logic [                        SetWidth-1:0] set_i,
    input  logic [                  LogLow+LogHigh-1:0] column_i,
    output logic [                           Width-1:0] seed_o
);

  logic [Width-1:0] lows[Sets<<LogLow];
  logic [Width-1:0] highs[Sets<<LogHigh];
  logic [Width-1:0] low, high;

  always_ff @(posedge clk_i) begin
    if (load_i && !load_high_i) lows[{load_set_i, load_index_i[LogLow-1:0]}] <= load_word_i;
    if (load_i && load_high_i) highs[{load_set_i, load_index_i[LogHigh-1:0]}] <= load_word_i;
  end

  rm_vector_rank #(
      .Width(2 * Width)
  ) u_words (
      .clk_i,
      .move_i(move_i[0]),
      .d_i({lows[{set_i, column_i[LogLow-1:0]}], highs[{set_i, column_i[LogLow+:LogHigh]}]}),
      .q_o({low, high})
  );

  rm_vector_mul #(
      .Width(Width)
  ) u_mul (
      .clk_i,
      .move_i(move_i[MulStages:1]),
      .q_i,
      .a_i(high),
      .b_i(low),
      .r_o(seed_o)
  );

endmodule
