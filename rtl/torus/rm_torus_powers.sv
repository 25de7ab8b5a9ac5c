// SPDX-License-Identifier: Apache-2.0
// A table of psi^e - 1 modulo P for e below 2 N, in two's complement: the values of X^a - 1 at the
// roots of unity.
//
// The table is computed when the design is elaborated. Latency 1 cycle, one read a cycle.
module rm_torus_powers
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7
) (
    input  logic             clk_i,
    input  logic [   LogN:0] exponent_i,
    output logic [Width-1:0] power_o
);

  (* rom_style = "block" *) logic [Width-1:0] mem[2 << LogN];
  logic [Width-1:0] power_q;

  initial begin
    logic [Width-1:0] power;
    power = Width'(1);
    for (int unsigned e = 0; e < (2 << LogN); e++) begin
      mem[e] = near_zero((power == '0) ? P - 1'b1 : power - 1'b1);
      power = mul_mod(power, psi(LogN));
    end
  end

  always_ff @(posedge clk_i) power_q <= mem[exponent_i];

  assign power_o = power_q;

endmodule
