// SPDX-License-Identifier: Apache-2.0
// The binary interface of ring (docs/isa/ring.md). Generated from crates/isa/defs/ring.toml by
// `cargo run -p ringmill-isa --bin isa-gen`: do not edit.
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

  typedef enum logic [3:0] {
    CodeOk = 4'd0,  // done
    CodeNotAWord = 4'd1,  // a word is not the encoding of its own decoding
    CodeStream = 4'd2,  // a word of another stream
    CodeMask = 4'd3,  // a word for no RPAU, or for one beyond the machine
    CodeSource = 4'd4,  // a source RPAU beyond the machine
    CodeSlot = 4'd5,  // a slot beyond the memory
    CodeUnit = 4'd6,  // the dyadic cores lack the operation
    CodeRow = 4'd7,  // a table's row beyond its depth
    CodeNotBuilt = 4'd8,  // a word that this machine was not built for
    CodeForEver = 4'd9,  // streams that wait for each other
    CodeNoEnd = 4'd10,  // a stream without END
    CodeLink = 4'd11,  // a limb from the host of more or fewer residues than there are
    CodeTable = 4'd12,  // an entry that no table has
    CodeNarrow = 4'd13  // a result of rows in a narrow slot
  } code_e;

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
  localparam int unsigned Streams = 4;
  localparam int unsigned Queues = 6;
  localparam int unsigned RingQueue = 4;
  localparam int unsigned LinkQueue = 5;
  localparam int unsigned LastOpcode = 22;
  localparam int unsigned LastKind = 3;
  localparam logic [1:0] RingFull = 2'd0;
  localparam logic [1:0] RingHalfPlus = 2'd1;
  localparam logic [1:0] RingHalfMinus = 2'd2;
  localparam logic [1:0] RingPart = 2'd3;
  localparam logic [3:0] TableConstant = 4'd0;
  localparam logic [3:0] TableFlatA = 4'd1;
  localparam logic [3:0] TableFlatB = 4'd2;
  localparam logic [3:0] TableDeepA = 4'd3;
  localparam logic [3:0] TableDeepB = 4'd4;
  localparam logic [3:0] TableKeySlot = 4'd5;
  localparam logic [3:0] TableStream = 4'd6;
  localparam logic [3:0] TableSeedPlace = 4'd7;
  localparam logic [3:0] TableSeed = 4'd8;
  localparam logic [3:0] TableZeta = 4'd9;
  localparam logic [3:0] TableGalois = 4'd10;
  localparam logic [3:0] TableGaloisInverse = 4'd11;
  localparam logic [3:0] TablePrime = 4'd12;
  localparam logic [3:0] TableSize = 4'd13;
  localparam logic [3:0] TableProgram = 4'd15;
  localparam int unsigned LastCode = 13;
  localparam logic [2:0] CommandTables = 3'd0;
  localparam logic [2:0] CommandRun = 3'd1;
  localparam logic [2:0] CommandAsk = 3'd2;
  localparam logic [3:0] AskedWant = 4'd0;
  localparam logic [3:0] AskedPlace = 4'd1;
  localparam logic [3:0] AskedCycles = 4'd8;
  localparam logic [7:0] AnswerTaken = 8'd0;
  localparam logic [7:0] AnswerBadCommand = 8'd1;
  localparam logic [7:0] AnswerBusy = 8'd8;
  localparam int unsigned WordOpLow = 59;
  localparam int unsigned WordOpWidth = 5;
  localparam int unsigned WordControllerLow = 58;
  localparam int unsigned WordControllerWidth = 1;
  localparam int unsigned WordThreadLow = 57;
  localparam int unsigned WordThreadWidth = 1;
  localparam int unsigned WordMaskLow = 41;
  localparam int unsigned WordMaskWidth = 16;
  localparam int unsigned WordRingLow = 39;
  localparam int unsigned WordRingWidth = 2;
  localparam int unsigned WordLayerLow = 36;
  localparam int unsigned WordLayerWidth = 3;
  localparam int unsigned WordDstLow = 31;
  localparam int unsigned WordDstWidth = 5;
  localparam int unsigned WordALow = 26;
  localparam int unsigned WordAWidth = 5;
  localparam int unsigned WordBKindLow = 24;
  localparam int unsigned WordBKindWidth = 2;
  localparam int unsigned WordBLow = 17;
  localparam int unsigned WordBWidth = 7;
  localparam int unsigned WordCLow = 12;
  localparam int unsigned WordCWidth = 5;
  localparam int unsigned WordImmLow = 0;
  localparam int unsigned WordImmWidth = 12;
  localparam int unsigned WaitOpLow = 59;
  localparam int unsigned WaitOpWidth = 5;
  localparam int unsigned WaitQueueLow = 32;
  localparam int unsigned WaitQueueWidth = 3;
  localparam int unsigned WaitCountLow = 0;
  localparam int unsigned WaitCountWidth = 32;
  localparam int unsigned EntryRpausLow = 32;
  localparam int unsigned EntryRpausWidth = 16;
  localparam int unsigned EntryKindLow = 24;
  localparam int unsigned EntryKindWidth = 4;
  localparam int unsigned EntryTableLow = 16;
  localparam int unsigned EntryTableWidth = 8;
  localparam int unsigned EntryAddressLow = 0;
  localparam int unsigned EntryAddressWidth = 16;
  localparam int unsigned CommandByteLow = 8;
  localparam int unsigned CommandByteWidth = 4;
  localparam int unsigned CommandOpLow = 0;
  localparam int unsigned CommandOpWidth = 3;
  localparam int unsigned WantStoreLow = 5;
  localparam int unsigned WantStoreWidth = 1;
  localparam int unsigned WantKeyLow = 4;
  localparam int unsigned WantKeyWidth = 1;
  localparam int unsigned WantRpauLow = 0;
  localparam int unsigned WantRpauWidth = 4;
  localparam int unsigned EndStreamLow = 4;
  localparam int unsigned EndStreamWidth = 2;
  localparam int unsigned EndCodeLow = 0;
  localparam int unsigned EndCodeWidth = 4;
  localparam int unsigned ConfigLogNLow = 28;
  localparam int unsigned ConfigLogNWidth = 4;
  localparam int unsigned ConfigRpausLow = 24;
  localparam int unsigned ConfigRpausWidth = 4;
  localparam int unsigned ConfigLogRowLow = 20;
  localparam int unsigned ConfigLogRowWidth = 4;
  localparam int unsigned ConfigLogLanesLow = 16;
  localparam int unsigned ConfigLogLanesWidth = 4;
  localparam int unsigned ConfigSharedLow = 11;
  localparam int unsigned ConfigSharedWidth = 5;
  localparam int unsigned ConfigSinglesLow = 8;
  localparam int unsigned ConfigSinglesWidth = 3;
  localparam int unsigned ConfigNarrowLow = 5;
  localparam int unsigned ConfigNarrowWidth = 3;
  localparam int unsigned ConfigLogWordsLow = 0;
  localparam int unsigned ConfigLogWordsWidth = 5;
  /* verilator lint_on UNUSEDPARAM */

endpackage
