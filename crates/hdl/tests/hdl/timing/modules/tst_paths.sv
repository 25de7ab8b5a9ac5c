// SPDX-License-Identifier: Apache-2.0
// Paths whose length is known without a tool. Between registers lie
//
//   chain_o   3 levels              sums modulo 2 of six bits, three in a row
//   sum_o     1 level, 11 carries   a sum of 12 bits: the carry of bit 10 decides bit 11
//   two_o     2 levels, 11 carries  two sums in a row: the second follows the first bit by bit
//   sign_o    2 levels, 23 carries  a sum that hangs on the sign of another: 12 and 11
//   mul_o     2 levels              the multiplier of a DSP block, and its adder behind the register between
//   ram_o     4 levels              the output of a block RAM (3) and a sum modulo 2 of six bits
module tst_paths (
    input  logic        clk_i,
    input  logic [15:0] a_i,
    input  logic [11:0] b_i,
    input  logic [11:0] c_i,
    input  logic [11:0] d_i,
    input  logic [15:0] x_i,
    input  logic [15:0] y_i,
    input  logic        we_i,
    input  logic [ 9:0] addr_i,
    output logic        chain_o,
    output logic [11:0] sum_o,
    output logic [11:0] two_o,
    output logic [11:0] sign_o,
    output logic [31:0] mul_o,
    output logic        ram_o
);

  logic [15:0] a_q;
  logic [11:0] b_q, c_q, d_q;
  logic [15:0] x_q, y_q;
  logic [11:0] word_q;
  logic [31:0] product_q;
  (* ram_style = "block" *) logic [11:0] mem[1024];
  // What is kept stays a level of its own.
  (* keep *) logic first, second;
  (* keep *) logic [11:0] partial, difference;
  logic borrow;

  assign first = ^a_q[5:0];
  assign second = ^{first, a_q[10:6]};
  assign partial = b_q + c_q;
  assign {borrow, difference} = {1'b0, b_q} - {1'b0, d_q};

  always_ff @(posedge clk_i) begin
    a_q <= a_i;
    b_q <= b_i;
    c_q <= c_i;
    d_q <= d_i;
    x_q <= x_i;
    y_q <= y_i;
    if (we_i) mem[addr_i] <= a_q[11:0];
    word_q <= mem[addr_i];
    chain_o <= ^{second, a_q[15:11]};
    sum_o <= b_q + d_q;
    two_o <= partial + d_q;
    sign_o <= difference + (c_q & {12{borrow}});
    product_q <= x_q * y_q;
    mul_o <= product_q;
    ram_o <= ^word_q[5:0];
  end

endmodule
