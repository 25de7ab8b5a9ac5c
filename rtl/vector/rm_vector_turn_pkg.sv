// SPDX-License-Identifier: Apache-2.0
// Numbers of stages of the units that configure automorphisms (rm_vector_turn, rm_vector_inverse).
package rm_vector_turn_pkg;

  // Returns the stages of rm_vector_inverse: two products for each doubling of the right bits, from
  // five on.
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

  // Returns the stages of rm_vector_turn: the inverse, then the target rows.
  function automatic int unsigned turn_stages(int unsigned log_lanes);
    return inverse_stages(2 * log_lanes + 1) + 1;
  endfunction

endpackage
