// SPDX-License-Identifier: Apache-2.0
// Constants of modular arithmetic: the kinds of reduction, and the latencies that a parent needs
// before it instantiates a unit.
package rm_arith_pkg;

  // How rm_mod_mul reduces a product; each rm_red_* header states its formula and its R.
  // A number and not an enumeration, so that tools can set it from their command lines.
  typedef int unsigned flavour_t;
  localparam flavour_t WordMontgomery = 0;  // run-time q = 1 mod 2^w, w, steps; R = 2^(w steps)
  localparam flavour_t MontgomeryFriendly = 1;  // run-time q = 1 mod 2^17, q < 2^32; R = 2^34
  localparam flavour_t Sparse = 2;  // elaboration-time q next to a power of two; R = 1
  localparam flavour_t Solinas52 = 3;  // q = 2^52 - 2^12 + 1; R = 1
  localparam flavour_t NttFriendly = 4;  // run-time q = 1 mod 2^9, q < 2^32; R = 2^33

  // Returns whether a flavour's modulus comes at run time, as one number below 2^32.
  function automatic bit run_time(flavour_t flavour);
    return flavour != Sparse && flavour != Solinas52;
  endfunction

  // Three functions return the parameters Low, Word and Steps of rm_red_mont, for NttFriendly and
  // MontgomeryFriendly.
  function automatic int unsigned mont_low(flavour_t flavour);
    return (flavour == NttFriendly) ? 9 : 17;
  endfunction

  function automatic int unsigned mont_word(flavour_t flavour);
    return (flavour == NttFriendly) ? 11 : 17;
  endfunction

  function automatic int unsigned mont_steps(flavour_t flavour);
    return (flavour == NttFriendly) ? 3 : 2;
  endfunction

  function automatic int unsigned min2(int unsigned a, int unsigned b);
    return (a < b) ? a : b;
  endfunction

  function automatic int unsigned max2(int unsigned a, int unsigned b);
    return (a > b) ? a : b;
  endfunction

  function automatic int unsigned ceil_div(int unsigned a, int unsigned b);
    return (a + b - 1) / b;
  endfunction

  // The widest sum whose carry runs through in a cycle. A wider sum is made in two parts, the upper
  // part one cycle after the lower.
  localparam int unsigned CarryWidth = 64;

  // Returns the levels of rm_add_tree.
  function automatic int unsigned tree_levels(int unsigned operands, int unsigned radix);
    int unsigned left, levels;
    left = operands;
    levels = 0;
    while (left > 1) begin
      left = ceil_div(left, radix);
      levels++;
    end
    return levels;
  endfunction

  // Returns the cycles of rm_add_tree.
  function automatic int unsigned tree_latency(int unsigned operands, int unsigned width,
                                               int unsigned radix);
    int unsigned levels;
    levels = tree_levels(operands, radix);
    return levels + 32'(levels != 0 && width > CarryWidth);
  endfunction

  // Returns the positive digits of x in non-adjacent form (naf_plus), and the negative ones
  // (naf_minus), as masks: x = naf_plus - naf_minus. With h = x >> 1 (floor), the digits are those
  // bits in which x + h and h differ, positive where x + h has the one.
  function automatic logic [63:0] naf_plus(logic signed [63:0] x);
    logic signed [63:0] half;
    half = x >>> 1;
    return ((x + half) & ~half);
  endfunction

  function automatic logic [63:0] naf_minus(logic signed [63:0] x);
    logic signed [63:0] half;
    half = x >>> 1;
    return (half & ~(x + half));
  endfunction

  // Returns top, and in sparse_diff d, of a modulus of exactly `width` bits next to a power of two:
  // q = 2^top + d with |d| small.
  function automatic int unsigned sparse_top(int unsigned width, logic [63:0] q);
    return q[6'(width-2)] ? width : width - 1;
  endfunction

  function automatic logic signed [63:0] sparse_diff(int unsigned width, logic [63:0] q);
    return q - (64'd1 << sparse_top(width, q));
  endfunction

  // Returns the number of operands of one fold x_low - x_high d of rm_red_sparse.
  function automatic int unsigned sparse_operands(int unsigned width, logic [63:0] q);
    logic signed [63:0] d;
    d = sparse_diff(width, q);
    return 32'($countones(naf_plus(d))) + 32'($countones(naf_minus(d))) + 1;
  endfunction

  // Returns the number of bits up to the highest digit of d in non-adjacent form: |d| is below 2 to
  // this number.
  function automatic int unsigned sparse_diff_width(int unsigned width, logic [63:0] q);
    logic [63:0] digits;
    int unsigned bits;
    digits = naf_plus(sparse_diff(width, q)) | naf_minus(sparse_diff(width, q));
    bits = 0;
    for (int unsigned i = 0; i < 64; i++) if (digits[6'(i)]) bits = i + 1;
    return bits;
  endfunction

  // Returns the place of digit n of d in non-adjacent form, the lowest first.
  function automatic int unsigned sparse_digit(int unsigned width, logic [63:0] q, int unsigned n);
    logic [63:0] digits;
    int unsigned seen;
    digits = naf_plus(sparse_diff(width, q)) | naf_minus(sparse_diff(width, q));
    seen = 0;
    for (int unsigned i = 0; i < 64; i++) begin
      if (digits[6'(i)]) begin
        if (seen == n) return i;
        seen++;
      end
    end
    return 0;
  endfunction

  // Returns the mask of a fold's operands that are subtracted. Operand 0 is x_low. Operand 1 + n is
  // x_high shifted to digit n of d, and is subtracted if the digit is +1.
  function automatic logic [63:0] sparse_minus(int unsigned width, logic [63:0] q);
    logic [63:0] plus, mask;
    plus = naf_plus(sparse_diff(width, q));
    mask = '0;
    for (int unsigned n = 0; n + 1 < sparse_operands(width, q); n++) begin
      mask[6'(n+1)] = plus[6'(sparse_digit(width, q, n))];
    end
    return mask;
  endfunction

  // Returns the bits, with sign, of the first and of the second fold of rm_red_sparse.
  function automatic int unsigned sparse_fold1_width(int unsigned width, logic [63:0] q);
    return 2 * width - sparse_top(width, q) + sparse_diff_width(width, q) + 2;
  endfunction

  function automatic int unsigned sparse_fold2_width(int unsigned width);
    return width + 2;
  endfunction

  // Adder-tree radix of the sparse folds.
  localparam int unsigned SparseRadix = 3;

  // Returns the bits of a tile of the integer multiplier that a flavour uses: of the first factor
  // (tile_a) and of the second (tile_b).
  function automatic int unsigned tile_a(flavour_t flavour);
    return run_time(flavour) ? 16 : 24;
  endfunction

  function automatic int unsigned tile_b(flavour_t flavour);
    return run_time(flavour) ? 16 : 17;
  endfunction

  // Returns the cycles of rm_mul_tiled.
  function automatic int unsigned mul_latency(int unsigned width, int unsigned ta, int unsigned tb,
                                              int unsigned radix, bit in_reg);
    return 32'(in_reg) + 1 +
        tree_latency(ceil_div(width, ta) * ceil_div(width, tb), 2 * width, radix);
  endfunction

  // Returns the cycles of the reducer of a flavour.
  function automatic int unsigned red_latency(flavour_t flavour, int unsigned width,
                                              logic [63:0] q);
    int unsigned operands;
    operands = sparse_operands(width, q);
    case (flavour)
      WordMontgomery: return 4;
      MontgomeryFriendly, NttFriendly: return mont_steps(flavour) + 1;
      Sparse:
      return tree_latency(operands, sparse_fold1_width(width, q), SparseRadix) +
          tree_latency(operands, sparse_fold2_width(width), SparseRadix) + 1;
      default: return 3;
    endcase
  endfunction

  // Returns the operands of an adder in the multiplier's tree (radix), and the most bits of the
  // shorter side of a tile that is made of adders (fabric_max). The wide flavours have many tiles,
  // some of them narrow.
  function automatic int unsigned radix(flavour_t flavour);
    return run_time(flavour) ? 4 : 3;
  endfunction

  function automatic int unsigned fabric_max(flavour_t flavour);
    return run_time(flavour) ? 0 : 6;
  endfunction

  // The least width of factors in rm_mul_cascade, then the cycles of rm_mul_cascade and of
  // rm_red_lazy.
  localparam int unsigned CascadeLeast = 35;

  function automatic int unsigned cascade_latency(int unsigned width);
    return ceil_div(max2(width, CascadeLeast), 17) + 3;
  endfunction

  function automatic int unsigned lazy_latency();
    return 4;
  endfunction

  // Returns the cycles of rm_mod_mul: 7 for word-level Montgomery and NTT-friendly moduli, 6 for
  // Montgomery-friendly ones, 9 for Solinas, and 12 for the sparse moduli in use.
  function automatic int unsigned mod_mul_latency(flavour_t flavour, int unsigned width,
                                                  logic [63:0] q);
    return mul_latency(width, tile_a(flavour), tile_b(flavour), radix(flavour), 1'b1) +
        red_latency(flavour, width, q);
  endfunction

endpackage
