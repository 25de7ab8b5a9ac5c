// SPDX-License-Identifier: Apache-2.0
// Packs words of Bits bits into beats, the lowest first; the last beat is filled with zeros.
//
// Latency 1 cycle from a beat's last word, one word a cycle.
module rm_word_beats #(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned Bits = 32
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 valid_i,
    output logic                 ready_o,
    input  logic [     Bits-1:0] data_i,
    input  logic                 last_i,
    output logic                 valid_o,
    input  logic                 ready_i,
    output logic [DataWidth-1:0] data_o,
    output logic                 last_o
);

  localparam int unsigned Words = DataWidth / Bits;
  localparam int unsigned WordWidth = (Words > 1) ? $clog2(Words) : 1;

  logic full_q, last_q, move, fills;
  logic [WordWidth-1:0] word_q;
  logic [Words-1:0][Bits-1:0] beat_q;

  assign ready_o = !full_q || ready_i;
  assign move = valid_i & ready_o;
  assign fills = move && (last_i || word_q == WordWidth'(Words - 1));
  assign valid_o = full_q;
  assign data_o = beat_q;
  assign last_o = last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      word_q <= '0;
    end else begin
      full_q <= fills || (full_q && !ready_i);
      if (move) word_q <= fills ? '0 : word_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (move) begin
      last_q <= last_i;
      for (int unsigned w = 0; w < Words; w++) begin
        if (word_q == WordWidth'(w)) beat_q[w] <= data_i;
        else if (word_q == '0) beat_q[w] <= '0;
      end
    end
  end

endmodule
