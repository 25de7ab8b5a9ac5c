// Constants of the key-switching unit: answers, the rounding of digits, and latencies that its
// parts share.
package rm_torus_ks_pkg;

  // How a command ended.
  typedef enum logic [1:0] {
    Ok       = 2'd0,
    TooLarge = 2'd1,  // N, n or the count is zero, or beyond what the unit was made for
    CutShort = 2'd2,  // bodies that end early
    TooLong  = 2'd3   // bodies that do not end with the last row
  } code_e;

  // Half a base in every digit's place, and the half that rounds: with it added, the digits are the
  // bits from the top, each less half a base.
  function automatic logic [31:0] offset(int unsigned log_base, int unsigned levels);
    logic [31:0] sum;
    sum = '0;
    for (int unsigned j = 1; j <= levels; j++) begin
      sum += 32'd1 << (log_base - 1 + 32 - j * log_base);
    end
    if (levels * log_base < 32) sum += 32'd1 << (31 - levels * log_base);
    return sum;
  endfunction

  // Cycles from a mask word to the cycle in which its product is added.
  function automatic int unsigned product_latency(int unsigned log_base);
    return log_base - 1;
  endfunction

endpackage
