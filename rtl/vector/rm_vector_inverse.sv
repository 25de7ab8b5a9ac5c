// SPDX-License-Identifier: Apache-2.0
// The inverse of an odd number modulo a power of two, for the exponent of an automorphism: x = g^-1
// mod 2^Width.
//
// 3 g xor 2 is right in five bits. x (2 - g x) is right in twice as many bits as x: Newton's
// iteration, a product a rank. Latency inverse_stages(Width) of rm_vector_turn_pkg moves, one a
// move.
module rm_vector_inverse #(
    parameter int unsigned Width = 17,
    localparam int unsigned Stages = rm_vector_turn_pkg::inverse_stages(Width)
) (
    input  logic              clk_i,
    input  logic [Stages-1:0] move_i,
    input  logic [ Width-1:0] g_i,
    output logic [ Width-1:0] x_o
);

  localparam int unsigned Turns = Stages / 2;

  logic [Turns:0][Width-1:0] g, x;

  assign g[0] = g_i;
  assign x[0] = (g_i + {g_i[Width-2:0], 1'b0}) ^ Width'(2);
  assign x_o = x[Turns];

  for (genvar k = 0; k < Turns; k++) begin : gen_turn
    logic [Width-1:0] x_late, g_late, factor;

    // 2 - g x, beside x and g; then x times that.
    rm_vector_rank #(
        .Width(3 * Width)
    ) u_factor (
        .clk_i,
        .move_i(move_i[2*k]),
        .d_i({Width'(2) - g[k] * x[k], x[k], g[k]}),
        .q_o({factor, x_late, g_late})
    );

    rm_vector_rank #(
        .Width(2 * Width)
    ) u_x (
        .clk_i,
        .move_i(move_i[2*k+1]),
        .d_i({x_late * factor, g_late}),
        .q_o({x[k+1], g[k+1]})
    );
  end

  logic unused_last;
  assign unused_last = ^g[Turns];

endmodule
