// SPDX-License-Identifier: Apache-2.0
// rm_red_sparse at full width: with the folds y = t_L - t_H d and z = y_L - y_H d, computed here
// without truncation, r is z or z - Q, and r < Q, for every t < Q^2. The digits of d that both use
// sum to d. Hence t = r + (t_H + y_H + {0, 1}) Q, because t = y + t_H Q and y = z + y_H Q.
module prop_red_sparse #(
    parameter int unsigned Width = 60,
    parameter logic [63:0] Q = 64'h0800_0000_0230_0001
) (
    input logic               clk_i,
    input logic [2*Width-1:0] t_i
);

  localparam int unsigned Wide = 2 * Width + 8;
  localparam int unsigned Top = rm_arith_pkg::sparse_top(Width, Q);
  localparam logic [63:0] Diff = rm_arith_pkg::sparse_diff(Width, Q);
  localparam logic [63:0] Plus = rm_arith_pkg::naf_plus(Diff);
  localparam logic [63:0] Minus = rm_arith_pkg::naf_minus(Diff);

  logic [Width-1:0] r_o;
  logic signed [Wide-1:0] t, r, q, y, z, high;

  rm_red_sparse #(
      .Width(Width),
      .Q(Q)
  ) u_red (
      .clk_i,
      .t_i,
      .r_o
  );

  // Returns x - h d, summed digit by digit, three operands to a group as in the RTL's tree, so that
  // the solver finds equal sums.
  function automatic logic signed [Wide-1:0] fold(logic signed [Wide-1:0] x,
                                                  logic signed [Wide-1:0] h);
    logic signed [Wide-1:0] sum, group;
    int unsigned n;
    sum = '0;
    group = x;
    n = 1;
    for (int unsigned i = 0; i < Width; i++) begin
      if (Plus[6'(i)]) group = group - (h << i);
      if (Minus[6'(i)]) group = group + (h << i);
      if (Plus[6'(i)] || Minus[6'(i)]) begin
        n = n + 1;
        if (n % rm_arith_pkg::SparseRadix == 0) begin
          sum = sum + group;
          group = '0;
        end
      end
    end
    return sum + group;
  endfunction

  assign high = Wide'(t_i[2*Width-1:Top]);
  assign t = Wide'(t_i);
  assign r = Wide'(r_o);
  assign q = Wide'(Q);
  assign y = Wide'($signed(u_red.y));
  assign z = fold(Wide'({1'b0, y[Top-1:0]}), y >>> Top);

  // The first fold, whose sums the RTL makes in two parts: here in one, group by group as there.
  logic signed [Wide-1:0] exact;
  assign exact = fold(Wide'(t_i[Top-1:0]), high);

  always_comb begin
    assume (t < q * q);
    digits : assert (Plus - Minus == Diff);
    first_fold : assert (y == exact);
    reduced : assert (r < q);
    certificate : assert (r == z || r == z - q);
  end

endmodule
