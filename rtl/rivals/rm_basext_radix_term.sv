// SPDX-License-Identifier: Apache-2.0
// A term of the mixed-radix sum modulo a target p = p_j (rm_basext_radix_array): adds the part of
// digit number Digit.
//
//   sum = old + b w mod p,  w = |q_0 ... q_(Digit-1)|_p held times R,  any b of Width bits
//
// sum is old alone if there is no such digit (Digit >= l_i). A term has one modular multiplier and
// one adder.
//
// Load: the constants as rm_basext_words has them; l_i is held. By the cycles since target_i: b_i
// and old_i come at 2, sum_o at Mul + 3, Mul = mul_latency(Width, Low). One coefficient a cycle,
// each of any target.
module rm_basext_radix_term
  import rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Digit = 0,
    parameter int unsigned LWidth = 3,
    parameter int unsigned MaxK = 4,
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned JWidth = (MaxK > 1) ? $clog2(MaxK) : 1
) (
    input  logic              clk_i,
    // Load.
    input  logic              take_i,
    input  part_e             part_i,
    input  logic [       1:0] kind_i,
    input  logic [KWidth-1:0] load_target_i,
    input  logic [LWidth-1:0] column_i,
    input  logic [ Width-1:0] word_i,
    // Coefficients.
    input  logic [LWidth-1:0] l_i,
    input  logic [JWidth-1:0] target_i,
    input  logic [ Width-1:0] b_i,
    input  logic [ Width-1:0] old_i,
    output logic [ Width-1:0] sum_o
);

  localparam int unsigned Steps = rm_wide_pkg::steps(Width);
  localparam int unsigned BusWidth = rm_wide_pkg::modulus_bits(Width);

  logic of_target;
  logic [Width-1:0] modulus, word, const_q, p_q, old;
  logic [Steps:0][BusWidth-1:0] bus;

  assign of_target = take_i && part_i == Targets;

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxK)
  ) u_moduli (
      .clk_i,
      .we_i(of_target && kind_i == 2'd0),
      .waddr_i(JWidth'(load_target_i)),
      .wdata_i(word_i),
      .re_i(1'b1),
      .raddr_i(target_i),
      .rdata_o(modulus)
  );

  // The modulus p comes before the constants, with the place of the first constant, which then
  // replaces it.
  rm_ram_1r1w #(
      .Width(Width),
      .Depth(MaxK)
  ) u_weights (
      .clk_i,
      .we_i(of_target && 32'(column_i) == Digit),
      .waddr_i(JWidth'(load_target_i)),
      .wdata_i(word_i),
      .re_i(1'b1),
      .raddr_i(target_i),
      .rdata_o(word)
  );

  rm_wide_moduli #(
      .Width(Width),
      .Low(Low)
  ) u_buses (
      .clk_i,
      .q_i(modulus),
      .q_o(bus)
  );

  always_ff @(posedge clk_i) begin
    const_q <= (32'(l_i) > Digit) ? word : '0;
    p_q <= bus[Steps][Width-1:0];
  end

  // The sum waits while this digit's product is made.
  rm_delay #(
      .Width(Width),
      .Depth(rm_wide_pkg::mul_latency(Width, Low))
  ) u_old (
      .clk_i,
      .d_i(old_i),
      .q_o(old)
  );

  rm_basext_channel #(
      .Width(Width),
      .Low(Low)
  ) u_channel (
      .clk_i,
      .x_i(b_i),
      .const_i(const_q),
      .modulus_i(bus),
      .old_i(old),
      .first_i(Digit == 0),
      .p_i(p_q),
      .sum_o
  );

  logic unused_target;
  assign unused_target = ^load_target_i;

endmodule
