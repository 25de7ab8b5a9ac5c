// SPDX-License-Identifier: Apache-2.0
// Delays a modulus so that it meets its product in every step of the multipliers rm_wide_mul.
//
// q_o[k] is {3 q_H, q} of the modulus that entered 1 + modulus_delay(Width, Low, k) cycles before.
// A modulus enters one cycle before its operands. One module serves all multipliers that work in
// step. 3 q_H is given modulo 2^TripleWidth.
//
// Latency 1 + modulus_delay(Width, Low, k) of rm_wide_pkg, one modulus a cycle. No reset.
module rm_wide_moduli
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9
) (
    input  logic                                         clk_i,
    input  logic [     Width-1:0]                        q_i,
    output logic [steps(Width):0][modulus_bits(Width)-1:0] q_o
);

  for (genvar k = 0; k <= steps(Width); k++) begin : gen_step
    localparam int unsigned Before = (k == 0) ? 0 : modulus_delay(Width, Low, k - 1) + 1;
    logic [modulus_bits(Width)-1:0] last, ahead;

    if (k == 0) begin : gen_first
      assign last = {triple_of(64'(q_i), Low), q_i};
    end else begin : gen_rest
      assign last = q_o[k-1];
    end

    rm_delay #(
        .Width(modulus_bits(Width)),
        .Depth(modulus_delay(Width, Low, k) - Before)
    ) u_delay (
        .clk_i,
        .d_i(last),
        .q_o(ahead)
    );

    // A flip-flop of its own drives each step, because a shift register is slow to give its output
    // and the step's m waits for it.
    rm_copy #(
        .Width(modulus_bits(Width))
    ) u_copy (
        .clk_i,
        .d_i(ahead),
        .q_o(q_o[k])
    );
  end

endmodule
