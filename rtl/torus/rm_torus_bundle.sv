// SPDX-License-Identifier: Apache-2.0
// Combines the patterns of an unrolled bootstrapping key to one row of products: for each row,
// column and position i,
//
//   b(i) = sum over patterns u of (psi^(a_u (2 br(i) + 1)) - 1) k_u(i)
//
// A pattern u is a value other than 0 of the Unroll secret bits of a step, k_u its gadget
// ciphertext, and a_u the sum of the exponents of its bits. The factor, its weight, is X^a_u - 1 in
// transform form. The sum b is the bundle. Beats of the key, each of one pattern and a group of Pos
// positions, come in the order of the key: patterns 1 to 2^Unroll - 1 of a group, group by group,
// step by step. The last step has LastBits bits. Depth bundles may be in flight or wait to be
// taken.
//
// The module has Pos Rows 2 modular multipliers. take_o takes the beat that available_i offers, and
// its words come two cycles later. The step's exponents come a cycle after its number. Latency 5 +
// MulLatency + 1 cycles from the last pattern's beat to its bundle, a beat a cycle.
module rm_torus_bundle
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogPos = 0,
    parameter int unsigned Rows = 6,
    parameter int unsigned Unroll = 2,
    parameter int unsigned Steps = 12,
    parameter int unsigned LastBits = 2,
    parameter int unsigned Depth = 128,
    localparam int unsigned Pos = 1 << LogPos,
    localparam int unsigned StepWidth = (Steps > 1) ? $clog2(Steps) : 1
) (
    input  logic                                     clk_i,
    input  logic                                     rst_ni,
    input  logic                                     clear_i,
    input  logic                                     available_i,
    output logic                                     take_o,
    output logic [                    StepWidth-1:0] step_o,
    input  logic [              Unroll-1:0][LogN:0]  exponents_i,
    input  logic [Pos-1:0][Rows-1:0][1:0][Width-1:0] key_i,
    output logic                                     valid_o,
    output logic [Pos-1:0][Rows-1:0][1:0][Width-1:0] bundle_o,
    input  logic                                     taken_i   // a bundle, by the products
);

  localparam int unsigned CountWidth = $clog2(Depth + 1);
  // Cycles from the take of a beat to its weight, at the multipliers' input.
  localparam int unsigned WeightLatency = 5;

  // ---- Which beat. ----

  logic [StepWidth-1:0] step_q;
  logic [LogN-LogPos-1:0] group_q;
  logic [Unroll-1:0] pattern_q, last_pattern;
  logic [CountWidth-1:0] held_q;
  logic first, last, room;

  assign last_pattern = (step_q == StepWidth'(Steps - 1)) ? Unroll'((1 << LastBits) - 1) :
      Unroll'((1 << Unroll) - 1);
  assign first = pattern_q == Unroll'(1);
  assign last = pattern_q == last_pattern;
  assign room = !first || held_q != CountWidth'(Depth);
  assign take_o = available_i & room;
  assign step_o = step_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= '0;
      group_q <= '0;
      pattern_q <= Unroll'(1);
      held_q <= '0;
    end else if (clear_i) begin
      step_q <= '0;
      group_q <= '0;
      pattern_q <= Unroll'(1);
      held_q <= '0;
    end else begin
      held_q <= held_q + CountWidth'(take_o & first) - CountWidth'(taken_i);
      if (take_o) begin
        pattern_q <= last ? Unroll'(1) : pattern_q + 1'b1;
        if (last) begin
          group_q <= group_q + 1'b1;
          if (&group_q) step_q <= step_q + 1'b1;
        end
      end
    end
  end

  // ---- Its weights: a (2 br(i) + 1), i = group Pos + j: br(i) = br(group) + br(j) in its own bits. ----

  logic [Unroll-1:0] pattern_late_q;
  logic [LogN:0] exponent_d, exponent_q, exponent_q2, first_q;
  logic [LogN-LogPos-1:0] group_rev, group_rev_q, group_rev_q2;

  always_comb begin
    exponent_d = '0;
    for (int unsigned t = 0; t < Unroll; t++) begin
      if (pattern_late_q[t]) exponent_d = exponent_d + exponents_i[t];
    end
  end

  for (genvar b = 0; b < LogN - LogPos; b++) begin : gen_reversed
    assign group_rev[b] = group_q[LogN-LogPos-1-b];
  end

  always_ff @(posedge clk_i) begin
    pattern_late_q <= pattern_q;
    group_rev_q <= group_rev;
    exponent_q <= exponent_d;
    group_rev_q2 <= group_rev_q;
    exponent_q2 <= exponent_q;
    first_q <= exponent_q * (LogN + 1)'({group_rev_q2, 1'b1});
  end

  // ---- Weighed and summed. ----

  logic [Pos-1:0][Rows-1:0][1:0][Width-1:0] key_late, total_q;
  logic last_late, first_late, take_late;

  rm_delay #(
      .Width(Pos * Rows * 2 * Width),
      .Depth(WeightLatency - 2)
  ) u_key (
      .clk_i,
      .d_i(key_i),
      .q_o(key_late)
  );

  rm_valid #(
      .Depth(WeightLatency + MulLatency)
  ) u_take (
      .clk_i,
      .rst_ni,
      .valid_i(take_o),
      .valid_o(take_late)
  );

  rm_delay #(
      .Width(2),
      .Depth(WeightLatency + MulLatency)
  ) u_ends (
      .clk_i,
      .d_i({first, last}),
      .q_o({first_late, last_late})
  );

  for (genvar j = 0; j < Pos; j++) begin : gen_position
    logic [LogN:0] at_q;
    logic [Width-1:0] weight;

    always_ff @(posedge clk_i) begin
      at_q <= first_q + (LogN + 1)'(exponent_q2 * (LogN + 1)'(2 * reversed(j, LogN)));
    end

    rm_torus_powers #(
        .LogN(LogN)
    ) u_powers (
        .clk_i,
        .exponent_i(at_q),
        .power_o(weight)
    );

    for (genvar r = 0; r < Rows; r++) begin : gen_row
      for (genvar c = 0; c < 2; c++) begin : gen_column
        logic [Width-1:0] weighed, total;

        rm_torus_mul u_mul (
            .clk_i,
            .a_i(key_late[j][r][c]),
            .b_i(weight),
            .r_o(weighed)
        );

        rm_mod_add #(
            .Width(Width)
        ) u_add (
            .a_i(first_late ? '0 : total_q[j][r][c]),
            .b_i(weighed),
            .q_i(P),
            .r_o(total)
        );

        always_ff @(posedge clk_i) if (take_late) total_q[j][r][c] <= total;
      end
    end
  end

  logic valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= take_late && last_late;
  end

  assign valid_o = valid_q;
  assign bundle_o = total_q;

endmodule
