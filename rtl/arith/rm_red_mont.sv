// SPDX-License-Identifier: Apache-2.0
// Montgomery reduction in words of a fixed size: r = t R^-1 mod q for t < q R, R = 2^(Word Steps).
//
// The modulus q = 1 mod 2^Low, q < 2^Width, comes at run time.
//
//   Low 9, Word 11, Steps 3    every q = 1 mod 2^9: the negacyclic transform of 256 points or more.
//                              Where rm_red_wordmont takes words of w = log2(2n) bits and so shifts
//                              by a run-time distance in each step, a word here has 11 bits for
//                              every n (rm_mont_step), and three of them reduce every 32-bit q.
//   Low 17, Word 17, Steps 2   the Montgomery-friendly primes (BASALISC paper, section 6.4):
//                              two words replace the two 32 x 32 products of a generic reduction.
//
// Preconditions: q_i is held while data is in flight, and R >= 2^Width. Certificate: r R = t - M q
// + {0, q R} with M < R, and r < q.
//
// Latency Steps + 1 cycles, one reduction a cycle.
module rm_red_mont #(
    parameter int unsigned Width = 32,
    parameter int unsigned Low = 9,
    parameter int unsigned Word = 11,
    parameter int unsigned Steps = 3
) (
    input  logic               clk_i,
    input  logic [2*Width-1:0] t_i,
    input  logic [  Width-1:0] q_i,
    output logic [  Width-1:0] r_o
);

  // Returns the bits, with sign, of what `steps` words leave of t: t is below 2^(2 Width), and a
  // result is above -2^Width.
  function automatic int unsigned bits_after(int unsigned steps);
    int unsigned gone;
    gone = rm_arith_pkg::min2(steps * Word, Width);
    return 2 * Width - gone + 1;
  endfunction

  if (Word * Steps < Width) begin : gen_check
    $error("R must not be below 2^Width");
  end

  logic [Steps:0][2*Width:0] left;
  logic [Width-1:0] r_d, r_q;

  assign left[0] = {1'b0, t_i};

  for (genvar k = 0; k < Steps; k++) begin : gen_step
    localparam int unsigned InWidth = bits_after(k);
    localparam int unsigned OutWidth = bits_after(k + 1);
    logic [OutWidth-1:0] next;

    rm_mont_step #(
        .InWidth(InWidth),
        .OutWidth(OutWidth),
        .QWidth(Width),
        .Low(Low),
        .Word(Word)
    ) u_step (
        .clk_i,
        .t_i(left[k][InWidth-1:0]),
        .q_i,
        .t_o(next)
    );

    assign left[k+1] = (2 * Width + 1)'($signed(next));
  end

  // From 0 <= t < q R the last one lies in (-q, q).
  assign r_d = left[Steps][Width-1:0] + (left[Steps][Width] ? q_i : '0);

  always_ff @(posedge clk_i) r_q <= r_d;

  assign r_o = r_q;

  logic unused_sign;
  assign unused_sign = ^left;

endmodule
