// SPDX-License-Identifier: Apache-2.0
// The binary interface of shell (docs/isa/shell.md). Generated from crates/isa/defs/shell.toml by
// `cargo run -p ringmill-isa --bin isa-gen`: do not edit.
package rm_shell_isa_pkg;

  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs
  localparam int unsigned PortStride = 32;
  localparam int unsigned Events = 13;
  localparam logic [11:0] RegisterId = 12'h00;
  localparam logic [11:0] RegisterMachine = 12'h04;
  localparam logic [11:0] RegisterConfig = 12'h08;
  localparam logic [11:0] RegisterCommand = 12'h10;
  localparam logic [11:0] RegisterAnswer = 12'h14;
  localparam logic [11:0] RegisterBusy = 12'h18;
  localparam logic [11:0] RegisterEvents = 12'h1c;
  localparam logic [11:0] RegisterEnable = 12'h20;
  localparam logic [11:0] RegisterEnd = 12'h24;
  localparam logic [11:0] RegisterCycles = 12'h28;
  localparam logic [11:0] RegisterCyclesHigh = 12'h2c;
  localparam logic [11:0] RegisterCount = 12'h30;
  localparam logic [11:0] RegisterCountSecond = 12'h34;
  localparam logic [11:0] RegisterRead = 12'h40;
  localparam logic [11:0] RegisterReadHigh = 12'h44;
  localparam logic [11:0] RegisterReadBeats = 12'h48;
  localparam logic [11:0] RegisterWrite = 12'h50;
  localparam logic [11:0] RegisterWriteHigh = 12'h54;
  localparam logic [11:0] RegisterWriteBeats = 12'h58;
  localparam int unsigned AnswerAnsweredLow = 31;
  localparam int unsigned AnswerAnsweredWidth = 1;
  localparam int unsigned AnswerCodeLow = 0;
  localparam int unsigned AnswerCodeWidth = 8;
  localparam int unsigned BusyWriteLow = 9;
  localparam int unsigned BusyWriteWidth = 1;
  localparam int unsigned BusyReadLow = 8;
  localparam int unsigned BusyReadWidth = 1;
  localparam int unsigned BusyUnitsLow = 0;
  localparam int unsigned BusyUnitsWidth = 8;
  localparam int unsigned EventLengthLow = 12;
  localparam int unsigned EventLengthWidth = 1;
  localparam int unsigned EventWriteErrorLow = 11;
  localparam int unsigned EventWriteErrorWidth = 1;
  localparam int unsigned EventReadErrorLow = 10;
  localparam int unsigned EventReadErrorWidth = 1;
  localparam int unsigned EventWriteDoneLow = 9;
  localparam int unsigned EventWriteDoneWidth = 1;
  localparam int unsigned EventReadDoneLow = 8;
  localparam int unsigned EventReadDoneWidth = 1;
  localparam int unsigned EventUnitsLow = 0;
  localparam int unsigned EventUnitsWidth = 8;
  /* verilator lint_on UNUSEDPARAM */

endpackage
