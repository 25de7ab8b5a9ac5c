// SPDX-License-Identifier: Apache-2.0
// Numbers of stages of the vector machine's data paths, which parents need before they instantiate.
//
// Every data path has its registers in ranks. `move_i` has a bit for each rank; it says that the
// rank takes the item before it in this cycle. The values that go with an item (its modulus, its
// operation) have an element for each rank: that of the item that the rank takes. rm_vector_pipe
// makes the bits of move_i. So one control serves all lanes, the values that lanes share travel
// once, and items move on by themselves.
package rm_vector_pkg;

  // A multiplication: tiles; their sum and the first word of reduction; the second word; the correction.
  localparam int unsigned MulStages = 4;

  // A butterfly: sum and difference, then the product.
  function automatic int unsigned butterfly_stages();
    return 1 + MulStages;
  endfunction

  // The multiply-accumulate unit: what came, operands, the product. The sum is made where the last one is left.
  function automatic int unsigned mac_stages();
    return 2 + MulStages;
  endfunction

  // A transform unit of radix 2^log_radix: before it, its ranks of butterflies, behind it.
  function automatic int unsigned ntt_stages(int unsigned log_radix);
    return MulStages + log_radix * butterfly_stages() + MulStages;
  endfunction

  // Factors within the transform: rank s of it has 2^(log_radix - s - 1) - 1, those of the ranks before come first.
  function automatic int unsigned ntt_factors(int unsigned log_radix, int unsigned rank);
    int unsigned found;
    found = 0;
    for (int unsigned s = 0; s < rank; s++) found += (1 << (log_radix - s - 1)) - 1;
    return found;
  endfunction

  // The powers of a seed: a product for each doubling.
  function automatic int unsigned factory_stages(int unsigned log_radix);
    return log_radix * MulStages;
  endfunction

  // A permutation of 2^log_lanes words: where each goes, then a stage of switches for each bit of that.
  function automatic int unsigned net_stages(int unsigned log_lanes);
    return log_lanes + 1;
  endfunction

  // Both permutation units with the transform between them, half a chunk a stage.
  function automatic int unsigned pass_stages(int unsigned log_radix);
    return 2 * net_stages(log_radix) + ntt_stages(log_radix);
  endfunction

endpackage
