// SPDX-License-Identifier: Apache-2.0
// r = a b R^-1 mod q, as rm_vector_mul (Friendly 1) and rm_vector_mul_any (Friendly 0), with the product of a and b made in one rank
// and not of two tiles: both as small as they get in stages as long as the generic reduction's, which has such a product as well
// (vector paper, Table 4). No machine has it: such a stage is beyond what FPGAs' blocks do in one.
//
// Inputs as rm_vector_red and rm_vector_red_any. q_i[k] is the modulus of what rank k + 1 takes. Latency MulStages moves, one product a
// move.
module rm_vector_mul_whole
  import rm_vector_pkg::MulStages;
#(
    parameter int unsigned Width = 32,
    parameter bit Friendly = 1'b1,
    parameter bit Stalls = 1'b1
) (
    input  logic                  clk_i,
    input  logic [MulStages-1:0]  move_i,
    input  logic [    Width-1:0]  inverse_i,
    input  logic [2:0][Width-1:0] q_i,
    input  logic [    Width-1:0]  a_i,
    input  logic [    Width-1:0]  b_i,
    output logic [    Width-1:0]  r_o
);

  logic [2*Width-1:0] product;

  rm_vector_rank #(
      .Width(2 * Width),
      .Stalls(Stalls)
  ) u_product (
      .clk_i,
      .move_i(move_i[0]),
      .d_i((2 * Width)'(a_i) * (2 * Width)'(b_i)),
      .q_o(product)
  );

  if (Friendly) begin : gen_friendly
    rm_vector_red #(
        .Width(Width),
        .Stalls(Stalls)
    ) u_red (
        .clk_i,
        .move_i(move_i[3:1]),
        .q_i,
        .t_i(product),
        .r_o
    );

    logic unused_inverse;
    assign unused_inverse = ^inverse_i;
  end else begin : gen_generic
    rm_vector_red_any #(
        .Width(Width),
        .Stalls(Stalls)
    ) u_red (
        .clk_i,
        .move_i(move_i[3:1]),
        .inverse_i,
        .q_i(q_i[2:1]),
        .t_i(product),
        .r_o
    );

    logic unused_q;
    assign unused_q = ^q_i[0];
  end

endmodule
