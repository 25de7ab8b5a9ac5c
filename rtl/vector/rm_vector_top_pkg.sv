// SPDX-License-Identifier: Apache-2.0
// Types of the signals between the units of the vector machine.
package rm_vector_top_pkg;

  import rm_vector_isa_pkg::*;

  // How the words of a chunk lie in its limb (`Orientation` in crates/machines/src/vector/layout.rs).
  typedef enum logic [1:0] {
    LieRows = 2'd0,
    LieColumns = 2'd1,
    LieScattered = 2'd2  // rows all over it
  } lie_e;

  function automatic lie_e read_lie(op_e op);
    return (op inside {OpNtt1, OpIntt2}) ? LieColumns : LieRows;
  endfunction

  function automatic lie_e write_lie(op_e op);
    return (op inside {OpNtt1, OpIntt2}) ? LieColumns : (op == OpMorph) ? LieScattered : LieRows;
  endfunction

  // The units that write chunks. If several could write in a cycle, the first does.
  typedef enum logic [1:0] {
    WriterMac = 2'd0,
    WriterTransform = 2'd1,
    WriterLoad = 2'd2
  } writer_e;

  // One bit for each of writer_e.
  typedef logic [2:0] writers_t;

  // The target of a write-back: the chunk's orientation and its place in the buffer.
  typedef struct packed {
    lie_e        lie;
    logic [13:0] place;
  } target_t;

  // The target of each of writer_e.
  typedef target_t [2:0] targets_t;

  // The tables that are filled before a program runs. Factors are times R of the multiplier; j is the index.
  typedef enum logic [2:0] {
    TableModulus = 3'd0,   // q
    TableOne = 3'd1,       // R mod q
    TableBefore = 3'd2,    // of position j, from 1 on, before NTT1 (pass 0) and NTT2 (pass 1)
    TableWithin = 3'd3,    // power j, from 1 on, of the root of a pass; pass 0 forward, 1 inverse
    TableSeedLow = 3'd4,   // of the seeds of lines, by the lower bits of the line; pass is the instruction's
    TableSeedHigh = 3'd5,  // by the upper bits
    TableCount = 3'd6,     // how many moduli there are; of the wrapper, as the next
    TableBase = 3'd7       // byte address of distant memory, pass 0 the lower half, 1 the upper
  } table_e;

  // A word of a table.
  typedef struct packed {
    table_e      kind;
    logic [9:0]  modulus;
    logic [1:0]  pass;
    logic [7:0]  index;
    logic [31:0] word;
  } entry_t;

endpackage
