// SPDX-License-Identifier: Apache-2.0
// The binary interface of basext (docs/isa/basext.md). Generated from crates/isa/defs/basext.toml by
// `cargo run -p ringmill-isa --bin isa-gen`: do not edit.
package rm_basext_isa_pkg;

  typedef enum logic [1:0] {
    OpLoad = 2'd0,
    OpExact = 2'd1,
    OpFast = 2'd2
  } op_e;

  typedef enum logic [2:0] {
    Ok = 3'd0,  // done
    BadCommand = 3'd1,  // there is no such command
    TooLarge = 3'd2,  // l, k or N is zero, or beyond what the unit was made for
    NoConstants = 3'd3,  // no constants were taken since reset, or the last load failed
    BadConstant = 3'd4,  // a modulus is not 1 modulo twice the least N, or a constant is not below its modulus
    NoRedundant = 3'd5,  // an exact extension needs a redundant modulus
    CutShort = 3'd6,  // the stream ended early
    TooLong = 3'd7  // the stream did not end where it should
  } code_e;

  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs
  localparam int unsigned LastOpcode = 2;
  localparam int unsigned LastCode = 7;
  localparam logic [7:0] AnswerTaken = 8'd0;
  localparam logic [7:0] AnswerBadCommand = 8'd1;
  localparam logic [7:0] AnswerBusy = 8'd8;
  localparam int unsigned CommandLogNLow = 24;
  localparam int unsigned CommandLogNWidth = 5;
  localparam int unsigned CommandKLow = 16;
  localparam int unsigned CommandKWidth = 8;
  localparam int unsigned CommandLLow = 8;
  localparam int unsigned CommandLWidth = 8;
  localparam int unsigned CommandOpLow = 0;
  localparam int unsigned CommandOpWidth = 2;
  localparam int unsigned ConfigLogPortsLow = 30;
  localparam int unsigned ConfigLogPortsWidth = 2;
  localparam int unsigned ConfigMaxLogNLow = 24;
  localparam int unsigned ConfigMaxLogNWidth = 6;
  localparam int unsigned ConfigMaxLLow = 16;
  localparam int unsigned ConfigMaxLWidth = 8;
  localparam int unsigned ConfigMaxKLow = 8;
  localparam int unsigned ConfigMaxKWidth = 8;
  localparam int unsigned ConfigLanesLow = 0;
  localparam int unsigned ConfigLanesWidth = 8;
  /* verilator lint_on UNUSEDPARAM */

endpackage
