// SPDX-License-Identifier: Apache-2.0
// The valid bit beside a pipeline of Depth stages: y(t) = x(t - Depth), and 0 after reset.
//
// The bit says which outputs of the pipeline are results. Latency Depth cycles (0 is a wire), one
// bit a cycle.
module rm_valid #(
    parameter int unsigned Depth = 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic valid_i,
    output logic valid_o
);

  if (Depth == 0) begin : gen_wire
    logic unused_clock;
    assign unused_clock = clk_i ^ rst_ni;
    assign valid_o = valid_i;
  end else begin : gen_line
    logic [Depth-1:0] line_d, line_q;

    assign line_d = Depth'({line_q, valid_i});

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) line_q <= '0;
      else line_q <= line_d;
    end

    assign valid_o = line_q[Depth-1];
  end

endmodule
