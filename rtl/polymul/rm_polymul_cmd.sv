// SPDX-License-Identifier: Apache-2.0
// Accepts or refuses each command of the multiplier, and keeps the state on which that depends:
// what the machine holds and which units work.
//
// rm_polymul_rule decides. A polynomial counts as loaded after a load that ended with CodeOk. It
// stops counting with the next load into its place, with new tables in its slot, or with a full
// product that overwrites it (buffer 1). So no command reads a word that was not written since. The
// memories need no scrub at reset or with new tables: their old words cannot be reached through any
// port.
//
// With cmd in cycle 0, rsp_*, start_*_o with command_o, and state_o come in cycle 2, from
// registers. A command may come each cycle and is judged after the one before. *_done_i ends the
// work of a unit: in the next cycle the unit's busy bit falls, and its done bit is high for one
// cycle.
module rm_polymul_cmd
  import rm_polymul_isa_pkg::*, rm_polymul_pkg::*;
#(
    parameter int unsigned MaxLogN = 12
) (
    input  logic     clk_i,
    input  logic     rst_ni,
    input  logic     valid_i,
    input  command_t command_i,
    output logic     rsp_valid_o,
    output code_e    rsp_code_o,
    // Units.
    output logic     start_array_o,
    output logic     start_load_o,
    output logic     start_unload_o,
    output logic     abort_o,
    output command_t command_o,
    output state_t   state_o,
    input  logic     array_done_i,
    input  logic     load_done_i,
    input  code_e    load_code_i,
    input  logic     unload_done_i,
    output logic [2:0] done_o,  // {unload, load, array}
    output code_e    load_code_o
);

  logic valid_q, rsp_valid_q, ok, go, go_array;
  logic start_array_q, start_load_q, start_unload_q, abort_q;
  command_t command_q, started_q;
  kind_t kind_q;
  state_t state_d, state_q;
  code_e code, code_q, load_code_q;
  logic [2:0] done_q;

  rm_polymul_rule #(
      .MaxLogN(MaxLogN)
  ) u_rule (
      .clk_i,
      .command_i,
      .command_o(command_q),
      .kind_o(kind_q),
      .state_i(state_q),
      .code_o(code),
      .ok_o(ok)
  );

  assign go = valid_q && ok;
  assign go_array = go && kind_q.array;

  always_comb begin
    state_d = state_q;
    if (array_done_i) state_d.array_busy = 1'b0;
    if (unload_done_i) state_d.unload_busy = 1'b0;
    if (load_done_i) begin
      state_d.load_busy = 1'b0;
      if (state_q.load_tables) state_d.tables[state_q.load_slot] = load_code_i == CodeOk;
      else state_d.loaded[state_q.load_set][state_q.load_buffer] = load_code_i == CodeOk;
    end
    if (go && kind_q.tables) begin
      state_d.tables[command_q.slot] = 1'b0;
      for (int unsigned s = 0; s < 2; s++) begin
        for (int unsigned b = 0; b < 2; b++) begin
          if (state_q.slot[s][b] == command_q.slot) state_d.loaded[s][b] = 1'b0;
        end
      end
    end
    if (go && kind_q.load) begin
      state_d.loaded[command_q.set][command_q.buffer] = 1'b0;
      state_d.slot[command_q.set][command_q.buffer] = command_q.slot;
    end
    if (go && (kind_q.tables || kind_q.load)) begin
      state_d.load_busy = 1'b1;
      state_d.load_tables = kind_q.tables;
      state_d.load_set = command_q.set;
      state_d.load_buffer = command_q.buffer;
      state_d.load_slot = command_q.slot;
    end
    if (go && kind_q.unload) begin
      state_d.unload_busy = 1'b1;
      state_d.unload_set = command_q.set;
      state_d.unload_buffer = command_q.buffer;
    end
    if (go_array) begin
      state_d.array_busy = 1'b1;
      state_d.array_set = command_q.set;
      state_d.array_slot = state_q.slot[command_q.set][kind_q.first];
    end
    if (go && command_q.op == OpFpm) state_d.loaded[command_q.set][1] = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      rsp_valid_q <= 1'b0;
      start_array_q <= 1'b0;
      start_load_q <= 1'b0;
      start_unload_q <= 1'b0;
      abort_q <= 1'b0;
      state_q <= '0;
      done_q <= '0;
    end else begin
      valid_q <= valid_i;
      rsp_valid_q <= valid_q;
      start_array_q <= go_array;
      start_load_q <= go && (kind_q.load || kind_q.tables);
      start_unload_q <= go && kind_q.unload;
      abort_q <= go && kind_q.cut;
      state_q <= state_d;
      done_q <= {unload_done_i, load_done_i, array_done_i};
    end
  end

  always_ff @(posedge clk_i) begin
    started_q <= command_q;
    code_q <= code;
    if (load_done_i) load_code_q <= load_code_i;
  end

  assign rsp_valid_o = rsp_valid_q;
  assign rsp_code_o = code_q;
  assign start_array_o = start_array_q;
  assign start_load_o = start_load_q;
  assign start_unload_o = start_unload_q;
  assign abort_o = abort_q;
  assign command_o = started_q;
  assign state_o = state_q;
  assign done_o = done_q;
  assign load_code_o = load_code_q;

  logic unused_kind;
  assign unused_kind = ^{kind_q.degree, kind_q.pair};

endmodule
