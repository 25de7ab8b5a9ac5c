// Control of a folded base extension: commands, framing of the streams, and the issue of
// coefficients.
//
// A command is taken while ready; done_o is up for a cycle when it has ended, with code_o. OpLoad
// takes a stream of constants (rm_basext_const). OpExact takes, for each of the k targets of the
// constants, the residues modulo m and then modulo q_0 to q_(l-1), N / TP beats each, and gives N /
// TP beats; OpFast takes those modulo q_0 to q_(l-1). Every polynomial's last beat says so;
// coefficients come in any one order for all polynomials of a target. A wrong stream ends the
// command: it is swallowed to the end of its polynomial, and what was given before is still to be
// taken, before done_o.
//
// A coefficient is issued when it is taken (Sum) or read (Post-Sum): at most one a cycle, and one
// that will be given only while the queue has room for it. Post-Sum begins when the last sum is
// read, SumDelay cycles after its issue. Without stalls a target takes (l + 2) N / TP + 2 SumDelay
// + 3 cycles, l N / TP + SumDelay + 3 the fast way; done_o is up one cycle after as many from the
// command on.
module rm_basext_ctl
  import rm_basext_pkg::*;
#(
    parameter int unsigned Lanes = 1,
    parameter int unsigned MinLogN = 8,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    parameter int unsigned SumDelay = 27,
    parameter int unsigned Queue = 64,
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned IWidth = (MaxL > 1) ? $clog2(MaxL) : 1,
    localparam int unsigned JWidth = (MaxK > 1) ? $clog2(MaxK) : 1,
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
    output logic [   JWidth-1:0] target_o,
    // A coefficient of this cycle, and what becomes of it.
    output logic                 issue_o,
    output logic                 store_o,
    output logic                 first_o,
    output logic                 give_o,
    output logic                 last_o,
    output logic [   IWidth-1:0] source_o,
    output logic [AddrWidth-1:0] addr_o,
    output logic                 post_o,
    // The last coefficient of a process at its sum's read, and in the queue.
    input  logic                 summed_i,
    input  logic                 given_i,
    // The queue gave a beat.
    input  logic                 popped_i
);

  localparam int unsigned RoomWidth = $clog2(Queue + 1);
  localparam int unsigned DrainWidth = $clog2(SumDelay + 4);

  typedef enum logic [2:0] {
    Idle,
    Load,
    Next,     // target's constants are read
    Rows,
    Turn,     // sums are under way
    Post,
    Give,     // results are under way
    Swallow   // a wrong stream, and what is under way
  } state_e;

  state_e state_d, state_q;
  logic exact_d, exact_q, loaded_d, loaded_q, long_d, long_q, done_d, done_q, start_d, start_q;
  code_e code_d, code_q;
  logic [LWidth-1:0] l_d, l_q;
  logic [KWidth-1:0] k_d, k_q;
  // The last but one coefficient's place, and this one's.
  logic [AddrWidth-1:0] end_d, end_q, c_d, c_q;
  // Whether this is the last coefficient, and the last row: known a cycle before.
  logic at_end_d, at_end_q, last_row_d, last_row_q;
  // The polynomial of the target: the redundant residue or source number i.
  logic redundant_d, redundant_q;
  logic [IWidth-1:0] i_d, i_q;
  logic [JWidth-1:0] j_d, j_q;
  logic [RoomWidth-1:0] room_d, room_q;
  logic [DrainWidth-1:0] drain_d, drain_q;
  logic has_room, last_target, take, gives, fits, in_ready;

  assign has_room = room_q != '0;
  assign last_target = KWidth'(j_q) + 1'b1 == k_q;
  assign take = state_q == Rows && in_valid_i && in_ready;
  // The fast extension gives its last row's sums.
  assign gives = (state_q == Post) || (state_q == Rows && !exact_q && last_row_q);

  always_comb begin
    unique case (state_q)
      Load, Swallow: in_ready = long_q;
      Rows: in_ready = !gives || has_room;
      default: in_ready = 1'b0;
    endcase
  end

  assign issue_o = (take && !redundant_q) || (state_q == Post && has_room);
  assign store_o = take && redundant_q;
  assign first_o = i_q == '0;
  assign give_o = gives;
  assign last_o = at_end_q && (state_q == Post || last_row_q);
  assign source_o = i_q;
  assign addr_o = c_q;
  assign post_o = state_q == Post || (state_q == Give && exact_q);

  assign fits = cmd_log_n_i >= 5'(MinLogN) && cmd_log_n_i <= 5'(MaxLogN);

  always_comb begin
    state_d = state_q;
    exact_d = exact_q;
    loaded_d = loaded_q;
    long_d = long_q;
    done_d = 1'b0;
    code_d = code_q;
    l_d = l_q;
    k_d = k_q;
    end_d = end_q;
    c_d = c_q;
    at_end_d = at_end_q;
    last_row_d = last_row_q;
    redundant_d = redundant_q;
    i_d = i_q;
    j_d = j_q;
    drain_d = drain_q;
    start_d = 1'b0;

    unique case (state_q)
      Idle: begin
        c_d = '0;
        i_d = '0;
        j_d = '0;
        long_d = 1'b1;
        drain_d = DrainWidth'(SumDelay + 3);
        if (cmd_valid_i) begin
          exact_d = cmd_op_i == OpExact;
          redundant_d = cmd_op_i == OpExact;
          end_d = AddrWidth'((32'd1 << (cmd_log_n_i - 5'($clog2(Lanes)))) - 32'd2);
          code_d = Ok;
          unique case (cmd_op_i)
            OpLoad: begin
              if (cmd_l_i == '0 || cmd_l_i > 8'(MaxL) || cmd_k_i == '0 || cmd_k_i > 8'(MaxK)) begin
                code_d = TooLarge;
              end else begin
                l_d = LWidth'(cmd_l_i);
                k_d = KWidth'(cmd_k_i);
                start_d = 1'b1;
                state_d = Load;
              end
            end
            OpExact, OpFast: begin
              if (!fits) code_d = TooLarge;
              else if (!loaded_q) code_d = NoConstants;
              else if (cmd_op_i == OpExact && !exact_i) code_d = NoRedundant;
              else state_d = Next;
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

      Next: begin
        c_d = '0;
        i_d = '0;
        at_end_d = 1'b0;
        redundant_d = exact_q;
        last_row_d = !exact_q && l_q == LWidth'(1);
        state_d = Rows;
      end

      Rows: begin
        if (take) begin
          c_d = at_end_q ? '0 : c_q + 1'b1;
          at_end_d = !at_end_q && c_q == end_q;
          if (at_end_q) begin
            redundant_d = 1'b0;
            last_row_d = l_q == (redundant_q ? LWidth'(1) : LWidth'(i_q) + LWidth'(2));
            if (!redundant_q) i_d = last_row_q ? '0 : i_q + 1'b1;
            if (last_row_q) state_d = exact_q ? Turn : Give;
          end
          if (in_last_i != at_end_q) begin
            code_d = in_last_i ? CutShort : TooLong;
            long_d = !in_last_i;
            state_d = Swallow;
          end
        end
      end

      Turn: if (summed_i) state_d = Post;

      Post: begin
        if (has_room) begin
          c_d = c_q + 1'b1;
          at_end_d = c_q == end_q;
          if (at_end_q) state_d = Give;
        end
      end

      Give: begin
        if (given_i) begin
          j_d = j_q + 1'b1;
          state_d = last_target ? Idle : Next;
          done_d = last_target;
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
    if (issue_o && gives && !popped_i) room_d = room_q - 1'b1;
    else if (!(issue_o && gives) && popped_i) room_d = room_q + 1'b1;
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
    end_q <= end_d;
    c_q <= c_d;
    at_end_q <= at_end_d;
    last_row_q <= last_row_d;
    redundant_q <= redundant_d;
    i_q <= i_d;
    j_q <= j_d;
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
  assign target_o = j_q;

endmodule
