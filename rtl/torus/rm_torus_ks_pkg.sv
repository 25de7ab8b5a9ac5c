// SPDX-License-Identifier: Apache-2.0
// The latencies that the parts of the key-switching unit share.
package rm_torus_ks_pkg;

  // Returns the cycles from a mask word to the cycle in which its product is added.
  function automatic int unsigned product_latency(int unsigned log_base);
    return log_base - 1;
  endfunction

endpackage
