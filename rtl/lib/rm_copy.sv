// SPDX-License-Identifier: Apache-2.0
// A register that synthesis keeps as a cell of its own: q(t) = d(t - 1).
//
// Synthesis neither merges the register with others of the same input nor takes it into a shift
// register. For an FPGA it stays a cell until the last step of mapping
// (crates/hdl/scripts/synth.py); other tools read the attributes. Each unit has a copy of the
// signals that drive every unit (mode, owner, routes). So no net with thousands of loads crosses
// the whole machine.
//
// Latency 1 cycle, one word a cycle. No reset.
(* keep_hierarchy = "yes" *)
module rm_copy #(
    parameter int unsigned Width = 1
) (
    input  logic             clk_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);

  (* dont_touch = "yes" *)logic [Width-1:0] copy_q;

  always_ff @(posedge clk_i) copy_q <= d_i;

  assign q_o = copy_q;

endmodule
