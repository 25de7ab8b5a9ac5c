// SPDX-License-Identifier: Apache-2.0
// A cell of the triangle of rm_basext_radix_array: takes digit number Digit off the residue modulo
// q = q_Row, and divides by the digit's radix (Garner; Kırbıyık's thesis, Algorithm 4, line 4, and
// Figure 4.4).
//
//   r = (b - v) w mod q,  w = |-q_Digit^-1|_q held times R,  any b of Width bits
//
// A cell has one modular multiplier and one subtractor. Load: w as rm_basext_words has it.
// modulus_i ({3 q_H, q} of rm_wide_mul) is held while products are in flight.
//
// Latency mul_latency(Width, Low) + 1, one coefficient a cycle.
module rm_basext_radix_cell
  import rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Digit = 0,
    parameter int unsigned Row = 1,
    parameter int unsigned LWidth = 3,
    localparam int unsigned BusWidth = rm_wide_pkg::modulus_bits(Width)
) (
    input  logic                clk_i,
    // Load.
    input  logic                take_i,
    input  part_e               part_i,
    input  logic [  LWidth-1:0] source_i,
    input  logic [  LWidth-1:0] column_i,
    input  logic [   Width-1:0] word_i,
    // Coefficients.
    input  logic [BusWidth-1:0] modulus_i,
    input  logic [   Width-1:0] b_i,
    input  logic [   Width-1:0] v_i,
    output logic [   Width-1:0] r_o
);

  localparam int unsigned Steps = rm_wide_pkg::steps(Width);

  logic mine;
  logic [Width-1:0] const_q, difference, x_q;

  // The modulus q comes before the constants, with the place of the first constant, which then
  // replaces it.
  assign mine = take_i && part_i == Sources && 32'(source_i) == Row && 32'(column_i) == Digit;

  // The difference is below 2^Width for any b: it is b - v if that is not negative, and otherwise
  // below q.
  rm_mod_sub #(
      .Width(Width)
  ) u_difference (
      .a_i(b_i),
      .b_i(v_i),
      .q_i(modulus_i[Width-1:0]),
      .r_o(difference)
  );

  always_ff @(posedge clk_i) begin
    if (mine) const_q <= word_i;
    x_q <= difference;
  end

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_mul (
      .clk_i,
      .q_i({(Steps + 1) {modulus_i}}),
      .a_i(x_q),
      .b_i(const_q),
      .r_o
  );

endmodule
