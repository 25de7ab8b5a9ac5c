// SPDX-License-Identifier: Apache-2.0
// Numbers of stages of the units that configure automorphisms (rm_vector_turn, rm_vector_inverse).
package rm_vector_turn_pkg;

  // Of rm_vector_inverse: two products for each doubling from five bits.
  function automatic int unsigned inverse_stages(int unsigned width);
    int unsigned bits, stages;
    bits = 5;
    stages = 0;
    while (bits < width) begin
      bits *= 2;
      stages += 2;
    end
    return stages;
  endfunction

  // Of rm_vector_turn: the inverse, then where rows go.
  function automatic int unsigned turn_stages(int unsigned log_lanes);
    return inverse_stages(2 * log_lanes + 1) + 1;
  endfunction

endpackage
