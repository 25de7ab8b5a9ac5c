// SPDX-License-Identifier: Apache-2.0
// Spreads the steps of a word evenly over cycles, so that a dyadic word beside it gets `turns`
// cycles of the ports in each 2^LogPeriod.
//
// A dyadic word is an instruction word of the dyadic cores, and the cycles that it gets are its
// turns. Step j, from start_i on, is in cycle ceil((j + 1) P / (P - turns)) - 1, with P =
// 2^LogPeriod. So any P cycles in a row leave the turns. run_i: a cycle in which the word might
// step. start_i: nothing is owed from before.
//
// Latency 0 from run_i to beat_o.
module rm_ring_pace #(
    parameter int unsigned LogPeriod = 3
) (
    input  logic                 clk_i,
    input  logic                 start_i,
    input  logic [LogPeriod-1:0] turns_i,
    input  logic                 run_i,
    output logic                 beat_o
);

  logic [LogPeriod:0] left, sum;
  logic [LogPeriod-1:0] owed, owed_q;

  assign left = {1'b1, {LogPeriod{1'b0}}} - {1'b0, turns_i};
  assign owed = start_i ? '0 : owed_q;
  assign sum = {1'b0, owed} + left;
  assign beat_o = run_i && sum[LogPeriod];

  always_ff @(posedge clk_i) begin
    if (run_i) owed_q <= sum[LogPeriod-1:0];
    else owed_q <= owed;
  end

endmodule
