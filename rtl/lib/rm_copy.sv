// A register of its own: q(t) = d(t - 1), which synthesis neither merges with others of the same
// input nor takes into a shift register (rm_copy_bit). One a unit carries what drives every unit
// (mode, owner, routes), so that no net crosses the whole machine to thousands of loads.
//
// Latency 1 cycle, one word a cycle. No reset.
module rm_copy #(
    parameter int unsigned Width = 1
) (
    input  logic             clk_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);

  for (genvar i = 0; i < Width; i++) begin : gen_bit
    rm_copy_bit u_bit (
        .clk_i,
        .d_i(d_i[i]),
        .q_o(q_o[i])
    );
  end

endmodule
