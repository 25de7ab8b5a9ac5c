// SPDX-License-Identifier: Apache-2.0
// The binary interface of torus (docs/isa/torus.md). Generated from crates/isa/defs/torus.toml by
// `cargo run -p ringmill-isa --bin isa-gen`: do not edit.
package rm_torus_isa_pkg;

  typedef enum logic [2:0] {
    OpLoad = 3'd0,
    OpRun = 3'd1,
    OpUnload = 3'd2,
    OpSwitch = 3'd3,
    OpGive = 3'd4
  } op_e;

  typedef enum logic [2:0] {
    Ok = 3'd0,  // done
    BadCommand = 3'd1,  // there is no such command, or no such place
    BadExponent = 3'd2,  // an exponent is not below 2 N
    NotLoaded = 3'd3,  // a place holds no ciphertext to run, or none to give
    CutShort = 3'd4,  // the load's stream ended early
    TooLong = 3'd5,  // the load's stream did not end where it should
    KeyShort = 3'd6,  // the key ended early
    KeyLong = 3'd7  // the key did not end where it should
  } code_e;

  typedef enum logic [1:0] {
    SwitchOk = 2'd0,  // done
    SwitchTooLarge = 2'd1,  // a dimension or the number of ciphertexts is zero, or beyond what the unit was made for
    SwitchCutShort = 2'd2,  // the bodies ended before the rows of the key did
    SwitchTooLong = 2'd3  // the bodies did not end with the last row of the key
  } switch_code_e;

  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs
  localparam int unsigned LastOpcode = 4;
  localparam int unsigned LastCode = 7;
  localparam int unsigned LastSwitchCode = 3;
  localparam logic [7:0] AnswerTaken = 8'd0;
  localparam logic [7:0] AnswerBadCommand = 8'd1;
  localparam logic [7:0] AnswerBusy = 8'd8;
  localparam int unsigned CommandPlaceLow = 8;
  localparam int unsigned CommandPlaceWidth = 8;
  localparam int unsigned CommandOpLow = 0;
  localparam int unsigned CommandOpWidth = 3;
  localparam int unsigned ConfigLogNLow = 28;
  localparam int unsigned ConfigLogNWidth = 4;
  localparam int unsigned ConfigDimLow = 15;
  localparam int unsigned ConfigDimWidth = 13;
  localparam int unsigned ConfigPlacesLow = 7;
  localparam int unsigned ConfigPlacesWidth = 8;
  localparam int unsigned ConfigUnrollLow = 5;
  localparam int unsigned ConfigUnrollWidth = 2;
  localparam int unsigned ConfigLogWordsLow = 0;
  localparam int unsigned ConfigLogWordsWidth = 5;
  /* verilator lint_on UNUSEDPARAM */

endpackage
