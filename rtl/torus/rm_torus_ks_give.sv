// SPDX-License-Identifier: Apache-2.0
// Gives the results of a key-switch pass word by word, one a cycle.
//
// A pass gives `Lanes` columns (or the rest of n) of one ciphertext after another. After the last
// pass, the body follows each ciphertext's words as column n. capture_i takes the sums of all
// lanes, in a cycle in which no words wait. given_o marks the cycle in which the last word of a
// pass goes into the output's register. begin of a command sets the columns back.
//
// Latency 2 cycles, one word a cycle.
module rm_torus_ks_give #(
    parameter int unsigned Batch = 1,
    parameter int unsigned Lanes = 16
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    input  logic                               begin_i,
    input  logic [     15:0]                   small_i,
    input  logic [      7:0]                   count_i,
    input  logic                               capture_i,
    input  logic [Lanes-1:0][Batch-1:0] [31:0] sum_i,
    input  logic [Batch-1:0][     31:0]        body_i,
    output logic                               given_o,
    output logic                               out_valid_o,
    input  logic                               out_ready_i,
    output logic [     31:0]                   out_word_o,
    output logic [     15:0]                   out_column_o,
    output logic [      7:0]                   out_ciphertext_o,
    output logic                               out_last_o
);

  localparam int unsigned LaneWidth = $clog2(Lanes + 1);

  // held[l] is a word of the present ciphertext, of the lane l places after the lane whose word
  // leaves next.
  logic [Lanes:0][31:0] held;
  // The bodies of the ciphertexts, that of the present one first.
  logic [Batch-1:0][31:0] body_q;
  logic full_d, full_q;
  // lane_q: the lane whose word leaves next; top_q: the last one of the pass. turn_q: the present
  // ciphertext.
  logic [LaneWidth-1:0] lane_d, lane_q, top_d, top_q;
  logic [7:0] turn_d, turn_q;
  // Column of lane 0; columns that are left with this pass; whether it is the last.
  logic [15:0] base_d, base_q, left_d, left_q;
  logic last_d, last_q;
  logic ready, push, at_top, next_turn;
  logic [31:0] word;

  assign at_top = lane_q == top_q;
  assign push = full_q && ready;
  assign next_turn = push && at_top;
  assign given_o = next_turn && turn_q == count_i - 8'd1;

  always_comb begin
    full_d = full_q;
    lane_d = lane_q;
    top_d = top_q;
    turn_d = turn_q;
    base_d = base_q;
    left_d = left_q;
    last_d = last_q;
    if (push) lane_d = at_top ? '0 : lane_q + 1'b1;
    if (next_turn) turn_d = turn_q + 8'd1;
    if (given_o) begin
      full_d = 1'b0;
      base_d = base_q + 16'(Lanes);
      left_d = left_q - 16'(Lanes);
      last_d = left_q <= 16'(2 * Lanes);
    end
    if (capture_i) begin
      full_d = 1'b1;
      lane_d = '0;
      turn_d = '0;
      top_d = last_q ? LaneWidth'(left_q) : LaneWidth'(Lanes - 1);
    end
    if (begin_i) begin
      full_d = 1'b0;
      base_d = '0;
      left_d = small_i;
      last_d = small_i <= 16'(Lanes);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) full_q <= 1'b0;
    else full_q <= full_d;
  end

  always_ff @(posedge clk_i) begin
    lane_q <= lane_d;
    top_q <= top_d;
    turn_q <= turn_d;
    base_q <= base_d;
    left_q <= left_d;
    last_q <= last_d;
    for (int unsigned c = 0; c < Batch; c++) begin
      if (capture_i) body_q[c] <= body_i[c];
      else if (next_turn && c + 1 < Batch) body_q[c] <= body_q[(c+1)%Batch];
    end
  end

  assign held[Lanes] = '0;

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_held
    rm_torus_ks_held #(
        .Batch(Batch)
    ) u_held (
        .clk_i,
        .capture_i,
        .turn_i(next_turn),
        .shift_i(push),
        .sum_i(sum_i[lane]),
        .above_i(held[lane+1]),
        .word_o(held[lane])
    );
  end

  assign word = (last_q && at_top) ? body_q[0] : held[0];

  rm_skid #(
      .Width(32 + 16 + 8 + 1)
  ) u_out (
      .clk_i,
      .rst_ni,
      .valid_i(full_q),
      .ready_o(ready),
      .data_i({last_q && given_o, turn_q, base_q + 16'(lane_q), word}),
      .valid_o(out_valid_o),
      .ready_i(out_ready_i),
      .data_o({out_last_o, out_ciphertext_o, out_column_o, out_word_o})
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      nothing_is_overwritten : assert (!(capture_i && full_q));
    end
  end
`endif

endmodule
