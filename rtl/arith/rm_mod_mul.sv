// SPDX-License-Identifier: Apache-2.0
// A pipelined modular multiplier with a choice of reduction: r = a b R^-1 mod q for a, b < q.
//
//   Flavour             modulus                              R             Width   latency
//   WordMontgomery      run time, q = qh 2^w + 1             2^(w steps)   <= 32   7
//   NttFriendly         run time, q = 1 mod 2^9              2^33          32      7
//   MontgomeryFriendly  run time, q = 1 mod 2^17             2^34          32      6
//   Sparse              parameter Q (Width bits)             1             any     12 (moduli in use)
//   Solinas52           2^52 - 2^12 + 1                      1             52      9
//
// One constant operand carries the factor R^-1: a twiddle w is held as w R mod q. An operand at or
// above q may give a wrong result.
//
// The modulus q_i is held from a cycle before the first data until the last result has left.
// WordMontgomery needs three more such inputs: qh_i = q >> w, word_i = w, and three_i for three
// steps instead of two. A flavour ignores the inputs that it does not need.
//
// Slack adds up to three registers for long wires and fast clocks. The first stands between the
// product's blocks and the reduction, the second behind the result, the third before the operands.
//
// Latency mod_mul_latency(Flavour, Width, Q) of rm_arith_pkg + Slack, one product a cycle, constant
// time.
module rm_mod_mul
  import rm_arith_pkg::*;
#(
    parameter flavour_t Flavour = WordMontgomery,
    parameter int unsigned Width = 32,
    parameter logic [63:0] Q = '0,
    parameter int unsigned WordMin = 9,
    parameter int unsigned WordMax = 17,
    parameter int unsigned QhWidth = 21,
    parameter int unsigned TileA = tile_a(Flavour),
    parameter int unsigned TileB = tile_b(Flavour),
    parameter int unsigned Slack = 0,
    localparam int unsigned WordWidth = $clog2(WordMax + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic [    Width-1:0] q_i,
    input  logic [  QhWidth-1:0] qh_i,
    input  logic [WordWidth-1:0] word_i,
    input  logic                 three_i,
    input  logic                 valid_i,
    input  logic [    Width-1:0] a_i,
    input  logic [    Width-1:0] b_i,
    output logic                 valid_o,
    output logic [    Width-1:0] r_o
);

  logic [Width-1:0] a, b, reduced;
  logic [2*Width-1:0] multiplied, product;

  if (Slack > 3) begin : gen_check
    $error("rm_mod_mul: Slack is at most 3");
  end

  rm_delay #(
      .Width(2 * Width),
      .Depth((Slack >= 3) ? 1 : 0)
  ) u_operands (
      .clk_i,
      .d_i({a_i, b_i}),
      .q_o({a, b})
  );

  rm_delay #(
      .Width(2 * Width),
      .Depth((Slack >= 1) ? 1 : 0)
  ) u_product (
      .clk_i,
      .d_i(multiplied),
      .q_o(product)
  );

  rm_delay #(
      .Width(Width),
      .Depth((Slack >= 2) ? 1 : 0)
  ) u_result (
      .clk_i,
      .d_i(reduced),
      .q_o(r_o)
  );

  rm_mul_tiled #(
      .Width(Width),
      .TileA(TileA),
      .TileB(TileB),
      .FabricMax(fabric_max(Flavour)),
      .Radix(radix(Flavour)),
      .InReg(1'b1)
  ) u_mul (
      .clk_i,
      .a_i(a),
      .b_i(b),
      .p_o(multiplied)
  );

  if (Flavour == WordMontgomery) begin : gen_wordmont
    rm_red_wordmont #(
        .Width(Width),
        .WordMin(WordMin),
        .WordMax(WordMax),
        .QhWidth(QhWidth)
    ) u_red (
        .clk_i,
        .t_i(product),
        .q_i,
        .qh_i,
        .word_i,
        .three_i,
        .r_o(reduced)
    );
  end else begin : gen_fixed_word
    logic unused_word;
    assign unused_word = ^{qh_i, word_i, three_i};
  end

  if (Flavour == MontgomeryFriendly || Flavour == NttFriendly) begin : gen_mont
    rm_red_mont #(
        .Width(Width),
        .Low(mont_low(Flavour)),
        .Word(mont_word(Flavour)),
        .Steps(mont_steps(Flavour))
    ) u_red (
        .clk_i,
        .t_i(product),
        .q_i,
        .r_o(reduced)
    );
  end else if (Flavour == Sparse) begin : gen_sparse
    rm_red_sparse #(
        .Width(Width),
        .Q(Q)
    ) u_red (
        .clk_i,
        .t_i(product),
        .r_o(reduced)
    );
  end else if (Flavour == Solinas52) begin : gen_solinas
    rm_red_solinas52 u_red (
        .clk_i,
        .t_i(product),
        .r_o(reduced)
    );
  end

  if (!run_time(Flavour)) begin : gen_fixed_q
    logic unused_q;
    assign unused_q = ^q_i;
  end

  rm_valid #(
      .Depth(mod_mul_latency(Flavour, Width, Q) + Slack)
  ) u_valid (
      .clk_i,
      .rst_ni,
      .valid_i,
      .valid_o
  );

endmodule
