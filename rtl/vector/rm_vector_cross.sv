// SPDX-License-Identifier: Apache-2.0
// Permutes the words of lines between the order of banks and the lines' own order: the word of
// place i of line l goes to place i xor rows_i[l], either way.
//
// It serves units that take a whole chunk in its own order. The permutation units of the transforms
// do the same in ranks.
//
// Latency 0 (combinational).
module rm_vector_cross #(
    parameter int unsigned LogRows = 4,
    parameter int unsigned Lines = 2,
    parameter int unsigned Width = 32,
    localparam int unsigned Rows = 1 << LogRows
) (
    input  logic [Lines-1:0][LogRows-1:0]            rows_i,
    input  logic [Lines-1:0][   Rows-1:0][Width-1:0] lines_i,
    output logic [Lines-1:0][   Rows-1:0][Width-1:0] lines_o
);

  for (genvar l = 0; l < Lines; l++) begin : gen_line
    for (genvar i = 0; i < Rows; i++) begin : gen_word
      assign lines_o[l][i] = lines_i[l][LogRows'(i)^rows_i[l]];
    end
  end

endmodule
