// SPDX-License-Identifier: Apache-2.0
// The two parts of a wide sum (rm_add_tree), the upper part one cycle behind the lower:
//
//   {high_o, low_o} = sum_k (-1)^Minus[k] {high_k, low_k} mod 2^(Low + High)
//
// The upper parts of the operands come one cycle behind the lower parts, too. The carry of each
// adder's lower part waits one cycle in a register for its upper part. A single operand passes
// unchanged, whatever Minus is.
//
// Latency tree_levels(Operands, Radix) cycles, one sum a cycle.
module rm_add_parts #(
    parameter int unsigned Operands = 4,
    parameter int unsigned Low = 60,
    parameter int unsigned High = 60,
    parameter int unsigned Radix = 3,
    parameter logic [Operands-1:0] Minus = '0
) (
    input  logic                          clk_i,
    input  logic [Operands-1:0][ Low-1:0] low_i,
    input  logic [Operands-1:0][High-1:0] high_i,
    output logic [    Low-1:0]            low_o,
    output logic [   High-1:0]            high_o
);

  if (Operands == 1) begin : gen_leaf
    logic unused_clk;
    assign unused_clk = clk_i;
    assign low_o = low_i[0];
    assign high_o = high_i[0];
  end else begin : gen_level
    localparam int unsigned Groups = rm_arith_pkg::ceil_div(Operands, Radix);
    // Sign and carry of at most four operands.
    localparam int unsigned Extra = 3;

    logic [Groups-1:0][Low+Extra-1:0] sum_d, sum_q;
    logic [Groups-1:0][Low-1:0] low_q;
    logic [Groups-1:0][High-1:0] high_d, high_q;

    for (genvar g = 0; g < Groups; g++) begin : gen_group
      localparam int unsigned First = g * Radix;
      localparam int unsigned Count = rm_arith_pkg::min2(Radix, Operands - First);
      always_comb begin
        sum_d[g] = '0;
        high_d[g] = High'($signed(sum_q[g][Low+:Extra]));
        for (int unsigned k = First; k < First + Count; k++) begin
          if (Minus[k]) begin
            sum_d[g] = sum_d[g] - (Low + Extra)'(low_i[k]);
            high_d[g] = high_d[g] - high_i[k];
          end else begin
            sum_d[g] = sum_d[g] + (Low + Extra)'(low_i[k]);
            high_d[g] = high_d[g] + high_i[k];
          end
        end
      end
      assign low_q[g] = sum_q[g][Low-1:0];
    end

    always_ff @(posedge clk_i) begin
      sum_q <= sum_d;
      high_q <= high_d;
    end

    rm_add_parts #(
        .Operands(Groups),
        .Low(Low),
        .High(High),
        .Radix(Radix)
    ) u_rest (
        .clk_i,
        .low_i(low_q),
        .high_i(high_q),
        .low_o,
        .high_o
    );
  end

endmodule
