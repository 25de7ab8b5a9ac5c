// Control of an elastic pipeline: which of its stages take what is before them in this cycle.
//
// An item enters when valid_i and ready_o are up, and goes on to the next stage as soon as that is empty, or is left in the same
// cycle, and the item has been in its own for Period cycles. At the end (last_o) it stays until it leaves. So the item that
// enters in cycle t is at the end in cycle t + Stages Period, or Period after the one before it left, whichever is later, and one
// may enter wherever Stages find room: the rule of `Pipe` in crates/machines/src/vector/clockwork.rs.
//
// An item leaves by leave_early_i, which hangs on the pipeline alone, or by leave_i, which the controller decides. What leaves by the
// former makes room in the same cycle, by the latter from the next one on: ready_o does not hang on leave_i, and leave_i is one
// gate away from what moves.
//
// Pairs: items are halves, and two leave at once. The last stage holds a first half, which waits there for the second to be done in
// the stage before it; both go by leave_i. So the second is at the end Stages Period after it entered, less one Period.
//
// Stage s is left where it is done and the next one is empty or left: a carry that runs from the end to the front, made in log2
// Stages levels as that of a prefix adder.
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
    input  logic              leave_early_i,
    input  logic              leave_i,
    output logic [Stages-1:0] move_o,
    output logic [Stages-1:0] full_o
);

  localparam int unsigned AgeWidth = (Period > 1) ? $clog2(Period) : 1;
  // Stages that are left one by one.
  localparam int unsigned Chain = Pairs ? Stages - 1 : Stages;

  logic [Stages-1:0] full_d, full_q, left;
  logic [Chain-1:0] done, hole, flows, through, go;
  logic [Chain-1:0][AgeWidth-1:0] left_d, left_q;

  for (genvar s = 0; s < Chain; s++) begin : gen_stage
    assign done[s] = full_q[s] && left_q[s] == '0;
    assign hole[s] = (s + 1 < Stages) ? !full_q[(s+1)%Stages] : leave_early_i;
    assign left_d[s] = move_o[s] ? AgeWidth'(Period - 1) : left_q[s] - AgeWidth'(left_q[s] != '0);
  end

  // flows[s] = done[s] and (hole[s] or flows[s+1]): what goes on whatever the controller decides. With it goes what is done all
  // the way to the end.
  always_comb begin
    logic [Chain-1:0] made, passed;
    made = done & hole;
    passed = done;
    for (int unsigned reach = 1; reach < Chain; reach *= 2) begin
      made = made | (passed & (made >> reach));
      passed = passed & ((passed >> reach) | ~({Chain{1'b1}} >> reach));
    end
    flows = made;
    through = passed;
  end

  assign go = flows | (through & {Chain{leave_i}});

  assign ready_o = !full_q[0] || flows[0];
  assign full_o = full_q;
  assign full_d = move_o | (full_q & ~left);

  if (Pairs) begin : gen_pairs
    // A first half goes to the last stage, which is empty; a second leaves from where it is.
    assign move_o = {flows[Chain-1], go[Chain-2:0], valid_i};
    assign last_o = done[Chain-1] && full_q[Stages-1];
    assign left = {leave_i, go};

    logic unused_early;
    assign unused_early = leave_early_i;
  end else begin : gen_single
    assign move_o = Stages'({go, valid_i});
    assign last_o = done[Stages-1];
    assign left = go;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q <= '0;
      left_q <= '0;
    end else begin
      full_q <= full_d;
      left_q <= left_d;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      room_for_it : assert (!valid_i || ready_o);
      one_there_to_leave : assert (!(leave_i || leave_early_i) || last_o);
    end
  end
`endif

endmodule
