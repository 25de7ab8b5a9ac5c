// SPDX-License-Identifier: Apache-2.0
// Multiplies each word of a line by its factor: x[i] f[i] R^-1 mod q.
//
// Position 0 has factor one in every transform, and travels beside. factor_i belongs to the line
// that rank 0 takes; q_i[k] is the modulus of the line that rank k takes. Latency MulStages moves,
// one line a move, Radix - 1 multipliers.
module rm_vector_scale
  import rm_vector_pkg::MulStages;
#(
    parameter int unsigned Radix = 16,
    parameter int unsigned Width = 32
) (
    input  logic                            clk_i,
    input  logic [MulStages-1:0]            move_i,
    input  logic [MulStages-1:0][Width-1:0] q_i,
    input  logic [    Radix-1:1][Width-1:0] factor_i,
    input  logic [    Radix-1:0][Width-1:0] line_i,
    output logic [    Radix-1:0][Width-1:0] line_o
);

  rm_vector_delay #(
      .Width(Width),
      .Depth(MulStages)
  ) u_first (
      .clk_i,
      .move_i,
      .d_i(line_i[0]),
      .q_o(line_o[0])
  );

  for (genvar i = 1; i < Radix; i++) begin : gen_other
    rm_vector_mul #(
        .Width(Width)
    ) u_mul (
        .clk_i,
        .move_i,
        .q_i,
        .a_i(line_i[i]),
        .b_i(factor_i[i]),
        .r_o(line_o[i])
    );
  end

endmodule
