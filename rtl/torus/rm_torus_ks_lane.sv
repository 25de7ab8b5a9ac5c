// SPDX-License-Identifier: Apache-2.0
// One column of a key switch for Batch ciphertexts: sum_o[c] = init_i[c] - sum over rows of d[c]
// mask, modulo 2^32.
//
// Each row has one mask word m and a digit of each ciphertext. With base B = 2^LogBase a digit
// comes as d + B / 2, bit by bit, so that -d = B / 2 (1 - top) - the bits below the top. This takes
// LogBase sums of 32 bits for each ciphertext, each with a register; the last one adds to the
// register of the sum.
//
//   s_0 = (top ? 0 : m << (LogBase - 1)) - (bit_0 ? m : 0)       (LogBase > 1)
//   s_k = s_(k-1) - (bit_k ? m << k : 0)
//   sum = sum + s
//
// The top and bit 0 of a digit come with the mask word, bit k comes k cycles after it. valid_i says
// in the cycle of the last sum, product_latency(LogBase) after the mask word, that there is a row.
// In a cycle without a row, clear_i sets sum to init_i, or without Inits to 0. One row a cycle. No
// reset.
module rm_torus_ks_lane #(
    parameter int unsigned Batch = 1,
    parameter int unsigned LogBase = 1,
    parameter bit Inits = 1'b0
) (
    input  logic                          clk_i,
    input  logic [     31:0]              mask_i,
    input  logic [Batch-1:0][LogBase-1:0] digit_i,
    input  logic                          valid_i,
    input  logic                          clear_i,
    input  logic [Batch-1:0][       31:0] init_i,
    output logic [Batch-1:0][       31:0] sum_o
);

  localparam int unsigned Top = LogBase - 1;

  logic [Batch-1:0][31:0] product, sum_q;
  logic [Batch-1:0] adds;

  if (LogBase == 1) begin : gen_bit
    // A digit of zero disables the sum's register. To set the mask word to zero instead would take
    // as many look-up tables as the sum.
    for (genvar c = 0; c < Batch; c++) begin : gen_one
      assign adds[c] = !digit_i[c][Top];
      assign product[c] = mask_i;
    end
  end else begin : gen_digit
    // mask[k] is the mask word k cycles later. part_q has the partial products.
    logic [Top-1:0][31:0] mask;
    logic [Top-1:0][Batch-1:0][31:0] part_q;

    assign mask[0] = mask_i;
    for (genvar k = 1; k < Top; k++) begin : gen_mask
      rm_delay #(
          .Width(32)
      ) u_mask (
          .clk_i,
          .d_i(mask[k-1]),
          .q_o(mask[k])
      );
    end

    always_ff @(posedge clk_i) begin
      for (int unsigned c = 0; c < Batch; c++) begin
        part_q[0][c] <= (digit_i[c][Top] ? '0 : mask[0] << Top) - (digit_i[c][0] ? mask[0] : '0);
        for (int unsigned k = 1; k < Top; k++) begin
          part_q[k][c] <= part_q[k-1][c] - (digit_i[c][k] ? mask[k] << k : '0);
        end
      end
    end

    assign product = part_q[Top-1];
    assign adds = '1;
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < Batch; c++) begin
      if (clear_i) sum_q[c] <= Inits ? init_i[c] : '0;
      else if (valid_i && adds[c]) sum_q[c] <= sum_q[c] + product[c];
    end
  end

  assign sum_o = sum_q;

  if (!Inits) begin : gen_unused
    logic unused_init;
    assign unused_init = ^init_i;
  end

endmodule
