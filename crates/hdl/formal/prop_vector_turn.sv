// SPDX-License-Identifier: Apache-2.0
// rm_vector_turn, which contains rm_vector_inverse, takes an odd g, its inverse h modulo 2 N, and a
// row, a multiple of Lines. It returns a_o = h modulo the number of lanes. For each line l it returns
// {b_o, row_o} = (row + l) h + (h - 1) / 2 modulo N.
module prop_vector_turn #(
    parameter int unsigned LogLanes = 2,
    parameter int unsigned Lines = 2,
    localparam int unsigned LogN = 2 * LogLanes
) (
    input logic                clk_i,
    input logic [      LogN:0] g_i,
    input logic [      LogN:0] h_i,
    input logic [LogLanes-1:0] row_i
);

  logic [LogLanes-1:0] a_o;
  logic [Lines-1:0][LogLanes-1:0] b_o, row_o;

  rm_vector_turn #(
      .LogLanes(LogLanes),
      .Lines(Lines)
  ) u_turn (
      .clk_i,
      .move_i('1),
      .g_i,
      .row_i,
      .a_o,
      .b_o,
      .row_o
  );

  always_comb begin
    assume (g_i[0] && row_i % LogLanes'(Lines) == '0);
    assume ((LogN + 1)'(g_i * h_i) == (LogN + 1)'(1));
    multiplied : assert (a_o == h_i[LogLanes-1:0]);
  end

  for (genvar l = 0; l < Lines; l++) begin : gen_line
    logic [LogLanes-1:0] row;
    assign row = row_i + LogLanes'(l);
    always_comb placed : assert ({b_o[l], row_o[l]} == LogN'(row) * h_i[LogN-1:0] + h_i[LogN:1]);
  end

endmodule
