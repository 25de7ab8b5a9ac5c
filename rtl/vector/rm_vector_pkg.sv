// SPDX-License-Identifier: Apache-2.0
// Numbers of stages of the vector machine's data paths, which parents need before they instantiate.
//
// Every data path has its registers in ranks. `move_i` has a bit for each rank; it says that the
// rank takes the item before it in this cycle. The values that go with an item (its modulus, its
// operation) have an element for each rank: that of the item that the rank takes. rm_vector_pipe
// makes the bits of move_i. So one control serves all lanes, the values that lanes share travel
// once, and items move on by themselves.
package rm_vector_pkg;

  // Stages of a multiplication: tiles; their sum and the first word of reduction; the second word;
  // the correction.
  localparam int unsigned MulStages = 4;

  // Returns the stages of a butterfly: sum and difference, then the product.
  function automatic int unsigned butterfly_stages();
    return 1 + MulStages;
  endfunction

  // Returns the stages of the multiply-accumulate unit: the chunk's word, the operands, the
  // product. The sum is combinational behind the last stage.
  function automatic int unsigned mac_stages();
    return 2 + MulStages;
  endfunction

  // Returns the stages of a transform unit of radix 2^log_radix: factors before, ranks of
  // butterflies, factors behind.
  function automatic int unsigned ntt_stages(int unsigned log_radix);
    return MulStages + log_radix * butterfly_stages() + MulStages;
  endfunction

  // Returns the number of factors of the ranks before `rank` of a transform: rank s has
  // 2^(log_radix - s - 1) - 1 of them.
  function automatic int unsigned ntt_factors(int unsigned log_radix, int unsigned rank);
    int unsigned found;
    found = 0;
    for (int unsigned s = 0; s < rank; s++) found += (1 << (log_radix - s - 1)) - 1;
    return found;
  endfunction

  // Returns the stages of the twiddle factory, which makes powers of a seed: a product for each
  // doubling.
  function automatic int unsigned factory_stages(int unsigned log_radix);
    return log_radix * MulStages;
  endfunction

  // Returns the stages of a permutation of 2^log_lanes words: one for the target lane of each word,
  // then one of switches for each bit of the target's number.
  function automatic int unsigned net_stages(int unsigned log_lanes);
    return log_lanes + 1;
  endfunction

  // Returns the stages of both permutation units with the transform between them, each with half a
  // chunk.
  function automatic int unsigned pass_stages(int unsigned log_radix);
    return 2 * net_stages(log_radix) + ntt_stages(log_radix);
  endfunction

endpackage
