// SPDX-License-Identifier: Apache-2.0
// rm_mod_mul with a sparse modulus, whole and at full width, for every a and b with a b < Q^2:
//
//   reduced       r < Q
//   certificate   r is z or z - Q for the two folds z of that product, as prop_red_sparse computes them
//   first_fold    the fold that the RTL makes in two parts is the fold
//
// Hence r = p mod Q for the product p that the multiplier hands over. That p is a b, prop_mul_sparse and
// prop_add_tree prove.
module prop_mod_mul_sparse #(
    parameter int unsigned Width = 60,
    parameter logic [63:0] Q = 64'h0800_0000_0230_0001
) (
    input logic             clk_i,
    input logic [Width-1:0] a_i,
    input logic [Width-1:0] b_i
);

  localparam int unsigned Wide = 2 * Width + 8;
  localparam int unsigned Top = rm_arith_pkg::sparse_top(Width, Q);
  localparam logic [63:0] Diff = rm_arith_pkg::sparse_diff(Width, Q);
  localparam logic [63:0] Plus = rm_arith_pkg::naf_plus(Diff);
  localparam logic [63:0] Minus = rm_arith_pkg::naf_minus(Diff);
  logic [Width-1:0] r_o;
  logic signed [Wide-1:0] t, r, q, y, exact, z;
  logic unused_valid;

  rm_mod_mul #(
      .Flavour(rm_arith_pkg::Sparse),
      .Width(Width),
      .Q(Q)
  ) u_mul (
      .clk_i,
      .rst_ni(1'b1),
      .q_i('0),
      .qh_i('0),
      .word_i('0),
      .three_i(1'b0),
      .valid_i(1'b0),
      .a_i,
      .b_i,
      .valid_o(unused_valid),
      .r_o
  );

  // Returns x - h d, summed digit by digit, three operands to a group as in the RTL's tree.
  function automatic logic signed [Wide-1:0] fold(logic signed [Wide-1:0] x,
                                                  logic signed [Wide-1:0] h);
    logic signed [Wide-1:0] total, group;
    int unsigned n;
    total = '0;
    group = x;
    n = 1;
    for (int unsigned i = 0; i < Width; i++) begin
      if (Plus[6'(i)]) group = group - (h << i);
      if (Minus[6'(i)]) group = group + (h << i);
      if (Plus[6'(i)] || Minus[6'(i)]) begin
        n = n + 1;
        if (n % rm_arith_pkg::SparseRadix == 0) begin
          total = total + group;
          group = '0;
        end
      end
    end
    return total + group;
  endfunction

  assign t = Wide'(u_mul.product);
  assign r = Wide'(r_o);
  assign q = Wide'(Q);
  assign exact = fold(Wide'(u_mul.product[Top-1:0]), Wide'(u_mul.product[2*Width-1:Top]));
  assign y = Wide'($signed(u_mul.gen_sparse.u_red.y));
  assign z = fold(Wide'({1'b0, y[Top-1:0]}), y >>> Top);

  always_comb begin
    assume (t < q * q);
    first_fold : assert (y == exact);
    reduced : assert (r < q);
    certificate : assert (r == z || r == z - q);
  end

endmodule
