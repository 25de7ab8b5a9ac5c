// SPDX-License-Identifier: Apache-2.0
// One step of word-level Montgomery reduction at full width: (t' + t_L qh) 2^w + t_L = t with
// t_L = t mod 2^w, which is t' 2^w + t_L q = t for q = qh 2^w + 1; for every w of the range, every
// qh and every t below 4^K, K = min(32, 3 w).
module prop_wm_step #(
    parameter int unsigned InWidth = 65,
    parameter int unsigned OutWidth = 54
) (
    input logic               clk_i,
    input logic [InWidth-1:0] t_i,
    input logic [       20:0] qh_i,
    input logic [        4:0] word_i
);

  localparam int unsigned Wide = 72;

  logic [16:0] mask, low;
  logic [3:0] off;
  logic [OutWidth-1:0] out;
  logic signed [21:0] minus_qh;
  logic signed [39:0] minus_product;
  logic signed [Wide-1:0] t, next;

  assign mask = 17'((18'd1 << word_i) - 18'd1);
  assign off = 4'(word_i - 5'd9);

  rm_wm_step #(
      .InWidth(InWidth),
      .OutWidth(OutWidth)
  ) u_step (
      .clk_i,
      .t_i,
      .qh_i,
      .off_i(off),
      .mask_i(mask),
      .skip_i(1'b0),
      .t_o(out)
  );

  assign t = Wide'($signed(t_i));
  assign next = Wide'($signed(out));
  assign low = t_i[16:0] & mask;
  assign minus_qh = -$signed({1'b0, qh_i});
  assign minus_product = 40'(minus_qh) * 40'($signed({1'b0, low}));

  always_comb begin
    assume (word_i >= 5'd9 && word_i <= 5'd17);
    assume (!t_i[InWidth-1] && (word_i > 5'd10 || t < (Wide'(1) << (word_i * 6))));
    exact : assert (((next - Wide'(minus_product)) << word_i) + Wide'(low) == t);
  end

endmodule
