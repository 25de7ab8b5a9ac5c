// SPDX-License-Identifier: Apache-2.0
// Constants of the multiplier for run-time NTT-friendly moduli of up to 61 bits (rm_wide_mul): the
// words of its reduction, the widths between them, and its latency.
package rm_wide_pkg;
  import rm_arith_pkg::ceil_div;
  import rm_arith_pkg::max2;
  import rm_arith_pkg::min2;
  import rm_arith_pkg::tree_levels;

  // Bits that a step of the reduction clears.
  localparam int unsigned Word = 16;
  // Tiles of the products: what a DSP block of every family multiplies unsigned.
  localparam int unsigned TileA = 24;
  localparam int unsigned TileB = 17;
  // A corner of the product with at most this many bits on each side is made of adders.
  localparam int unsigned CornerMax = 8;
  // Operands of an adder of the product.
  localparam int unsigned Radix = 4;
  // A sum longer than this is made in two parts, the upper one cycle after the lower; with sign and
  // carries of three operands it is a carry of 64 bits.
  localparam int unsigned Part = 61;

  // Bits of 3 q_H that go with a modulus: as many as a word has beyond Low, at most.
  localparam int unsigned TripleWidth = 8;

  // Returns the bits of a modulus with 3 q_H above it.
  function automatic int unsigned modulus_bits(int unsigned width);
    return width + TripleWidth;
  endfunction

  // Returns the number of low bits of q that are known, a 1 below zeros. The reduction uses at most
  // a word of them.
  function automatic int unsigned known(int unsigned low);
    return min2(low, Word);
  endfunction

  // Returns 3 q_H modulo 2^TripleWidth.
  function automatic logic [TripleWidth-1:0] triple_of(logic [63:0] q, int unsigned low);
    logic [TripleWidth-1:0] high;
    high = TripleWidth'(q >> known(low));
    return high + {high[TripleWidth-2:0], 1'b0};
  endfunction

  // Returns the steps of the reduction for moduli below 2^width: R = 2^(Word steps) is not below
  // 2^width.
  function automatic int unsigned steps(int unsigned width);
    return ceil_div(width, Word);
  endfunction

  // Returns the bits, with sign, of what `done` steps leave of a product: the product is below 2^(2
  // width), and the rest after a step is above -2^width - 2^(width - low), whatever m is.
  function automatic int unsigned bits_after(int unsigned width, int unsigned done);
    return max2(2 * width - done * Word, width + 1) + 1;
  endfunction

  // Returns the bits of the sum in step number `done` + 1, before the division.
  function automatic int unsigned sum_bits(int unsigned width, int unsigned low,
                                           int unsigned done);
    return max2(bits_after(width, done) - known(low), bits_after(width, done + 1) + Word -
                known(low));
  endfunction

  // Returns the upper bits of what `done` steps leave of a product that come one cycle after the
  // others. For done = 0 these are bits of the product itself, plus one for the sign.
  function automatic int unsigned late(int unsigned width, int unsigned low, int unsigned done);
    if (done == 0) return (2 * width > 64) ? 2 * width - 60 + 1 : 0;
    if (sum_bits(width, low, done - 1) <= 64) return 0;
    return bits_after(width, done) - (Part - (Word - known(low)));
  endfunction

  // Returns whether a product is three tiles and a corner of at most CornerMax x CornerMax bits.
  function automatic bit has_corner(int unsigned width);
    return width > TileA && width - TileA <= CornerMax;
  endfunction

  // Returns the number of partial products of the multiplier: in each row the even tiles beside
  // each other, and the odd ones.
  function automatic int unsigned operands(int unsigned width);
    if (has_corner(width)) return 3;
    return min2(2, ceil_div(width, TileA)) * ceil_div(width, TileB);
  endfunction

  // Returns the cycles of the product's lower part (product_latency), and of the reduction after it
  // (red_latency).
  function automatic int unsigned product_latency(int unsigned width);
    return 1 + tree_levels(operands(width), Radix);
  endfunction

  function automatic int unsigned red_latency(int unsigned width, int unsigned low);
    return 2 * steps(width) + 32'(late(width, low, steps(width)) != 0) + 1;
  endfunction

  // Returns the cycles from the operands to step number k, or for k = steps to the correction.
  function automatic int unsigned modulus_delay(int unsigned width, int unsigned low,
                                                int unsigned k);
    return product_latency(width) + 2 * k +
        32'(k == steps(width) && late(width, low, k) != 0);
  endfunction

  // Returns the cycles of rm_wide_mul: 7 for moduli of 32 bits, 13 for 61 bits (12 where Low is 15
  // or more).
  function automatic int unsigned mul_latency(int unsigned width, int unsigned low);
    return product_latency(width) + red_latency(width, low);
  endfunction

endpackage
