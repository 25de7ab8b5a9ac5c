// s = the sum of Terms residues modulo P: a tree of modular adders, a register behind each level.
//
// Latency tree(Terms) of rm_torus_pkg, one sum a cycle.
module rm_torus_sum
  import rm_torus_pkg::*;
#(
    parameter int unsigned Terms = 6
) (
    input  logic                        clk_i,
    input  logic [Terms-1:0][Width-1:0] terms_i,
    output logic [Width-1:0]            sum_o
);

  localparam int unsigned Levels = tree(Terms);

  // Terms left at a level.
  function automatic int unsigned left(int unsigned level);
    return (Terms + (1 << level) - 1) >> level;
  endfunction

  logic [Levels:0][Terms-1:0][Width-1:0] level;

  assign level[0] = terms_i;

  for (genvar k = 0; k < Levels; k++) begin : gen_level
    for (genvar i = 0; i < Terms; i++) begin : gen_term
      if (2 * i + 1 < left(k)) begin : gen_pair
        logic [Width-1:0] sum, sum_q;

        rm_mod_add #(
            .Width(Width)
        ) u_add (
            .a_i(level[k][2*i]),
            .b_i(level[k][2*i+1]),
            .q_i(P),
            .r_o(sum)
        );

        always_ff @(posedge clk_i) sum_q <= sum;
        assign level[k+1][i] = sum_q;
      end else if (2 * i < left(k)) begin : gen_odd
        logic [Width-1:0] term_q;
        always_ff @(posedge clk_i) term_q <= level[k][2*i];
        assign level[k+1][i] = term_q;
      end else begin : gen_none
        assign level[k+1][i] = '0;
      end
    end
  end

  assign sum_o = level[Levels][0];

  logic unused_level;
  assign unused_level = ^level;

endmodule
