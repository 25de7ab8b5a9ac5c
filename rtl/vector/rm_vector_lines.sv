// SPDX-License-Identifier: Apache-2.0
// The permutation units of all lines of a chunk: a network (rm_vector_net) for each line.
//
// With Affine 0 the module is the read side's, which takes words from the order of banks into their
// own; c is the row or column that the line is. Otherwise it is the write side's, which takes words
// back, or to the place that an automorphism gives them.
//
// a_i is one for all lines; b_i and c_i are a line's own. Latency net_stages(LogLanes) moves, one
// half of a chunk a move.
module rm_vector_lines #(
    parameter int unsigned LogLanes = 4,
    parameter int unsigned Lines = 2,
    parameter int unsigned Width = 32,
    parameter bit Affine = 1'b1,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned Stages = rm_vector_pkg::net_stages(LogLanes)
) (
    input  logic                                      clk_i,
    input  logic [  Stages-1:0]                       move_i,
    input  logic [LogLanes-1:0]                       a_i,
    input  logic [   Lines-1:0][LogLanes-1:0]         b_i,
    input  logic [   Lines-1:0][LogLanes-1:0]         c_i,
    input  logic [   Lines-1:0][   Lanes-1:0][Width-1:0] lines_i,
    output logic [   Lines-1:0][   Lanes-1:0][Width-1:0] lines_o
);

  for (genvar l = 0; l < Lines; l++) begin : gen_line
    rm_vector_net #(
        .LogLanes(LogLanes),
        .Width(Width),
        .Affine(Affine)
    ) u_net (
        .clk_i,
        .move_i,
        .a_i,
        .b_i(b_i[l]),
        .c_i(c_i[l]),
        .line_i(lines_i[l]),
        .line_o(lines_o[l])
    );
  end

endmodule
