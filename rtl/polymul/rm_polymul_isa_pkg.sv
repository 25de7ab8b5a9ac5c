// SPDX-License-Identifier: Apache-2.0
// The binary interface of polymul (docs/isa/polymul.md). Generated from crates/isa/defs/polymul.toml by
// `cargo run -p ringmill-isa --bin isa-gen`: do not edit.
package rm_polymul_isa_pkg;

  typedef enum logic [3:0] {
    OpNtt = 4'd0,
    OpIntt = 4'd1,
    OpMul = 4'd2,
    OpHpm = 4'd3,
    OpFpm = 4'd4,
    OpLoad = 4'd5,
    OpUnload = 4'd6,
    OpTables = 4'd7,
    OpAdd = 4'd8,
    OpSub = 4'd9,
    OpAbort = 4'd10
  } op_e;

  typedef enum logic [3:0] {
    CodeOk = 4'd0,  // done
    CodeBusy = 4'd1,  // the unit, or the memory it needs, is in use
    CodeNoTables = 4'd2,  // the slot holds no tables
    CodeUnsupported = 4'd3,  // the degree is not one of this configuration
    CodeTooShort = 4'd4,  // the stream ended early
    CodeTooLong = 4'd5,  // the stream did not end where it should
    CodeBadModulus = 4'd6,  // the modulus is not 1 modulo 2n or has too many bits
    CodeNotReduced = 4'd7,  // a residue was not below the modulus
    CodeNoData = 4'd8,  // the polynomial was not loaded, or its load failed
    CodeMixed = 4'd9,  // the two polynomials were loaded under different tables
    CodeAborted = 4'd10,  // the stream was aborted
    CodeIdle = 4'd11,  // there is no stream to abort
    CodeBadOp = 4'd12  // there is no such command
  } code_e;

  typedef struct packed {
    op_e op;
    logic set;
    logic buffer;
    logic slot;
    logic eval;
    logic [4:0] log_n;
  } command_t;

  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs
  localparam int unsigned LastOpcode = 10;
  localparam int unsigned LastCode = 12;
  localparam logic [1:0] UnitArray = 2'd0;
  localparam logic [1:0] UnitLoad = 2'd1;
  localparam logic [1:0] UnitUnload = 2'd2;
  localparam int unsigned CommandLogNLow = 8;
  localparam int unsigned CommandLogNWidth = 5;
  localparam int unsigned CommandSlotLow = 7;
  localparam int unsigned CommandSlotWidth = 1;
  localparam int unsigned CommandEvalLow = 6;
  localparam int unsigned CommandEvalWidth = 1;
  localparam int unsigned CommandBufferLow = 5;
  localparam int unsigned CommandBufferWidth = 1;
  localparam int unsigned CommandSetLow = 4;
  localparam int unsigned CommandSetWidth = 1;
  localparam int unsigned CommandOpLow = 0;
  localparam int unsigned CommandOpWidth = 4;
  localparam int unsigned RequestOpLow = 9;
  localparam int unsigned RequestOpWidth = 4;
  localparam int unsigned RequestSetLow = 8;
  localparam int unsigned RequestSetWidth = 1;
  localparam int unsigned RequestBufferLow = 7;
  localparam int unsigned RequestBufferWidth = 1;
  localparam int unsigned RequestSlotLow = 6;
  localparam int unsigned RequestSlotWidth = 1;
  localparam int unsigned RequestEvalLow = 5;
  localparam int unsigned RequestEvalWidth = 1;
  localparam int unsigned RequestLogNLow = 0;
  localparam int unsigned RequestLogNWidth = 5;
  localparam int unsigned ConfigMaxLogNLow = 24;
  localparam int unsigned ConfigMaxLogNWidth = 8;
  localparam int unsigned ConfigUnitsLow = 8;
  localparam int unsigned ConfigUnitsWidth = 16;
  localparam int unsigned ConfigBeatLow = 0;
  localparam int unsigned ConfigBeatWidth = 8;
  /* verilator lint_on UNUSEDPARAM */

endpackage
