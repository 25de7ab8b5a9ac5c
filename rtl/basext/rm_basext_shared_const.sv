// Moduli and constants of a shared base extension, loaded at run time. A word a beat, in the order
//
//   m, |-Q^-1|_m, |1|_m
//   for i < l: q_i, |Qhat_i^-1|_(q_i), |q_i^-1|_m
//   for j < k: p_j, |-Q|_(p_j), and |Qhat_i|_(p_j) for i < l
//
// where every constant is held times R of rm_wide_mul. m = 0 says that there is no redundant
// modulus; its constants are then any. A load ends with the first wrong word, beat after the last,
// or last beat before the others: done_o is then up for a cycle, with code_o. A modulus is 1 modulo
// 2^Low and more than 1, a constant is below its modulus.
//
// m is kept as source number l. Targets go to the channels in turns of batch_i: the words of target
// number j out with modulus_we_o[j mod batch] at round j / batch, its constants with
// const_we_o[j mod batch] at place (j / batch) (l + 1) + i, |-Q|_(p_j) as number l.
// A word is looked at in the cycle after it came, and done_o is up in the next.
// Reads take a cycle: source_o and mu_const_o for row source_i, redundant_const_o for column_i.
module rm_basext_shared_const
  import rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    parameter int unsigned Batch = 8,
    parameter int unsigned Rounds = 16,
    parameter int unsigned Places = 132,
    localparam int unsigned WordBits = stream_bits(Width),
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned RWidth = (Rounds > 1) ? $clog2(Rounds) : 1,
    localparam int unsigned PWidth = $clog2(Places)
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    // Load.
    input  logic                start_i,
    input  logic [  LWidth-1:0] l_i,
    input  logic [  KWidth-1:0] k_i,
    input  logic [  LWidth-1:0] batch_i,
    input  logic                valid_i,
    input  logic [WordBits-1:0] word_i,
    input  logic                last_i,
    output logic                done_o,
    output code_e               code_o,
    // Whether there is a redundant modulus. Of the form that it must have it is above 2^Low, and so
    // above l.
    output logic                exact_o,
    // To the channels.
    output logic [   Batch-1:0] modulus_we_o,
    output logic [   Batch-1:0] const_we_o,
    output logic [  RWidth-1:0] round_o,
    output logic [  PWidth-1:0] place_o,
    output logic [   Width-1:0] word_o,
    // Reads.
    input  logic [  LWidth-1:0] source_i,
    output logic [   Width-1:0] source_o,
    output logic [   Width-1:0] mu_const_o,
    input  logic [  LWidth-1:0] column_i,
    output logic [   Width-1:0] redundant_const_o,
    output logic [   Width-1:0] redundant_o
);

  typedef enum logic [1:0] {
    Redundant,
    Sources,
    Targets
  } part_e;

  part_e part_d, part_q;
  // The word of a source (q_i, inverse, redundant) or of a target (p_j, product, then the matrix).
  logic [1:0] word_d, word_q;
  logic [LWidth-1:0] i_d, i_q, channel_d, channel_q;
  logic [KWidth-1:0] left_d, left_q;
  logic [RWidth-1:0] round_d, round_q;
  logic [PWidth-1:0] base_d, base_q;
  logic active_d, active_q, done_d, done_q, misshapen, not_below;
  code_e code_d, code_q;
  logic [Width-1:0] modulus_d, modulus_q, redundant_q;
  // The word that is looked at, and what is known of it: bits beyond a modulus, its low bits,
  // zeros.
  logic [Width-1:0] value_q;
  logic valid_q, last_q, above_q, one_q, none_q, zero_q;
  logic take, is_modulus, of_redundant, wrong, absent_q, last_source, last_target, last_channel;
  logic complete;
  logic [LWidth-1:0] row;

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
  assign last_source = i_q + 1'b1 == l_i;
  assign last_target = left_q == KWidth'(1);
  assign last_channel = channel_q + 1'b1 == batch_i;
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
    word_d = (word_q == 2'd2) ? 2'd0 : word_q + 2'd1;
    i_d = i_q;
    left_d = left_q;
    channel_d = channel_q;
    round_d = round_q;
    base_d = base_q;
    modulus_d = is_modulus ? value_q : modulus_q;
    if (word_q == 2'd2) begin
      unique case (part_q)
        Redundant: part_d = Sources;
        Sources: begin
          i_d = last_source ? '0 : i_q + 1'b1;
          if (last_source) part_d = Targets;
        end
        default: begin
          i_d = last_source ? '0 : i_q + 1'b1;
          if (!last_source) word_d = 2'd2;
          else begin
            left_d = left_q - 1'b1;
            channel_d = last_channel ? '0 : channel_q + 1'b1;
            if (last_channel) begin
              round_d = round_q + 1'b1;
              base_d = base_q + PWidth'(l_i) + 1'b1;
            end
          end
        end
      endcase
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
    if (start_i) begin
      part_q <= Redundant;
      word_q <= '0;
      i_q <= '0;
      channel_q <= '0;
      round_q <= '0;
      base_q <= '0;
    end else if (take) begin
      part_q <= part_d;
      word_q <= word_d;
      i_q <= i_d;
      left_q <= left_d;
      channel_q <= channel_d;
      round_q <= round_d;
      base_q <= base_d;
      modulus_q <= modulus_d;
      if (part_q == Redundant && is_modulus) begin
        redundant_q <= value_q;
        absent_q <= none_q && zero_q;
      end
      if (part_q == Redundant) left_q <= k_i;
    end
  end

  // ---- To memories. ----

  // Words of the redundant modulus are row l's.
  assign row = (part_q == Redundant) ? l_i : i_q;

  for (genvar j = 0; j < Batch; j++) begin : gen_channel
    assign modulus_we_o[j] = take && part_q == Targets && is_modulus && channel_q == LWidth'(j);
    assign const_we_o[j] = take && part_q == Targets && !is_modulus && channel_q == LWidth'(j);
  end

  assign round_o = round_q;
  assign place_o = base_q + PWidth'((word_q == 2'd1) ? l_i : i_q);
  assign word_o = value_q;

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL + 1)
  ) u_sources (
      .clk_i,
      .we_i(take && part_q != Targets && word_q == 2'd0),
      .waddr_i(row),
      .wdata_i(value_q),
      .re_i(1'b1),
      .raddr_i(source_i),
      .rdata_o(source_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL + 1)
  ) u_mu_constants (
      .clk_i,
      .we_i(take && part_q != Targets && word_q == 2'd1),
      .waddr_i(row),
      .wdata_i(value_q),
      .re_i(1'b1),
      .raddr_i(source_i),
      .rdata_o(mu_const_o)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxL + 1)
  ) u_redundant_constants (
      .clk_i,
      .we_i(take && part_q != Targets && word_q == 2'd2),
      .waddr_i(row),
      .wdata_i(value_q),
      .re_i(1'b1),
      .raddr_i(column_i),
      .rdata_o(redundant_const_o)
  );

  assign done_o = done_q;
  assign code_o = code_q;
  assign exact_o = !absent_q;
  assign redundant_o = redundant_q;

endmodule
