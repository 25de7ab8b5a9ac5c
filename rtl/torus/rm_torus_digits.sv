// SPDX-License-Identifier: Apache-2.0
// Cuts one digit out of each of Count decomposed coefficients, as a residue: LogBase bits of y from
// bit Low up, less half a base.
//
// Latency 0 (combinational).
module rm_torus_digits
  import rm_torus_pkg::*;
#(
    parameter int unsigned Count = 8,
    parameter int unsigned LogBase = 7,
    parameter int unsigned Low = 25
) (
    input  logic [Count-1:0][31:0]      y_i,
    output logic [Count-1:0][Width-1:0] digit_o
);

  localparam logic [Width-1:0] Half = Width'(1) << (LogBase - 1);

  for (genvar i = 0; i < Count; i++) begin : gen_digit
    logic [LogBase-1:0] bits;
    assign bits = y_i[i][Low+:LogBase];
    assign digit_o[i] = Width'(bits) + (bits[LogBase-1] ? -Half : P - Half);
  end

  logic unused_y;
  assign unused_y = ^y_i;

endmodule
