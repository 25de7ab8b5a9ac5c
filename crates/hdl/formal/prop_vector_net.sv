// SPDX-License-Identifier: Apache-2.0
// rm_vector_net sends the word of lane i to lane (i a + b) xor c, or without Affine to lane i xor c. This holds for every odd a, every b
// and c, and all words.
module prop_vector_net #(
    parameter int unsigned LogLanes = 3,
    parameter int unsigned Width = 4,
    parameter bit Affine = 1'b1,
    localparam int unsigned Lanes = 1 << LogLanes
) (
    input logic                        clk_i,
    input logic [LogLanes-1:0]         a_i,
    input logic [LogLanes-1:0]         b_i,
    input logic [LogLanes-1:0]         c_i,
    input logic [   Lanes-1:0][Width-1:0] line_i
);

  logic [Lanes-1:0][Width-1:0] line_o;

  rm_vector_net #(
      .LogLanes(LogLanes),
      .Width(Width),
      .Affine(Affine)
  ) u_net (
      .clk_i,
      .move_i('1),
      .a_i,
      .b_i,
      .c_i,
      .line_i,
      .line_o
  );

  always_comb assume (a_i[0]);

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic [LogLanes-1:0] goal;
    assign goal = Affine ? (LogLanes'(i) * a_i + b_i) ^ c_i : LogLanes'(i) ^ c_i;
    always_comb arrived : assert (line_o[goal] == line_i[i]);
  end

endmodule
