// SPDX-License-Identifier: Apache-2.0
// Constants of the base-extension units: the forms and parts of a load, and the latencies that
// the units share.
package rm_basext_pkg;

  // Which words a load brings (rm_basext_words): a unit's architecture.
  typedef enum logic [1:0] {
    Folded = 2'd0,
    Shared = 2'd1,
    Rower  = 2'd2,
    Radix  = 2'd3
  } form_e;

  // A part of a load.
  typedef enum logic [1:0] {
    Head,
    Sources,
    Targets
  } part_e;

  // Returns the bits of a word of the streams: a power of two that holds a modulus.
  function automatic int unsigned stream_bits(int unsigned width);
    return (width <= 32) ? 32 : 64;
  endfunction

  // Returns the cycles from a coefficient's issue, in either process, to the read of the sums'
  // memory; the sum or the difference is in its register two cycles later.
  function automatic int unsigned sum_delay(int unsigned width, int unsigned low);
    return 2 * rm_wide_pkg::mul_latency(width, low) + 1;
  endfunction

  // Returns the cycles by which a memory is read earlier if it is deep. The multiplexers behind its
  // several blocks of RAM take a cycle of their own.
  function automatic int unsigned read_ahead(int unsigned depth);
    return 32'(depth > 4096);
  endfunction

  // Returns the sum_delay of the folded unit, whose Post-Sum Process begins with a read.
  function automatic int unsigned folded_delay(int unsigned width, int unsigned low,
                                               int unsigned depth);
    return sum_delay(width, low) + read_ahead(depth);
  endfunction

  // Returns the words of the output queue: a power of two that holds all results between issue and
  // the queue's end.
  function automatic int unsigned queue_depth(int unsigned delay);
    return 1 << $clog2(delay + 5);
  endfunction

  // Returns the cycles from a coefficient's issue to its result in the shared unit, which makes
  // three products in a row.
  function automatic int unsigned shared_latency(int unsigned width, int unsigned low);
    return 3 * rm_wide_pkg::mul_latency(width, low) + 6;
  endfunction

  // Returns the number of targets in a round of the shared unit, for l sources.
  function automatic int unsigned shared_batch(int unsigned batch, int unsigned l);
    return rm_arith_pkg::min2(batch, l + 1);
  endfunction

  // Returns the most rounds of the shared unit: those for one source.
  function automatic int unsigned shared_rounds(int unsigned max_k, int unsigned batch);
    return rm_arith_pkg::ceil_div(max_k, shared_batch(batch, 1));
  endfunction

  // Returns the most constants of a channel of the shared unit: l + 1 in each round.
  function automatic int unsigned shared_places(int unsigned max_l, int unsigned max_k,
                                                int unsigned batch);
    int unsigned most;
    most = 0;
    for (int unsigned l = 1; l <= max_l; l++) begin
      most = rm_arith_pkg::max2(most, (l + 1) * rm_arith_pkg::ceil_div(max_k,
                                                                       shared_batch(batch, l)));
    end
    return most;
  endfunction

  // Returns the rows of x that the shared unit keeps. If Batch is at least MaxK, MaxK - 1 rows
  // suffice: one round needs only the rows by which the last channel is behind, and several rounds
  // come only with l + 1 < k rows. Otherwise all MaxL + 1 rows are kept.
  function automatic int unsigned shared_kept(int unsigned max_l, int unsigned max_k,
                                              int unsigned batch);
    return (max_k <= batch) ? max_k - 1 : max_l + 1;
  endfunction

endpackage
