// SPDX-License-Identifier: Apache-2.0
// The faults of a micro word that the vector machine refuses.
package rm_vector_fault_pkg;

  typedef enum logic [2:0] {
    FaultNone = 3'd0,
    FaultOp = 3'd1,         // no instruction has the code
    FaultOperand = 3'd2,    // an operand of a kind that it may not be, or an index where there is none
    FaultRegister = 3'd3,   // no such register
    FaultChunk = 3'd4,      // no such chunk of the buffer
    FaultModulus = 3'd5,    // no such modulus, or one where none is used
    FaultImmediate = 3'd6,  // n is not zero, no chunk of distant memory, or no Galois element
    FaultTarget = 3'd7      // MORPH not to the first chunk of another limb
  } fault_e;

  // What is wrong with a word, a bit for each.
  typedef logic [7:1] wrong_t;

  function automatic fault_e first_fault(wrong_t wrong);
    for (int unsigned k = 1; k < 8; k++) begin
      if (wrong[k]) return fault_e'(3'(k));
    end
    return FaultNone;
  endfunction

endpackage
