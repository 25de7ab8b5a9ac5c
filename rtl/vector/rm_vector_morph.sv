// MORPH of lines of a square limb: read permutation, write permutation, and the configuration of the latter beside the former (vector
// paper, section 6.2). Words come in the order of the banks of row row_i + l and leave in that of row row_o[l].
//
// Latency 2 net_stages(LogLanes) moves, one item a move: what is said of the clock in docs/machines/vector.md holds of it, too.
module rm_vector_morph
  import rm_vector_pkg::net_stages;
  import rm_vector_turn_pkg::turn_stages;
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

  localparam int unsigned Turn = turn_stages(LogLanes);

  if (Turn > Side) begin : gen_check
    $error("rm_vector_morph: the configuration takes longer than the read side");
  end

  logic [Lines-1:0][LogLanes-1:0] own, b, b_turn, row, row_turn;
  logic [LogLanes-1:0] a, a_turn;
  logic [Lines-1:0][Lanes-1:0][Width-1:0] natural;

  for (genvar l = 0; l < Lines; l++) begin : gen_own
    assign own[l] = row_i + LogLanes'(l);
  end

  rm_vector_lines #(
      .LogLanes(LogLanes),
      .Lines(Lines),
      .Width(Width),
      .Affine(1'b0)
  ) u_read (
      .clk_i,
      .move_i(move_i[Side-1:0]),
      .a_i(LogLanes'(1)),
      .b_i('0),
      .c_i(own),
      .lines_i,
      .lines_o(natural)
  );

  rm_vector_turn #(
      .LogLanes(LogLanes),
      .Lines(Lines)
  ) u_turn (
      .clk_i,
      .move_i(move_i[Turn-1:0]),
      .g_i,
      .row_i,
      .a_o(a_turn),
      .b_o(b_turn),
      .row_o(row_turn)
  );

  // To the end of the read side.
  if (Turn == Side) begin : gen_there
    assign {a, b, row} = {a_turn, b_turn, row_turn};
  end else begin : gen_wait
    rm_vector_delay #(
        .Width((2 * Lines + 1) * LogLanes),
        .Depth(Side - Turn)
    ) u_wait (
        .clk_i,
        .move_i(move_i[Side-1:Turn]),
        .d_i({a_turn, b_turn, row_turn}),
        .q_o({a, b, row})
    );
  end

  rm_vector_lines #(
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
      .lines_o
  );

  rm_vector_delay #(
      .Width(Lines * LogLanes),
      .Depth(Side)
  ) u_row (
      .clk_i,
      .move_i(move_i[Stages-1:Side]),
      .d_i(row),
      .q_o(row_o)
  );

endmodule
