// SPDX-License-Identifier: Apache-2.0
// The main cores' step counter: turns a granted word into its steps, on limbs of 2^log_n_i
// coefficients.
//
// A transform takes its passes, a step a row, the forward transform from the highest pass down.
// Between two passes there are idle cycles for the words that the next one reads. Any other
// instruction word takes its rows once, in order. A row takes more_i + 1 beats in the first pass of
// a transform and in other words, and one beat in later passes. sub_o counts the beats of a row,
// and last_sub_o marks the last. With halves_i a step has two such rows, half_o the second. With
// tail_i, tail_more_i + 1 more beats follow the last row, for words that are written late; tail_o
// marks the last of them. The turns, cycles left to a word of the dyadic cores, are left out
// (rm_ring_pace).
//
// The first step may be in the cycle after start_i. A word runs to its end: none starts while
// busy_o. log_n_i is held.
module rm_ring_seq
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned LogPeriod = 3,
    parameter int unsigned MulLatency = 12,
    parameter int unsigned Stages = 2,
    localparam int unsigned LogSteps = LogN - LogRow,
    localparam int unsigned Passes = pass_count(LogN, Stages),
    localparam int unsigned PassWidth = $clog2(Passes),
    localparam int unsigned WaitWidth = $clog2(pass_wait(LogRow + 1, LogRow, Stages, MulLatency) + 2)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic [SizeWidth-1:0] log_n_i,
    input  logic                 start_i,
    input  logic                 transform_i,  // with start_i, as all that follow
    input  logic                 inverse_i,
    input  logic [BeatWidth-1:0] more_i,  // a cycle later, and held
    input  logic                 halves_i,
    input  logic                 tail_i,
    input  logic [BeatWidth-1:0] tail_more_i,  // a cycle later, and held
    input  logic [LogPeriod-1:0] turns_i,
    output logic                 busy_o,
    output logic                 beat_o,
    output logic                 first_pass_o,
    output logic [PassWidth-1:0] pass_o,
    output logic [ LogSteps-1:0] step_o,
    output logic                 first_row_o,  // the step is 0, but for a tail's
    output logic [BeatWidth-1:0] sub_o,
    output logic                 half_o,
    output logic                 last_sub_o,
    output logic                 tail_o
);

  logic busy_q, fresh_q, transform_q, inverse_q, halves_q, first_q, has_tail_q, tail_q, half_q;
  logic [BeatWidth-1:0] sub_q;
  logic [LogPeriod-1:0] turns_q;
  logic [PassWidth-1:0] pass_q;
  logic [LogSteps-1:0] step_q;
  logic [WaitWidth-1:0] wait_q;
  logic waits_q, pauses_q, first_row_q;  // what is not 0, or is
  logic run, beat, row_end, row_done, pass_done, last_pass, done;

  // ---- What the size says. ----

  logic [PassWidth-1:0] top_q;
  logic [LogSteps-1:0] last_q;
  logic [WaitWidth-1:0] pause_q;

  always_ff @(posedge clk_i) begin
    top_q <= '0;
    last_q <= '0;
    pause_q <= '0;
    pauses_q <= 1'b0;
    for (int unsigned n = LogRow + 1; n <= LogN; n++) begin
      if (log_n_i == SizeWidth'(n)) begin
        top_q <= PassWidth'(pass_count(n, Stages) - 1);
        last_q <= LogSteps'((1 << (n - LogRow)) - 1);
        pause_q <= WaitWidth'(pass_wait(n, LogRow, Stages, MulLatency));
        pauses_q <= pass_wait(n, LogRow, Stages, MulLatency) > 0;
      end
    end
  end

  assign run = busy_q && !waits_q;

  rm_ring_pace #(
      .LogPeriod(LogPeriod)
  ) u_pace (
      .clk_i,
      .start_i(fresh_q),
      .turns_i(turns_q),
      .run_i  (run),
      .beat_o (beat)
  );

  assign row_end = beat && sub_q == ((transform_q && !first_q) ? '0 : more_i) && !tail_q;
  assign row_done = row_end && (!halves_q || half_q);
  assign pass_done = row_done && step_q == last_q;
  assign last_pass = !transform_q || (inverse_q ? pass_q == top_q : pass_q == '0);
  assign done = has_tail_q ? tail_o : pass_done && last_pass;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= start_i || (busy_q && !done);
  end

  always_ff @(posedge clk_i) begin
    // Each pass begins its spreading of steps anew (rm_ring_pace).
    fresh_q <= start_i || (pass_done && !has_tail_q) || (fresh_q && !run);
    if (start_i) begin
      transform_q <= transform_i;
      inverse_q <= inverse_i;
      halves_q <= halves_i;
      has_tail_q <= tail_i;
      tail_q <= 1'b0;
      turns_q <= turns_i;
      first_q <= 1'b1;
      pass_q <= (transform_i && !inverse_i) ? top_q : '0;
      step_q <= '0;
      first_row_q <= 1'b1;
      sub_q <= '0;
      half_q <= 1'b0;
      wait_q <= '0;
      waits_q <= 1'b0;
    end else begin
      if (beat) sub_q <= row_end ? '0 : sub_q + 1'b1;
      if (row_end) half_q <= halves_q && !half_q;
      if (row_done) begin
        step_q <= step_q + 1'b1;
        first_row_q <= 1'b0;
      end
      if (pass_done) begin
        if (!has_tail_q) begin
          step_q <= '0;
          first_row_q <= 1'b1;
        end
        first_q <= 1'b0;
        pass_q <= inverse_q ? pass_q + 1'b1 : pass_q - 1'b1;
        wait_q <= has_tail_q ? '0 : pause_q;
        waits_q <= !has_tail_q && pauses_q;
        tail_q <= has_tail_q;
      end else if (waits_q) begin
        wait_q <= wait_q - 1'b1;
        waits_q <= wait_q != WaitWidth'(1);
      end
    end
  end

  assign busy_o = busy_q;
  assign beat_o = beat;
  assign first_pass_o = first_q;
  assign pass_o = pass_q;
  assign step_o = step_q;
  assign first_row_o = first_row_q;
  assign sub_o = sub_q;
  assign half_o = half_q;
  assign last_sub_o = row_end;
  assign tail_o = beat && tail_q && sub_q == tail_more_i;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
    end else one_word_at_a_time : assert (!(start_i && busy_q));
  end
`endif

endmodule
