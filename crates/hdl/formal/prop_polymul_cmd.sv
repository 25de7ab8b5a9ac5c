// SPDX-License-Identifier: Apache-2.0
// rm_polymul_cmd keeps these rules for every sequence of commands and every end of a stream,
// provided that a unit is done only while it is busy:
//
//   tables_behind     a polynomial that counts as loaded has valid tables
//   array_behind, unload_behind   array and unload work on polynomials that count as loaded, under
//                     valid tables
//   load_behind, tables_in_work   what a load writes, a polynomial or tables, does not count as
//                     loaded, or as valid; the tables of a polynomial that it writes are valid
//   *_from_*          array, load and unload are not on one polynomial, no other unit is on the set
//                     of the array, and no load changes tables that another unit uses
//   one_start         a command starts one unit at most, and only with the answer CodeOk
//   told_once         each command has one answer, two cycles after it
//
// The proof is by induction, so that it covers sequences of any length.
module prop_polymul_cmd
  import rm_polymul_isa_pkg::*, rm_polymul_pkg::*;
(
    input logic     clk_i,
    input logic     rst_ni,
    input logic     valid_i,
    input command_t command_i,
    input logic     array_done_i,
    input logic     load_done_i,
    input code_e    load_code_i,
    input logic     unload_done_i
);

  logic rsp_valid, start_array, start_load, start_unload, abort, owed_q, owed_more_q;
  logic [2:0] done;
  code_e rsp_code, load_code;
  command_t started;
  state_t state;

  rm_polymul_cmd u_cmd (
      .clk_i,
      .rst_ni,
      .valid_i,
      .command_i,
      .rsp_valid_o(rsp_valid),
      .rsp_code_o(rsp_code),
      .start_array_o(start_array),
      .start_load_o(start_load),
      .start_unload_o(start_unload),
      .abort_o(abort),
      .command_o(started),
      .state_o(state),
      .array_done_i,
      .load_done_i,
      .load_code_i,
      .unload_done_i,
      .done_o(done),
      .load_code_o(load_code)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owed_q <= 1'b0;
      owed_more_q <= 1'b0;
    end else begin
      owed_q <= valid_i;
      owed_more_q <= owed_q;
    end
  end

  logic array_slot_ok, load_limb, load_tables;
  logic [1:0] array_limbs;
  assign array_slot_ok = state.tables[state.array_slot];
  // Bit b: the array's set holds a loaded polynomial in buffer b that belongs to the array's
  // tables.
  for (genvar b = 0; b < 2; b++) begin : gen_limb
    assign array_limbs[b] = state.loaded[state.array_set][b] &&
        state.slot[state.array_set][b] == state.array_slot;
  end
  assign load_limb = state.load_busy && !state.load_tables;
  assign load_tables = state.load_busy && state.load_tables;

  always_comb begin
    assume (!array_done_i || state.array_busy);
    assume (!load_done_i || state.load_busy);
    assume (!unload_done_i || state.unload_busy);
    if (rst_ni) begin
      array_behind :
      assert (!state.array_busy || (array_slot_ok && |array_limbs));
      unload_behind :
      assert (!state.unload_busy ||
              (state.loaded[state.unload_set][state.unload_buffer] &&
               state.tables[state.slot[state.unload_set][state.unload_buffer]]));
      load_behind :
      assert (!load_limb || (!state.loaded[state.load_set][state.load_buffer] &&
              state.tables[state.load_slot] &&
              state.slot[state.load_set][state.load_buffer] == state.load_slot));
      tables_in_work : assert (!load_tables || !state.tables[state.load_slot]);
      array_from_load :
      assert (!(state.array_busy && load_limb && state.array_set == state.load_set));
      array_from_unload :
      assert (!(state.array_busy && state.unload_busy && state.array_set == state.unload_set));
      load_from_unload :
      assert (!(load_limb && state.unload_busy && state.load_set == state.unload_set &&
                state.load_buffer == state.unload_buffer));
      tables_from_array :
      assert (!(load_tables && state.array_busy && state.array_slot == state.load_slot));
      tables_from_unload :
      assert (!(load_tables && state.unload_busy &&
                state.slot[state.unload_set][state.unload_buffer] == state.load_slot));
      one_start : assert ($countones({start_array, start_load, start_unload, abort}) <= 1);
      started_with_ok :
      assert (!(start_array || start_load || start_unload || abort) ||
              (rsp_valid && rsp_code == CodeOk));
      busy_when_started :
      assert ((!start_array || state.array_busy) && (!start_load || state.load_busy) &&
              (!start_unload || state.unload_busy));
      array_of_command :
      assert (!start_array || (is_array(started.op) && state.array_set == started.set));
      told_once : assert (rsp_valid == owed_more_q && u_cmd.valid_q == owed_q);
    end
  end

  for (genvar s = 0; s < 2; s++) begin : gen_set
    for (genvar b = 0; b < 2; b++) begin : gen_buffer
      always_comb begin
        if (rst_ni) begin
          tables_behind : assert (!state.loaded[s][b] || state.tables[state.slot[s][b]]);
        end
      end
    end
  end

  logic unused;
  assign unused = ^{done, load_code};

endmodule
