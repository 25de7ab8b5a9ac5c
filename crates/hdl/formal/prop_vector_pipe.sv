// SPDX-License-Identifier: Apache-2.0
// rm_vector_pipe moves its items as a chain of stages would in which the news of a free stage runs from the end to the front within a
// cycle. An item may enter where the first stage is empty, or is left in this cycle for a reason other than the controller's late decision
// (leave_i). Items may enter whenever there is room and leave whenever the last stage is due. The proof is by induction over cycles: an
// item has been in its stage no longer than the next item, ahead of it, in its own.
module prop_vector_pipe #(
    parameter int unsigned Stages = 6,
    parameter int unsigned Period = 4,
    parameter bit Pairs = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic leave_early_i,
    input logic leave_i
);

  localparam int unsigned Chain = Pairs ? Stages - 1 : Stages;

  logic ready, last, soon;
  logic [Stages-1:0] move, full;
  logic [Chain-1:0] late, goes, flows;

  rm_vector_pipe #(
      .Stages(Stages),
      .Period(Period),
      .Pairs(Pairs)
  ) u_pipe (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o(ready),
      .last_o(last),
      .soon_o(soon),
      .leave_early_i,
      .leave_i,
      .move_o(move),
      .full_o(full)
  );

  // The definition: an item whose period in a stage is over goes on if the next stage is empty or left in this cycle.
  always_comb begin
    logic hole, gone;
    hole = Pairs ? !full[Stages-1] : leave_early_i;
    gone = hole || leave_i;
    for (int unsigned s = Chain; s > 0; s--) begin
      late[s-1] = full[s-1] && u_pipe.left_q[s-1] == '0;
      flows[s-1] = late[s-1] && hole;
      goes[s-1] = late[s-1] && gone;
      hole = flows[s-1] || !full[s-1];
      gone = goes[s-1] || !full[s-1];
    end
  end

  always_comb begin
    assume (!valid_i || ready);
    assume (!(leave_i || leave_early_i) || last);
    assume (!(leave_i && leave_early_i));
    assume (!Pairs || !leave_early_i);
    ready_as_by_a_carry : assert (ready == (!full[0] || flows[0]));
    moves_as_by_a_carry : assert (move[Chain-1:1] == goes[Chain-2:0]);
    known_a_cycle_ahead : assert (u_pipe.done_q == late);
    last_by_definition : assert (last == (late[Chain-1] && full[Stages-1]));
    soon_by_definition : assert (!late[Chain-1] || soon);
  end

  for (genvar s = 0; s < Chain; s++) begin : gen_stage
    always_comb begin
      no_time_left_of_none : assert (full[s] || u_pipe.left_q[s] == '0);
      time_of_a_stage : assert (32'(u_pipe.left_q[s]) < Period);
    end
  end

  for (genvar s = 1; s < Chain; s++) begin : gen_pair
    always_comb begin
      no_longer_than_the_one_before :
      assert (!full[s-1] || !full[s] || u_pipe.left_q[s-1] >= u_pipe.left_q[s]);
    end
  end

endmodule
