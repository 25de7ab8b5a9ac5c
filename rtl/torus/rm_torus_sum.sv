// SPDX-License-Identifier: Apache-2.0
// Sums Terms numbers x < 2^52 + 2^12 modulo P.
//
// A tree of adders, with a register behind each level, makes s. Then come s mod 2^52 + (2^12 - 1)
// floor(s / 2^52), and the subtraction of P if the number is not below P. Latency tree(Terms) + 2
// cycles of rm_torus_pkg, one sum a cycle.
module rm_torus_sum
  import rm_torus_pkg::*;
#(
    parameter int unsigned Terms = 6
) (
    input  logic                      clk_i,
    input  logic [Terms-1:0][Width:0] terms_i,
    output logic [Width-1:0]          sum_o
);

  localparam int unsigned Levels = tree(Terms);
  // Bits of floor(s / 2^52), which is at most Terms.
  localparam int unsigned Beyond = $clog2(Terms + 1);
  localparam int unsigned SumWidth = Width + Beyond;

  // Returns the number of terms that are left at a level of the tree.
  function automatic int unsigned left(int unsigned level);
    return (Terms + (1 << level) - 1) >> level;
  endfunction

  logic [Levels:0][Terms-1:0][SumWidth-1:0] level;

  for (genvar i = 0; i < Terms; i++) begin : gen_in
    assign level[0][i] = SumWidth'(terms_i[i]);
  end

  for (genvar k = 0; k < Levels; k++) begin : gen_level
    for (genvar i = 0; i < Terms; i++) begin : gen_term
      logic [SumWidth-1:0] sum_q;

      if (2 * i + 1 < left(k)) begin : gen_pair
        always_ff @(posedge clk_i) sum_q <= level[k][2*i] + level[k][2*i+1];
      end else if (2 * i < left(k)) begin : gen_odd
        always_ff @(posedge clk_i) sum_q <= level[k][2*i];
      end else begin : gen_none
        assign sum_q = '0;
      end

      assign level[k+1][i] = sum_q;
    end
  end

  logic [Beyond-1:0] beyond;
  logic [Width:0] x_q;
  logic [Width-1:0] low, sum_q;

  assign {beyond, low} = level[Levels][0];

  // As 2^52 is 2^12 - 1 modulo P, beyond 2^52 becomes beyond 2^12 - beyond, which is below 2^17.
  always_ff @(posedge clk_i) begin
    x_q <= {1'b0, low} + ((Width + 1)'({beyond, 12'd0}) - (Width + 1)'(beyond));
    sum_q <= (from_p(x_q) ? LessP : '0) + x_q[Width-1:0];
  end

  assign sum_o = sum_q;

  logic unused_level;
  assign unused_level = ^level;

endmodule
