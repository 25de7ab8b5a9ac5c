// y(t) = x(t - Depth) for a valid bit, 0 after reset: says which outputs of a pipeline of Depth
// stages are meant.
//
// Latency Depth cycles (at least 1), one bit a cycle.
module rm_valid #(
    parameter int unsigned Depth = 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic valid_i,
    output logic valid_o
);

  logic [Depth-1:0] line_d, line_q;

  assign line_d = Depth'({line_q, valid_i});

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) line_q <= '0;
    else line_q <= line_d;
  end

  assign valid_o = line_q[Depth-1];

endmodule
