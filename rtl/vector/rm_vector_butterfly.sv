// SPDX-License-Identifier: Apache-2.0
// A butterfly of decimation in frequency: sum = u + v, turned = (u - v) w R^-1 modulo q, for u, v,
// w < q.
//
// With half_i of the item both results are halved. With pass_i, for shorter transforms, sum = u and
// turned = v w R^-1. With Product 0 the butterfly's factor is one and there is no multiplier: u - v,
// or v with pass_i, travels beside.
//
// Rank 0 is sum and difference (rm_vector_halfsum); the ranks of the product follow
// (rm_vector_mul). half_i and pass_i belong to the item that rank 0 takes, w_i to the item that
// rank 1 takes. q_i[k] is the modulus of the item that rank k takes. Latency butterfly_stages()
// moves, one a move.
module rm_vector_butterfly
  import rm_vector_pkg::*;
#(
    parameter int unsigned Width = 32,
    parameter bit Product = 1'b1,
    parameter bit Halves = 1'b1,
    parameter bit Stalls = 1'b1,
    localparam int unsigned Stages = butterfly_stages()
) (
    input  logic                         clk_i,
    input  logic [Stages-1:0]            move_i,
    input  logic [Stages-1:0][Width-1:0] q_i,
    input  logic                         half_i,
    input  logic                         pass_i,
    input  logic [ Width-1:0]            u_i,
    input  logic [ Width-1:0]            v_i,
    input  logic [ Width-1:0]            w_i,
    output logic [ Width-1:0]            sum_o,
    output logic [ Width-1:0]            turned_o
);

  logic [Width-1:0] sum, difference_d, difference;

  rm_vector_halfsum #(
      .Width(Width),
      .Halves(Halves)
  ) u_halfsum (
      .q_i(q_i[0]),
      .half_i,
      .pass_i,
      .u_i,
      .v_i,
      .sum_o(sum),
      .difference_o(difference_d)
  );

  rm_vector_delay #(
      .Width(Width),
      .Depth(Stages),
      .Stalls(Stalls)
  ) u_sum (
      .clk_i,
      .move_i,
      .d_i(sum),
      .q_o(sum_o)
  );

  rm_vector_rank #(
      .Width(Width),
      .Stalls(Stalls)
  ) u_difference (
      .clk_i,
      .move_i(move_i[0]),
      .d_i(difference_d),
      .q_o(difference)
  );

  if (Product) begin : gen_product
    rm_vector_mul #(
        .Width(Width),
        .Stalls(Stalls)
    ) u_mul (
        .clk_i,
        .move_i(move_i[Stages-1:1]),
        .q_i(q_i[Stages-1:1]),
        .a_i(difference),
        .b_i(w_i),
        .r_o(turned_o)
    );
  end else begin : gen_one
    rm_vector_delay #(
        .Width(Width),
        .Depth(MulStages),
        .Stalls(Stalls)
    ) u_turned (
        .clk_i,
        .move_i(move_i[Stages-1:1]),
        .d_i(difference),
        .q_o(turned_o)
    );

    logic unused_factor;
    assign unused_factor = ^{w_i, q_i[Stages-1:1]};
  end

endmodule
