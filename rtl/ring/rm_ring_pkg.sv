// SPDX-License-Identifier: Apache-2.0
// Shape and rules of the ring machine (docs/machines/ring.md): how a transform goes over its rows,
// where a slot lies, and which operands a word has.
//
// The functions are those of crates/machines/src/ring/passes.rs, micro.rs and timing.rs.
package rm_ring_pkg;

  import rm_ring_isa_pkg::*;

  // Bits of a slot's number.
  localparam int unsigned SlotWidth = 5;

  // Bits of log2 of a limb's size (SizeWidth), and of a beat's number in a row (BeatWidth).
  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs
  localparam int unsigned SizeWidth = 4;
  // The most bits of a coefficient's index, and of a column's number.
  localparam int unsigned IndexWidth = 16;
  localparam int unsigned ColumnWidth = 8;
  /* verilator lint_on UNUSEDPARAM */
  localparam int unsigned BeatWidth = 6;

  function automatic int unsigned min2(int unsigned a, int unsigned b);
    return (a < b) ? a : b;
  endfunction

  // Returns the memory column of a coefficient: the sum, without carries, of its index's pieces of log_row bits. Of a row's
  // number it is the mask with which the columns of the row's lanes are exclusive-ored.
  function automatic logic [ColumnWidth-1:0] column_of(logic [IndexWidth-1:0] index, int unsigned log_row);
    logic [ColumnWidth-1:0] c;
    c = '0;
    for (int unsigned i = 0; i < IndexWidth; i++) c[3'(i%log_row)] ^= index[i];
    return c;
  endfunction

  function automatic int unsigned bits_of(logic [63:0] q);
    int unsigned bits;
    bits = 0;
    for (int unsigned i = 0; i < 64; i++) if (q[6'(i)]) bits = i + 1;
    return bits;
  endfunction

  // Bits of the number that says modulo which of an RPAU's primes a word works.
  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs
  localparam int unsigned WhichWidth = 3;
  /* verilator lint_on UNUSEDPARAM */

  // ---- Passes, of limbs of 2^log_n coefficients, `stages` stages in each: 1, or 2 by chained pairs of butterflies. ----

  function automatic int unsigned pass_count(int unsigned log_n, int unsigned stages);
    return (log_n + stages - 1) / stages;
  endfunction

  // Returns the lowest index bit of a pass's pairs.
  function automatic int unsigned pass_pair(int unsigned pass, int unsigned stages);
    return stages * pass;
  endfunction

  function automatic int unsigned pass_window(int unsigned log_n, int unsigned log_row,
                                              int unsigned stages, int unsigned pass);
    return min2(stages * pass, log_n - log_row);
  endfunction

  // Returns the number of low bits of the step counter, u, that number a butterfly's twiddles in a pass.
  function automatic int unsigned pass_repeat(int unsigned log_n, int unsigned log_row,
                                              int unsigned stages, int unsigned pass);
    return log_n - log_row - pass_window(log_n, log_row, stages, pass);
  endfunction

  // Returns the number of passes whose butterflies have more than `few` twiddles. They come before the others.
  function automatic int unsigned deep_passes(int unsigned log_n, int unsigned log_row,
                                              int unsigned stages, int unsigned few);
    int unsigned count;
    count = 0;
    for (int unsigned p = 0; p < pass_count(log_n, stages); p++) begin
      if (1 << pass_repeat(log_n, log_row, stages, p) > few) count++;
    end
    return count;
  endfunction

  // Returns where the stored table of a pass begins. Each pass before it has 2^u words, u by pass_repeat, and none if u is 0.
  function automatic int unsigned table_base(int unsigned log_n, int unsigned log_row,
                                             int unsigned stages, int unsigned pass);
    int unsigned base;
    base = 0;
    for (int unsigned p = 0; p < pass; p++) begin
      if (pass_repeat(log_n, log_row, stages, p) != 0) begin
        base += 1 << pass_repeat(log_n, log_row, stages, p);
      end
    end
    return base;
  endfunction

  // Returns the most first values that a twiddle generator stores of a pass. It is a power of two, and at least the cycles
  // from the use of a value to that of its multiple: those of multiplier and adder, and three to store and fetch it.
  function automatic int unsigned first_values(int unsigned mul_latency);
    return 1 << $clog2(mul_latency + 4);
  endfunction

  // Returns where a pass's first twiddles begin, of which each pass stores `most` at most.
  function automatic int unsigned first_base(int unsigned log_n, int unsigned log_row,
                                             int unsigned most, int unsigned pass);
    int unsigned base;
    base = 0;
    for (int unsigned p = 0; p < pass; p++) base += min2(1 << pass_repeat(log_n, log_row, 1, p), most);
    return base;
  endfunction

  // Returns the idle cycles between two passes. A step reads words that were written at least a half (of one stage) or a
  // quarter (of two) of a pass's steps before.
  function automatic int unsigned pass_wait(int unsigned log_n, int unsigned log_row,
                                            int unsigned stages, int unsigned mul_latency);
    int unsigned through, steps;
    through = 2 + 2 * (1 + 2) + stages * (mul_latency + 1) + 1;
    steps = (1 << (log_n - log_row)) >> stages;
    return (through > steps) ? through - steps : 0;
  endfunction

  // ---- Words. ----

  function automatic logic is_transform(op_e op);
    return op == OpNtt || op == OpIntt;
  endfunction

  // Returns whether a word has two operands and two results, halves of a limb at twice the native degree.
  function automatic logic is_pair(op_e op);
    return op == OpSplit || op == OpJoin || op == OpAutoh;
  endfunction

  function automatic logic is_permutation(op_e op);
    return op == OpAuto || op == OpAutoh || op == OpAutoc;
  endfunction

  function automatic logic on_link(op_e op);
    return op == OpLoad || op == OpStore;
  endfunction

  // Returns whether a word takes residues of the generator.
  function automatic logic is_generated(op_e op, kind_e b_kind);
    return b_kind == KindGenerator || op == OpPrng;
  endfunction

  // Polynomial memory: slots that share ports, then those with ports of their own, then narrow ones in one memory, whose
  // ports take a row in 2^log_parts cycles.
  typedef struct packed {
    int unsigned shared;
    int unsigned singles;
    int unsigned narrow;
    int unsigned log_row;
    int unsigned log_parts;
  } memory_t;

  /* verilator lint_off UNUSEDPARAM */
  localparam int unsigned MostGroups = (1 << SlotWidth) + 2;
  localparam memory_t DefaultMemory = '{
      shared: 8, singles: 3, narrow: 2, log_row: 5, log_parts: 2
  };
  /* verilator lint_on UNUSEDPARAM */

  /* verilator lint_off UNUSEDSIGNAL */  // each function takes some of the fields
  // Returns the number of port groups; the group of narrow slots is the last.
  function automatic int unsigned groups_of(memory_t m);
    return 1 + m.singles + ((m.narrow > 0) ? 1 : 0);
  endfunction

  function automatic logic is_narrow(logic [SlotWidth-1:0] slot, memory_t m);
    return m.narrow > 0 && 32'(slot) >= m.shared + m.singles;
  endfunction

  // Returns the port group of a slot.
  function automatic int unsigned group_of(logic [SlotWidth-1:0] slot, memory_t m);
    if (32'(slot) < m.shared) return 0;
    return is_narrow(slot, m) ? 1 + m.singles : 32'(slot) - m.shared + 1;
  endfunction

  // Returns whether a slot is in the port group g; in none, if it is beyond the memory.
  function automatic logic in_group(logic [SlotWidth-1:0] slot, int unsigned g, memory_t m);
    if (g == 0) return 32'(slot) < m.shared;
    if (g <= m.singles) return 32'(slot) == m.shared + g - 1;
    return is_narrow(slot, m);
  endfunction

  // Returns in_group of every group, a bit each; only the first groups_of(m) bits can be set.
  function automatic logic [MostGroups-1:0] groups_at(logic [SlotWidth-1:0] slot, memory_t m);
    groups_at = '0;
    for (int unsigned g = 0; g < groups_of(m); g++) groups_at[g] = in_group(slot, g, m);
  endfunction

  function automatic logic same_group(logic [SlotWidth-1:0] a, logic [SlotWidth-1:0] b, memory_t m);
    return (groups_at(a, m) & groups_at(b, m)) != '0;
  endfunction

  // Returns the slot inside its group.
  function automatic logic [SlotWidth-1:0] inner_of(logic [SlotWidth-1:0] slot, memory_t m);
    if (32'(slot) < m.shared) return slot;
    return is_narrow(slot, m) ? slot - SlotWidth'(m.shared + m.singles) : '0;
  endfunction

  // Returns the cycles in which a slot's ports move a row.
  function automatic logic [BeatWidth-1:0] parts_of(logic [SlotWidth-1:0] slot, memory_t m);
    return is_narrow(slot, m) ? BeatWidth'(1 << m.log_parts) : BeatWidth'(1);
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */

  // What a word reads: whether it has each of the operands a, b and c in slots.
  typedef struct packed {
    logic c;
    logic b;
    logic a;
  } operands_t;

  function automatic operands_t operands_of(op_e op, kind_e b_kind);
    operands_t has;
    has.a = op != OpPrng && op != OpLoad;
    has.b = b_kind == KindSlot && !on_link(op);
    has.c = op == OpMac;
    return has;
  endfunction

  /* verilator lint_off UNUSEDSIGNAL */  // each function takes some of the fields
  // Returns which operands are in the slot of an operand before them, and are read with it: b if it is a, c if it is a or b.
  // `slots` are the word's a, b and c.
  function automatic operands_t again_of(op_e op, operands_t has,
                                         logic [2:0][SlotWidth-1:0] slots);
    operands_t again;
    again = '0;
    again.b = has.b && slots[1] == slots[0] && op != OpAutoh;
    again.c = has.c && (slots[2] == slots[0] || (has.b && slots[2] == slots[1]));
    return again;
  endfunction

  // The places of a word's slots in memory.
  typedef struct packed {
    operands_t has;
    operands_t again;
    logic [2:0][SlotWidth-1:0] slot;  // a, b, c
    logic [2:0] narrow;
    logic narrow_dst;
    // Whether two operands are in different slots of one port group, so that they are read one after the other: b and a, c and
    // a, c and b.
    logic b_by_a;
    logic c_by_a;
    logic c_by_b;
  } places_t;

  function automatic places_t places_of(op_e op, kind_e b_kind, logic [SlotWidth-1:0] dst,
                                        logic [2:0][SlotWidth-1:0] slots, memory_t m);
    places_t p;
    logic b_is_a, c_is_a, c_is_b;
    p.has = operands_of(op, b_kind);
    p.again = again_of(op, p.has, slots);
    p.slot = slots;
    for (int unsigned i = 0; i < 3; i++) p.narrow[i] = is_narrow(slots[i], m);
    p.narrow_dst = is_narrow(dst, m);
    b_is_a = slots[1] == slots[0];
    c_is_a = slots[2] == slots[0];
    c_is_b = slots[2] == slots[1];
    p.b_by_a = p.has.b && op != OpAutoh && !b_is_a && same_group(slots[1], slots[0], m);
    p.c_by_a = !c_is_a && same_group(slots[2], slots[0], m);
    p.c_by_b = p.has.b && !b_is_a && !c_is_a && !c_is_b && same_group(slots[2], slots[1], m);
    return p;
  endfunction

  // Where operands lie, and in which of a row's beats each is read, first and last: operands in one group one after the
  // other, one that is another again with it. Those of a pair that are read in a beat each always are, as its results are
  // written. A transform's and an automorphism's operands are read from the first beat on, one a row.
  typedef struct packed {
    operands_t has;
    operands_t again;  // b is a, or c is a or b: read with it
    logic [2:0][SlotWidth-1:0] slot;  // a, b, c
    logic [2:0][BeatWidth-1:0] first;
    logic [2:0][BeatWidth-1:0] last;
    logic strides;  // a row of a narrow slot whose residues do not follow each other: one a beat
    logic [BeatWidth-1:0] more;  // beats of a row, less one: of a transform in its first pass
    logic [BeatWidth-1:0] tail;  // beats, less one, from the end of a pair's first row to the write of its second
  } reads_t;

  // Returns the beats of a row, less one. The busiest port has at most three whole rows, or at most three rows of narrow slots
  // with all their parts, so a few bits tell the number.
  function automatic logic [BeatWidth-1:0] more_of(op_e op, places_t p, memory_t m);
    logic [BeatWidth-1:0] whole, narrow;
    logic b_second, c_second, c_third, dst_narrow, dst_second, writes;
    logic [2:0] has;
    logic [3:2] whole_at_least;
    logic [3:1] narrow_at_least;
    has = {p.has.c, p.has.b, op != OpPrng};
    b_second = p.b_by_a || (!p.narrow[0] && !p.narrow[1] && (op == OpSplit || op == OpJoin));
    c_second = p.c_by_a || p.c_by_b;
    c_third = p.c_by_a && p.c_by_b;
    writes = op != OpBcast && !on_link(op);
    dst_narrow = p.narrow_dst || (is_pair(op) && p.narrow[2]);
    // Rows of two results are written in turn, unless both can be written in the time of one.
    dst_second = is_pair(op) && op != OpAutoh && p.narrow_dst == p.narrow[2];
    whole_at_least[2] = (has[1] && b_second && !p.narrow[1]) || (has[2] && c_second && !p.narrow[2]) ||
        (writes && dst_second && !dst_narrow);
    whole_at_least[3] = has[2] && c_third && !p.narrow[2];
    narrow_at_least[1] = (has & p.narrow) != '0 || (writes && dst_narrow);
    narrow_at_least[2] = (has[1] && b_second && p.narrow[1]) || (has[2] && c_second && p.narrow[2]) ||
        (writes && dst_second && dst_narrow);
    narrow_at_least[3] = has[2] && c_third && p.narrow[2];
    whole = whole_at_least[3] ? BeatWidth'(2) : BeatWidth'(whole_at_least[2]);
    narrow = narrow_at_least[3] ? BeatWidth'((3 << m.log_parts) - 1) :
        narrow_at_least[2] ? BeatWidth'((2 << m.log_parts) - 1) :
        narrow_at_least[1] ? BeatWidth'((1 << m.log_parts) - 1) : '0;
    if ((op == OpNtt || op == OpAutoc) && p.narrow[0]) return BeatWidth'((1 << m.log_row) - 1);
    return (whole > narrow) ? whole : narrow;
  endfunction

  function automatic reads_t reads_at(op_e op, places_t p, memory_t m);
    reads_t r;
    logic [2:0][BeatWidth-1:0] parts;
    logic paired;
    r.has = p.has;
    r.again = p.again;
    r.slot = p.slot;
    paired = op == OpSplit || op == OpJoin;
    for (int unsigned i = 0; i < 3; i++) parts[i] = p.narrow[i] ? BeatWidth'(1 << m.log_parts) : BeatWidth'(1);
    r.strides = (op == OpNtt || op == OpAutoc) && p.narrow[0];
    if (r.strides) parts[0] = BeatWidth'(1 << m.log_row);
    r.first = '0;
    if (p.b_by_a) r.first[1] = parts[0];
    // If both operands of a pair are in wide slots, each takes a beat, whatever its ports are.
    if (paired && !p.narrow[0] && !p.narrow[1]) begin
      r.again.b = 1'b0;
      r.first[1] = BeatWidth'(1);
    end
    r.first[2] = (p.c_by_a ? parts[0] : '0) + (p.c_by_b ? parts[1] : '0);
    for (int unsigned i = 0; i < 3; i++) r.last[i] = r.first[i] + parts[i] - BeatWidth'(1);
    if (op == OpPrng) r.last[0] = '0;
    if (!r.has.b) r.last[1] = '0;
    if (!r.has.c) begin
      r.first[2] = '0;
      r.last[2] = '0;
    end
    r.more = more_of(op, p, m);
    // The second result begins after the first one's last part, or with it.
    r.tail = p.narrow_dst ? BeatWidth'((1 << m.log_parts) - 1 - 32'(!p.narrow[2])) : '0;
    return r;
  endfunction

  /* verilator lint_on UNUSEDSIGNAL */

  // The kinds of a word's steps, named by the beats that they take for a row. They take a number of beats, or the parts of a
  // narrow slot's row (P), the residues of a row (S), or a dyadic period (D).
  typedef enum logic [4:0] {
    StepsNone,
    StepsRows1,
    StepsRows2,
    StepsRows3,
    StepsRowsP,
    StepsRows2P,
    StepsRows3P,
    StepsRowsS,
    StepsRowsD,
    StepsRowsG,  // the beats of D, of the main cores
    // Steps for pairs of results, which end with a tail: of one beat, of P beats, or of P less one (L).
    StepsPair,
    StepsPairP,
    StepsPair2P,
    StepsPairPL,
    StepsPair2PL,
    StepsPair2PP,
    // Transforms, named by the beats for a row of their first pass.
    StepsPasses1,
    StepsPassesP,
    StepsPassesS
  } steps_e;

  // What enters a dyadic core at one place: the word's operands, or its constant.
  typedef struct packed {
    logic a;
    logic b;
    logic c;
    logic k;
  } entry_t;

  // How a core works on a word of a coefficient: see rm_ring_core, rm_ring_entry and rm_ring_mode.
  typedef struct packed {
    logic pre;     // difference before the product
    logic half;    // and both halved
    logic reduce;  // v enters the reducer in place of the product
    logic second;  // the result is out1
  } mode_t;

endpackage
