// SPDX-License-Identifier: Apache-2.0
// rm_torus_digits gives the signed digits of the gadget decomposition: with y = x + offset, for every x
// modulo 2^32, B = 2^LogBase and d_j what digit_o of level j represents modulo P, nearest to 0,
//
//   -B / 2 <= d_j < B / 2 and x = sum over j < Levels of d_j 2^(32 - (j + 1) LogBase) + rest modulo 2^32,
//   -h <= rest < h, h = 2^(31 - Levels LogBase), or rest = 0 where the digits are all 32 bits.
//
// The choices of digits are as many as the sums that they can make, so that no other digits have
// this property.
module prop_torus_digits
  import rm_torus_pkg::*;
#(
    parameter int unsigned Levels = 3,
    parameter int unsigned LogBase = 7
) (
    input logic [31:0] x_i
);

  localparam int unsigned Left = 32 - Levels * LogBase;
  localparam logic signed [Width:0] HalfBase = (Width + 1)'(1) << (LogBase - 1);
  localparam logic [31:0] Half = (Left == 0) ? 32'd0 : 32'd1 << ((Left == 0) ? 0 : Left - 1);
  localparam logic [31:0] Span = (Left == 0) ? 32'd1 : 32'd1 << Left;

  logic [31:0] y;
  logic [Levels:0][31:0] sum;

  assign y = x_i + offset(Levels, LogBase);
  assign sum[0] = '0;

  for (genvar j = 0; j < Levels; j++) begin : gen_level
    localparam int unsigned Low = 32 - (j + 1) * LogBase;
    logic [Width-1:0] digit;
    logic signed [Width:0] near;

    rm_torus_digits #(
        .Count(1),
        .LogBase(LogBase),
        .Low(Low)
    ) u_digits (
        .y_i(y),
        .digit_o(digit)
    );

    assign near = (digit > (P >> 1)) ? $signed({1'b0, digit}) - $signed({1'b0, P}) :
        $signed({1'b0, digit});
    assign sum[j+1] = sum[j] + (near[31:0] << Low);

    always_comb begin
      reduced : assert (digit < P);
      small_digit : assert (near >= -HalfBase && near < HalfBase);
    end
  end

  always_comb begin
    is_the_sum : assert (x_i - sum[Levels] + Half < Span);
  end

endmodule
