// SPDX-License-Identifier: Apache-2.0
// The write side of both permutation units: takes lines from their own order into that of the banks
// of rows or columns c_i.
//
// Before that it permutes columns by i a + b (BASALISC paper, section 6.2). c_o is c_i beside the
// lines.
//
// Latency net_stages(LogLanes) moves, one item a move.
module rm_vector_write #(
    parameter int unsigned LogLanes = 4,
    parameter int unsigned Lines = 2,
    parameter int unsigned Width = 32,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned Side = rm_vector_pkg::net_stages(LogLanes)
) (
    input  logic                                      clk_i,
    input  logic [    Side-1:0]                       move_i,
    input  logic [LogLanes-1:0]                       a_i,
    input  logic [   Lines-1:0][LogLanes-1:0]         b_i,
    input  logic [   Lines-1:0][LogLanes-1:0]         c_i,
    input  logic [   Lines-1:0][   Lanes-1:0][Width-1:0] lines_i,
    output logic [   Lines-1:0][LogLanes-1:0]         c_o,
    output logic [   Lines-1:0][   Lanes-1:0][Width-1:0] lines_o
);

  rm_vector_lines #(
      .LogLanes(LogLanes),
      .Lines(Lines),
      .Width(Width)
  ) u_lines (
      .clk_i,
      .move_i,
      .a_i,
      .b_i,
      .c_i,
      .lines_i,
      .lines_o
  );

  rm_vector_delay #(
      .Width(Lines * LogLanes),
      .Depth(Side)
  ) u_row (
      .clk_i,
      .move_i,
      .d_i(c_i),
      .q_o(c_o)
  );

endmodule
