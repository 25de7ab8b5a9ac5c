// SPDX-License-Identifier: Apache-2.0
// A rank of a transform in decimation in frequency: butterflies of words i and i + Half in each
// block of 2 Half, with factor j for the j-th of a block.
//
// The first butterfly of each block has factor one and no multiplier. Controls are those of
// rm_vector_butterfly. Latency butterfly_stages() moves, one line a move.
module rm_vector_ntt_rank
  import rm_vector_pkg::*;
#(
    parameter int unsigned Radix = 16,
    parameter int unsigned Half = 8,
    parameter int unsigned Width = 32,
    localparam int unsigned Stages = butterfly_stages(),
    // A rank of blocks of two has no factor; its port is one wide all the same.
    localparam int unsigned Factors = (Half > 1) ? Half - 1 : 1
) (
    input  logic                         clk_i,
    input  logic [ Stages-1:0]           move_i,
    input  logic [ Stages-1:0][Width-1:0] q_i,
    input  logic                         half_i,
    input  logic                         pass_i,
    input  logic [Factors-1:0][Width-1:0] factor_i,
    input  logic [  Radix-1:0][Width-1:0] line_i,
    output logic [  Radix-1:0][Width-1:0] line_o
);

  for (genvar block = 0; block < Radix; block += 2 * Half) begin : gen_block
    for (genvar j = 0; j < Half; j++) begin : gen_pair
      localparam int unsigned Low = block + j;
      localparam int unsigned High = Low + Half;

      rm_vector_butterfly #(
          .Width(Width),
          .Product(j != 0)
      ) u_butterfly (
          .clk_i,
          .move_i,
          .q_i,
          .half_i,
          .pass_i,
          .u_i(line_i[Low]),
          .v_i(line_i[High]),
          .w_i(factor_i[(j==0)?0:j-1]),
          .sum_o(line_o[Low]),
          .turned_o(line_o[High])
      );
    end
  end

endmodule
