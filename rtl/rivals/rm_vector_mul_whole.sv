// SPDX-License-Identifier: Apache-2.0
// A Montgomery multiplier whose product a b takes one rank instead of two tiles, for the comparison
// of areas (BASALISC paper, Table 4): r = a b R^-1 mod q.
//
// It is rm_vector_mul (Friendly 1) or rm_vector_mul_any (Friendly 0). Both are as small as they get
// in stages as long as the generic reduction's, which has such a product as well. No machine has
// it, because a DSP block of an FPGA does not multiply 32 by 32 bits in one stage.
//
// Inputs are those of rm_vector_red and rm_vector_red_any. q_i[k] is the modulus of the item that
// rank k + 1 takes. Latency MulStages moves, one product a move.
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
