// SPDX-License-Identifier: Apache-2.0
// Decides whether a command of the polynomial multiplier may begin: computes code_o from the
// command and the state of the machine.
//
//   command             Busy while                            then needs
//   array (a set)       the array works, or a stream on       tables and data of each operand, of one
//                       the set                               slot
//   load (polynomial)   the load unit works, the array on     tables of the slot
//                       the set, or unload on the polynomial
//   unload (polynomial) the unload unit works, the array on   tables and data of the polynomial
//                       the set, or load on the polynomial
//   tables (slot)       the load unit works, or the array or  a degree of this configuration
//                       unload on data of the slot
//   abort               never                                 a stream on its way in
//
// The answer is the first need of a row that fails: Busy; Unsupported; NoTables; NoData; Mixed. An
// abort without a stream is Idle, a number that is no command BadOp. A test checks all states and
// commands (crates/hdl/tests/hdl/polymul/rule.rs).
//
// The command is registered with its kind. code_o, and ok_o for CodeOk, come a cycle after it, for
// the state of that cycle.
module rm_polymul_rule
  import rm_polymul_isa_pkg::*, rm_polymul_pkg::*;
#(
    parameter int unsigned MaxLogN = 12
) (
    input  logic     clk_i,
    input  command_t command_i,
    output command_t command_o,
    output kind_t    kind_o,
    input  state_t   state_i,
    output code_e    code_o,
    output logic     ok_o
);

  command_t command_q;
  kind_t kind_d, kind_q;
  logic set, buffer, array_uses, load_here, unload_here, tables, data;
  logic stream_on, array_on, unload_on;
  logic busy, unsupported, no_tables, no_data, mixed, idle, bad_op;

  assign kind_d.array = is_array(command_i.op);
  assign kind_d.pair = is_pair(command_i.op);
  assign kind_d.first = command_i.buffer && !is_pair(command_i.op);
  assign kind_d.load = command_i.op == OpLoad;
  assign kind_d.unload = command_i.op == OpUnload;
  assign kind_d.tables = command_i.op == OpTables;
  assign kind_d.cut = command_i.op == OpAbort;
  assign kind_d.degree = command_i.log_n >= 5'(MinLogN) && command_i.log_n <= 5'(MaxLogN);

  always_ff @(posedge clk_i) begin
    command_q <= command_i;
    kind_q <= kind_d;
  end

  assign set = command_q.set;
  assign buffer = kind_q.first;
  assign array_uses = state_i.array_busy && state_i.array_set == set;
  assign load_here = state_i.load_busy && !state_i.load_tables && state_i.load_set == set;
  assign unload_here = state_i.unload_busy && state_i.unload_set == set;
  // Whether the tables of the polynomial at the place are valid, and whether all operands are loaded.
  assign tables = state_i.tables[state_i.slot[set][buffer]];
  assign data = state_i.loaded[set][buffer] && (!kind_q.pair || state_i.loaded[set][1]);
  // Whether the array or the unload unit works with the slot's tables, and whether a stream works on
  // the place.
  assign array_on = state_i.array_busy && state_i.array_slot == command_q.slot;
  assign unload_on = state_i.unload_busy &&
      state_i.slot[state_i.unload_set][state_i.unload_buffer] == command_q.slot;
  assign stream_on = kind_q.load ? unload_here && state_i.unload_buffer == buffer
                                 : load_here && state_i.load_buffer == buffer;

  assign busy = (kind_q.tables && (state_i.load_busy || array_on || unload_on)) ||
      (kind_q.load && (state_i.load_busy || array_uses || stream_on)) ||
      (kind_q.unload && (state_i.unload_busy || array_uses || stream_on)) ||
      (kind_q.array && (state_i.array_busy || load_here || unload_here));
  assign unsupported = kind_q.tables && !kind_q.degree;
  assign no_tables = (kind_q.load && !state_i.tables[command_q.slot]) ||
      ((kind_q.unload || kind_q.array) && !tables);
  assign no_data = (kind_q.unload || kind_q.array) && !data;
  assign mixed = kind_q.pair && state_i.slot[set][0] != state_i.slot[set][1];
  assign idle = kind_q.cut && !state_i.load_busy;
  assign bad_op = !(kind_q.tables || kind_q.load || kind_q.unload || kind_q.array || kind_q.cut);
  assign ok_o = !(busy || unsupported || no_tables || no_data || mixed || idle || bad_op);

  always_comb begin
    if (busy) code_o = CodeBusy;
    else if (unsupported) code_o = CodeUnsupported;
    else if (no_tables) code_o = CodeNoTables;
    else if (no_data) code_o = CodeNoData;
    else if (mixed) code_o = CodeMixed;
    else if (idle) code_o = CodeIdle;
    else if (bad_op) code_o = CodeBadOp;
    else code_o = CodeOk;
  end

  assign command_o = command_q;
  assign kind_o = kind_q;

  logic unused_slot;
  assign unused_slot = state_i.load_slot;

endmodule
