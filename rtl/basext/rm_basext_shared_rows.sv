// Rows and rounds of a shared base extension (rm_basext_shared), for rm_basext_job. A command is
// for cmd_k_i + 1 polynomials: the residues modulo q_0 to q_(l-1) and then modulo m come once for
// each, the fast way without m.
//
// A round is one pass over the rows of a polynomial for batch = min(Batch, l + 1) targets: the
// residues (the first round: fresh), or what was kept of them; rows are those modulo q_0 to
// q_(l-1), and row l (m, or zeros where a fast extension has as many targets at once). The target
// of channel j is j rows late: it ends in row j - 1 of the round after, and one target ends a row.
// After the last round come as many rows as it has targets beyond one.
//
// With rounds = ceil(k / batch) and rows = l + 1, or l the fast way while batch <= l, a command
// without stalls takes
//   ((cmd_k_i + 1) rounds rows + k - (rounds - 1) batch - 1) N / TP + Latency + 1
// cycles to done_o; Latency is from issue to the queue.
module rm_basext_shared_rows #(
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    parameter int unsigned Batch = 8,
    parameter int unsigned Rounds = 16,
    parameter int unsigned Places = 132,
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned BWidth = (Batch > 1) ? $clog2(Batch) : 1,
    localparam int unsigned RWidth = (Rounds > 1) ? $clog2(Rounds) : 1,
    localparam int unsigned PWidth = $clog2(Places)
) (
    input  logic              clk_i,
    // The job.
    input  logic              idle_i,
    input  logic [       7:0] cmd_k_i,
    input  logic              exact_next_i,
    input  logic [LWidth-1:0] l_i,
    input  logic [KWidth-1:0] k_i,
    output logic [LWidth-1:0] batch_o,
    input  logic              issue_i,
    input  logic              at_end_i,
    output logic              takes_o,
    output logic              gives_o,
    output logic              final_o,
    // Of a coefficient that is issued: whether its polynomial is new, its row, whether that is row
    // l; the round and the place of its first constant, of this round and of the last; and the
    // channel whose target it ends.
    output logic              fresh_o,
    output logic [LWidth-1:0] slot_o,
    output logic              tail_o,
    output logic [RWidth-1:0] round_o,
    output logic [PWidth-1:0] base_o,
    output logic [RWidth-1:0] past_round_o,
    output logic [PWidth-1:0] past_base_o,
    output logic [BWidth-1:0] channel_o
);

  // The row; whether it is the round's last, and whether it takes residues.
  logic [LWidth-1:0] slot_d, slot_q, batch_q;
  logic last_slot_d, last_slot_q, takes_d, takes_q;
  // Polynomials behind this one.
  logic [7:0] more_d, more_q;
  // The round: targets before it are not counted in left; after the last one the channels drain.
  logic fresh_d, fresh_q, drain_d, drain_q;
  logic [RWidth-1:0] round_d, round_q, past_round_d, past_round_q;
  logic [PWidth-1:0] base_d, base_q, past_base_d, past_base_q;
  logic [KWidth-1:0] left_d, left_q;
  // Targets of the round before.
  logic [LWidth-1:0] past_d, past_q, last_past_d, count;
  // Whether this row ends a target, and whether it is the command's last.
  logic gives_d, gives_q, final_d, final_q;
  logic more_targets;

  assign more_targets = left_q > KWidth'(batch_q);
  assign count = more_targets ? batch_q : LWidth'(left_q);

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
    if (idle_i) begin
      slot_d = '0;
      fresh_d = 1'b1;
      drain_d = 1'b0;
      round_d = '0;
      base_d = '0;
      left_d = k_i;
      more_d = cmd_k_i;
      past_d = '0;
    end else if (issue_i && at_end_i) begin
      slot_d = slot_q + 1'b1;
      if (last_slot_q) begin
        slot_d = '0;
        past_round_d = round_q;
        past_base_d = base_q;
        past_d = count;
        if (more_targets) begin
          fresh_d = 1'b0;
          round_d = round_q + 1'b1;
          base_d = base_q + PWidth'(l_i) + 1'b1;
          left_d = left_q - KWidth'(batch_q);
        end else begin
          fresh_d = more_q != '0;
          drain_d = more_q == '0;
          round_d = '0;
          base_d = '0;
          left_d = k_i;
          more_d = more_q - 1'b1;
        end
      end
    end
    // What is known of a row when it begins.
    last_slot_d = !drain_d && slot_d == ((exact_next_i || batch_q > l_i) ? l_i : l_i - 1'b1);
    takes_d = fresh_d && !drain_d && (exact_next_i || slot_d != l_i);
    last_past_d = past_d - 1'b1;
    gives_d = last_slot_d || (past_d != '0 && slot_d < last_past_d);
    final_d = drain_d ? slot_d + 1'b1 == last_past_d :
        last_slot_d && more_d == '0 && left_d == KWidth'(1);
  end

  always_ff @(posedge clk_i) begin
    batch_q <= (8'(l_i) >= 8'(Batch)) ? LWidth'(Batch) : l_i + 1'b1;
    more_q <= more_d;
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
  end

  assign batch_o = batch_q;
  assign takes_o = takes_q;
  assign gives_o = gives_q;
  assign final_o = final_q;
  assign fresh_o = fresh_q && !drain_q;
  assign slot_o = slot_q;
  assign tail_o = slot_q == l_i;
  assign round_o = round_q;
  assign base_o = base_q;
  assign past_round_o = past_round_q;
  assign past_base_o = past_base_q;
  assign channel_o = last_slot_q ? '0 : BWidth'(slot_q) + 1'b1;

endmodule
