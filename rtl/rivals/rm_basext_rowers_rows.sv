// SPDX-License-Identifier: Apache-2.0
// Control of rm_basext_rowers: tells rm_basext_job which rows of coefficients come next, and gives
// the rowers their steps.
//
// For each of a command's cmd_k_i + 1 polynomials it does
//
//   Move   The residues modulo q_0 to q_(l-1) are taken, N / Lanes beats a row. Those of the
//          targets of the polynomial before are given in the same rows.
//   Scale  Passes over the N coefficients, one a cycle: one pass, or l - 1 with Digits.
//   Sum    l cycles for each of the N coefficients.
//
// Settle cycles follow Scale and Sum, while their last results are in flight. After the last
// polynomial come k rows that only give. In Scale and Sum nothing is issued to the job. step_o says
// that there is a step; step_s_o is the pass or the source, step_c_o the coefficient. begin_o marks
// the first step of Sum for its coefficient. sums_o is high from Sum's first cycle until all of its
// results are written.
module rm_basext_rowers_rows #(
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned Settle = 13,
    parameter bit Digits = 1'b0,
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned RWidth = rm_arith_pkg::max2(LWidth, KWidth)
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    // The job.
    input  logic               idle_i,
    input  logic               run_i,
    input  logic [        7:0] cmd_k_i,
    input  logic [        4:0] log_n_i,
    input  logic [ LWidth-1:0] l_i,
    input  logic [ KWidth-1:0] k_i,
    input  logic               issue_i,
    input  logic               at_end_i,
    output logic               moves_o,
    output logic               takes_o,
    output logic               gives_o,
    output logic               final_o,
    // The row of Move.
    output logic [ RWidth-1:0] row_o,
    // A step of Scale or Sum.
    output logic               step_o,
    output logic               sums_o,
    output logic               begin_o,
    output logic [ LWidth-1:0] step_s_o,
    output logic [MaxLogN-1:0] step_c_o
);

  localparam int unsigned SWidth = $clog2(Settle + 1);

  typedef enum logic [2:0] {
    Move,
    Scale,
    Scaled,
    Sum,
    Summed
  } state_e;

  state_e state_d, state_q;
  // Whether the polynomial's residues are taken, and those of the targets of the polynomial before
  // given.
  logic taking_d, taking_q, giving_d, giving_q, last_take, last_give, no_scale;
  logic [7:0] more_d, more_q;
  logic [RWidth-1:0] row_d, row_q;
  logic [LWidth-1:0] s_d, s_q;
  // Whether a coefficient is the last is known when it begins, from the place before the last.
  logic [MaxLogN-1:0] c_d, c_q, c_before_last_q;
  logic at_last_c_d, at_last_c_q;
  logic [SWidth-1:0] wait_d, wait_q;
  logic at_last_s;

  assign takes_o = taking_q && row_q < RWidth'(l_i);
  assign gives_o = giving_q && row_q < RWidth'(k_i);
  assign last_take = !taking_q || row_q + 1'b1 >= RWidth'(l_i);
  assign last_give = !giving_q || row_q + 1'b1 >= RWidth'(k_i);
  assign moves_o = state_q == Move;
  assign final_o = !taking_q && last_give;
  assign row_o = row_q;
  assign step_o = run_i && (state_q == Scale || state_q == Sum);
  assign sums_o = state_q == Sum || state_q == Summed;
  assign begin_o = s_q == '0;
  assign at_last_s = s_q + 1'b1 == l_i;
  assign step_s_o = s_q;
  assign step_c_o = c_q;

  // One digit needs no pass.
  assign no_scale = Digits && l_i == LWidth'(1);

  always_comb begin
    state_d = state_q;
    taking_d = taking_q;
    giving_d = giving_q;
    more_d = more_q;
    row_d = row_q;
    s_d = s_q;
    c_d = c_q;
    at_last_c_d = at_last_c_q;
    wait_d = SWidth'(Settle - 1);

    unique case (state_q)
      Move: begin
        s_d = '0;
        c_d = '0;
        at_last_c_d = 1'b0;
        if (issue_i && at_end_i) begin
          row_d = row_q + 1'b1;
          if (last_take && last_give) begin
            row_d = '0;
            state_d = no_scale ? Sum : Scale;
          end
        end
      end

      Scale: begin
        c_d = at_last_c_q ? '0 : c_q + 1'b1;
        at_last_c_d = c_q == c_before_last_q;
        if (at_last_c_q) begin
          s_d = s_q + 1'b1;
          if (!Digits || s_q + LWidth'(2) == l_i) begin
            s_d = '0;
            state_d = Scaled;
          end
        end
      end

      Scaled: begin
        wait_d = wait_q - 1'b1;
        if (wait_q == '0) state_d = Sum;
      end

      Sum: begin
        s_d = at_last_s ? '0 : s_q + 1'b1;
        if (at_last_s) begin
          c_d = at_last_c_q ? '0 : c_q + 1'b1;
          at_last_c_d = c_q == c_before_last_q;
          if (at_last_c_q) state_d = Summed;
        end
      end

      default: begin
        wait_d = wait_q - 1'b1;
        if (wait_q == '0) begin
          giving_d = 1'b1;
          taking_d = more_q != '0;
          more_d = more_q - 1'b1;
          state_d = Move;
        end
      end
    endcase

    if (idle_i) begin
      state_d = Move;
      taking_d = 1'b1;
      giving_d = 1'b0;
      more_d = cmd_k_i;
      row_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Move;
    else state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    taking_q <= taking_d;
    giving_q <= giving_d;
    more_q <= more_d;
    row_q <= row_d;
    s_q <= s_d;
    c_q <= c_d;
    at_last_c_q <= at_last_c_d;
    c_before_last_q <= MaxLogN'((32'd1 << log_n_i) - 32'd2);
    wait_q <= wait_d;
  end

endmodule
