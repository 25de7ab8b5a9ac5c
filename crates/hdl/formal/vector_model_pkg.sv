// SPDX-License-Identifier: Apache-2.0
// Definitions of what the vector machine's processing elements compute, at the small width of their proofs. The Montgomery product is made
// by halving, one bit after another; sums and halves add or subtract the modulus at most once. Moduli are odd and below 2^Width; operands
// are below the modulus.
package vector_model_pkg;

  localparam int unsigned Width = 6;

  typedef logic [Width-1:0] word_t;

  // Returns whether the multiplier takes a modulus: bits Width / 2 to 1 are zero, bit 0 is 1, and it is not 1.
  function automatic logic friendly(word_t q);
    return q[Width/2:0] == (Width / 2 + 1)'(1) && q > 1;
  endfunction

  // Returns a b 2^-Width mod q. The product is halved Width times, after q was added if it is odd.
  function automatic word_t product(word_t a, word_t b, word_t q);
    logic [2*Width:0] left;
    left = (2 * Width + 1)'(a) * (2 * Width + 1)'(b);
    for (int unsigned i = 0; i < Width; i++) begin
      left = (left[0] ? left + (2 * Width + 1)'(q) : left) >> 1;
    end
    return Width'((left >= (2 * Width + 1)'(q)) ? left - (2 * Width + 1)'(q) : left);
  endfunction

  function automatic word_t sum(word_t a, word_t b, word_t q);
    logic [Width:0] whole;
    whole = (Width + 1)'(a) + (Width + 1)'(b);
    return Width'((whole >= (Width + 1)'(q)) ? whole - (Width + 1)'(q) : whole);
  endfunction

  function automatic word_t difference(word_t a, word_t b, word_t q);
    return (a >= b) ? a - b : q - (b - a);
  endfunction

  function automatic word_t half(word_t a, word_t q);
    logic [Width:0] even;
    even = (Width + 1)'(a) + (a[0] ? (Width + 1)'(q) : '0);
    return even[Width:1];
  endfunction

endpackage
