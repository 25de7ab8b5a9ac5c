// SPDX-License-Identifier: Apache-2.0
// A Montgomery multiplier for moduli whose bits Width / 2 to 1 are zero (rm_vector_red): r = a b
// R^-1 mod q for a < R = 2^Width, b < q.
//
// a may be any word, so a residue modulo another prime needs no conversion. R is that of
// `MontgomeryFriendly32` in crates/math.
//
// Rank 0: two tiles. Rank 1: their sum, and the first word of reduction, which needs the lower tile
// alone. Rank 2: the second word. Rank 3: the correction. q_i[k] is the modulus of the item that
// rank k takes. Latency MulStages moves, one product a move. Six DSP blocks.
module rm_vector_mul
  import rm_vector_pkg::MulStages;
#(
    parameter int unsigned Width = 32,
    parameter bit Stalls = 1'b1
) (
    input  logic                            clk_i,
    input  logic [MulStages-1:0]            move_i,
    input  logic [MulStages-1:0][Width-1:0] q_i,
    input  logic [    Width-1:0]            a_i,
    input  logic [    Width-1:0]            b_i,
    output logic [    Width-1:0]            r_o
);

  localparam int unsigned Low = Width / 2 + 1;
  localparam int unsigned High = Width - Low;

  logic [Width+Low-1:0] low;
  logic [Width+High-1:0] high, upper;

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

  rm_vector_red #(
      .Width(Width),
      .Stalls(Stalls)
  ) u_red (
      .clk_i,
      .move_i(move_i[3:1]),
      .q_i(q_i[3:1]),
      .t_i({upper, low[Low-1:0]}),
      .r_o
  );

  logic unused_q;
  assign unused_q = ^q_i[0];

endmodule
