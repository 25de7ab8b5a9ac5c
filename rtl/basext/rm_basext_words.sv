// SPDX-License-Identifier: Apache-2.0
// Checks and numbers the stream of moduli and constants that a base extension loads.
//
// The stream has one word a beat, in the order of
//
//   part        Folded                      Shared          Rower             Radix
//   Head        m, mod m                    m, 2 x mod m    a fraction        -
//   Sources     q_i, mod q_i, mod m         as Folded       q_i, mod q_i      q_i, i x mod q_i
//   Targets     p_j, mod p_j, l x mod p_j   as Folded       as Folded         p_j, l x mod p_j
//
// for i < l and j < k, where "mod" stands for a constant below that modulus. m = 0 says that there
// is no redundant modulus; its constants may then be any words of Width bits. A modulus is 1 modulo
// 2^Low and more than 1; the fraction is any word of Width bits. A load ends with the first wrong
// word, with an early last beat, or with the last word. If that word's beat is not marked as the
// last, the code is TooLong. done_o is then high for a cycle, with code_o.
//
// Each word is checked in the cycle after it came. take_o says that the word counts. done_o is high
// in the cycle after the check that ends the load. With take_o, also for the wrong word that ends a
// load, come
//
// - the part of the word,
// - its kind: 0 a modulus or the first of Head, 1 and 2 the constants in the order above, where a
//   constant of which there are several is kind 2,
// - the number of its source or target, and its number among several,
// - whether it ends Head, its source or its target (ends_o).
module rm_basext_words
  import rm_basext_isa_pkg::*, rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    parameter form_e Form = Folded,
    localparam int unsigned WordBits = stream_bits(Width),
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1)
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                start_i,
    input  logic [  LWidth-1:0] l_i,
    input  logic [  KWidth-1:0] k_i,
    input  logic                valid_i,
    input  logic [WordBits-1:0] word_i,
    input  logic                last_i,
    output logic                done_o,
    output code_e               code_o,
    // Whether there is a redundant modulus. It is 1 modulo 2^Low and more than 1, so it is above l,
    // as the method needs. Forms without one: always.
    output logic                exact_o,
    // The first word of Head.
    output logic [   Width-1:0] head_o,
    output logic                take_o,
    output part_e               part_o,
    output logic [         1:0] kind_o,
    output logic [  LWidth-1:0] source_o,
    output logic [  KWidth-1:0] target_o,
    output logic [  LWidth-1:0] column_o,
    output logic                ends_o,
    output logic [   Width-1:0] word_o
);

  localparam bit HasRedundant = Form == Folded || Form == Shared;

  part_e part_d, part_q;
  logic [1:0] kind_d, kind_q;
  logic [LWidth-1:0] i_d, i_q, column_d, column_q;
  logic [KWidth-1:0] j_d, j_q;
  logic active_d, active_q, done_d, done_q, misshapen, not_below;
  code_e code_d, code_q;
  logic [Width-1:0] modulus_q, head_q;
  // The word that is checked, and flags that say whether it has bits above a modulus, what its low
  // bits are, and whether it is zero.
  logic [Width-1:0] value_q;
  logic valid_q, last_q, above_q, one_q, none_q, zero_q;
  logic take, is_modulus, of_redundant, wrong, absent_q, last_word, complete;
  // Whether a source, a target or one of several is the last is known when it begins: from the number
  // before the last, as l_i and k_i stay for a load.
  logic [LWidth-1:0] before_last_q;
  logic [KWidth-1:0] target_before_last_q;
  logic one_source_q, last_source_q, last_target_q, last_column_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= valid_i;
  end

  always_ff @(posedge clk_i) begin
    value_q <= word_i[Width-1:0];
    last_q <= last_i;
    above_q <= (word_i >> Width) != '0;
    one_q <= word_i[Low-1:0] == Low'(1);
    none_q <= word_i[Low-1:0] == '0;
    zero_q <= word_i[Width-1:Low] == '0;
  end

  assign take = active_q & valid_q;
  assign is_modulus = kind_q == 2'd0;
  assign of_redundant = HasRedundant &&
      ((part_q == Head && !is_modulus) || (part_q == Sources && kind_q == 2'd2));

  assign misshapen = !one_q || zero_q;
  assign not_below = value_q >= (of_redundant ? head_q : modulus_q);

  always_comb begin
    if (part_q == Head && !HasRedundant) wrong = 1'b0;
    else if (is_modulus) wrong = misshapen && !(part_q == Head && none_q && zero_q);
    else wrong = not_below && !(of_redundant && absent_q);
    wrong = wrong || above_q;
  end

  // Whether the word is the last of its source or target, or of Head.
  always_comb begin
    unique case (part_q)
      Head: last_word = kind_q == ((Form == Folded) ? 2'd1 : (Form == Shared) ? 2'd2 : 2'd0);
      Sources: begin
        if (Form == Radix) last_word = column_q + LWidth'(!is_modulus) == i_q;
        else last_word = kind_q == (HasRedundant ? 2'd2 : 2'd1);
      end
      default: last_word = kind_q == 2'd2 && last_column_q;
    endcase
  end

  assign complete = part_q == Targets && last_word && last_target_q;

  always_comb begin
    part_d = part_q;
    i_d = i_q;
    j_d = j_q;
    if (last_word) begin
      kind_d = 2'd0;
      column_d = '0;
      unique case (part_q)
        Head: part_d = Sources;
        Sources: begin
          i_d = i_q + 1'b1;
          if (last_source_q) part_d = Targets;
        end
        default: j_d = j_q + 1'b1;
      endcase
    end else begin
      column_d = (kind_q == 2'd2) ? column_q + 1'b1 : column_q;
      // In the form Radix the several constants follow the modulus directly, so they are kind 2 at
      // once.
      if (kind_q == 2'd2) kind_d = kind_q;
      else kind_d = (Form == Radix) ? 2'd2 : kind_q + 2'd1;
    end
  end

  always_comb begin
    active_d = active_q;
    done_d = 1'b0;
    code_d = code_q;
    if (start_i) active_d = 1'b1;
    else if (take) begin
      if (wrong) code_d = BadConstant;
      else if (complete) code_d = last_q ? Ok : TooLong;
      else if (last_q) code_d = CutShort;
      done_d = wrong || complete || last_q;
      active_d = !done_d;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      done_q <= 1'b0;
      code_q <= Ok;
    end else begin
      active_q <= active_d;
      done_q <= done_d;
      code_q <= code_d;
    end
  end

  always_ff @(posedge clk_i) begin
    before_last_q <= l_i - LWidth'(2);
    target_before_last_q <= k_i - KWidth'(2);
    one_source_q <= l_i == LWidth'(1);
    if (start_i) begin
      last_source_q <= l_i == LWidth'(1);
      last_target_q <= k_i == KWidth'(1);
      last_column_q <= l_i == LWidth'(1);
      part_q <= (Form == Radix) ? Sources : Head;
      kind_q <= '0;
      i_q <= '0;
      j_q <= '0;
      column_q <= '0;
    end else if (take) begin
      part_q <= part_d;
      kind_q <= kind_d;
      i_q <= i_d;
      j_q <= j_d;
      column_q <= column_d;
      if (last_word && part_q == Sources) last_source_q <= i_q == before_last_q;
      if (last_word && part_q == Targets) last_target_q <= j_q == target_before_last_q;
      last_column_q <= (kind_q == 2'd2 && !last_word) ? column_q == before_last_q : one_source_q;
      if (is_modulus) modulus_q <= value_q;
      if (part_q == Head && is_modulus) begin
        head_q <= value_q;
        absent_q <= none_q && zero_q;
      end
    end
  end

  assign done_o = done_q;
  assign code_o = code_q;
  assign exact_o = !HasRedundant || !absent_q;
  assign head_o = head_q;
  assign take_o = take;
  assign part_o = part_q;
  assign kind_o = kind_q;
  assign source_o = i_q;
  assign target_o = j_q;
  assign column_o = column_q;
  assign ends_o = last_word;
  assign word_o = value_q;

endmodule
