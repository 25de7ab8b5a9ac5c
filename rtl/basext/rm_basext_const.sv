// Moduli and constants of a base extension, loaded at run time. A word a beat, in the order
//
//   m, |Q^-1|_m
//   for i < l: q_i, |Qhat_i^-1|_(q_i), |Qhat_i|_m
//   for j < k: p_j, |Q|_(p_j), and |Qhat_i|_(p_j) for i < l
//
// where every constant is held times R of rm_wide_mul. m = 0 says that there is no redundant
// modulus; its constants are then any. A load ends with the first wrong word, beat after the last,
// or last beat before the others: done_o is then up for a cycle, with code_o. A modulus is 1 modulo
// 2^Low and more than 1, a constant is below its modulus.
//
// A word is looked at in the cycle after it came, and done_o is up in the next.
// Reads take a cycle: source_o and mu_const_o for source_i, redundant_const_o and target_const_o
// for column_i of target row_i, and the words of target row_i itself. One word and one read of each
// a cycle.
module rm_basext_const
  import rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    localparam int unsigned WordBits = stream_bits(Width),
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned IWidth = (MaxL > 1) ? $clog2(MaxL) : 1,
    localparam int unsigned JWidth = (MaxK > 1) ? $clog2(MaxK) : 1
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    // Load.
    input  logic                start_i,
    input  logic [  LWidth-1:0] l_i,
    input  logic [  KWidth-1:0] k_i,
    input  logic                valid_i,
    input  logic [WordBits-1:0] word_i,
    input  logic                last_i,
    output logic                done_o,
    output code_e               code_o,
    // Whether there is a redundant modulus. Of the form that it must have it is above 2^Low, and so
    // above l.
    output logic                exact_o,
    // Reads.
    input  logic [  IWidth-1:0] source_i,
    output logic [   Width-1:0] source_o,
    output logic [   Width-1:0] mu_const_o,
    input  logic [  JWidth-1:0] row_i,
    input  logic [  IWidth-1:0] column_i,
    output logic [   Width-1:0] target_o,
    output logic [   Width-1:0] product_o,
    output logic [   Width-1:0] target_const_o,
    output logic [   Width-1:0] redundant_const_o,
    output logic [   Width-1:0] redundant_o,
    output logic [   Width-1:0] inverse_o
);

  typedef enum logic [1:0] {
    Redundant,
    Sources,
    Targets
  } part_e;

  part_e part_d, part_q;
  // The word of a source (q_i, inverse, redundant) or of a target (p_j, product, then the matrix).
  logic [1:0] word_d, word_q;
  logic [IWidth-1:0] i_d, i_q;
  logic [JWidth-1:0] j_d, j_q;
  logic active_d, active_q, done_d, done_q, misshapen, not_below;
  code_e code_d, code_q;
  logic [Width-1:0] modulus_d, modulus_q, redundant_q, inverse_q;
  // The word that is looked at, and what is known of it: bits beyond a modulus, its low bits,
  // zeros.
  logic [Width-1:0] value_q;
  logic valid_q, last_q, above_q, one_q, none_q, zero_q;
  logic take, is_modulus, of_redundant, wrong, absent_q, last_source, last_target, complete;

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
  assign is_modulus = word_q == 2'd0;
  assign of_redundant = (part_q == Redundant && !is_modulus) ||
      (part_q == Sources && word_q == 2'd2);
  assign last_source = LWidth'(i_q) + 1'b1 == l_i;
  assign last_target = KWidth'(j_q) + 1'b1 == k_i;
  assign complete = part_q == Targets && word_q == 2'd2 && last_source && last_target;

  assign misshapen = !one_q || zero_q;
  assign not_below = value_q >= (of_redundant ? redundant_q : modulus_q);

  always_comb begin
    if (is_modulus) wrong = misshapen && !(part_q == Redundant && none_q && zero_q);
    else wrong = not_below && !(of_redundant && absent_q);
    wrong = wrong || above_q;
  end

  always_comb begin
    part_d = part_q;
    word_d = word_q;
    i_d = i_q;
    j_d = j_q;
    modulus_d = is_modulus ? value_q : modulus_q;
    unique case (part_q)
      Redundant: begin
        word_d = is_modulus ? 2'd1 : 2'd0;
        if (!is_modulus) part_d = Sources;
      end
      Sources: begin
        word_d = (word_q == 2'd2) ? 2'd0 : word_q + 2'd1;
        if (word_q == 2'd2) begin
          i_d = last_source ? '0 : i_q + 1'b1;
          if (last_source) part_d = Targets;
        end
      end
      default: begin
        if (word_q != 2'd2) word_d = word_q + 2'd1;
        else begin
          i_d = last_source ? '0 : i_q + 1'b1;
          if (last_source) begin
            word_d = 2'd0;
            j_d = j_q + 1'b1;
          end
        end
      end
    endcase
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
    if (start_i) begin
      part_q <= Redundant;
      word_q <= '0;
      i_q <= '0;
      j_q <= '0;
    end else if (take) begin
      part_q <= part_d;
      word_q <= word_d;
      i_q <= i_d;
      j_q <= j_d;
      modulus_q <= modulus_d;
      if (part_q == Redundant && is_modulus) begin
        redundant_q <= value_q;
        absent_q <= none_q && zero_q;
      end
      if (part_q == Redundant && !is_modulus) inverse_q <= value_q;
    end
  end

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL)
  ) u_sources (
      .clk_i,
      .we_i(take && part_q == Sources && word_q == 2'd0),
      .waddr_i(i_q),
      .wdata_i(value_q),
      .re_i(1'b1),
      .raddr_i(source_i),
      .rdata_o(source_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL)
  ) u_mu_constants (
      .clk_i,
      .we_i(take && part_q == Sources && word_q == 2'd1),
      .waddr_i(i_q),
      .wdata_i(value_q),
      .re_i(1'b1),
      .raddr_i(source_i),
      .rdata_o(mu_const_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL)
  ) u_redundant_constants (
      .clk_i,
      .we_i(take && part_q == Sources && word_q == 2'd2),
      .waddr_i(i_q),
      .wdata_i(value_q),
      .re_i(1'b1),
      .raddr_i(column_i),
      .rdata_o(redundant_const_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxK)
  ) u_targets (
      .clk_i,
      .we_i(take && part_q == Targets && word_q == 2'd0),
      .waddr_i(j_q),
      .wdata_i(value_q),
      .re_i(1'b1),
      .raddr_i(row_i),
      .rdata_o(target_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxK)
  ) u_products (
      .clk_i,
      .we_i(take && part_q == Targets && word_q == 2'd1),
      .waddr_i(j_q),
      .wdata_i(value_q),
      .re_i(1'b1),
      .raddr_i(row_i),
      .rdata_o(product_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(1 << (IWidth + JWidth))
  ) u_matrix (
      .clk_i,
      .we_i(take && part_q == Targets && word_q == 2'd2),
      .waddr_i({j_q, i_q}),
      .wdata_i(value_q),
      .re_i(1'b1),
      .raddr_i({row_i, column_i}),
      .rdata_o(target_const_o)
  );

  assign done_o = done_q;
  assign code_o = code_q;
  assign exact_o = !absent_q;
  assign redundant_o = redundant_q;
  assign inverse_o = inverse_q;

endmodule
