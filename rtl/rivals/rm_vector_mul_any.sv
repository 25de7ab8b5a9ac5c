// SPDX-License-Identifier: Apache-2.0
// A generic Montgomery multiplier for comparison with rm_vector_mul (BASALISC paper, Table 4): r =
// a b R^-1 mod q for a < R = 2^Width, b < q, any odd q.
//
// No machine has it. Deep 0 has as many stages as rm_vector_mul, with the sum of the tiles in one
// stage with the first product of the reduction. Deep 1 has no stage longer than those of
// rm_vector_mul. It has one more register behind that sum, and one between the tiles of m q and
// their sum. Inputs are those of rm_vector_red_any. Latency MulStages + 2 Deep moves, one product a
// move.
module rm_vector_mul_any
  import rm_vector_pkg::MulStages;
#(
    parameter int unsigned Width = 32,
    parameter bit Deep = 1'b0,
    parameter bit Stalls = 1'b1,
    localparam int unsigned Stages = MulStages + 2 * 32'(Deep)
) (
    input  logic                  clk_i,
    input  logic [    Stages-1:0] move_i,
    input  logic [     Width-1:0] inverse_i,
    input  logic [1:0][Width-1:0] q_i,
    input  logic [     Width-1:0] a_i,
    input  logic [     Width-1:0] b_i,
    output logic [     Width-1:0] r_o
);

  localparam int unsigned Low = Width / 2 + 1;
  localparam int unsigned High = Width - Low;

  logic [Width+Low-1:0] low;
  logic [Width+High-1:0] high, upper;
  logic [2*Width-1:0] product;

  rm_vector_tiles #(
      .Width(Width),
      .Stalls(Stalls)
  ) u_tiles (
      .clk_i,
      .move_i(move_i[0]),
      .a_i,
      .b_i,
      .low_o(low),
      .high_o(high)
  );

  assign upper = high + (Width + High)'(low[Width+Low-1:Low]);

  if (Deep) begin : gen_deep
    rm_vector_rank #(
        .Width(2 * Width),
        .Stalls(Stalls)
    ) u_product (
        .clk_i,
        .move_i(move_i[1]),
        .d_i({upper, low[Low-1:0]}),
        .q_o(product)
    );
  end else begin : gen_short
    assign product = {upper, low[Low-1:0]};
  end

  rm_vector_red_any #(
      .Width(Width),
      .Deep(Deep),
      .Stalls(Stalls)
  ) u_red (
      .clk_i,
      .move_i(move_i[Stages-1:1+32'(Deep)]),
      .inverse_i,
      .q_i,
      .t_i(product),
      .r_o
  );

endmodule
