// SPDX-License-Identifier: Apache-2.0
// Cuts the path of ready through a pipeline: passes a stream on unchanged, with every output and
// ready_o from a register.
//
// Latency 1 cycle, one word a cycle. The module holds two words: the word at the output, and the
// word that arrives before the source sees a stall. Reset empties the module.
module rm_skid #(
    parameter int unsigned Width = 32
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             valid_i,
    output logic             ready_o,
    input  logic [Width-1:0] data_i,
    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o
);

  logic [Width-1:0] out_q, spare_q;
  logic out_valid_d, out_valid_q, spare_valid_d, spare_valid_q;
  logic push, move;

  assign ready_o = !spare_valid_q;
  assign valid_o = out_valid_q;
  assign data_o = out_q;
  assign push = valid_i & ready_o;
  assign move = !out_valid_q | ready_i;

  assign out_valid_d = move ? (spare_valid_q | push) : 1'b1;
  assign spare_valid_d = !move & (spare_valid_q | push);

  always_ff @(posedge clk_i) begin
    if (move) out_q <= spare_valid_q ? spare_q : data_i;
    if (push) spare_q <= data_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      spare_valid_q <= 1'b0;
    end else begin
      out_valid_q <= out_valid_d;
      spare_valid_q <= spare_valid_d;
    end
  end

`ifndef SYNTHESIS
  // A word was shown in the cycle before, and not taken, or taken.
  logic stays_q, taken_q;
  logic [Width-1:0] shown_q;

  always_ff @(posedge clk_i) shown_q <= data_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stays_q <= 1'b0;
      taken_q <= 1'b0;
    end else begin
      stays_q <= valid_o && !ready_i;
      taken_q <= valid_o && ready_i;
      spare_behind_one : assert (!spare_valid_q || out_valid_q);
      word_stays : assert (!stays_q || (valid_o && data_o == shown_q));
      room_after_taking : assert (!taken_q || ready_o);
    end
  end
`endif

endmodule
