// SPDX-License-Identifier: Apache-2.0
// Registers for the configuration of the two slots of tables: degree, modulus and constants, and
// the values derived from them.
//
// degree_we_i writes log2 n of slot_i. Then modulus_we_i and constants_we_i write the header of the
// table stream. A unit names the slot that it works on. It sees the slot's values at its outputs 1
// cycle later (q_o, factor_o, stream_q_o), or in the same cycle (the degrees), from registers.
module rm_polymul_config
  import rm_polymul_pkg::*;
#(
    parameter int unsigned Width = 32,
    parameter int unsigned LaneBits = 6,
    parameter int unsigned RowBits = 6,
    parameter int unsigned TwAddrWidth = 9
) (
    input  logic                   clk_i,
    // From the load unit.
    input  logic                   slot_i,
    input  logic                   degree_we_i,
    input  logic [4:0]             log_n_i,
    input  logic                   modulus_we_i,
    input  logic [Width-1:0]       q_i,
    input  logic                   constants_we_i,
    input  logic [Width-1:0]       scale_i,  // R^2 mod q
    input  logic [Width-1:0]       one_i,  // R mod q
    // To the array.
    input  logic                   array_slot_i,
    input  logic                   sum_i,  // the command is a sum: its factor is R mod q
    output logic [Width-1:0]       q_o,
    output logic [Width-1:0]       factor_o,
    output logic [RowBits:0]       rows_o,
    output logic [3:0]             log_rows_o,
    output logic [4:0]             last_stage_o,
    output logic [TwAddrWidth-1:0] tw_top_o,
    // To the load unit, of slot_i, and to the unload unit.
    output logic [Width-1:0]       stream_q_o,
    output logic [4:0]             load_log_n_o,
    input  logic                   unload_slot_i,
    output logic [4:0]             unload_log_n_o
);

  logic [1:0][Width-1:0] modulus_q, scale_q, one_q;
  logic [1:0][4:0] log_n_q, last_stage_q;
  logic [1:0][RowBits:0] rows_q;
  logic [1:0][3:0] log_rows_q;
  logic [1:0][TwAddrWidth-1:0] tw_top_q;
  logic [Width-1:0] q_q, factor_q, stream_q_q;
  logic [3:0] log_rows;

  assign log_rows = 4'(log_n_i - 5'(LaneBits));

  always_ff @(posedge clk_i) begin
    if (degree_we_i) begin
      log_n_q[slot_i] <= log_n_i;
      last_stage_q[slot_i] <= log_n_i - 1'b1;
      log_rows_q[slot_i] <= log_rows;
      rows_q[slot_i] <= (RowBits + 1)'(1) << log_rows;
      tw_top_q[slot_i] <= TwAddrWidth'((32'(LaneBits + 1) << log_rows) - 32'd1);
    end
    if (modulus_we_i) modulus_q[slot_i] <= q_i;
    if (constants_we_i) begin
      scale_q[slot_i] <= scale_i;
      one_q[slot_i] <= one_i;
    end
    q_q <= modulus_q[array_slot_i];
    factor_q <= sum_i ? one_q[array_slot_i] : scale_q[array_slot_i];
    // The word that follows q in the stream is already compared with it.
    stream_q_q <= modulus_we_i ? q_i : modulus_q[slot_i];
  end

  assign q_o = q_q;
  assign factor_o = factor_q;
  assign rows_o = rows_q[array_slot_i];
  assign log_rows_o = log_rows_q[array_slot_i];
  assign last_stage_o = last_stage_q[array_slot_i];
  assign tw_top_o = tw_top_q[array_slot_i];
  assign stream_q_o = stream_q_q;
  assign load_log_n_o = log_n_q[slot_i];
  assign unload_log_n_o = log_n_q[unload_slot_i];

endmodule
