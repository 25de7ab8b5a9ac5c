// SPDX-License-Identifier: Apache-2.0
// A rower, a modular multiply-accumulate unit of a Cox-Rower base extension: rower number Index
// (Kawamura et al.; Kırbıyık's thesis, Algorithm 3 and Figure 4.1).
//
// With Digits it does the same for mixed radix (Algorithm 4). It works modulo q = q_Index in Scale,
// and modulo p = p_Index in Sum (sums_i).
//
//   Scale   Cox-Rower   r = v w mod q,             w = |Qhat^-1|_q
//           Digits      r = (b - v) w mod q,       w = |-q_s^-1|_q,  any b of Width bits
//   Sum                 r = sum_s (b_s w_s + alpha_s |-Q|_p) mod p
//
// w and w_s are held times R; alpha is 0 with Digits. A rower has one modular multiplier and two
// adders. Cox-Rower uses the adders for alpha |-Q| and the sum, Digits for the difference and the
// sum.
//
// Load: the constants as rm_basext_words has them. sums_i is held while products are in flight, and
// changes two cycles before the first product of the other kind. By the cycles since a step:
// address_i at 2; v_i and b_i at 3; alpha_i at Mul + 4; begin_i (the sum begins; always in Scale)
// at Mul + 5; r_o at Mul + 6.
module rm_basext_rower
  import rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Index = 0,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    parameter bit Digits = 1'b0,
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned IWidth = (MaxL > 1) ? $clog2(MaxL) : 1
) (
    input  logic              clk_i,
    // Load.
    input  logic              take_i,
    input  part_e             part_i,
    input  logic [       1:0] kind_i,
    input  logic [LWidth-1:0] source_i,
    input  logic [KWidth-1:0] target_i,
    input  logic [LWidth-1:0] column_i,
    input  logic [ Width-1:0] word_i,
    // Steps.
    input  logic              sums_i,
    input  logic [IWidth-1:0] address_i,
    input  logic [ Width-1:0] v_i,
    input  logic [ Width-1:0] b_i,
    input  logic              alpha_i,
    input  logic              begin_i,
    output logic [ Width-1:0] r_o
);

  localparam int unsigned Steps = rm_wide_pkg::steps(Width);
  localparam int unsigned BusWidth = rm_wide_pkg::modulus_bits(Width);

  logic of_source, of_target;
  logic [Width-1:0] modulus, word, const_q, x_d, x_q, term, term_d, term_q, sum, sum_q;
  logic [BusWidth-1:0] bus_q;

  assign of_source = take_i && part_i == Sources && 32'(source_i) == Index;
  assign of_target = take_i && part_i == Targets && 32'(target_i) == Index;

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(2)
  ) u_moduli (
      .clk_i,
      .we_i((of_source || of_target) && kind_i == 2'd0),
      .waddr_i(of_target),
      .wdata_i(word_i),
      .re_i(1'b1),
      .raddr_i(sums_i),
      .rdata_o(modulus)
  );

  // The constants of Scale lie below those of Sum. Cox-Rower has one constant of Scale, at place 0.
  rm_ram_1r1w #(
      .Width(Width),
      .Depth(2 << IWidth)
  ) u_constants (
      .clk_i,
      .we_i(of_source && kind_i != 2'd0 || of_target && kind_i == 2'd2),
      .waddr_i({of_target, IWidth'(column_i)}),
      .wdata_i(word_i),
      .re_i(1'b1),
      .raddr_i({sums_i, address_i}),
      .rdata_o(word)
  );

  always_ff @(posedge clk_i) begin
    bus_q <= {rm_wide_pkg::triple_of(64'(modulus), Low), modulus};
    const_q <= word;
    x_q <= x_d;
    term_q <= term_d;
    sum_q <= sum;
  end

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_mul (
      .clk_i,
      .q_i({(Steps + 1) {bus_q}}),
      .a_i(x_q),
      .b_i(const_q),
      .r_o(term)
  );

  if (Digits) begin : gen_digits
    logic [Width-1:0] difference;

    // The difference is below 2^Width for any b: it is b - v if that is not negative, and otherwise
    // below q.
    rm_mod_sub #(
        .Width(Width)
    ) u_difference (
        .a_i(b_i),
        .b_i(v_i),
        .q_i(bus_q[Width-1:0]),
        .r_o(difference)
    );

    assign x_d = sums_i ? b_i : difference;
    assign term_d = term;

    logic unused_alpha;
    assign unused_alpha = alpha_i;
  end else begin : gen_rower
    logic [Width-1:0] negative_q;

    always_ff @(posedge clk_i) begin
      if (of_target && kind_i == 2'd1) negative_q <= word_i;
    end

    rm_mod_add #(
        .Width(Width)
    ) u_correct (
        .a_i(term),
        .b_i(alpha_i ? negative_q : '0),
        .q_i(bus_q[Width-1:0]),
        .r_o(term_d)
    );

    assign x_d = sums_i ? b_i : v_i;
  end

  rm_mod_add #(
      .Width(Width)
  ) u_sum (
      .a_i(begin_i ? '0 : sum_q),
      .b_i(term_q),
      .q_i(bus_q[Width-1:0]),
      .r_o(sum)
  );

  assign r_o = sum_q;

  logic unused_column;
  assign unused_column = ^column_i;

endmodule
