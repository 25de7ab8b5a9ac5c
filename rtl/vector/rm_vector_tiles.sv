// SPDX-License-Identifier: Apache-2.0
// The product a b as two tiles with a register each: a b = high 2^(Width/2+1) + low.
//
// The tiles are a times the lower Width / 2 + 1 bits of b, and a times the rest. rm_vector_mul and
// the generic rm_vector_mul_any begin in this way. With Booth's digits, of two bits each and one
// more for an unsigned word, slices of 17 and 15 bits have one digit fewer than slices of 16 and
// 16. A block of an FPGA takes 17 bits.
//
// Latency 1 move.
module rm_vector_tiles #(
    parameter int unsigned Width = 32,
    parameter bit Stalls = 1'b1,
    localparam int unsigned Low = Width / 2 + 1,
    localparam int unsigned High = Width - Low
) (
    input  logic                  clk_i,
    input  logic                  move_i,
    input  logic [     Width-1:0] a_i,
    input  logic [     Width-1:0] b_i,
    output logic [ Width+Low-1:0] low_o,
    output logic [Width+High-1:0] high_o
);

  rm_vector_rank #(
      .Width(Width + Low),
      .Stalls(Stalls)
  ) u_low (
      .clk_i,
      .move_i,
      .d_i((Width + Low)'(a_i) * (Width + Low)'(b_i[Low-1:0])),
      .q_o(low_o)
  );

  rm_vector_rank #(
      .Width(Width + High),
      .Stalls(Stalls)
  ) u_high (
      .clk_i,
      .move_i,
      .d_i((Width + High)'(a_i) * (Width + High)'(b_i[Width-1:Low])),
      .q_o(high_o)
  );

endmodule
