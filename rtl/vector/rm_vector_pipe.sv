// Control of an elastic pipeline: which of its stages take what is before them in this cycle.
//
// An item enters when valid_i and ready_o are up, and goes on to the next stage as soon as that is empty, or is left in the same
// cycle, and the item has been in its own for Period cycles. At the end (last_o) it stays until leave_i. So the item that
// enters in cycle t is at the end in cycle t + Stages Period, or Period after the one before it left, whichever is later, and one
// may enter wherever Stages find room: the rule of `Pipe` in crates/machines/src/vector/clockwork.rs.
//
// Stage s is left where it is done and the next one is empty or left: a carry that runs from the end to the front, made in log2
// Stages levels as that of a prefix adder.
// move_o[s] is the enable of the registers of stage s; full_o[s] says that an item is in it.
module rm_vector_pipe #(
    parameter int unsigned Stages = 6,
    parameter int unsigned Period = 4
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    input  logic              valid_i,
    output logic              ready_o,
    output logic              last_o,
    input  logic              leave_i,
    output logic [Stages-1:0] move_o,
    output logic [Stages-1:0] full_o
);

  localparam int unsigned AgeWidth = (Period > 1) ? $clog2(Period) : 1;

  logic [Stages-1:0] full_d, full_q, done, hole, go;
  logic [Stages-1:0][AgeWidth-1:0] left_d, left_q;

  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    assign done[s] = full_q[s] && left_q[s] == '0;
    assign hole[s] = (s + 1 < Stages) ? !full_q[(s+1)%Stages] : leave_i;
    assign full_d[s] = move_o[s] || (full_q[s] && !go[s]);
    assign left_d[s] = move_o[s] ? AgeWidth'(Period - 1) : left_q[s] - AgeWidth'(left_q[s] != '0);
  end

  // go[s] = done[s] and (hole[s] or go[s+1]).
  always_comb begin
    logic [Stages-1:0] made, passed;
    made = done & hole;
    passed = done;
    for (int unsigned reach = 1; reach < Stages; reach *= 2) begin
      made = made | (passed & (made >> reach));
      passed = passed & (passed >> reach);
    end
    go = made;
  end

  assign move_o = Stages'({go, valid_i});
  assign ready_o = !full_q[0] || go[0];
  assign last_o = done[Stages-1];
  assign full_o = full_q;

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
      one_there_to_leave : assert (!leave_i || last_o);
    end
  end
`endif

endmodule
