// SPDX-License-Identifier: Apache-2.0
// The common control of all base extensions: takes commands, checks the framing of the streams, and
// issues coefficients. A module beside it (rm_basext_*_rows) says which coefficients come next.
//
// A command is taken while ready. done_o is high for a cycle when the command has ended, with
// code_o. OpLoad takes a stream of constants (rm_basext_words). Without HasFast there is no command
// OpFast.
//
// An extension is issued in rows, polynomials of N / Lanes beats. A row takes a residue polynomial
// from the stream (takes_i), gives a target's (gives_i), does both, or does neither. The last beat
// of every residue polynomial is marked. A wrong stream ends the command. The job then drops the
// stream to the end of its residue polynomial, and waits until the words given before have left,
// before done_o.
//
// A coefficient (of each lane) is issued in a cycle in which the rows have one (moves_i). A row
// that takes waits for its coefficient, and a row that only gives waits for room in the queue. From
// an issue to the queue there are at most Fill cycles. done_o is high one cycle after given_i,
// which marks the last coefficient of a job in the queue.
module rm_basext_job
  import rm_basext_isa_pkg::*, rm_basext_pkg::*;
#(
    parameter int unsigned Lanes = 1,
    parameter int unsigned MinLogN = 8,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    parameter int unsigned Fill = 29,
    parameter int unsigned Queue = 64,
    parameter bit HasFast = 1'b1,
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned AddrWidth = MaxLogN - $clog2(Lanes)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // Commands.
    input  logic                 cmd_valid_i,
    output logic                 cmd_ready_o,
    input  logic [          1:0] cmd_op_i,
    input  logic [          7:0] cmd_l_i,
    input  logic [          7:0] cmd_k_i,
    input  logic [          4:0] cmd_log_n_i,
    output logic                 done_o,
    output code_e                code_o,
    // The stream in.
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic                 in_last_i,
    // Constants.
    output logic                 load_start_o,
    output logic                 load_valid_o,
    output logic [   LWidth-1:0] l_o,
    output logic [   KWidth-1:0] k_o,
    input  logic                 load_done_i,
    input  code_e                load_code_i,
    input  logic                 exact_i,
    // A job: idle_o until its command's cycle, when exact_next_o is the command's; exact_o and
    // log_n_o hold after it. run_o until the stream is wrong or all is issued.
    output logic                 idle_o,
    output logic                 run_o,
    output logic                 exact_next_o,
    output logic                 exact_o,
    output logic [          4:0] log_n_o,
    // The coefficients that the rows have to issue in this cycle. The row is the job's last with
    // final_i.
    input  logic                 moves_i,
    input  logic                 takes_i,
    input  logic                 gives_i,
    input  logic                 final_i,
    // The coefficient that is issued, and whether it is its row's last.
    output logic                 issue_o,
    output logic [AddrWidth-1:0] addr_o,
    output logic                 at_end_o,
    // The job's last coefficient in the queue, and a beat out of the queue.
    input  logic                 given_i,
    input  logic                 popped_i
);

  localparam int unsigned RoomWidth = $clog2(Queue + 1);
  localparam int unsigned DrainWidth = $clog2(Fill + 1);
  // Bit log N of each ring that is within the maxima.
  localparam logic [31:0] Rings = (32'd2 << MaxLogN) - (32'd1 << MinLogN);

  typedef enum logic [2:0] {
    Idle,
    Load,
    Run,
    Give,     // results are under way
    Swallow   // a wrong stream, and what is under way
  } state_e;

  state_e state_d, state_q;
  logic exact_d, exact_q, loaded_d, loaded_q, long_d, long_q, done_d, done_q, start_d, start_q;
  code_e code_d, code_q;
  logic [LWidth-1:0] l_d, l_q;
  logic [KWidth-1:0] k_d, k_q;
  logic [4:0] log_n_d, log_n_q;
  // end_q: the place of a row's last but one coefficient. c_q: the place of this coefficient.
  // at_end_q: whether it is the row's last.
  logic [AddrWidth-1:0] end_d, end_q, c_d, c_q;
  logic at_end_d, at_end_q;
  logic [RoomWidth-1:0] room_d, room_q;
  logic [DrainWidth-1:0] drain_d, drain_q;
  logic room_left, fits, in_ready, issue;

  assign room_left = !gives_i || room_q != '0;
  assign issue = state_q == Run && moves_i && room_left && (in_valid_i || !takes_i);

  always_comb begin
    unique case (state_q)
      Load, Swallow: in_ready = long_q;
      Run: in_ready = moves_i && takes_i && room_left;
      default: in_ready = 1'b0;
    endcase
  end

  // A table of five bits, where comparisons would be carry chains.
  assign fits = Rings[cmd_log_n_i];

  always_comb begin
    state_d = state_q;
    exact_d = exact_q;
    loaded_d = loaded_q;
    long_d = long_q;
    done_d = 1'b0;
    code_d = code_q;
    l_d = l_q;
    k_d = k_q;
    log_n_d = log_n_q;
    end_d = end_q;
    c_d = c_q;
    at_end_d = at_end_q;
    drain_d = drain_q;
    start_d = 1'b0;

    unique case (state_q)
      Idle: begin
        c_d = '0;
        at_end_d = 1'b0;
        long_d = 1'b1;
        drain_d = DrainWidth'(Fill);
        if (cmd_valid_i) begin
          exact_d = cmd_op_i == OpExact;
          log_n_d = cmd_log_n_i;
          end_d = AddrWidth'((32'd1 << (cmd_log_n_i - 5'($clog2(Lanes)))) - 32'd2);
          code_d = Ok;
          // A refused command is done at once.
          done_d = 1'b1;
          unique case (cmd_op_i)
            OpLoad: begin
              if (cmd_l_i == '0 || cmd_l_i > 8'(MaxL) || cmd_k_i == '0 || cmd_k_i > 8'(MaxK)) begin
                code_d = TooLarge;
              end else begin
                l_d = LWidth'(cmd_l_i);
                k_d = KWidth'(cmd_k_i);
                start_d = 1'b1;
                done_d = 1'b0;
                state_d = Load;
              end
            end
            OpExact, OpFast: begin
              if (cmd_op_i == OpFast && !HasFast) code_d = BadCommand;
              else if (!fits) code_d = TooLarge;
              else if (!loaded_q) code_d = NoConstants;
              else if (cmd_op_i == OpExact && !exact_i) code_d = NoRedundant;
              else begin
                done_d = 1'b0;
                state_d = Run;
              end
            end
            default: code_d = BadCommand;
          endcase
        end
      end

      Load: begin
        if (in_valid_i && in_last_i) long_d = 1'b0;
        if (load_done_i) begin
          code_d = load_code_i;
          loaded_d = load_code_i == Ok;
          done_d = load_code_i == Ok;
          state_d = (load_code_i == Ok) ? Idle : Swallow;
        end
      end

      Run: begin
        if (issue) begin
          c_d = at_end_q ? '0 : c_q + 1'b1;
          at_end_d = !at_end_q && c_q == end_q;
          if (at_end_q && final_i) state_d = Give;
          if (takes_i && in_last_i != at_end_q) begin
            code_d = in_last_i ? CutShort : TooLong;
            long_d = !in_last_i;
            state_d = Swallow;
          end
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
        if (!long_q && drain_q == '0 && room_q == RoomWidth'(Queue)) begin
          state_d = Idle;
          done_d = 1'b1;
        end
      end
    endcase
  end

  always_comb begin
    room_d = room_q;
    if (issue && gives_i && !popped_i) room_d = room_q - 1'b1;
    else if (!(issue && gives_i) && popped_i) room_d = room_q + 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      loaded_q <= 1'b0;
      done_q <= 1'b0;
      start_q <= 1'b0;
      code_q <= Ok;
      room_q <= RoomWidth'(Queue);
    end else begin
      state_q <= state_d;
      loaded_q <= loaded_d;
      done_q <= done_d;
      start_q <= start_d;
      code_q <= code_d;
      room_q <= room_d;
    end
  end

  always_ff @(posedge clk_i) begin
    exact_q <= exact_d;
    long_q <= long_d;
    l_q <= l_d;
    k_q <= k_d;
    log_n_q <= log_n_d;
    end_q <= end_d;
    c_q <= c_d;
    at_end_q <= at_end_d;
    drain_q <= drain_d;
  end

  assign cmd_ready_o = state_q == Idle;
  assign in_ready_o = in_ready;
  assign load_valid_o = state_q == Load && in_valid_i && long_q;
  assign load_start_o = start_q;
  assign done_o = done_q;
  assign code_o = code_q;
  assign l_o = l_q;
  assign k_o = k_q;
  assign idle_o = state_q == Idle;
  assign run_o = state_q == Run;
  assign exact_next_o = exact_d;
  assign exact_o = exact_q;
  assign log_n_o = log_n_q;
  assign issue_o = issue;
  assign addr_o = c_q;
  assign at_end_o = at_end_q;

endmodule
