// SPDX-License-Identifier: Apache-2.0
// rm_vector_red at full width, for every q whose bits 16 to 1 are zero, below 2^32, and every t:
//
//   exact         left_(k+1) 2^16 + m_k q = left_k where left_k > -q, with m_k the low word of left_k
//   reduced       r < q where -q < left_2 < q
//   certificate   r is left_2 or left_2 + q there
//
// with left_0 = t. So, by induction, left_2 is (t - M q) / 2^32 with 0 <= M < 2^32, above -q, and below q for t < q R: r R = t - M q + {0, q R}.
module prop_vector_red (
    input logic        clk_i,
    input logic [63:0] t_i,
    input logic [31:0] q_i
);

  localparam int unsigned Wide = 80;

  logic [31:0] r_o;
  logic signed [Wide-1:0] q, r, last;
  logic [2:0][Wide-1:0] left;

  rm_vector_red #(
      .Stalls(1'b0)
  ) u_red (
      .clk_i,
      .move_i('1),
      .q_i({3{q_i}}),
      .t_i,
      .r_o
  );

  assign q = Wide'({1'b0, q_i});
  assign r = Wide'({1'b0, r_o});
  assign left[0] = Wide'({1'b0, t_i});
  assign left[1] = Wide'($signed(u_red.first));
  assign left[2] = Wide'($signed(u_red.second));
  assign last = left[2];

  for (genvar k = 0; k < 2; k++) begin : gen_word
    logic [15:0] m;
    logic [30:0] multiple;

    // m q = (m h) 2^17 + m, with the product that the RTL takes.
    assign m = left[k][15:0];
    assign multiple = 31'(m) * 31'(q_i[31:17]);

    always_comb begin
      exact :
      assert ($signed(left[k]) <= -q ||
              (left[k+1] << 16) + Wide'({multiple, 17'b0}) + Wide'(m) == left[k]);
    end
  end

  always_comb begin
    assume (q_i[16:0] == 17'd1);
    reduced : assert (last <= -q || last >= q || r < q);
    certificate : assert (last <= -q || last >= q || r == last || r == last + q);
  end

endmodule
