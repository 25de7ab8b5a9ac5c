// SPDX-License-Identifier: Apache-2.0
// rm_vector_seed gives, five cycles after it took an item, the seed of the item's set and column: the Montgomery product of the words that
// the two tables hold there. This holds for every modulus that the multiplier takes. The proof is by induction over cycles: the tables
// equal those of the model wherever a word was written.
module prop_vector_seed
  import vector_model_pkg::*;
(
    input logic  clk_i,
    input logic  rst_ni,
    input logic  load_i,
    input logic  load_high_i,
    input logic  load_set_i,
    input logic  load_index_i,
    input word_t load_word_i,
    input word_t q_i,
    input logic  set_i,
    input logic [1:0] column_i
);

  localparam int unsigned Late = rm_vector_pkg::MulStages + 1;

  // An item on its way, from the cycle after it was taken: whether its seed is known, its modulus and its seed.
  typedef struct packed {
    logic  known;
    word_t q;
    word_t seed;
  } item_t;

  word_t [3:0] lows_q, highs_q;
  logic [3:0] low_known_q, high_known_q;
  item_t [Late-1:0] item_q;
  logic [Late-2:0][Width-1:0] q;
  logic [1:0] at, low_at, high_at;
  word_t seed_o;

  for (genvar k = 0; k < Late - 1; k++) begin : gen_q
    assign q[k] = item_q[k].q;
  end

  rm_vector_seed #(
      .LogLow(1),
      .LogHigh(1),
      .Sets(2),
      .Width(Width)
  ) u_seed (
      .clk_i,
      .load_i,
      .load_high_i,
      .load_set_i,
      .load_index_i,
      .load_word_i,
      .move_i('1),
      .q_i(q),
      .set_i,
      .column_i,
      .seed_o
  );

  assign at = {load_set_i, load_index_i};
  assign low_at = {set_i, column_i[0]};
  assign high_at = {set_i, column_i[1]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      low_known_q <= '0;
      high_known_q <= '0;
      item_q <= '0;
    end else begin
      if (load_i && !load_high_i) low_known_q[at] <= 1'b1;
      if (load_i && load_high_i) high_known_q[at] <= 1'b1;
      item_q <= {
        item_q[Late-2:0],
        low_known_q[low_at] && high_known_q[high_at] && lows_q[low_at] < q_i,
        q_i,
        product(highs_q[high_at], lows_q[low_at], q_i)
      };
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i && !load_high_i) lows_q[at] <= load_word_i;
    if (load_i && load_high_i) highs_q[at] <= load_word_i;
  end

  for (genvar i = 0; i < 4; i++) begin : gen_word
    always_comb begin
      low_kept : assert (!low_known_q[i] || u_seed.lows[i] == lows_q[i]);
      high_kept : assert (!high_known_q[i] || u_seed.highs[i] == highs_q[i]);
    end
  end

  always_comb begin
    assume (friendly(q_i));
    multiplied : assert (!item_q[Late-1].known || seed_o == item_q[Late-1].seed);
  end

endmodule
