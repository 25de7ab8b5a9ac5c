// SPDX-License-Identifier: Apache-2.0
// Holds the sums of a key-switch lane for Batch ciphertexts until they leave, the next ciphertext's
// sum first.
//
// capture_i takes the sums. turn_i brings the next ciphertext's sum forward. shift_i takes the word
// of the lane above. One of them acts in a cycle; the first named has priority. No reset.
module rm_torus_ks_held #(
    parameter int unsigned Batch = 1
) (
    input  logic                    clk_i,
    input  logic                    capture_i,
    input  logic                    turn_i,
    input  logic                    shift_i,
    input  logic [Batch-1:0] [31:0] sum_i,
    input  logic [     31:0]        above_i,
    output logic [     31:0]        word_o
);

  logic [Batch-1:0][31:0] held_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < Batch; c++) begin
      if (capture_i) held_q[c] <= sum_i[c];
      else if (turn_i && c + 1 < Batch) held_q[c] <= held_q[(c+1)%Batch];
      else if (shift_i && c == 0) held_q[c] <= above_i;
    end
  end

  assign word_o = held_q[0];

endmodule
