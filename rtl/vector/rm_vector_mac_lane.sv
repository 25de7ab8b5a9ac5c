// SPDX-License-Identifier: Apache-2.0
// A lane of the multiply-accumulate unit (BASALISC paper, section 6.3 and Figure 6): one
// multiplier, a register file, an accumulator.
//
// The result is product + term, product + accumulator, product, or term. The product is a b / R. If
// one factor is R mod q (`one`), the product is the other factor. The term is b, -b (as q - b, which
// the sum takes as well), or a. So a sum and a copy need no adder and no wires of their own, except
// the term's.
//
// Rank 0 takes the chunk's word, two cycles after its item was taken there, as the buffer answers.
// Rank 1 takes the operands from registers, which are read while an item is in rank 0. Ranks 2 to 5
// are the product's, with the term beside. The sum is combinational behind rank 5. The accumulator,
// a register or the buffer takes it in the cycle in which the item leaves (write_*_i).
//
// how_i, a_i, b_i, n_i and one_i belong to the item that rank 1 takes. sum_i and q_last_i belong to
// the item in rank 5. q_i[k] is the modulus of the item that rank k + 1 takes.
module rm_vector_mac_lane
  import rm_vector_pkg::*;
  import rm_vector_mac_pkg::*;
#(
    parameter int unsigned Width = 32,
    parameter int unsigned Registers = 16,
    localparam int unsigned Stages = mac_stages(),
    localparam int unsigned RegWidth = $clog2(Registers)
) (
    input  logic                           clk_i,
    input  logic [  Stages-1:1]            move_i,
    input  logic                           came_i,
    input  logic [   Width-1:0]            chunk_i,
    input  operands_t                      how_i,
    input  logic [RegWidth-1:0]            a_i,
    input  logic [RegWidth-1:0]            b_i,
    input  logic [   Width-1:0]            n_i,
    input  logic [   Width-1:0]            one_i,
    input  logic [  Stages-1:1][Width-1:0] q_i,
    input  sum_t                           sum_i,
    input  logic [   Width-1:0]            q_last_i,
    input  logic                           write_acc_i,
    input  logic                           write_reg_i,
    input  logic [RegWidth-1:0]            reg_i,
    output logic [   Width-1:0]            sum_o
);

  // Read in the cycle of use, at two places.
  (* ram_style = "distributed" *) logic [Width-1:0] registers_q[Registers];
  logic [Width-1:0] chunk_q, acc_q;
  logic [Width-1:0] from_a, from_b, a_d, b_d, term_d, a, b, term, term_last, product, added, sum;

  always_ff @(posedge clk_i) begin
    if (came_i) chunk_q <= chunk_i;
    if (write_reg_i) registers_q[reg_i] <= sum_o;
    if (write_acc_i) acc_q <= sum_o;
  end

  assign from_a = registers_q[a_i];
  assign from_b = registers_q[b_i];
  assign a_d = (how_i.a == FromOne) ? one_i : (how_i.a == FromRegister) ? from_a : chunk_q;
  assign b_d = how_i.b_one ? one_i : how_i.b_scalar ? n_i : from_b;
  assign term_d = how_i.pass_a ? a_d : how_i.minus ? q_i[1] - from_b : from_b;

  rm_vector_rank #(
      .Width(3 * Width)
  ) u_operands (
      .clk_i,
      .move_i(move_i[1]),
      .d_i({a_d, b_d, term_d}),
      .q_o({a, b, term})
  );

  rm_vector_mul #(
      .Width(Width)
  ) u_mul (
      .clk_i,
      .move_i(move_i[Stages-1:2]),
      .q_i(q_i[Stages-1:2]),
      .a_i(a),
      .b_i(b),
      .r_o(product)
  );

  rm_vector_delay #(
      .Width(Width),
      .Depth(MulStages)
  ) u_term (
      .clk_i,
      .move_i(move_i[Stages-1:2]),
      .d_i(term),
      .q_o(term_last)
  );

  assign added = sum_i.add_acc ? acc_q : sum_i.add_term ? term_last : '0;

  rm_mod_add #(
      .Width(Width)
  ) u_sum (
      .a_i(product),
      .b_i(added),
      .q_i(q_last_i),
      .r_o(sum)
  );

  assign sum_o = sum_i.only_term ? term_last : sum;

endmodule
