// A flip-flop that stays one: q(t) = d(t - 1). Synthesis for an FPGA takes it as a cell of its own
// until it maps it last of all (crates/hdl/scripts/synth.py); other tools read the attributes.
//
// Latency 1 cycle. No reset.
(* keep_hierarchy = "yes" *)
module rm_copy_bit (
    input  logic clk_i,
    input  logic d_i,
    output logic q_o
);

  (* dont_touch = "yes" *)logic copy_q;

  always_ff @(posedge clk_i) copy_q <= d_i;

  assign q_o = copy_q;

endmodule
