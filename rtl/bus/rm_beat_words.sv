// SPDX-License-Identifier: Apache-2.0
// Cuts beats into words of Bits bits, the lowest first.
//
// A stream has count_i words; the rest of its last beat is dropped. With count_i = 0 every word of
// every beat passes. A stream of too few or too many beats gives all of its words, the last one
// marked, so the reader sees that the number is wrong. A beat is taken only while a word could
// leave (ready_i).
//
// Latency 1 cycle, one word a cycle.
module rm_beat_words #(
    parameter int unsigned DataWidth = 128,
    parameter int unsigned Bits = 32,
    parameter int unsigned CountWidth = 20
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic [CountWidth-1:0] count_i,
    input  logic                  valid_i,
    output logic                  ready_o,
    input  logic [ DataWidth-1:0] data_i,
    input  logic                  last_i,
    output logic                  valid_o,
    input  logic                  ready_i,
    output logic [      Bits-1:0] data_o,
    output logic                  last_o
);

  localparam int unsigned Words = DataWidth / Bits;
  localparam int unsigned WordWidth = (Words > 1) ? $clog2(Words) : 1;

  logic full_q, last_q, fresh_q, at_count, ends, push, pop;
  logic [WordWidth-1:0] word_q;
  logic [CountWidth-1:0] left_q;
  logic [Words-1:0][Bits-1:0] beat_q;

  // left_q: the words of the stream after this one. If there are too many words, left_q wraps to
  // its largest value and stays there.
  assign at_count = left_q == '0;
  assign last_o = last_q && (word_q == WordWidth'(Words - 1) || at_count);
  assign ends = word_q == WordWidth'(Words - 1) || last_o;
  assign valid_o = full_q;
  assign data_o = beat_q[0];
  assign pop = full_q & ready_i;
  assign ready_o = ready_i && (!full_q || ends);
  assign push = valid_i & ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      fresh_q <= 1'b1;
    end else begin
      full_q <= push || (full_q && !(pop && ends));
      fresh_q <= !push && (fresh_q || (pop && last_o));
    end
  end

  always_ff @(posedge clk_i) begin
    if (push && (fresh_q || (pop && last_o))) left_q <= count_i - 1'b1;
    else if (pop && !(&left_q)) left_q <= left_q - 1'b1;
    if (push) begin
      beat_q <= data_i;
      last_q <= last_i;
      word_q <= '0;
    end else if (pop) begin
      beat_q <= beat_q >> Bits;
      word_q <= word_q + 1'b1;
    end
  end

endmodule
