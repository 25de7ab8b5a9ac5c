// Control of a shared base extension: commands, framing of the streams, and the issue of
// coefficients in rows and rounds.
//
// A command is taken while ready; done_o is up for a cycle when it has ended, with code_o. OpLoad
// takes a stream of constants (rm_basext_shared_const). OpExact takes, for each of cmd_k_i + 1
// polynomials, the residues modulo q_0 to q_(l-1) and then modulo m, N / TP beats each, and gives
// the k target residues, N / TP beats each; OpFast takes those modulo q_0 to q_(l-1). Every residue
// polynomial's last beat says so; coefficients come in any one order for all of a polynomial's. A
// wrong stream ends the command: it is swallowed to the end of its residue polynomial, and what was
// given before is still to be taken, before done_o.
//
// A round is one pass over the rows of a polynomial for batch = min(Batch, l + 1) targets: the
// residues (the first round: fresh), or what was kept of them; rows are those modulo q_0 to
// q_(l-1), and row l (m, or zeros where a fast extension has as many targets at once). The target
// of channel j is j rows late: it ends in row j - 1 of the round after, and one target ends a row.
// After the last round come as many rows as it has targets beyond one.
//
// A coefficient is issued when it is taken, or when it is to be made from what was kept: at most
// one a cycle, and one that ends a target only while the queue has room for it. With rounds =
// ceil(k / batch) and rows = l + 1, or l the fast way while batch <= l, a command without stalls
// takes
//   ((cmd_k_i + 1) rounds rows + k - (rounds - 1) batch - 1) N / TP + Latency + 1
// cycles to done_o; Latency is from issue to the queue.
module rm_basext_shared_ctl
  import rm_basext_pkg::*;
#(
    parameter int unsigned Lanes = 1,
    parameter int unsigned MinLogN = 8,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    parameter int unsigned Batch = 8,
    parameter int unsigned Rounds = 16,
    parameter int unsigned Places = 132,
    parameter int unsigned Latency = 45,
    parameter int unsigned Queue = 64,
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned BWidth = (Batch > 1) ? $clog2(Batch) : 1,
    localparam int unsigned RWidth = (Rounds > 1) ? $clog2(Rounds) : 1,
    localparam int unsigned PWidth = $clog2(Places),
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
    output logic [   LWidth-1:0] batch_o,
    input  logic                 load_done_i,
    input  code_e                load_code_i,
    input  logic                 exact_i,
    output logic                 exact_o,
    // A coefficient of this cycle: whether its polynomial is new, its row, whether that is row l,
    // its place; the round and the place of its first constant, of this round and of the last; and
    // whether, and for which channel, it ends a target's.
    output logic                 issue_o,
    output logic                 fresh_o,
    output logic [   LWidth-1:0] slot_o,
    output logic                 tail_o,
    output logic [AddrWidth-1:0] addr_o,
    output logic [   RWidth-1:0] round_o,
    output logic [   PWidth-1:0] base_o,
    output logic [   RWidth-1:0] past_round_o,
    output logic [   PWidth-1:0] past_base_o,
    output logic                 give_o,
    output logic [   BWidth-1:0] channel_o,
    output logic                 last_o,
    output logic                 final_o,
    // The job's last coefficient in the queue, and a beat out of the queue.
    input  logic                 given_i,
    input  logic                 popped_i
);

  localparam int unsigned RoomWidth = $clog2(Queue + 1);
  localparam int unsigned DrainWidth = $clog2(Latency + 4);

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
  logic [LWidth-1:0] l_d, l_q, batch_d, batch_q;
  logic [KWidth-1:0] k_d, k_q;
  // Polynomials behind this one.
  logic [7:0] more_d, more_q;
  // The last but one coefficient's place, and this one's; whether it is the last.
  logic [AddrWidth-1:0] end_d, end_q, c_d, c_q;
  logic at_end_d, at_end_q;
  // The row; whether it is the round's last, and whether it takes residues.
  logic [LWidth-1:0] slot_d, slot_q;
  logic last_slot_d, last_slot_q, takes_d, takes_q;
  // The round: targets before it are not counted in left; after the last one the channels drain.
  logic fresh_d, fresh_q, drain_d, drain_q;
  logic [RWidth-1:0] round_d, round_q, past_round_d, past_round_q;
  logic [PWidth-1:0] base_d, base_q, past_base_d, past_base_q;
  logic [KWidth-1:0] left_d, left_q;
  // Targets of the round before.
  logic [LWidth-1:0] past_d, past_q, last_past_d, count;
  // Whether this row ends a target, and whether it is the command's last.
  logic gives_d, gives_q, final_d, final_q;
  logic [RoomWidth-1:0] room_d, room_q;
  logic [DrainWidth-1:0] wait_d, wait_q;
  logic room_left, fits, in_ready, issue, more_targets;

  assign room_left = !gives_q || room_q != '0;
  assign more_targets = left_q > KWidth'(batch_q);
  assign count = more_targets ? batch_q : LWidth'(left_q);
  assign issue = state_q == Run && room_left && (in_valid_i || !takes_q);

  always_comb begin
    unique case (state_q)
      Load, Swallow: in_ready = long_q;
      Run: in_ready = takes_q && room_left;
      default: in_ready = 1'b0;
    endcase
  end

  assign fits = cmd_log_n_i >= 5'(MinLogN) && cmd_log_n_i <= 5'(MaxLogN);

  // ---- Rows and rounds. ----

  always_comb begin
    slot_d = slot_q;
    fresh_d = fresh_q;
    drain_d = drain_q;
    round_d = round_q;
    base_d = base_q;
    left_d = left_q;
    more_d = more_q;
    past_round_d = past_round_q;
    past_base_d = past_base_q;
    past_d = past_q;
    if (state_q == Idle) begin
      slot_d = '0;
      fresh_d = 1'b1;
      drain_d = 1'b0;
      round_d = '0;
      base_d = '0;
      left_d = k_q;
      more_d = cmd_k_i;
      past_d = '0;
    end else if (issue && at_end_q) begin
      slot_d = slot_q + 1'b1;
      if (last_slot_q) begin
        slot_d = '0;
        past_round_d = round_q;
        past_base_d = base_q;
        past_d = count;
        if (more_targets) begin
          fresh_d = 1'b0;
          round_d = round_q + 1'b1;
          base_d = base_q + PWidth'(l_q) + 1'b1;
          left_d = left_q - KWidth'(batch_q);
        end else begin
          fresh_d = more_q != '0;
          drain_d = more_q == '0;
          round_d = '0;
          base_d = '0;
          left_d = k_q;
          more_d = more_q - 1'b1;
        end
      end
    end
    // What is known of a row when it begins.
    last_slot_d = !drain_d && slot_d == ((exact_d || batch_q > l_q) ? l_q : l_q - 1'b1);
    takes_d = fresh_d && !drain_d && (exact_d || slot_d != l_q);
    last_past_d = past_d - 1'b1;
    gives_d = last_slot_d || (past_d != '0 && slot_d < last_past_d);
    final_d = drain_d ? slot_d + 1'b1 == last_past_d :
        last_slot_d && more_d == '0 && left_d == KWidth'(1);
  end

  // ---- States. ----

  always_comb begin
    state_d = state_q;
    exact_d = exact_q;
    loaded_d = loaded_q;
    long_d = long_q;
    done_d = 1'b0;
    code_d = code_q;
    l_d = l_q;
    k_d = k_q;
    batch_d = batch_q;
    end_d = end_q;
    c_d = c_q;
    at_end_d = at_end_q;
    wait_d = wait_q;
    start_d = 1'b0;

    unique case (state_q)
      Idle: begin
        c_d = '0;
        at_end_d = 1'b0;
        long_d = 1'b1;
        wait_d = DrainWidth'(Latency + 2);
        if (cmd_valid_i) begin
          exact_d = cmd_op_i == OpExact;
          end_d = AddrWidth'((32'd1 << (cmd_log_n_i - 5'($clog2(Lanes)))) - 32'd2);
          code_d = Ok;
          unique case (cmd_op_i)
            OpLoad: begin
              if (cmd_l_i == '0 || cmd_l_i > 8'(MaxL) || cmd_k_i == '0 || cmd_k_i > 8'(MaxK)) begin
                code_d = TooLarge;
              end else begin
                l_d = LWidth'(cmd_l_i);
                k_d = KWidth'(cmd_k_i);
                batch_d = (cmd_l_i >= 8'(Batch)) ? LWidth'(Batch) : LWidth'(cmd_l_i) + 1'b1;
                start_d = 1'b1;
                state_d = Load;
              end
            end
            OpExact, OpFast: begin
              if (!fits) code_d = TooLarge;
              else if (!loaded_q) code_d = NoConstants;
              else if (cmd_op_i == OpExact && !exact_i) code_d = NoRedundant;
              else state_d = Run;
            end
            default: code_d = BadCommand;
          endcase
          done_d = state_d == Idle;
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
          if (at_end_q && final_q) state_d = Give;
          if (takes_q && in_last_i != at_end_q) begin
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
        if (wait_q != '0) wait_d = wait_q - 1'b1;
        if (!long_q && wait_q == '0 && room_q == RoomWidth'(Queue)) begin
          state_d = Idle;
          done_d = 1'b1;
        end
      end
    endcase
  end

  always_comb begin
    room_d = room_q;
    if (issue && gives_q && !popped_i) room_d = room_q - 1'b1;
    else if (!(issue && gives_q) && popped_i) room_d = room_q + 1'b1;
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
    batch_q <= batch_d;
    more_q <= more_d;
    end_q <= end_d;
    c_q <= c_d;
    at_end_q <= at_end_d;
    slot_q <= slot_d;
    last_slot_q <= last_slot_d;
    takes_q <= takes_d;
    fresh_q <= fresh_d;
    drain_q <= drain_d;
    round_q <= round_d;
    past_round_q <= past_round_d;
    base_q <= base_d;
    past_base_q <= past_base_d;
    left_q <= left_d;
    past_q <= past_d;
    gives_q <= gives_d;
    final_q <= final_d;
    wait_q <= wait_d;
  end

  assign cmd_ready_o = state_q == Idle;
  assign in_ready_o = in_ready;
  assign load_valid_o = state_q == Load && in_valid_i && long_q;
  assign load_start_o = start_q;
  assign done_o = done_q;
  assign code_o = code_q;
  assign l_o = l_q;
  assign k_o = k_q;
  assign batch_o = batch_q;
  assign exact_o = exact_q;
  assign issue_o = issue;
  assign fresh_o = fresh_q && !drain_q;
  assign slot_o = slot_q;
  assign tail_o = slot_q == l_q;
  assign addr_o = c_q;
  assign round_o = round_q;
  assign base_o = base_q;
  assign past_round_o = past_round_q;
  assign past_base_o = past_base_q;
  assign give_o = gives_q;
  assign channel_o = last_slot_q ? '0 : BWidth'(slot_q) + 1'b1;
  assign last_o = at_end_q;
  assign final_o = at_end_q && final_q;

endmodule
