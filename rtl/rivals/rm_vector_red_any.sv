// SPDX-License-Identifier: Apache-2.0
// A generic Montgomery reduction for comparison with rm_vector_red (BASALISC paper, Table 4,
// "unoptimized"): r = t R^-1 mod q for t < q R, R = 2^Width, any odd q.
//
// With inverse = q^-1 mod R and m = t inverse mod R, r R = t - m q + {0, q R}. The low halves of t
// and of m q are equal, so only the upper halves are subtracted. Of t inverse only the lower half
// is computed.
//
// Rank 0: m. Rank 1: m q. Rank 2: the correction. These are as many as rm_vector_red has. Deep 1
// takes one more, between the tiles of m q and their sum, so that none has more than a tile or a
// sum. inverse_i belongs to the item that rank 0 takes. q_i[0] belongs to the item that the rank of
// m q (its tiles) takes, q_i[1] to that of the last rank. Latency 3 + Deep moves, one reduction a
// move.
module rm_vector_red_any #(
    parameter int unsigned Width = 32,
    parameter bit Deep = 1'b0,
    parameter bit Stalls = 1'b1,
    localparam int unsigned Stages = 3 + 32'(Deep)
) (
    input  logic                  clk_i,
    input  logic [    Stages-1:0] move_i,
    input  logic [     Width-1:0] inverse_i,
    input  logic [1:0][Width-1:0] q_i,
    input  logic [   2*Width-1:0] t_i,
    output logic [     Width-1:0] r_o
);

  localparam int unsigned Low = Width / 2 + 1;
  localparam int unsigned High = Width - Low;

  logic [Width-1:0] m_d, m, high, high_late, multiple, r_d;
  logic [Width:0] left_d, left;

  assign m_d = t_i[Width-1:0] * inverse_i;

  rm_vector_rank #(
      .Width(2 * Width),
      .Stalls(Stalls)
  ) u_m (
      .clk_i,
      .move_i(move_i[0]),
      .d_i({m_d, t_i[2*Width-1:Width]}),
      .q_o({m, high})
  );

  if (Deep) begin : gen_deep
    logic [Width+Low-1:0] low;
    logic [Width+High-1:0] upper, sum;

    rm_vector_tiles #(
        .Width(Width),
        .Stalls(Stalls)
    ) u_tiles (
        .clk_i,
        .move_i(move_i[1]),
        .a_i(m),
        .b_i(q_i[0]),
        .low_o(low),
      .high_o(upper)
    );

    rm_vector_rank #(
        .Width(Width),
        .Stalls(Stalls)
    ) u_high (
        .clk_i,
        .move_i(move_i[1]),
        .d_i(high),
        .q_o(high_late)
    );

    assign sum = upper + (Width + High)'(low[Width+Low-1:Low]);
    assign multiple = sum[Width+High-1:High];

    logic unused_low;
    assign unused_low = ^{low[Low-1:0], sum[High-1:0]};
  end else begin : gen_whole
    logic [2*Width-1:0] whole;
    assign whole = (2 * Width)'(m) * (2 * Width)'(q_i[0]);
    assign multiple = whole[2*Width-1:Width];
    assign high_late = high;

    logic unused_low;
    assign unused_low = ^whole[Width-1:0];
  end

  assign left_d = {1'b0, high_late} - {1'b0, multiple};
  assign r_d = left[Width-1:0] + (left[Width] ? q_i[1] : '0);

  rm_vector_rank #(
      .Width(Width + 1),
      .Stalls(Stalls)
  ) u_left (
      .clk_i,
      .move_i(move_i[Stages-2]),
      .d_i(left_d),
      .q_o(left)
  );

  rm_vector_rank #(
      .Width(Width),
      .Stalls(Stalls)
  ) u_r (
      .clk_i,
      .move_i(move_i[Stages-1]),
      .d_i(r_d),
      .q_o(r_o)
  );

endmodule
