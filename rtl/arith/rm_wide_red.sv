// SPDX-License-Identifier: Apache-2.0
// Montgomery reduction for run-time NTT-friendly moduli of any width: r = t R^-1 mod q for t < q R,
// R = 2^(16 steps).
//
// The modulus is q = 1 mod 2^Low, q < 2^Width, with Low from 8; rm_red_mont stops at 32 bits. The
// reduction is Algorithm 7 of Kırbıyık's thesis with the other sign (rm_wm_step). Its words do not
// depend on the modulus: two words of 16 bits reduce 32 bits, four reduce 61.
//
// q_i[k] is the modulus in the cycle of step k, q_i[steps] that of the correction (rm_wide_moduli).
// Each has 3 q_H above it and may change with every t. If late(Width, Low, 0) is not 0, the upper
// late(Width, Low, 0) - 1 bits of t come one cycle after the others. Certificate: r R = t - M q +
// {0, q R} with M < R, and r < q.
//
// Latency red_latency(Width, Low) of rm_wide_pkg from the first part of t, one reduction a cycle.
module rm_wide_red
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9
) (
    input  logic                               clk_i,
    input  logic [  2*Width-1:0]               t_i,
    input  logic [steps(Width):0][modulus_bits(Width)-1:0] q_i,
    output logic [    Width-1:0]               r_o
);

  localparam int unsigned Steps = steps(Width);
  localparam int unsigned LateLast = late(Width, Low, Steps);
  localparam int unsigned LastWidth = bits_after(Width, Steps);

  logic [Steps:0][2*Width:0] left;
  logic [LastWidth-1:0] last;
  logic [Width-1:0] correction, r_q;

  assign left[0] = {1'b0, t_i};

  for (genvar k = 0; k < Steps; k++) begin : gen_step
    localparam int unsigned InWidth = bits_after(Width, k);
    localparam int unsigned OutWidth = bits_after(Width, k + 1);
    logic [OutWidth-1:0] next;

    rm_wide_step #(
        .InWidth(InWidth),
        .OutWidth(OutWidth),
        .Late(late(Width, Low, k)),
        .OutLate(late(Width, Low, k + 1)),
        .QWidth(Width),
        .Low(known(Low))
    ) u_step (
        .clk_i,
        .t_i(left[k][InWidth-1:0]),
        .q_i(q_i[k]),
        .t_o(next)
    );

    assign left[k+1] = (2 * Width + 1)'($signed(next));
  end

  if (LateLast == 0) begin : gen_whole
    assign last = left[Steps][LastWidth-1:0];
  end else begin : gen_late
    localparam int unsigned Early = LastWidth - LateLast;
    logic [Early-1:0] early_q;
    always_ff @(posedge clk_i) early_q <= left[Steps][Early-1:0];
    assign last = {left[Steps][LastWidth-1:Early], early_q};
  end

  // From 0 <= t < q R the last one lies in (-q, q).
  assign correction = last[LastWidth-1] ? q_i[Steps][Width-1:0] : '0;

  always_ff @(posedge clk_i) r_q <= last[Width-1:0] + correction;

  assign r_o = r_q;

  logic unused_sign;
  assign unused_sign = ^{left, last};

endmodule
