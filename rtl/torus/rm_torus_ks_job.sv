// SPDX-License-Identifier: Apache-2.0
// Control of the key-switching unit (rm_torus_ks): takes commands, checks the framing of the
// bodies, and issues rows.
//
// A command is taken while ready. done_o is high for a cycle when it has ended, with code_o. Rows
// are issued in passes. A pass is all N Levels rows of the key for `Lanes` columns of the mask. It
// issues one row a cycle in which the generators have a place (place_i), and there is one cycle
// between passes. The first pass takes the body of each row, and waits while there is none. A
// pass's last row is issued only when the words of the pass before have left. They have left long
// before if N Levels is larger than the latency and the words of a pass.
//
// The body of the last row is marked (in_last_i). Bodies that end early or go on end the command.
// The unit takes them to their last, and waits Fill cycles for the rows in flight, before done_o.
module rm_torus_ks_job
  import rm_torus_isa_pkg::*;
#(
    parameter int unsigned Batch = 1,
    parameter int unsigned Cores = 1,
    parameter int unsigned Lanes = 16,
    parameter int unsigned Levels = 15,
    parameter int unsigned MaxLarge = 1024,
    parameter int unsigned MaxSmall = 630,
    parameter int unsigned Fill = 90,
    parameter int unsigned RowWidth = 14,
    parameter int unsigned BlockWidth = 8
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // Commands.
    input  logic                  cmd_valid_i,
    output logic                  cmd_ready_o,
    input  logic [          15:0] cmd_large_i,
    input  logic [          15:0] cmd_small_i,
    input  logic [           7:0] cmd_count_i,
    output logic                  done_o,
    output switch_code_e                 code_o,
    // Bodies.
    input  logic                  in_valid_i,
    output logic                  in_ready_o,
    input  logic                  in_last_i,
    // A command begins: sizes hold from then on, and the ciphertexts' bodies are read.
    output logic                  begin_o,
    output logic [          15:0] large_o,
    output logic [          15:0] small_o,
    output logic [           7:0] count_o,
    // A row is issued: the word of the ciphertexts that it belongs to, whether it is the word's
    // first; the block of the first generator; whether it has a body, and whether it is its pass's
    // last.
    input  logic                  place_i,
    output logic                  issue_o,
    output logic [          15:0] word_o,
    output logic                  fresh_o,
    output logic [  RowWidth-1:0] row_o,
    output logic [BlockWidth-1:0] block_o,
    output logic                  body_o,
    output logic                  final_o,
    // The last word of a pass leaves.
    input  logic                  given_i
);

  localparam int unsigned DigitWidth = (Levels > 1) ? $clog2(Levels) : 1;
  localparam int unsigned DrainWidth = $clog2(Fill + 1);

  typedef enum logic [2:0] {
    Idle,
    Begin,
    Run,
    Give,     // results are under way
    Swallow   // wrong bodies, and what is under way
  } state_e;

  state_e state_d, state_q;
  switch_code_e code_d, code_q;
  logic done_d, done_q, long_d, long_q;
  logic [15:0] large_d, large_q, small_d, small_q;
  logic [7:0] count_d, count_q;
  // The row of the switching key: a word of the mask and a digit of this word, and whether these
  // are the last.
  logic [RowWidth-1:0] row_d, row_q;
  logic [15:0] word_d, word_q;
  logic [DigitWidth-1:0] digit_d, digit_q;
  logic last_word_d, last_word_q, last_digit, at_end;
  // The pass. left: the columns that are left, with its own. first, last: whether it is the first
  // or the last pass. gap: a cycle between two passes. owed: whether words of a pass are still to
  // leave.
  logic [BlockWidth-1:0] block_d, block_q;
  logic [15:0] left_d, left_q;
  logic first_d, first_q, last_d, last_q, gap_d, gap_q, owed_d, owed_q;
  logic [DrainWidth-1:0] drain_d, drain_q;
  logic fits, may, take, wrong, issue, in_ready;

  assign fits = cmd_large_i != '0 && cmd_large_i <= 16'(MaxLarge) && cmd_small_i != '0 &&
      cmd_small_i <= 16'(MaxSmall) && cmd_count_i != '0 && cmd_count_i <= 8'(Batch);

  assign last_digit = digit_q == DigitWidth'(Levels - 1);
  assign at_end = last_word_q && last_digit;
  assign may = state_q == Run && place_i && !gap_q && !(at_end && owed_q);
  assign take = may && first_q && in_valid_i;
  assign wrong = take && in_last_i != at_end;
  assign issue = may && (in_valid_i || !first_q) && !wrong;

  always_comb begin
    unique case (state_q)
      Run: in_ready = may && first_q;
      Swallow: in_ready = long_q;
      default: in_ready = 1'b0;
    endcase
  end

  always_comb begin
    state_d = state_q;
    code_d = code_q;
    done_d = 1'b0;
    long_d = long_q;
    large_d = large_q;
    small_d = small_q;
    count_d = count_q;
    row_d = row_q;
    word_d = word_q;
    digit_d = digit_q;
    last_word_d = last_word_q;
    block_d = block_q;
    left_d = left_q;
    first_d = first_q;
    last_d = last_q;
    gap_d = 1'b0;
    owed_d = owed_q && !given_i;
    drain_d = drain_q;

    unique case (state_q)
      Idle: begin
        row_d = '0;
        word_d = '0;
        digit_d = '0;
        block_d = '0;
        first_d = 1'b1;
        owed_d = 1'b0;
        drain_d = DrainWidth'(Fill);
        if (cmd_valid_i) begin
          large_d = cmd_large_i;
          small_d = cmd_small_i;
          count_d = cmd_count_i;
          // A refused command is done at once.
          code_d = fits ? SwitchOk : SwitchTooLarge;
          done_d = !fits;
          if (fits) state_d = Begin;
        end
      end

      Begin: begin
        left_d = small_q;
        last_d = small_q <= 16'(Lanes);
        last_word_d = large_q == 16'd1;
        state_d = Run;
      end

      Run: begin
        if (issue) begin
          row_d = at_end ? '0 : row_q + 1'b1;
          digit_d = last_digit ? '0 : digit_q + 1'b1;
          if (last_digit) begin
            word_d = last_word_q ? '0 : word_q + 1'b1;
            last_word_d = large_q == (last_word_q ? 16'd1 : word_q + 16'd2);
          end
          if (at_end) begin
            gap_d = 1'b1;
            owed_d = 1'b1;
            first_d = 1'b0;
            block_d = block_q + BlockWidth'(Cores);
            left_d = left_q - 16'(Lanes);
            last_d = left_q <= 16'(2 * Lanes);
            if (last_q) state_d = Give;
          end
        end
        if (wrong) begin
          code_d = in_last_i ? SwitchCutShort : SwitchTooLong;
          long_d = !in_last_i;
          state_d = Swallow;
        end
      end

      Give: begin
        if (given_i) begin
          state_d = Idle;
          done_d = 1'b1;
        end
      end

      default: begin
        if (in_valid_i && in_last_i) long_d = 1'b0;
        if (drain_q != '0) drain_d = drain_q - 1'b1;
        if (!long_q && drain_q == '0) begin
          state_d = Idle;
          done_d = 1'b1;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      code_q <= SwitchOk;
      done_q <= 1'b0;
      gap_q <= 1'b0;
      owed_q <= 1'b0;
    end else begin
      state_q <= state_d;
      code_q <= code_d;
      done_q <= done_d;
      gap_q <= gap_d;
      owed_q <= owed_d;
    end
  end

  always_ff @(posedge clk_i) begin
    long_q <= long_d;
    large_q <= large_d;
    small_q <= small_d;
    count_q <= count_d;
    row_q <= row_d;
    word_q <= word_d;
    digit_q <= digit_d;
    last_word_q <= last_word_d;
    block_q <= block_d;
    left_q <= left_d;
    first_q <= first_d;
    last_q <= last_d;
    drain_q <= drain_d;
  end

  assign cmd_ready_o = state_q == Idle;
  assign done_o = done_q;
  assign code_o = code_q;
  assign in_ready_o = in_ready;
  assign begin_o = state_q == Begin;
  assign large_o = large_q;
  assign small_o = small_q;
  assign count_o = count_q;
  assign issue_o = issue;
  assign word_o = word_q;
  assign fresh_o = digit_q == '0;
  assign row_o = row_q;
  assign block_o = block_q;
  assign body_o = first_q;
  assign final_o = at_end;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      words_leave_before_more_come : assert (!(issue && at_end && owed_q));
    end
  end
`endif

endmodule
