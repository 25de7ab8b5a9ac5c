// SPDX-License-Identifier: Apache-2.0
// A rank of registers of a data path: q takes d in the cycles of move_i.
//
// With Stalls 0 it takes d in every cycle, for areas and proofs of a data path alone.
module rm_vector_rank #(
    parameter int unsigned Width = 32,
    parameter bit Stalls = 1'b1
) (
    input  logic             clk_i,
    input  logic             move_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);

  logic [Width-1:0] word_q;

  if (Stalls) begin : gen_stalls
    always_ff @(posedge clk_i) if (move_i) word_q <= d_i;
  end else begin : gen_moves
    logic unused_move;
    assign unused_move = move_i;
    always_ff @(posedge clk_i) word_q <= d_i;
  end

  assign q_o = word_q;

endmodule
