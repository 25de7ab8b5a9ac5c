// SPDX-License-Identifier: Apache-2.0
// An automorphism unit for lines of a square limb: the read side and the write side of
// rm_vector_transform without the transform between them (BASALISC paper, section 6.2).
//
// Words come in the order of the banks of row row_i + l and leave in that of row row_o[l].
//
// Only tests use this module. Latency 2 net_stages(LogLanes) moves, one item a move.
module rm_vector_morph
  import rm_vector_pkg::net_stages;
#(
    parameter int unsigned LogLanes = 4,
    parameter int unsigned Lines = 2,
    parameter int unsigned Width = 32,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned LogN = 2 * LogLanes,
    localparam int unsigned Side = net_stages(LogLanes),
    localparam int unsigned Stages = 2 * Side
) (
    input  logic                                      clk_i,
    input  logic [  Stages-1:0]                       move_i,
    input  logic [      LogN:0]                       g_i,
    input  logic [LogLanes-1:0]                       row_i,
    input  logic [   Lines-1:0][   Lanes-1:0][Width-1:0] lines_i,
    output logic [   Lines-1:0][LogLanes-1:0]         row_o,
    output logic [   Lines-1:0][   Lanes-1:0][Width-1:0] lines_o
);

  logic [Lines-1:0][LogLanes-1:0] own, b, row;
  logic [LogLanes-1:0] a;
  logic [Lines-1:0][Lanes-1:0][Width-1:0] natural;

  for (genvar l = 0; l < Lines; l++) begin : gen_own
    assign own[l] = row_i + LogLanes'(l);
  end

  rm_vector_read #(
      .LogLanes(LogLanes),
      .Lines(Lines),
      .Width(Width)
  ) u_read (
      .clk_i,
      .move_i(move_i[Side-1:0]),
      .g_i,
      .own_i(own),
      .lines_i,
      .a_o(a),
      .b_o(b),
      .row_o(row),
      .lines_o(natural)
  );

  rm_vector_write #(
      .LogLanes(LogLanes),
      .Lines(Lines),
      .Width(Width)
  ) u_write (
      .clk_i,
      .move_i(move_i[Stages-1:Side]),
      .a_i(a),
      .b_i(b),
      .c_i(row),
      .lines_i(natural),
      .c_o(row_o),
      .lines_o
  );

endmodule
