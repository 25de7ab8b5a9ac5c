// SPDX-License-Identifier: Apache-2.0
// A delay line for data that travels beside a pipeline: y(t) = x(t - Depth).
//
// Latency Depth cycles (0 is a wire), one word a cycle. No reset: the output of the first Depth
// cycles is undefined, and the user carries a valid bit beside the data.
module rm_delay #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 1
) (
    input  logic             clk_i,
    input  logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);

  if (Depth == 0) begin : gen_wire
    logic unused_clk;
    assign unused_clk = clk_i;
    assign q_o = d_i;
  end else begin : gen_line
    logic [Depth-1:0][Width-1:0] line_q;

    always_ff @(posedge clk_i) line_q <= (Depth * Width)'({line_q, d_i});

    assign q_o = line_q[Depth-1];
  end

endmodule
