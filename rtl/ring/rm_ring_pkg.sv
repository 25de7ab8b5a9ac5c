// Shape and rules of the ring machine (docs/machines/ring.md): how a transform goes over its rows, where a
// slot lies, which operands a word has. The functions are those of crates/machines/src/ring/passes.rs,
// micro.rs and timing.rs.
package rm_ring_pkg;

  import rm_ring_isa_pkg::*;

  // Bits of a slot's number.
  localparam int unsigned SlotWidth = 5;

  // Bits of log2 of a limb's coefficients, and of a beat's number in a row.
  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs
  localparam int unsigned SizeWidth = 4;
  /* verilator lint_on UNUSEDPARAM */
  localparam int unsigned BeatWidth = 6;

  function automatic int unsigned min2(int unsigned a, int unsigned b);
    return (a < b) ? a : b;
  endfunction

  function automatic int unsigned bits_of(logic [63:0] q);
    int unsigned bits;
    bits = 0;
    for (int unsigned i = 0; i < 64; i++) if (q[6'(i)]) bits = i + 1;
    return bits;
  endfunction

  // Which of an RPAU's primes a word works modulo.
  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs
  localparam int unsigned WhichWidth = 3;
  /* verilator lint_on UNUSEDPARAM */

  // ---- Passes, of limbs of 2^log_n coefficients, `stages` stages in each: 1, or 2 by chained pairs of butterflies. ----

  function automatic int unsigned pass_count(int unsigned log_n, int unsigned stages);
    return (log_n + stages - 1) / stages;
  endfunction

  // The lowest index bit of a pass's pairs.
  function automatic int unsigned pass_pair(int unsigned pass, int unsigned stages);
    return stages * pass;
  endfunction

  function automatic int unsigned pass_window(int unsigned log_n, int unsigned log_row,
                                              int unsigned stages, int unsigned pass);
    return min2(stages * pass, log_n - log_row);
  endfunction

  // Low bits of the step counter over which a butterfly's twiddles go up one by one.
  function automatic int unsigned pass_repeat(int unsigned log_n, int unsigned log_row,
                                              int unsigned stages, int unsigned pass);
    return log_n - log_row - pass_window(log_n, log_row, stages, pass);
  endfunction

  // Passes whose butterflies have more than so many twiddles; the others come behind them.
  function automatic int unsigned deep_passes(int unsigned log_n, int unsigned log_row,
                                              int unsigned stages, int unsigned few);
    int unsigned count;
    count = 0;
    for (int unsigned p = 0; p < pass_count(log_n, stages); p++) begin
      if (1 << pass_repeat(log_n, log_row, stages, p) > few) count++;
    end
    return count;
  endfunction

  // Where the stored table of a pass begins: 2^u words for each pass before it.
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

  // First values that a twiddle generator keeps of a pass, at most: a power of two, no less than the cycles from when one is
  // used until its multiple can be, which are those of multiplier and adder and three to be put aside and fetched.
  function automatic int unsigned first_values(int unsigned mul_latency);
    return 1 << $clog2(mul_latency + 4);
  endfunction

  // Where a pass's first values begin.
  function automatic int unsigned first_base(int unsigned log_n, int unsigned log_row,
                                             int unsigned most, int unsigned pass);
    int unsigned base;
    base = 0;
    for (int unsigned p = 0; p < pass; p++) base += min2(1 << pass_repeat(log_n, log_row, 1, p), most);
    return base;
  endfunction

  // Cycles between two passes: a step reads what was written at least a half or a quarter of the steps before.
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

  // Two operands and two results: halves of a limb at twice the native degree.
  function automatic logic is_pair(op_e op);
    return op == OpSplit || op == OpJoin || op == OpAutoh;
  endfunction

  function automatic logic is_permutation(op_e op);
    return op == OpAuto || op == OpAutoh || op == OpAutoc;
  endfunction

  function automatic logic on_link(op_e op);
    return op == OpLoad || op == OpStore;
  endfunction

  // It takes what the generator makes.
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
  localparam memory_t DefaultMemory = '{
      shared: 8, singles: 3, narrow: 2, log_row: 5, log_parts: 2
  };
  /* verilator lint_on UNUSEDPARAM */

  /* verilator lint_off UNUSEDSIGNAL */  // each function takes some of the fields
  // Port groups; the narrow one is the last.
  function automatic int unsigned groups_of(memory_t m);
    return 1 + m.singles + ((m.narrow > 0) ? 1 : 0);
  endfunction

  function automatic logic is_narrow(logic [SlotWidth-1:0] slot, memory_t m);
    return m.narrow > 0 && 32'(slot) >= m.shared + m.singles;
  endfunction

  // The port group of a slot.
  function automatic int unsigned group_of(logic [SlotWidth-1:0] slot, memory_t m);
    if (32'(slot) < m.shared) return 0;
    return is_narrow(slot, m) ? 1 + m.singles : 32'(slot) - m.shared + 1;
  endfunction

  // The slot inside its group.
  function automatic logic [SlotWidth-1:0] inner_of(logic [SlotWidth-1:0] slot, memory_t m);
    if (32'(slot) < m.shared) return slot;
    return is_narrow(slot, m) ? slot - SlotWidth'(m.shared + m.singles) : '0;
  endfunction

  // Cycles of a row of a slot.
  function automatic logic [BeatWidth-1:0] parts_of(logic [SlotWidth-1:0] slot, memory_t m);
    return is_narrow(slot, m) ? BeatWidth'(1 << m.log_parts) : BeatWidth'(1);
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */

  // How a procedure ended.
  typedef enum logic [3:0] {
    CodeOk = 4'd0,
    CodeNotAWord = 4'd1,  // not the encoding of its own decoding
    CodeStream = 4'd2,  // a word of another stream
    CodeMask = 4'd3,  // no RPAU, or one beyond the machine
    CodeSource = 4'd4,  // a source RPAU beyond the machine
    CodeSlot = 4'd5,  // a slot beyond the memory
    CodeUnit = 4'd6,  // the dyadic cores lack the operation
    CodeRow = 4'd7,  // a table's row beyond its depth
    CodeNotBuilt = 4'd8,  // a word that this machine was not built for
    CodeForEver = 4'd9,  // streams that wait for each other
    CodeNoEnd = 4'd10,  // a stream without END
    CodeLink = 4'd11,  // a limb from the host of more or fewer residues than there are
    CodeTable = 4'd12,  // an entry that no table has (rm_ring_table)
    CodeNarrow = 4'd13  // a result of rows in a narrow slot
  } code_e;

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
    logic [BeatWidth-1:0] tail;  // a pair's second row is written in so many beats after the first one's end, less one
  } reads_t;

  // `slots`: the word's a, b and c.
  function automatic reads_t reads_of(op_e op, kind_e b_kind, logic [SlotWidth-1:0] dst,
                                      logic [2:0][SlotWidth-1:0] slots, memory_t m);
    reads_t r;
    int unsigned a, b, c;
    logic [2:0][BeatWidth-1:0] parts;
    logic [BeatWidth-1:0] writes, second;
    r.has = operands_of(op, b_kind);
    r.slot = slots;
    a = group_of(r.slot[0], m);
    b = group_of(r.slot[1], m);
    c = group_of(r.slot[2], m);
    for (int unsigned i = 0; i < 3; i++) parts[i] = parts_of(r.slot[i], m);
    r.strides = (op == OpNtt || op == OpAutoc) && is_narrow(r.slot[0], m);
    if (r.strides) parts[0] = BeatWidth'(1 << m.log_row);
    r.again = '0;
    r.again.b = r.has.b && r.slot[1] == r.slot[0] && op != OpAutoh;
    r.again.c = r.has.c && (r.slot[2] == r.slot[0] || (r.has.b && r.slot[2] == r.slot[1]));
    r.first = '0;
    if (r.has.b && b == a) r.first[1] = parts[0];
    if (r.again.b) r.first[1] = '0;
    // Wide ones of a pair, whatever their ports.
    if ((op == OpSplit || op == OpJoin) && parts[0] == BeatWidth'(1) && parts[1] == BeatWidth'(1)) begin
      r.again.b = 1'b0;
      r.first[1] = BeatWidth'(1);
    end
    if (r.slot[2] == r.slot[0]) r.first[2] = '0;
    else if (r.has.b && r.slot[2] == r.slot[1]) r.first[2] = r.first[1];
    else r.first[2] = ((c == a) ? parts[0] : '0) + ((r.has.b && !r.again.b && c == b) ? parts[1] : '0);
    // Halves come one a row.
    if (op == OpAutoh) r.first[1] = '0;
    for (int unsigned i = 0; i < 3; i++) r.last[i] = r.first[i] + parts[i] - BeatWidth'(1);
    if (!r.has.b) r.last[1] = '0;
    if (!r.has.c) begin
      r.first[2] = '0;
      r.last[2] = '0;
    end
    r.more = (r.last[1] > r.last[0]) ? r.last[1] : r.last[0];
    if (r.last[2] > r.more) r.more = r.last[2];
    if (op == OpPrng) begin
      r.last[0] = '0;
      r.more = '0;
    end
    // What is written.
    writes = parts_of(dst, m);
    if (is_pair(op)) begin
      second = parts_of(r.slot[2], m);
      // A row of each in turn, or both in the time of one.
      if (op != OpAutoh && (second == writes)) writes += second;
      else if (second > writes) writes = second;
    end
    if (op != OpBcast && !on_link(op) && writes > r.more) r.more = writes - BeatWidth'(1);
    // Behind the first one's last part, or with it.
    r.tail = parts_of(dst, m) - BeatWidth'(1);
    if (is_narrow(dst, m) && !is_narrow(r.slot[2], m)) r.tail -= BeatWidth'(1);
    return r;
  endfunction

  // How a core works on a word of a coefficient: see rm_ring_core and rm_ring_mode.
  typedef struct packed {
    logic pre;     // difference before the product
    logic half;    // and both halved
    logic reduce;  // v enters the reducer in place of the product
    logic second;  // the result is out1
  } mode_t;

endpackage
