// SPDX-License-Identifier: Apache-2.0
// rm_vector_mac_lane computes, for each item, the sum that the definition gives for its operands, and writes it to the accumulator or the
// register that the item names. Items follow one another without a gap. The proof is by induction over cycles: registers and accumulator
// equal those of the model from their first known write on.
//
// The claim for an item holds under three conditions, which rm_vector_mac keeps. The item reads only
// what was written before. The words that it reads are below its modulus. An item without a product
// does not negate its term.
module prop_vector_mac_lane
  import vector_model_pkg::*;
  import rm_vector_mac_pkg::*;
(
    input logic      clk_i,
    input logic      rst_ni,
    input word_t     chunk_i,
    input operands_t how_i,
    input logic      a_i,
    input logic      b_i,
    input word_t     n_i,
    input word_t     one_i,
    input word_t     q_i,
    input sum_t      sum_i,
    input logic      write_acc_i,
    input logic      write_reg_i,
    input logic      reg_i
);

  localparam int unsigned Stages = rm_vector_pkg::mac_stages();
  // Ranks from that of the operands to the last.
  localparam int unsigned Late = Stages - 1;

  typedef struct packed {
    logic  known;    // what the product is
    logic  term_known;
    logic  minus;
    word_t q;
    word_t product;
    word_t term;
  } item_t;

  word_t chunk_q, acc_q, a, b, term, from_b, added, want;
  word_t [1:0] registers_q;
  logic acc_known_q, chunk_known_q, a_known, b_known, known, term_known, kept;
  logic [1:0] known_q;
  item_t [Late-1:0] item_q;
  item_t last;
  logic [Stages-1:1][Width-1:0] q;
  logic [Width-1:0] sum_o;

  assign q[1] = q_i;
  for (genvar k = 2; k < Stages; k++) begin : gen_q
    assign q[k] = item_q[k-2].q;
  end
  assign last = item_q[Late-1];

  rm_vector_mac_lane #(
      .Width(Width),
      .Registers(2)
  ) u_lane (
      .clk_i,
      .move_i('1),
      .came_i(1'b1),
      .chunk_i,
      .how_i,
      .a_i,
      .b_i,
      .n_i,
      .one_i,
      .q_i(q),
      .sum_i,
      .q_last_i(last.q),
      .write_acc_i,
      .write_reg_i,
      .reg_i,
      .sum_o
  );

  // The item's operands by definition, and whether the conditions above hold for them.
  assign from_b = registers_q[b_i];
  always_comb begin
    unique case (how_i.a)
      FromOne: a = one_i;
      FromRegister: a = registers_q[a_i];
      default: a = chunk_q;
    endcase
    b = how_i.b_one ? one_i : how_i.b_scalar ? n_i : from_b;
    term = how_i.pass_a ? a : how_i.minus ? difference('0, from_b, q_i) : from_b;
    unique case (how_i.a)
      FromOne: a_known = 1'b1;
      FromRegister: a_known = known_q[a_i];
      default: a_known = chunk_known_q;
    endcase
    b_known = known_q[b_i] && from_b < q_i;
    // The first factor need not be below the modulus.
    known = a_known && b < q_i && (how_i.b_one || how_i.b_scalar || b_known);
    term_known = how_i.pass_a ? a_known && a < q_i : b_known;
  end

  // The sum by definition.
  assign added = sum_i.add_acc ? acc_q : sum_i.add_term ? last.term : '0;
  assign want = sum_i.only_term ? last.term : sum(last.product, added, last.q);
  always_comb begin
    if (sum_i.only_term) kept = last.term_known && !last.minus;
    else if (sum_i.add_acc) kept = last.known && acc_known_q && acc_q < last.q;
    else kept = last.known && (!sum_i.add_term || last.term_known);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      item_q <= '0;
      acc_known_q <= 1'b0;
      chunk_known_q <= 1'b0;
      known_q <= '0;
    end else begin
      item_q <= {item_q[Late-2:0], known, term_known, how_i.minus, q_i, product(a, b, q_i), term};
      chunk_known_q <= 1'b1;
      if (write_acc_i) acc_known_q <= kept;
      if (write_reg_i) known_q[reg_i] <= kept;
    end
  end

  always_ff @(posedge clk_i) begin
    chunk_q <= chunk_i;
    if (write_acc_i) acc_q <= want;
    if (write_reg_i) registers_q[reg_i] <= want;
  end

  always_comb begin
    assume (friendly(q_i) && (how_i.a inside {FromChunk, FromRegister, FromOne}));
    summed : assert (!kept || sum_o == want);
    chunk_kept : assert (!chunk_known_q || u_lane.chunk_q == chunk_q);
    accumulated : assert (!acc_known_q || u_lane.acc_q == acc_q);
    registers_kept :
    assert ((!known_q[0] || u_lane.registers_q[0] == registers_q[0]) &&
            (!known_q[1] || u_lane.registers_q[1] == registers_q[1]));
  end

endmodule
