// SPDX-License-Identifier: Apache-2.0
// The twiddle factory (BASALISC paper, section 6.1.2): computes from a seed w its powers w, w^2,
// ... w^(R-1), R = 2^LogRadix.
//
// The seed and the powers are in Montgomery form, times the 2^Width by which rm_vector_mul divides.
// There are LogRadix layers. A layer makes the powers m + 1 to 2 m from the powers 1 to m, so each
// of the R - 2 multipliers makes one power.
//
// q_i[k] is the modulus of the item that stage k takes. Latency factory_stages(LogRadix) moves, one
// seed a move.
module rm_vector_factory
  import rm_vector_pkg::*;
#(
    parameter int unsigned LogRadix = 4,
    parameter int unsigned Width = 32,
    localparam int unsigned Radix = 1 << LogRadix,
    localparam int unsigned Stages = factory_stages(LogRadix)
) (
    input  logic                         clk_i,
    input  logic [ Stages-1:0]           move_i,
    input  logic [ Stages-1:0][Width-1:0] q_i,
    input  logic [  Width-1:0]           seed_i,
    output logic [  Radix-1:1][Width-1:0] power_o
);

  for (genvar t = 0; t < LogRadix; t++) begin : gen_layer
    localparam int unsigned Have = 1 << t;
    localparam int unsigned Make = (2 * Have < Radix) ? 2 * Have : Radix - 1;
    logic [Have:1][Width-1:0] have;
    logic [Make:1][Width-1:0] made;
    logic [MulStages-1:0] move;

    assign move = move_i[t*MulStages+:MulStages];
    if (t == 0) begin : gen_seed
      assign have = seed_i;
    end else begin : gen_before
      assign have = gen_layer[t-1].made;
    end

    rm_vector_delay #(
        .Width(Have * Width),
        .Depth(MulStages)
    ) u_have (
        .clk_i,
        .move_i(move),
        .d_i(have),
        .q_o(made[Have:1])
    );

    for (genvar i = 1; i <= Make - Have; i++) begin : gen_power
      rm_vector_mul #(
          .Width(Width)
      ) u_mul (
          .clk_i,
          .move_i(move),
          .q_i(q_i[t*MulStages+:MulStages]),
          .a_i(have[Have]),
          .b_i(have[i]),
          .r_o(made[Have+i])
      );
    end
  end

  assign power_o = gen_layer[LogRadix-1].made;

endmodule
