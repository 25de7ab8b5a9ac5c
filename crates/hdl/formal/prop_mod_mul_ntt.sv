// SPDX-License-Identifier: Apache-2.0
// rm_mod_mul with the reduction that polymul uses, whole and at full width, for every q = 1 mod 2^9
// below 2^32 and every a, b:
//
//   product       the reducer takes the sum of the four products of 16-bit halves of a and b at their
//                 places, which is a b
//   exact         left_(k+1) 2^11 + m_k q = left_k where left_k > -q, with 0 <= m_k < 2^11, left_0 = a b
//   reduced       r < q where -q < left_3 < q
//   certificate   r is left_3 or left_3 + q there
//
// So r 2^33 = a b - M q + {0, q 2^33} with M < 2^33, as prop_red_mont has it for the reducer; from a,
// b < q follows a b < q 2^33, and with it that left_3 is in (-q, q).
module prop_mod_mul_ntt (
    input logic        clk_i,
    input logic [31:0] q_i,
    input logic [31:0] a_i,
    input logic [31:0] b_i
);

  localparam int unsigned Wide = 80;

  logic [31:0] r_o;
  logic [3:0][31:0] tile;
  logic [71:0] sum;
  logic signed [Wide-1:0] q, r, last;
  logic signed [23:0] minus_qh;
  logic unused_valid;

  rm_mod_mul #(
      .Flavour(rm_arith_pkg::NttFriendly)
  ) u_mul (
      .clk_i,
      .rst_ni(1'b1),
      .q_i,
      .qh_i('0),
      .word_i('0),
      .three_i(1'b0),
      .valid_i(1'b0),
      .a_i,
      .b_i,
      .valid_o(unused_valid),
      .r_o
  );

  for (genvar i = 0; i < 2; i++) begin : gen_a
    for (genvar j = 0; j < 2; j++) begin : gen_b
      assign tile[2*i+j] = 32'(a_i[16*i+:16]) * 32'(b_i[16*j+:16]);
    end
  end

  assign sum = 72'(tile[0]) + (72'(tile[1]) << 16) + (72'(tile[2]) << 16) + (72'(tile[3]) << 32);
  assign q = Wide'({1'b0, q_i});
  assign r = Wide'({1'b0, r_o});
  assign last = Wide'($signed(u_mul.gen_mont.u_red.left[3]));
  assign minus_qh = -$signed({1'b0, q_i[31:9]});

  for (genvar k = 0; k < 3; k++) begin : gen_step
    logic signed [Wide-1:0] old, next;
    logic [10:0] m;
    logic signed [11:0] m_s;
    logic signed [34:0] minus_product;

    assign old = Wide'($signed(u_mul.gen_mont.u_red.left[k]));
    assign next = Wide'($signed(u_mul.gen_mont.u_red.left[k+1]));

    // m = left q^-1 mod 2^11, where q^-1 = 1 - q_H 2^9.
    always_comb begin
      m = old[10:0];
      for (int unsigned i = 0; i < 2; i++) begin
        if (old[i]) m = m - 11'({q_i[31:9], 9'(0)} << i);
      end
    end

    assign m_s = $signed({1'b0, m});
    assign minus_product = 35'(minus_qh) * 35'(m_s);

    always_comb begin
      exact :
      assert (old <= -q || (next << 11) + Wide'(m_s) == old + (Wide'(minus_product) << 9));
    end
  end

  always_comb begin
    assume (q_i[8:0] == 9'd1);
    product : assert (72'(u_mul.product) == sum);
    first : assert (Wide'($signed(u_mul.gen_mont.u_red.left[0])) == Wide'(u_mul.product));
    reduced : assert (last <= -q || last >= q || r < q);
    certificate : assert (last <= -q || last >= q || r == last || r == last + q);
  end

endmodule
