// SPDX-License-Identifier: Apache-2.0
// The read side of both permutation units: takes lines from the order of the banks of rows or
// columns own_i into their own order.
//
// It also computes where an automorphism moves them: columns by natural i a + b, lines to rows
// row_o (BASALISC paper, section 6.2). Latency net_stages(LogLanes) moves, one item a move. Only an
// item that is to be permuted by an automorphism needs g_i, and its lines follow one another.
module rm_vector_read
  import rm_vector_pkg::net_stages;
  import rm_vector_turn_pkg::turn_stages;
#(
    parameter int unsigned LogLanes = 4,
    parameter int unsigned Lines = 2,
    parameter int unsigned Width = 32,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned LogN = 2 * LogLanes,
    localparam int unsigned Side = net_stages(LogLanes)
) (
    input  logic                                      clk_i,
    input  logic [    Side-1:0]                       move_i,
    input  logic [      LogN:0]                       g_i,
    input  logic [   Lines-1:0][LogLanes-1:0]         own_i,
    input  logic [   Lines-1:0][   Lanes-1:0][Width-1:0] lines_i,
    output logic [LogLanes-1:0]                       a_o,
    output logic [   Lines-1:0][LogLanes-1:0]         b_o,
    output logic [   Lines-1:0][LogLanes-1:0]         row_o,
    output logic [   Lines-1:0][   Lanes-1:0][Width-1:0] lines_o
);

  localparam int unsigned Turn = turn_stages(LogLanes);

  if (Turn > Side) begin : gen_check
    $error("rm_vector_read: the configuration takes longer than the read side");
  end

  logic [LogLanes-1:0] a_turn;
  logic [Lines-1:0][LogLanes-1:0] b_turn, row_turn;

  rm_vector_lines #(
      .LogLanes(LogLanes),
      .Lines(Lines),
      .Width(Width),
      .Affine(1'b0)
  ) u_lines (
      .clk_i,
      .move_i,
      .a_i(LogLanes'(1)),
      .b_i('0),
      .c_i(own_i),
      .lines_i,
      .lines_o
  );

  rm_vector_turn #(
      .LogLanes(LogLanes),
      .Lines(Lines)
  ) u_turn (
      .clk_i,
      .move_i(move_i[Turn-1:0]),
      .g_i,
      .row_i(own_i[0]),
      .a_o(a_turn),
      .b_o(b_turn),
      .row_o(row_turn)
  );

  // To the end of the read side.
  if (Turn == Side) begin : gen_there
    assign {a_o, b_o, row_o} = {a_turn, b_turn, row_turn};
  end else begin : gen_wait
    rm_vector_delay #(
        .Width((2 * Lines + 1) * LogLanes),
        .Depth(Side - Turn)
    ) u_wait (
        .clk_i,
        .move_i(move_i[Side-1:Turn]),
        .d_i({a_turn, b_turn, row_turn}),
        .q_o({a_o, b_o, row_o})
    );
  end

endmodule
