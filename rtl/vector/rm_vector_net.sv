// SPDX-License-Identifier: Apache-2.0
// A permutation unit of one line: moves the word of lane i to lane (i a + b) xor c, a odd, modulo
// the number of lanes (BASALISC paper, section 6.2).
//
// Rank 0, the configuration, gives each word its pattern: the number of its target lane. Ranks 1 to
// LogLanes are an omega network. A 2 x 2 switch for lanes 2 j and 2 j + 1 sends a word up or down
// by the lowest bit of its pattern, and removes this bit. The wires to the next rank unshuffle:
// lane x goes to x / 2, with its lowest bit in front. So the k lowest bits of the pattern, and the
// bits of i above them, give the place of a word after rank k. Two words never meet at one place:
// those k bits of (i a + b) xor c depend on the k lowest bits of i alone, and take each value once.
//
// Affine 0 is the specialised unit of the read side: a = 1, b = 0. The configuration computes
// multiples of a for the lower and for the upper half of i apart, then one sum a lane.
//
// a_i, b_i and c_i belong to the line that rank 0 takes. Latency net_stages(LogLanes) moves, one
// line a move.
module rm_vector_net #(
    parameter int unsigned LogLanes = 4,
    parameter int unsigned Width = 32,
    parameter bit Affine = 1'b1,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned Stages = rm_vector_pkg::net_stages(LogLanes)
) (
    input  logic                        clk_i,
    input  logic [Stages-1:0]           move_i,
    input  logic [LogLanes-1:0]         a_i,
    input  logic [LogLanes-1:0]         b_i,
    input  logic [LogLanes-1:0]         c_i,
    input  logic [   Lanes-1:0][Width-1:0] line_i,
    output logic [   Lanes-1:0][Width-1:0] line_o
);

  logic [Lanes-1:0][LogLanes-1:0] goal;

  if (Affine) begin : gen_affine
    localparam int unsigned LogLow = LogLanes / 2;
    localparam int unsigned LogHigh = LogLanes - LogLow;
    logic [(1<<LogLow)-1:0][LogLanes-1:0] low;
    logic [(1<<LogHigh)-1:0][LogLanes-1:0] high;

    for (genvar j = 0; j < (1 << LogLow); j++) begin : gen_low
      assign low[j] = a_i * LogLanes'(j);
    end
    for (genvar j = 0; j < (1 << LogHigh); j++) begin : gen_high
      assign high[j] = a_i * LogLanes'(j << LogLow) + b_i;
    end
    for (genvar i = 0; i < Lanes; i++) begin : gen_goal
      assign goal[i] = (low[i%(1<<LogLow)] + high[i>>LogLow]) ^ c_i;
    end
  end else begin : gen_xor
    for (genvar i = 0; i < Lanes; i++) begin : gen_goal
      assign goal[i] = LogLanes'(i) ^ c_i;
    end

    logic unused_affine;
    assign unused_affine = ^{a_i, b_i};
  end

  // What stands before rank s + 1: the word, and of its pattern what is left.
  logic [LogLanes:0][Lanes-1:0][Width-1:0] line;

  assign line_o = line[LogLanes];

  for (genvar i = 0; i < Lanes; i++) begin : gen_first
    rm_vector_rank #(
        .Width(Width)
    ) u_word (
        .clk_i,
        .move_i(move_i[0]),
        .d_i(line_i[i]),
        .q_o(line[0][i])
    );
  end

  for (genvar s = 0; s < LogLanes; s++) begin : gen_rank
    localparam int unsigned Left = LogLanes - s;
    logic [Lanes-1:0][Left-1:0] pattern_d, pattern;

    for (genvar i = 0; i < Lanes; i++) begin : gen_pattern
      rm_vector_rank #(
          .Width(Left)
      ) u_pattern (
          .clk_i,
          .move_i(move_i[s]),
          .d_i(pattern_d[i]),
          .q_o(pattern[i])
      );
    end

    if (s == 0) begin : gen_goal
      assign pattern_d = goal;
    end else begin : gen_left
      for (genvar j = 0; j < Lanes / 2; j++) begin : gen_switch
        logic [Left:0] even, odd;
        assign {odd, even} = {gen_rank[s-1].pattern[2*j+1], gen_rank[s-1].pattern[2*j]};
        assign {pattern_d[j+Lanes/2], pattern_d[j]} =
            even[0] ? {even[Left:1], odd[Left:1]} : {odd[Left:1], even[Left:1]};

        logic unused_way;
        assign unused_way = odd[0];
      end
    end

    for (genvar j = 0; j < Lanes / 2; j++) begin : gen_switch
      logic swap;
      assign swap = pattern[2*j][0];

      rm_vector_rank #(
          .Width(2 * Width)
      ) u_switch (
          .clk_i,
          .move_i(move_i[s+1]),
          .d_i(swap ? {line[s][2*j], line[s][2*j+1]} : {line[s][2*j+1], line[s][2*j]}),
          .q_o({line[s+1][j+Lanes/2], line[s+1][j]})
      );

`ifndef SYNTHESIS
      always_ff @(posedge clk_i) begin
        if (move_i[s+1]) one_each_way : assert (pattern[2*j+1][0] != swap);
      end
`endif
    end
  end

endmodule
