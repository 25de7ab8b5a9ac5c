// SPDX-License-Identifier: Apache-2.0
// Control of an elastic pipeline: decides which stages take the item before them in this cycle.
//
// An item enters when valid_i and ready_o are high. It goes on to the next stage when it has been
// in its own for Period cycles, and the next stage is empty or left in the same cycle. At the end
// (last_o) it stays until it leaves. So the item that enters in cycle t is at the end in cycle t +
// Stages Period, or Period after the item before it left, whichever is later. An item may enter
// whenever Stages items find room: the rule of `Pipe` in crates/machines/src/vector/clockwork.rs.
//
// An item leaves by leave_early_i, which depends on the pipeline alone, or by leave_i, which the
// controller decides. leave_early_i makes room in the same cycle, leave_i from the next one on. So
// ready_o does not depend on leave_i, and leave_i is one gate away from the enables.
//
// Pairs: items are halves, and two leave at once. The last stage holds a first half. It waits there
// until the second half is done in the stage before; both go by leave_i. So the second is at the
// end Stages Period after it entered, less one Period.
//
// A stage is left when its item is done and the next stage is empty or left. The enable needs no
// carry chain. Items keep their order, so every item ahead of a finished item, up to the first
// empty stage, is finished too. A finished item goes on if there is an empty stage ahead of it,
// however far, or if the last item leaves.
//
// soon_o: the item in the last stage that is left one by one is done now or in the next cycle.
// move_o[s] is the enable of the registers of stage s; full_o[s] says that an item is in it.
module rm_vector_pipe #(
    parameter int unsigned Stages = 6,
    parameter int unsigned Period = 4,
    parameter bit Pairs = 1'b0
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              valid_i,
    output logic              ready_o,
    output logic              last_o,
    output logic              soon_o,
    input  logic              leave_early_i,
    input  logic              leave_i,
    output logic [Stages-1:0] move_o,
    output logic [Stages-1:0] full_o
);

  localparam int unsigned AgeWidth = (Period > 1) ? $clog2(Period) : 1;
  // Stages that are left one by one.
  localparam int unsigned Chain = Pairs ? Stages - 1 : Stages;

  if (Period < 3) begin : gen_check
    $error("rm_vector_pipe: what has had its time is known a cycle ahead");
  end

  logic [Stages-1:0] full_d, full_q, full_on, left;
  logic [Chain-1:0] done_d, done_q, go;
  logic [Chain-1:0][AgeWidth-1:0] left_d, left_q;

  for (genvar s = 0; s < Chain; s++) begin : gen_stage
    // Whether the item has had its Period in the next cycle. An item that comes in this cycle stays
    // at least two cycles more, so it has not.
    assign done_d[s] = full_q[s] && !left[s] && left_q[s] <= AgeWidth'(1);
    assign left_d[s] = move_o[s] ? AgeWidth'(Period - 1) : left_q[s] - AgeWidth'(left_q[s] != '0);
  end

  // Every stage behind s, to the end, is full.
  always_comb begin
    full_on = {1'b1, full_q[Stages-1:1]};
    for (int unsigned reach = 1; reach < Stages; reach *= 2) begin
      full_on = full_on & ((full_on >> reach) | ~({Stages{1'b1}} >> reach));
    end
  end

  assign go = done_q & (~full_on[Chain-1:0] | {Chain{leave_early_i || leave_i}});
  assign ready_o = !full_q[0] || (done_q[0] && (!full_on[0] || leave_early_i));
  assign full_o = full_q;
  assign soon_o = full_q[Chain-1] && left_q[Chain-1] <= AgeWidth'(1);
  assign full_d = move_o | (full_q & ~left);

  if (Pairs) begin : gen_pairs
    // A first half goes to the last stage, which is empty; a second leaves from where it is.
    assign move_o = {done_q[Chain-1] && !full_q[Stages-1], go[Chain-2:0], valid_i};
    assign last_o = done_q[Chain-1] && full_q[Stages-1];
    assign left = {leave_i, go};

    logic unused_early;
    assign unused_early = leave_early_i;
  end else begin : gen_single
    assign move_o = Stages'({go, valid_i});
    assign last_o = done_q[Stages-1];
    assign left = go;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q <= '0;
      left_q <= '0;
      done_q <= '0;
    end else begin
      full_q <= full_d;
      left_q <= left_d;
      done_q <= done_d;
    end
  end

`ifndef SYNTHESIS
  // The rule of the header, computed by a carry chain.
  logic [Chain-1:0] goes, flows;

  always_comb begin
    logic hole, gone;
    hole = Pairs ? !full_q[Stages-1] : leave_early_i;
    gone = hole || leave_i;
    for (int unsigned s = Chain; s > 0; s--) begin
      flows[s-1] = done_q[s-1] && hole;
      goes[s-1] = done_q[s-1] && gone;
      hole = flows[s-1] || !full_q[s-1];
      gone = goes[s-1] || !full_q[s-1];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      room_for_it : assert (!valid_i || ready_o);
      for (int unsigned s = 0; s < Chain; s++) begin
        done_a_cycle_ahead : assert (done_q[s] == (full_q[s] && left_q[s] == '0));
      end
      as_by_a_carry : assert (go == goes);
      room_as_by_a_carry : assert (ready_o == (!full_q[0] || flows[0]));
      one_there_to_leave : assert (!(leave_i || leave_early_i) || last_o || full_q == '0);
    end
  end
`endif

endmodule
