// SPDX-License-Identifier: Apache-2.0
// The micro words of the ring machine (docs/machines/ring.md, "The instruction word"). Generated from
// crates/machines/src/ring by `cargo run -p ringmill-hdl --bin ring-gen`: do not edit.
package rm_ring_isa_pkg;

  typedef enum logic [4:0] {
    OpEnd = 5'd0,
    OpWait = 5'd1,
    OpCopy = 5'd2,
    OpAdd = 5'd3,
    OpSub = 5'd4,
    OpNeg = 5'd5,
    OpMul = 5'd6,
    OpMac = 5'd7,
    OpMuli = 5'd8,
    OpAddi = 5'd9,
    OpSubm = 5'd10,
    OpRed = 5'd11,
    OpNtt = 5'd12,
    OpIntt = 5'd13,
    OpAuto = 5'd14,
    OpAutoh = 5'd15,
    OpSplit = 5'd16,
    OpJoin = 5'd17,
    OpPrng = 5'd18,
    OpBcast = 5'd19,
    OpAutoc = 5'd20,
    OpLoad = 5'd21,
    OpStore = 5'd22
  } op_e;

  typedef enum logic [1:0] {
    KindNone = 2'd0,
    KindSlot = 2'd1,
    KindKey = 2'd2,
    KindGenerator = 2'd3
  } kind_e;

  typedef struct packed {
    op_e op;
    logic controller;
    logic thread;
    logic [15:0] mask;
    logic [1:0] ring;
    logic [2:0] layer;
    logic [4:0] dst;
    logic [4:0] a;
    kind_e b_kind;
    logic [6:0] b;
    logic [4:0] c;
    logic [11:0] imm;
  } word_t;

  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs
  localparam int unsigned LastOp = 22;
  localparam int unsigned Streams = 4;
  localparam int unsigned Queues = 6;
  localparam int unsigned RingQueue = 4;
  localparam int unsigned LinkQueue = 5;
  localparam int unsigned WaitQueueLow = 32;
  localparam int unsigned WaitQueueWidth = 3;
  localparam int unsigned WaitCountLow = 0;
  localparam int unsigned WaitCountWidth = 32;
  /* verilator lint_on UNUSEDPARAM */

endpackage
