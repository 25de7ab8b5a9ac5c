// SPDX-License-Identifier: Apache-2.0
// Configures the automorphism x -> x^g for square limbs in evaluation form: computes where each
// line goes, and the parameters of its network on the write side.
//
// With h = g^-1 mod 2 N, the value at k goes to k h + (h - 1) / 2, and k is row + rows column. So
// with s = row h + (h - 1) / 2 a row goes to row s mod rows. Its columns go through i a + b with a
// = h, b = s / rows (`Layout::turned` in crates/machines/src/vector/layout.rs). Then they go from
// their own order into that of the banks, with c the row where they are then.
//
// Line l of an item is row row_i + l. Latency turn_stages(LogLanes) of rm_vector_turn_pkg moves,
// one item a move.
module rm_vector_turn
  import rm_vector_turn_pkg::*;
#(
    parameter int unsigned LogLanes = 4,
    parameter int unsigned Lines = 2,
    localparam int unsigned LogN = 2 * LogLanes,
    localparam int unsigned Stages = turn_stages(LogLanes)
) (
    input  logic                            clk_i,
    input  logic [  Stages-1:0]             move_i,
    input  logic [      LogN:0]             g_i,
    input  logic [LogLanes-1:0]             row_i,
    output logic [LogLanes-1:0]             a_o,
    output logic [   Lines-1:0][LogLanes-1:0] b_o,
    output logic [   Lines-1:0][LogLanes-1:0] row_o
);

  localparam int unsigned Before = inverse_stages(LogN + 1);

  logic [LogN:0] h;
  logic [LogLanes-1:0] row;

  if (Before == 0) begin : gen_short
    assign h = (g_i + {g_i[LogN-1:0], 1'b0}) ^ (LogN + 1)'(2);
    assign row = row_i;
  end else begin : gen_inverse
    rm_vector_inverse #(
        .Width(LogN + 1)
    ) u_inverse (
        .clk_i,
        .move_i(move_i[Before-1:0]),
        .g_i,
        .x_o(h)
    );

    rm_vector_delay #(
        .Width(LogLanes),
        .Depth(Before)
    ) u_row (
        .clk_i,
        .move_i(move_i[Before-1:0]),
        .d_i(row_i),
        .q_o(row)
    );
  end

  rm_vector_rank #(
      .Width(LogLanes)
  ) u_a (
      .clk_i,
      .move_i(move_i[Before]),
      .d_i(h[LogLanes-1:0]),
      .q_o(a_o)
  );

  for (genvar l = 0; l < Lines; l++) begin : gen_line
    logic [LogN-1:0] goal;
    assign goal = LogN'(row + LogLanes'(l)) * h[LogN-1:0] + h[LogN:1];

    rm_vector_rank #(
        .Width(LogN)
    ) u_goal (
        .clk_i,
        .move_i(move_i[Before]),
        .d_i(goal),
        .q_o({b_o[l], row_o[l]})
    );
  end

endmodule
