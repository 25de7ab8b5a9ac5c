// SPDX-License-Identifier: Apache-2.0
// Delays a word beside a data path by Depth ranks, one for each bit of move_i.
//
// Latency Depth moves, one word a move.
module rm_vector_delay #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 1,
    parameter bit Stalls = 1'b1
) (
    input  logic             clk_i,
    input  logic [Depth-1:0] move_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);

  logic [Depth:0][Width-1:0] line;

  assign line[0] = d_i;

  for (genvar s = 0; s < Depth; s++) begin : gen_rank
    rm_vector_rank #(
        .Width(Width),
        .Stalls(Stalls)
    ) u_rank (
        .clk_i,
        .move_i(move_i[s]),
        .d_i(line[s]),
        .q_o(line[s+1])
    );
  end

  assign q_o = line[Depth];

endmodule
