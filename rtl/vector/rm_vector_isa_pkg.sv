// SPDX-License-Identifier: Apache-2.0
// The binary interface of vector (docs/isa/vector.md). Generated from crates/isa/defs/vector.toml by
// `cargo run -p ringmill-isa --bin isa-gen`: do not edit.
package rm_vector_isa_pkg;

  typedef enum logic [5:0] {
    OpLoad = 6'd1,
    OpStore = 6'd2,
    OpNtt1 = 6'd8,
    OpNtt2 = 6'd9,
    OpIntt1 = 6'd10,
    OpIntt2 = 6'd11,
    OpMorph = 6'd12,
    OpMov = 6'd16,
    OpAdd = 6'd17,
    OpSub = 6'd18,
    OpMul = 6'd19,
    OpMuli = 6'd20,
    OpMac = 6'd21,
    OpMaci = 6'd22,
    OpAcc = 6'd23,
    OpAcci = 6'd24,
    OpHcf = 6'd63
  } op_e;

  typedef enum logic [1:0] {
    KindNone = 2'd0,
    KindChunk = 2'd1,
    KindRegister = 2'd2,
    KindAccumulator = 2'd3
  } kind_e;

  typedef enum logic [1:0] {
    UnitMemory = 2'd0,
    UnitTransform = 2'd1,
    UnitMac = 2'd2,
    UnitControl = 2'd3
  } unit_e;

  typedef struct packed {
    op_e op;
    kind_e d_kind;
    logic [13:0] d;
    kind_e a_kind;
    logic [13:0] a;
    kind_e b_kind;
    logic [13:0] b;
    logic [9:0] modulus;
    logic [31:0] n;
  } word_t;

  // Whether there is such an instruction.
  function automatic logic is_op(op_e op);
    unique case (op)
      OpLoad, OpStore, OpNtt1, OpNtt2, OpIntt1, OpIntt2, OpMorph, OpMov, OpAdd, OpSub, OpMul, OpMuli, OpMac, OpMaci, OpAcc, OpAcci, OpHcf: return 1'b1;
      default: return 1'b0;
    endcase
  endfunction

  // The unit that works on it.
  function automatic unit_e unit_of(op_e op);
    unique case (op)
      OpMov, OpAdd, OpSub, OpMul, OpMuli, OpMac, OpMaci, OpAcc, OpAcci: return UnitMac;
      OpLoad, OpStore: return UnitMemory;
      OpNtt1, OpNtt2, OpIntt1, OpIntt2, OpMorph: return UnitTransform;
      default: return UnitControl;
    endcase
  endfunction

  // Kinds that `d` may be, a bit for each of kind_e.
  function automatic logic [3:0] d_kinds(op_e op);
    unique case (op)
      OpLoad, OpNtt1, OpNtt2, OpIntt1, OpIntt2, OpMorph: return 4'b0010;
      OpMov: return 4'b0110;
      OpAdd, OpSub, OpMul, OpMuli, OpMac, OpMaci, OpAcc, OpAcci: return 4'b1110;
      default: return 4'b0001;
    endcase
  endfunction

  // Kinds that `a` may be.
  function automatic logic [3:0] a_kinds(op_e op);
    unique case (op)
      OpStore, OpNtt1, OpNtt2, OpIntt1, OpIntt2, OpMorph: return 4'b0010;
      OpMov, OpAdd, OpSub, OpMul, OpMuli, OpMac, OpMaci, OpAcc: return 4'b0110;
      default: return 4'b0001;
    endcase
  endfunction

  // Kinds that `b` may be.
  function automatic logic [3:0] b_kinds(op_e op);
    unique case (op)
      OpAdd, OpSub, OpMul, OpMac: return 4'b0100;
      default: return 4'b0001;
    endcase
  endfunction

  // Whether it computes modulo a modulus of the table.
  function automatic logic has_modulus(op_e op);
    unique case (op)
      OpNtt1, OpNtt2, OpIntt1, OpIntt2, OpAdd, OpSub, OpMul, OpMuli, OpMac, OpMaci, OpAcc, OpAcci: return 1'b1;
      default: return 1'b0;
    endcase
  endfunction

  // Whether it adds to the accumulator.
  function automatic logic adds_to_accumulator(op_e op);
    unique case (op)
      OpMac, OpMaci, OpAcc, OpAcci: return 1'b1;
      default: return 1'b0;
    endcase
  endfunction

endpackage
