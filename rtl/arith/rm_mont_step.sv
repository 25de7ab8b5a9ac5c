// SPDX-License-Identifier: Apache-2.0
// One word of Montgomery reduction for a run-time modulus q = q_H 2^Low + 1:
//
//   t' = (t - m q) / 2^Word with m = t q^-1 mod 2^Word
//
// m: the inverse of q is 1 - q_H 2^Low modulo 2^Word. So m is the low word of t, with q_H t
// subtracted from its upper Extra = Word - Low bits. Only Extra bits of q_H and of t matter.
//
// t': t - m q = (t - m) - m q_H 2^Low, and t and m agree in Low bits, so
//
//   t' 2^Extra = (t >> Low) - (m >> Low) - m q_H
//
// m >> Low is below 2^Extra and vanishes in the division. So t' = ((t >> Low) - m q_H) >> Extra
// exactly. This is one product and one sum: a DSP block with its adder and output register, and a
// few look-up tables for m.
//
// t and t' are in two's complement, and t' must fit OutWidth bits. q_i is held from a cycle before
// t_i. Latency 1 cycle, one step a cycle.
module rm_mont_step #(
    parameter int unsigned InWidth = 54,
    parameter int unsigned OutWidth = 43,
    parameter int unsigned QWidth = 32,
    parameter int unsigned Low = 9,
    parameter int unsigned Word = 11
) (
    input  logic                clk_i,
    input  logic [ InWidth-1:0] t_i,
    input  logic [  QWidth-1:0] q_i,
    output logic [OutWidth-1:0] t_o
);

  localparam int unsigned Extra = Word - Low;
  localparam int unsigned QhWidth = QWidth - Low;
  localparam int unsigned HighWidth = rm_arith_pkg::max2(InWidth - Low, OutWidth + Extra);
  // The bits of a DSP block's adder. The sum's bits above them subtract its sign behind the
  // register.
  localparam int unsigned SumWidth = 48;
  localparam int unsigned ProdWidth = QhWidth + Word + 1;

  if (Word < Low || Word > 2 * Low || ProdWidth + 1 > SumWidth) begin : gen_check
    $error("a word has Low to 2 Low bits, and m q_H fits the adder of a DSP block");
  end

  logic [QhWidth-1:0] qh;
  logic [Word-1:0] m;
  logic signed [InWidth-Low-1:0] high;
  logic signed [QhWidth:0] minus_qh_q;
  logic signed [Word:0] m_s;
  logic signed [ProdWidth-1:0] prod;
  logic [HighWidth-1:0] next_q;

  assign qh = q_i[QWidth-1:Low];
  // q_i is held, so all steps and multipliers of a machine can share this register.
  always_ff @(posedge clk_i) minus_qh_q <= -$signed({1'b0, qh});

  if (Extra == 0) begin : gen_low
    assign m = t_i[Word-1:0];
  end else begin : gen_more
    assign m = {t_i[Word-1:Low] - qh[Extra-1:0] * t_i[Extra-1:0], t_i[Low-1:0]};
  end

  assign high = $signed(t_i[InWidth-1:Low]);
  assign m_s = $signed({1'b0, m});
  assign prod = ProdWidth'(minus_qh_q) * ProdWidth'(m_s);

  if (HighWidth <= SumWidth) begin : gen_whole
    logic signed [HighWidth-1:0] sum_q;
    always_ff @(posedge clk_i) sum_q <= HighWidth'(high) + HighWidth'(prod);
    assign next_q = sum_q;
  end else begin : gen_split
    localparam int unsigned Part = SumWidth - 1;
    logic signed [SumWidth-1:0] sum_q;
    logic [HighWidth-Part-1:0] above_q;
    always_ff @(posedge clk_i) begin
      sum_q <= $signed({1'b0, high[Part-1:0]}) + SumWidth'(prod);
      above_q <= (HighWidth - Part)'($signed(high[InWidth-Low-1:Part]));
    end
    assign next_q = {above_q - (HighWidth - Part)'(sum_q[Part]), sum_q[Part-1:0]};
  end

  assign t_o = OutWidth'($signed(next_q[HighWidth-1:Extra]));

  logic unused_q;
  assign unused_q = ^{q_i[Low-1:0], next_q};

endmodule
