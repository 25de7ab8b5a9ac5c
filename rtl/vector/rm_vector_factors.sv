// SPDX-License-Identifier: Apache-2.0
// Tables of the factors of a transform pass that do not depend on the line: Radix - 1 factors
// before the pass, and the factors within it.
//
// The tables are written at start-up. Within a pass the factors are powers 1 to Radix / 2 - 1 of
// the pass's root. Rank s of butterflies takes each 2^s-th of them, so each rank has a table of its
// own.
//
// The factors before the pass are in a register beside rank 0 of the transform. before_move_i loads
// the register from the item of before_*_i. The factors of rank s are in a register beside the
// rank's first stage, with within_move_i[s] (rm_vector_ntt). An inverse transform has no factors
// before it: each is one_i, the factor 1 in Montgomery form.
module rm_vector_factors
  import rm_vector_pkg::*;
  import rm_vector_top_pkg::*;
#(
    parameter int unsigned LogRadix = 4,
    parameter int unsigned Moduli = 16,
    parameter int unsigned Width = 32,
    localparam int unsigned Radix = 1 << LogRadix,
    localparam int unsigned Within = ntt_factors(LogRadix, LogRadix),
    localparam int unsigned IndexWidth = (Moduli > 1) ? $clog2(Moduli) : 1
) (
    input  logic                                     clk_i,
    input  logic                                     load_i,
    input  entry_t                                   entry_i,
    input  logic                                     before_move_i,
    input  logic [IndexWidth-1:0]                    before_modulus_i,
    input  logic                                     before_pass_i,
    input  logic                                     before_none_i,
    input  logic [     Width-1:0]                    one_i,
    input  logic [  LogRadix-1:0]                    within_move_i,
    input  logic [  LogRadix-1:0][IndexWidth-1:0]    within_modulus_i,
    input  logic [  LogRadix-1:0]                    within_inverse_i,
    output logic [     Radix-1:1][     Width-1:0]    before_o,
    output logic [    Within-1:0][     Width-1:0]    within_o
);

  logic [IndexWidth:0] set;

  assign set = {entry_i.modulus[IndexWidth-1:0], entry_i.pass[0]};

  for (genvar j = 1; j < Radix; j++) begin : gen_before
    (* ram_style = "distributed" *) logic [Width-1:0] words[2*Moduli];
    logic [Width-1:0] word_q;

    always_ff @(posedge clk_i) begin
      if (load_i && entry_i.kind == TableBefore && entry_i.index == 8'(j)) begin
        words[set] <= entry_i.word[Width-1:0];
      end
      if (before_move_i) begin
        word_q <= before_none_i ? one_i : words[{before_modulus_i, before_pass_i}];
      end
    end

    assign before_o[j] = word_q;
  end

  for (genvar s = 0; s < LogRadix; s++) begin : gen_rank
    localparam int unsigned Half = Radix >> (s + 1);
    localparam int unsigned First = ntt_factors(LogRadix, s);

    for (genvar j = 1; j < Half; j++) begin : gen_factor
      (* ram_style = "distributed" *) logic [Width-1:0] words[2*Moduli];
      logic [Width-1:0] word_q;

      always_ff @(posedge clk_i) begin
        if (load_i && entry_i.kind == TableWithin && entry_i.index == 8'(j << s)) begin
          words[set] <= entry_i.word[Width-1:0];
        end
        if (within_move_i[s]) word_q <= words[{within_modulus_i[s], within_inverse_i[s]}];
      end

      assign within_o[First+j-1] = word_q;
    end
  end

  logic unused_entry;
  assign unused_entry = ^{entry_i, within_move_i, within_modulus_i, within_inverse_i};

endmodule
