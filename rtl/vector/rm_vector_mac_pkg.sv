// SPDX-License-Identifier: Apache-2.0
// Control signals of the multiply-accumulate unit: the operands and the sum that an item selects.
package rm_vector_mac_pkg;

  import rm_vector_isa_pkg::*;

  // Where the first factor comes from. One is R mod q, which makes the other factor the product.
  typedef enum logic [1:0] {
    FromChunk = 2'd0,
    FromRegister = 2'd1,
    FromOne = 2'd2
  } factor_e;

  // The selection of the operands of an item.
  typedef struct packed {
    factor_e a;
    logic b_scalar;  // the second factor is n
    logic b_one;     // it is one
    logic minus;     // the term is -b
    logic pass_a;    // it is a
  } operands_t;

  // The selection of the terms of an item's sum.
  typedef struct packed {
    logic add_term;  // to the product, the term
    logic add_acc;   // the accumulator
    logic only_term; // nothing but the term
  } sum_t;

  function automatic operands_t operands_of(op_e op, kind_e a_kind);
    operands_t how;
    how.a = (op == OpAcci) ? FromOne : (a_kind == KindRegister) ? FromRegister : FromChunk;
    how.b_scalar = op inside {OpMuli, OpMaci, OpAcci};
    how.b_one = op inside {OpAdd, OpSub, OpAcc};
    how.minus = op == OpSub;
    how.pass_a = op == OpMov;
    return how;
  endfunction

  function automatic sum_t sum_of(op_e op);
    sum_t how;
    how.add_term = op inside {OpAdd, OpSub};
    how.add_acc = adds_to_accumulator(op);
    how.only_term = op == OpMov;
    return how;
  endfunction

endpackage
