// SPDX-License-Identifier: Apache-2.0
// rm_red_lazy at full width: with the folds y = t_L - t_H d and w = y_L - y_H d, computed here without truncation, the RTL's first one is y
// + 2^Top, z is w - Q, and z lies in [-Q, Q), for every t < Q^2. The first fold's product with d is summed digit by digit. In the second, d
// is 1 + e 2^Shift and e y_H is multiplied as the RTL does, so that the solver finds equal products. Hence t = z + (t_H + y_H + 1) Q,
// because t = y + t_H Q and y = w + y_H Q.
module prop_red_lazy #(
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

  localparam int unsigned Shift = rm_arith_pkg::sparse_digit(Width, Q, 1);
  localparam logic signed [63:0] E = ($signed(Diff) - 64'sd1) >>> Shift;

  logic signed [Width:0] z_o;
  logic signed [Wide-1:0] t, z, q, one, y, high;

  rm_red_lazy #(
      .Width(Width),
      .Q(Q)
  ) u_red (
      .clk_i,
      .t_i,
      .z_o
  );

  // Returns h d.
  function automatic logic signed [Wide-1:0] times(logic signed [Wide-1:0] h);
    times = '0;
    for (int unsigned i = 0; i < Width; i++) begin
      if (Plus[6'(i)]) times = times + (h << i);
      if (Minus[6'(i)]) times = times - (h << i);
    end
  endfunction

  assign t = Wide'(t_i);
  assign z = Wide'(z_o);
  assign q = Wide'(Q);
  assign one = Wide'(1) << Top;
  assign y = Wide'($signed(u_red.y_q));
  assign high = y >>> Top;

  logic signed [26:0] high_a;
  logic signed [17:0] minus_e;
  logic signed [44:0] product;

  assign high_a = 27'(high);
  assign minus_e = 18'(-E);
  assign product = 45'(high_a) * 45'(minus_e);

  always_comb begin
    assume (t < q * q);
    digits : assert (Plus - Minus == Diff && Diff == 64'(E << Shift) + 64'd1);
    narrow : assert (high == Wide'(high_a));
    first_fold : assert (y == Wide'(t_i[Top-1:0]) + one - times(Wide'(t_i[Top+:Width])));
    second_fold : assert (z == Wide'({1'b0, y[Top-1:0]}) - one - high + (Wide'(product) <<< Shift));
    in_range : assert (z >= -q && z < q);
  end

endmodule
