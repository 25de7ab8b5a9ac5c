// SPDX-License-Identifier: Apache-2.0
// A register of its own: q(t) = d(t - 1), which synthesis neither merges with others of the same
// input nor takes into a shift register: for an FPGA it is a cell until it is mapped last of all
// (crates/hdl/scripts/synth.py); other tools read the attributes. One a unit carries what drives every unit
// (mode, owner, routes), so that no net crosses the whole machine to thousands of loads.
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
