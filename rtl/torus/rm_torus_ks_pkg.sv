// SPDX-License-Identifier: Apache-2.0
// Constants of the key-switching unit: answers, the rounding of digits, and the latencies that its
// parts share.
package rm_torus_ks_pkg;

  // How a command ended.
  typedef enum logic [1:0] {
    Ok       = 2'd0,
    TooLarge = 2'd1,  // N, n or the count is zero, or beyond what the unit was made for
    CutShort = 2'd2,  // bodies that end early
    TooLong  = 2'd3   // bodies that do not end with the last row
  } code_e;

  // Cycles from a mask word to the cycle in which its product is added.
  function automatic int unsigned product_latency(int unsigned log_base);
    return log_base - 1;
  endfunction

endpackage
