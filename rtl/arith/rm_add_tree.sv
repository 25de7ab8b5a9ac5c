// SPDX-License-Identifier: Apache-2.0
// A sum of signed terms by a tree of adders: sum = sum_k (-1)^Minus[k] x_k mod 2^Width.
//
// Each adder has Radix operands (at most 4) and a register behind it. A sum wider than CarryWidth
// of rm_arith_pkg comes in two parts, the upper part one cycle after the lower part and its carry.
// So no carry runs through the whole sum in one cycle.
//
// Latency tree_latency(Operands, Width, Radix) cycles (0 for one operand), one sum a cycle.
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

  if (Radix < 2 || Radix > 4) begin : gen_check
    $error("Radix must be 2 to 4");
  end

  if (Operands == 1) begin : gen_leaf
    logic unused_clk;
    assign unused_clk = clk_i;
    assign sum_o = Minus[0] ? -x_i[0] : x_i[0];
  end else if (Width > rm_arith_pkg::CarryWidth) begin : gen_parts
    // With sign and carries of four operands the lower part is below CarryWidth.
    localparam int unsigned Low = rm_arith_pkg::CarryWidth - 4;
    localparam int unsigned High = Width - Low;
    logic [Operands-1:0][Low-1:0] low;
    logic [Operands-1:0][High-1:0] high_q;
    logic [Low-1:0] sum_low, sum_low_q;
    logic [High-1:0] sum_high;

    for (genvar k = 0; k < Operands; k++) begin : gen_operand
      assign low[k] = x_i[k][Low-1:0];
      always_ff @(posedge clk_i) high_q[k] <= x_i[k][Width-1:Low];
    end

    rm_add_parts #(
        .Operands(Operands),
        .Low(Low),
        .High(High),
        .Radix(Radix),
        .Minus(Minus)
    ) u_parts (
        .clk_i,
        .low_i(low),
        .high_i(high_q),
        .low_o(sum_low),
        .high_o(sum_high)
    );

    always_ff @(posedge clk_i) sum_low_q <= sum_low;

    assign sum_o = {sum_high, sum_low_q};
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
