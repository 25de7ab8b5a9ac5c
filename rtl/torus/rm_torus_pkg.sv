// SPDX-License-Identifier: Apache-2.0
// Constants of the TFHE engine: the prime of its transforms with the roots of unity, and the
// latencies that its parts share (docs/machines/torus.md).
package rm_torus_pkg;

  // What the transform units do: forward transforms of the digits, or of a column of the bundles in
  // coefficient form, or the inverse ones.
  typedef enum logic [1:0] {
    Digits  = 2'd0,
    MaskKey = 2'd1,
    BodyKey = 2'd2,
    Inverse = 2'd3
  } transform_e;

  // Transforms are modulo P = 2^52 - 2^12 + 1.
  localparam int unsigned Width = 52;
  localparam logic [51:0] P = 52'hF_FFFF_FFFF_F001;

  // Cycles of a product of two residues, before its reduction and in it. MulSlack is the registers
  // beyond those that 8 levels of logic between registers need; with them a product has twelve
  // stages. A butterfly has one stage more, for the sum before its product; the sum behind the
  // product is one of the twelve.
  localparam int unsigned RawLatency = 4;
  localparam int unsigned RedLatency = 4;
  localparam int unsigned MulSlack = 3;
  // Cycles to a product that may be one P too large, of which sums are made. The last correction
  // and the register of the result come after it.
  localparam int unsigned TimesLatency = RawLatency + RedLatency + MulSlack - 1;
  localparam int unsigned MulLatency = TimesLatency + 2;
  localparam int unsigned BflyLatency = MulLatency + 1;

  // (P + 1) / 2, and -P modulo 2^52.
  localparam logic [Width-1:0] HalfP = (P >> 1) + 1'b1;
  localparam logic [Width-1:0] LessP = Width'(4095);

  // Returns whether x is P or more.
  function automatic logic from_p(logic [Width:0] x);
    return x[Width] || (&x[Width-1:12] && |x[11:0]);
  endfunction

  // Returns whether x is above half of P, 2^51 - 2^11: whether the representative nearest to 0 is x - P.
  function automatic logic above_half(logic [Width-1:0] x);
    return x[Width-1] || (&x[Width-2:11] && |x[10:0]);
  endfunction

  // Returns half of a residue x modulo P.
  function automatic logic [Width-1:0] halved(logic [Width-1:0] x);
    return (x >> 1) + (x[0] ? HalfP : '0);
  endfunction

  // Returns a residue in two's complement, in [-2^51, 2^51).
  function automatic logic [Width-1:0] near_zero(logic [Width-1:0] x);
    return x + (x[Width-1] ? LessP : '0);
  endfunction

  // Cycles from the read of a row of the accumulator until its coefficients can be decomposed: memory, two of rotation, the
  // sum with the offset.
  localparam int unsigned TurnLatency = 4;

  // Cycles from the issue of a transform's row until its operands are in the butterflies' registers: the exponent's memory,
  // the turn, the digit.
  localparam int unsigned Front = TurnLatency + 2;

  // Cycles from the issue of a row to the write of the butterflies' results, which can be read a cycle later.
  localparam int unsigned Back = Front + BflyLatency;

  // Returns half a base at every digit's place, plus half of the last digit's unit. With this offset added, the digits of a
  // coefficient are its bits from the top, each less half a base.
  function automatic logic [31:0] offset(int unsigned levels, int unsigned log_base);
    logic [31:0] sum;
    sum = (levels * log_base < 32) ? 32'd1 << (31 - levels * log_base) : '0;
    for (int unsigned j = 0; j < levels; j++) sum = sum + (32'd1 << (31 - j * log_base));
    return sum;
  endfunction

  // Returns the bits that number the words of ciphertexts of dimensions N and `dim`.
  function automatic int unsigned word_width(int unsigned log_n, int unsigned dim);
    return ($clog2(dim + 1) > log_n + 1) ? $clog2(dim + 1) : log_n + 1;
  endfunction

  // Returns the levels of the tree that sums the products of `rows` rows.
  function automatic int unsigned tree(int unsigned rows);
    return $clog2(rows);
  endfunction

  // Returns the cycles from the issue of a product to its write, which can be read a cycle later. They are those of memory
  // and selection, of the product, and of the sum with the last two stages of the product behind it. Unrolled keys add the
  // product with the weight and the sum over patterns.
  function automatic int unsigned product_latency(int unsigned rows, int unsigned unroll);
    return 2 + MulLatency + tree(rows) + ((unroll > 1) ? MulLatency + 1 : 0);
  endfunction

  // Returns the cycles from one pass of a transform to the next with `slots` polynomials a unit. The rows of a pass come in
  // the order of their numbers, with the bits rotated (rm_torus_seq). Between a pass with a rotation by `turn` bits and one
  // with `turn` + 1, in either direction, a row waits for a row that comes 2^turn later in its pass.
  function automatic int unsigned pass_cycles(int unsigned half_rows, int unsigned slots,
                                              int unsigned turn);
    int unsigned least;
    least = (1 << turn) + Back - Front + 2;
    return (slots * half_rows > least) ? slots * half_rows : least;
  endfunction

  // Returns the cycles to wait after the last product's issue until the inverse transform may be issued.
  function automatic int unsigned inverse_wait(int unsigned half_rows, int unsigned rows,
                                               int unsigned unroll);
    int unsigned needed, ahead;
    needed = product_latency(rows, unroll) + 3;
    ahead = half_rows + Front;
    return (needed > ahead) ? needed - ahead : 1;
  endfunction

  // Returns the cycles from the rows of the inverse transforms of pairs to the sums of these rows: two from residues to 32
  // bits, and the tree.
  function automatic int unsigned pair_sum_latency(int unsigned rows);
    return 2 + tree(rows);
  endfunction

  // Returns the bits of a beat of the key: residues of 2^log_pos positions, or coefficients of 32 bits of twice as many
  // positions.
  function automatic int unsigned beat_width(int unsigned rows, int unsigned log_pos,
                                             bit coefficients);
    return (rows << (log_pos + 1)) * (coefficients ? 64 : Width);
  endfunction

  // Returns the cycles from the read of a group of positions of an unrolled key to its bundle in coefficient form
  // (rm_torus_gather). They are those of memory, choice of lanes and rotation, sum of the patterns and of the sum that is
  // taken away, ones of negative terms, and residue.
  function automatic int unsigned gather_latency(int unsigned unroll);
    return 6 + unroll;
  endfunction

  // Returns the smallest primitive 2N-th root of unity.
  function automatic logic [51:0] psi(int unsigned log_n);
    case (log_n)
      4: return 52'h0_6C85_4675_7FCB;
      5: return 52'h0_037F_6C32_6763;
      6: return 52'h1_114E_D79F_9440;
      7: return 52'h0_0014_9614_0D05;
      8: return 52'h0_02A3_7D3D_01DB;
      9: return 52'h0_1417_1DC5_5B25;
      10: return 52'h0_003E_62EF_1A8F;
      default: return 52'h0_003D_675D_B4C3;
    endcase
  endfunction

  function automatic logic [51:0] mul_mod(logic [51:0] a, logic [51:0] b);
    logic [103:0] t;
    t = 104'(a) * 104'(b);
    t = t % 104'(P);
    return t[51:0];
  endfunction

  // Returns base^e modulo P for e below 2^12.
  function automatic logic [51:0] pow_mod(logic [51:0] base, logic [11:0] e);
    logic [51:0] r, square;
    r = 52'd1;
    square = base;
    for (int unsigned i = 0; i < 12; i++) begin
      if (e[i]) r = mul_mod(r, square);
      square = mul_mod(square, square);
    end
    return r;
  endfunction

  // Returns the lowest `bits` bits of x, reversed.
  function automatic int unsigned reversed(int unsigned x, int unsigned bits);
    int unsigned r;
    r = 0;
    for (int unsigned i = 0; i < bits; i++) r = (r << 1) | ((x >> i) & 1);
    return r;
  endfunction

endpackage
