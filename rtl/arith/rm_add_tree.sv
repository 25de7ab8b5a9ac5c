// sum = sum_k (-1)^Minus[k] x_k mod 2^Width: a tree of adders with Radix operands each and a
// register after each.
//
// Latency tree_levels(Operands, Radix) cycles (0 for one operand), one sum a cycle.
module rm_add_tree #(
    parameter int unsigned Operands = 4,
    parameter int unsigned Width = 64,
    parameter int unsigned Radix = 3,
    parameter logic [Operands-1:0] Minus = '0
) (
    input  logic                           clk_i,
    input  logic [Operands-1:0][Width-1:0] x_i,
    output logic [   Width-1:0]            sum_o
);

  if (Operands == 1) begin : gen_leaf
    logic unused_clk;
    assign unused_clk = clk_i;
    assign sum_o = Minus[0] ? -x_i[0] : x_i[0];
  end else begin : gen_level
    localparam int unsigned Groups = rm_arith_pkg::ceil_div(Operands, Radix);

    logic [Groups-1:0][Width-1:0] group_d, group_q;

    for (genvar g = 0; g < Groups; g++) begin : gen_group
      localparam int unsigned First = g * Radix;
      localparam int unsigned Count = rm_arith_pkg::min2(Radix, Operands - First);
      always_comb begin
        group_d[g] = '0;
        for (int unsigned k = First; k < First + Count; k++) begin
          if (Minus[k]) group_d[g] = group_d[g] - x_i[k];
          else group_d[g] = group_d[g] + x_i[k];
        end
      end
    end

    always_ff @(posedge clk_i) group_q <= group_d;

    rm_add_tree #(
        .Operands(Groups),
        .Width(Width),
        .Radix(Radix)
    ) u_rest (
        .clk_i,
        .x_i(group_q),
        .sum_o
    );
  end

endmodule
