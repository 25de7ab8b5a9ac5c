// SPDX-License-Identifier: Apache-2.0
// rm_vector_factory returns the powers of a seed: the first is the seed, and each other is the Montgomery product of the one before and the
// seed. This holds at a small width, for every modulus that the multiplier takes.
module prop_vector_factory
  import vector_model_pkg::*;
#(
    parameter int unsigned LogRadix = 2,
    localparam int unsigned Radix = 1 << LogRadix
) (
    input logic  clk_i,
    input word_t q_i,
    input word_t seed_i
);

  localparam int unsigned Stages = rm_vector_pkg::factory_stages(LogRadix);

  logic [Radix-1:1][Width-1:0] power_o;
  word_t [Radix-1:1] want;

  rm_vector_factory #(
      .LogRadix(LogRadix),
      .Width(Width)
  ) u_factory (
      .clk_i,
      .move_i('1),
      .q_i({Stages{q_i}}),
      .seed_i,
      .power_o
  );

  assign want[1] = seed_i;
  for (genvar j = 2; j < Radix; j++) begin : gen_power
    assign want[j] = product(want[j-1], seed_i, q_i);
  end

  always_comb begin
    assume (friendly(q_i) && seed_i < q_i);
    powers : assert (power_o == want);
  end

endmodule
