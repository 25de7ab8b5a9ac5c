// SPDX-License-Identifier: Apache-2.0
// A transform unit of radix R = 2^LogRadix (BASALISC paper, section 6.1 and Figure 3): multiplies a
// line by factors, transforms it cyclically, and multiplies the results by factors.
//
// The transform is decimation in frequency with results in natural order. The factors make it a
// transform or an inverse transform, and the first or the second pass of either.
//
// There are R - 1 multipliers before, R / 2 LogRadix - (R - 1) within, as factors of one have none,
// and R - 1 behind. Radix 256 has 255, 769 and 255. Shortcuts: with skip_i ranks left out, a line
// is 2^skip_i lines of R / 2^skip_i words, each transformed on its own, in as many stages. An
// inverse transform halves in every butterfly (half_i).
//
// Factors are held times 2^Width, by which rm_vector_mul divides. skip_i and half_i have an element
// for each rank, for the item that its first stage takes; skip_i has one more for the order behind.
// before_i belongs to the item that stage 0 takes. within_i belongs to the item that the stage
// behind each rank's first takes (rank after rank, from its second word's on: ntt_factors of
// rm_vector_pkg). behind_i belongs to the item that stage MulStages + LogRadix butterfly_stages()
// takes. q_i[k] is the modulus of the item that stage k takes. Latency ntt_stages(LogRadix) moves,
// one line a move.
module rm_vector_ntt
  import rm_vector_pkg::*;
#(
    parameter int unsigned LogRadix = 4,
    parameter int unsigned Width = 32,
    localparam int unsigned Radix = 1 << LogRadix,
    localparam int unsigned Stages = ntt_stages(LogRadix),
    localparam int unsigned Within = ntt_factors(LogRadix, LogRadix),
    localparam int unsigned SkipWidth = $clog2(LogRadix + 1)
) (
    input  logic                              clk_i,
    input  logic [    Stages-1:0]             move_i,
    input  logic [    Stages-1:0][    Width-1:0] q_i,
    input  logic [  LogRadix-1:0]             half_i,
    input  logic [    LogRadix:0][SkipWidth-1:0] skip_i,
    input  logic [     Radix-1:1][    Width-1:0] before_i,
    input  logic [    Within-1:0][    Width-1:0] within_i,
    input  logic [     Radix-1:1][    Width-1:0] behind_i,
    input  logic [     Radix-1:0][    Width-1:0] line_i,
    output logic [     Radix-1:0][    Width-1:0] line_o
);

  localparam int unsigned Turn = butterfly_stages();
  localparam int unsigned Behind = MulStages + LogRadix * Turn;

  // Returns the place behind the last rank of the word for position `to`, if `skip` ranks were left
  // out: `to` with its lower LogRadix - skip bits reversed.
  function automatic int unsigned from(int unsigned to, int unsigned skip);
    int unsigned place;
    place = to;
    for (int unsigned k = 0; k < LogRadix - skip; k++) begin
      place = (place & ~(32'd1 << k)) | (((to >> (LogRadix - skip - 1 - k)) & 32'd1) << k);
    end
    return place;
  endfunction

  logic [LogRadix:0][Radix-1:0][Width-1:0] line;
  logic [Radix-1:0][Width-1:0] ordered;

  rm_vector_scale #(
      .Radix(Radix),
      .Width(Width)
  ) u_before (
      .clk_i,
      .move_i(move_i[MulStages-1:0]),
      .q_i(q_i[MulStages-1:0]),
      .factor_i(before_i),
      .line_i,
      .line_o(line[0])
  );

  for (genvar s = 0; s < LogRadix; s++) begin : gen_rank
    localparam int unsigned Half = Radix >> (s + 1);
    localparam int unsigned Factors = (Half > 1) ? Half - 1 : 1;
    localparam int unsigned First = MulStages + s * Turn;
    logic [Factors-1:0][Width-1:0] factor;

    if (Half > 1) begin : gen_factors
      assign factor = within_i[ntt_factors(LogRadix, s)+:Factors];
    end else begin : gen_none
      assign factor = '0;
    end

    rm_vector_ntt_rank #(
        .Radix(Radix),
        .Half(Half),
        .Width(Width)
    ) u_rank (
        .clk_i,
        .move_i(move_i[First+:Turn]),
        .q_i(q_i[First+:Turn]),
        .half_i(half_i[s]),
        .pass_i(skip_i[s] > SkipWidth'(s)),
        .factor_i(factor),
        .line_i(line[s]),
        .line_o(line[s+1])
    );
  end

  for (genvar i = 0; i < Radix; i++) begin : gen_order
    logic [LogRadix:0][Width-1:0] of_skip;
    for (genvar skip = 0; skip <= LogRadix; skip++) begin : gen_skip
      assign of_skip[skip] = line[LogRadix][from(i, skip)];
    end
    assign ordered[i] = of_skip[skip_i[LogRadix]];
  end

  rm_vector_scale #(
      .Radix(Radix),
      .Width(Width)
  ) u_behind (
      .clk_i,
      .move_i(move_i[Stages-1:Behind]),
      .q_i(q_i[Stages-1:Behind]),
      .factor_i(behind_i),
      .line_i(ordered),
      .line_o
  );

endmodule
