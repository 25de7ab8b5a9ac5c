// SPDX-License-Identifier: Apache-2.0
// Control of the shared base extension (rm_basext_shared): tells rm_basext_job which rows of
// coefficients come next, round by round.
//
// A command is for cmd_k_i + 1 polynomials. The residues modulo q_0 to q_(l-1) and then modulo m
// come once for each polynomial; the fast extension takes none modulo m.
//
// A round is one pass over the rows of a polynomial for batch = min(Batch, l + 1) targets. The
// first round (fresh) takes the residues, the others take the kept values. The rows are those
// modulo q_0 to q_(l-1), and row l. Row l is the residues modulo m, or zeros in a fast extension
// with l + 1 targets at once. The target of channel j is j rows late: it ends in row j - 1 of the
// round after, and one target ends a row. After the last round comes one more row for each of its
// targets beyond one.
//
// With rounds = ceil(k / batch) and rows = l + 1, or rows = l for the fast extension while batch <=
// l, a command without stalls takes
//
//   ((cmd_k_i + 1) rounds rows + k - (rounds - 1) batch - 1) N / Lanes + Latency + 1
//
// cycles to done_o. Latency is from issue to the queue.
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
    // l; the round and the place of its first constant, of this round and of the one before; and
    // the channel whose target it ends.
    output logic              fresh_o,
    output logic [LWidth-1:0] slot_o,
    output logic              tail_o,
    output logic [RWidth-1:0] round_o,
    output logic [PWidth-1:0] base_o,
    output logic [RWidth-1:0] past_round_o,
    output logic [PWidth-1:0] past_base_o,
    output logic [BWidth-1:0] channel_o
);

  // A row: its number; its polynomial and those behind it; its round, the one before and how many
  // targets that has, and the targets from this one on. After the last round the channels drain.
  typedef struct packed {
    logic [LWidth-1:0] slot;
    logic              fresh;
    logic              drain;
    logic [7:0]        more;
    logic [RWidth-1:0] round;
    logic [PWidth-1:0] base;
    logic [KWidth-1:0] left;
    logic [RWidth-1:0] past_round;
    logic [PWidth-1:0] past_base;
    logic [LWidth-1:0] past;
  } row_t;

  // What is known of a row when it begins: whether it is its round's last, takes residues, ends a
  // target, and is the command's last.
  typedef struct packed {
    logic last_slot;
    logic takes;
    logic gives;
    logic finally_done;
  } known_t;

  // The row after this one is worked out while this one, of four coefficients at least, is issued:
  // next_q a cycle after its beginning, and what is known of that, known_q, in the cycle after.
  row_t row_q, first, next_d, next_q, looked_at;
  known_t row_known_q, known_d, known_q;
  logic [LWidth-1:0] batch_q, count, last_past;
  logic more_targets;

  always_comb begin
    first = '0;
    first.fresh = 1'b1;
    first.left = k_i;
    first.more = cmd_k_i;
  end

  assign more_targets = row_q.left > KWidth'(batch_q);
  assign count = more_targets ? batch_q : LWidth'(row_q.left);

  always_comb begin
    next_d = row_q;
    next_d.slot = row_q.slot + 1'b1;
    if (row_known_q.last_slot) begin
      next_d.slot = '0;
      next_d.past_round = row_q.round;
      next_d.past_base = row_q.base;
      next_d.past = count;
      if (more_targets) begin
        next_d.fresh = 1'b0;
        next_d.round = row_q.round + 1'b1;
        next_d.base = row_q.base + PWidth'(l_i) + 1'b1;
        next_d.left = row_q.left - KWidth'(batch_q);
      end else begin
        next_d.fresh = row_q.more != '0;
        next_d.drain = row_q.more == '0;
        next_d.round = '0;
        next_d.base = '0;
        next_d.left = k_i;
        next_d.more = row_q.more - 1'b1;
      end
    end
  end

  assign looked_at = idle_i ? first : next_q;
  assign last_past = looked_at.past - 1'b1;

  logic unused_row;
  assign unused_row = ^looked_at;

  always_comb begin
    known_d.last_slot = !looked_at.drain &&
        looked_at.slot == ((exact_next_i || batch_q > l_i) ? l_i : l_i - 1'b1);
    known_d.takes = looked_at.fresh && !looked_at.drain &&
        (exact_next_i || looked_at.slot != l_i);
    known_d.gives = known_d.last_slot || (looked_at.past != '0 && looked_at.slot < last_past);
    known_d.finally_done = looked_at.drain ? looked_at.slot + 1'b1 == last_past :
        known_d.last_slot && looked_at.more == '0 && looked_at.left == KWidth'(1);
  end

  always_ff @(posedge clk_i) begin
    batch_q <= (8'(l_i) >= 8'(Batch)) ? LWidth'(Batch) : l_i + 1'b1;
    next_q <= next_d;
    known_q <= known_d;
    if (idle_i) begin
      row_q <= first;
      row_known_q <= known_d;
    end else if (issue_i && at_end_i) begin
      row_q <= next_q;
      row_known_q <= known_q;
    end
  end

  assign batch_o = batch_q;
  assign takes_o = row_known_q.takes;
  assign gives_o = row_known_q.gives;
  assign final_o = row_known_q.finally_done;
  assign fresh_o = row_q.fresh && !row_q.drain;
  assign slot_o = row_q.slot;
  assign tail_o = row_q.slot == l_i;
  assign round_o = row_q.round;
  assign base_o = row_q.base;
  assign past_round_o = row_q.past_round;
  assign past_base_o = row_q.past_base;
  assign channel_o = row_known_q.last_slot ? '0 : BWidth'(row_q.slot) + 1'b1;

endmodule
