// SPDX-License-Identifier: Apache-2.0
// Multiplies evaluations by the rows of a gadget ciphertext and sums over the rows:
//
//   s_c(i) = sum_r d_r(i) k_(r, c)(i);  for unrolled keys sum over patterns u of (psi^(a_u (2 br(i) + 1)) - 1) s_(u, c)(i)
//
// The module takes Pos positions i a cycle and gives both columns c. With Unroll > 1 a step has a
// pattern u for each value other than 0 of its secret bits, with a gadget ciphertext of its own.
// The patterns of a group of positions follow each other, `first_i` with the first and `last_i`
// with the last. Position i of the evaluations is that of psi^(2 bitrev(i) + 1). The factors of the
// patterns, their weights, come from a table of powers of psi less one (rm_torus_powers).
//
// The module has Pos Rows 2 modular multipliers, and 2 Pos more for the weights. Evaluations and
// key come two cycles after the issue. Latency product_latency from the issue, one group of
// positions and pattern a cycle.
module rm_torus_product
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogPos = 0,
    parameter int unsigned Rows = 6,
    parameter int unsigned Unroll = 1,
    localparam int unsigned Pos = 1 << LogPos
) (
    input  logic                                    clk_i,
    input  logic                                    rst_ni,
    // Inputs at the issue.
    input  logic                                    issue_i,
    input  logic                                    first_i,
    input  logic                                    last_i,
    input  logic [ LogN-LogPos-1:0]                 group_i,
    input  logic [          LogN:0]                 exponent_i,  // of the pattern
    // Inputs two cycles after the issue.
    input  logic [Rows-1:0][Pos-1:0][Width-1:0]     digits_i,
    input  logic [Pos-1:0][Rows-1:0][1:0][Width-1:0] key_i,
    output logic                                    valid_o,
    output logic [1:0][Pos-1:0][Width-1:0]          sums_o
);

  localparam int unsigned Levels = tree(Rows);
  localparam int unsigned SumLatency = 2 + TimesLatency + Levels + 2;

  logic [1:0][Pos-1:0][Width-1:0] sums;
  logic sum_valid;

  rm_valid #(
      .Depth(SumLatency)
  ) u_sum_valid (
      .clk_i,
      .rst_ni,
      .valid_i(issue_i),
      .valid_o(sum_valid)
  );

  // The digits that the products of both columns take, in two's complement.
  logic [Rows-1:0][Pos-1:0][Width-1:0] digits;

  for (genvar r = 0; r < Rows; r++) begin : gen_near
    for (genvar i = 0; i < Pos; i++) begin : gen_position
      assign digits[r][i] = near_zero(digits_i[r][i]);
    end
  end

  for (genvar c = 0; c < 2; c++) begin : gen_column
    for (genvar i = 0; i < Pos; i++) begin : gen_position
      logic [Rows-1:0][Width:0] terms;

      for (genvar r = 0; r < Rows; r++) begin : gen_row
        rm_torus_times u_times (
            .clk_i,
            .a_i(key_i[i][r][c]),
            .b_i(digits[r][i]),
            .x_o(terms[r])
        );
      end

      rm_torus_sum #(
          .Terms(Rows)
      ) u_sum (
          .clk_i,
          .terms_i(terms),
          .sum_o(sums[c][i])
      );
    end
  end

  if (Unroll == 1) begin : gen_single
    assign valid_o = sum_valid;
    assign sums_o = sums;

    logic unused_pattern;
    assign unused_pattern = ^{first_i, last_i, group_i, exponent_i};
  end else begin : gen_weighed
    // The weight comes into its register together with the sum. Before it are the product of an
    // exponent and the table.
    localparam int unsigned ExpLatency = SumLatency - 3;
    logic [LogN:0] exponent_q, exponent_q2, first_q;
    logic [Pos-1:0][LogN:0] at_d, at_late;
    logic [1:0][Pos-1:0][Width-1:0] weighed, total_q;
    logic first_late, last_late, weighed_valid, out_valid_q;
    logic [LogN-LogPos-1:0] group_rev_d, group_rev_q;

    for (genvar b = 0; b < LogN - LogPos; b++) begin : gen_reversed
      assign group_rev_d[b] = group_i[LogN-LogPos-1-b];
    end

    // a (2 br(i) + 1), i = group Pos + j: br(i) = br(group) + br(j) in its own bits.
    always_ff @(posedge clk_i) begin
      exponent_q <= exponent_i;
      exponent_q2 <= exponent_q;
      group_rev_q <= group_rev_d;
      first_q <= exponent_q * (LogN + 1)'({group_rev_q, 1'b1});
    end

    for (genvar j = 0; j < Pos; j++) begin : gen_at
      assign at_d[j] = first_q + (LogN + 1)'(exponent_q2 * (LogN + 1)'(2 * reversed(j, LogN)));
    end

    rm_delay #(
        .Width(Pos * (LogN + 1)),
        .Depth(ExpLatency)
    ) u_at (
        .clk_i,
        .d_i(at_d),
        .q_o(at_late)
    );

    for (genvar j = 0; j < Pos; j++) begin : gen_weight
      logic [Width-1:0] weight;

      rm_torus_powers #(
          .LogN(LogN)
      ) u_powers (
          .clk_i,
          .exponent_i(at_late[j]),
          .power_o(weight)
      );

      for (genvar c = 0; c < 2; c++) begin : gen_column
        rm_torus_mul u_mul (
            .clk_i,
            .a_i(sums[c][j]),
            .b_i(weight),
            .r_o(weighed[c][j])
        );
      end
    end

    rm_valid #(
        .Depth(MulLatency)
    ) u_valid (
        .clk_i,
        .rst_ni,
        .valid_i(sum_valid),
        .valid_o(weighed_valid)
    );

    rm_delay #(
        .Width(2),
        .Depth(SumLatency + MulLatency)
    ) u_ends (
        .clk_i,
        .d_i({first_i, last_i}),
        .q_o({first_late, last_late})
    );

    for (genvar c = 0; c < 2; c++) begin : gen_total
      for (genvar j = 0; j < Pos; j++) begin : gen_position
        logic [Width-1:0] total;

        rm_mod_add #(
            .Width(Width)
        ) u_add (
            .a_i(first_late ? '0 : total_q[c][j]),
            .b_i(weighed[c][j]),
            .q_i(P),
            .r_o(total)
        );

        always_ff @(posedge clk_i) if (weighed_valid) total_q[c][j] <= total;
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) out_valid_q <= 1'b0;
      else out_valid_q <= weighed_valid && last_late;
    end

    assign valid_o = out_valid_q;
    assign sums_o = total_q;
  end

endmodule
