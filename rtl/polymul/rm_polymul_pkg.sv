// SPDX-License-Identifier: Apache-2.0
// Types and latencies of the polynomial multiplier whose degree and modulus are set at run time
// (docs/machines/polymul.md).
package rm_polymul_pkg;

  import rm_polymul_isa_pkg::*;

  // The properties of a command by which it is judged.
  typedef struct packed {
    logic array;
    logic pair;  // of the array, with a second operand
    logic first;  // the polynomial that it is about: of a pair, the first
    logic load;
    logic unload;
    logic tables;
    logic cut;
    logic degree;  // log_n is one of this configuration
  } kind_t;

  // The state by which a command is judged: what the memories hold, and which units work on them.
  typedef struct packed {
    logic [1:0] tables;  // [slot]: valid tables
    logic [1:0][1:0] loaded;  // [set][buffer]: a whole polynomial
    logic [1:0][1:0] slot;  // [set][buffer]: that of the tables it was loaded under
    logic array_busy;
    logic array_set;
    logic array_slot;
    logic load_busy;
    logic load_tables;
    logic load_set;
    logic load_buffer;
    logic load_slot;
    logic unload_busy;
    logic unload_set;
    logic unload_buffer;
  } state_t;

  function automatic logic is_array(op_e op);
    return op <= OpFpm || op == OpAdd || op == OpSub;
  endfunction

  // Returns whether a command of the array has a second operand. Its operands are then buffers 0
  // and 1 of the set.
  function automatic logic is_pair(op_e op);
    return op == OpMul || op == OpHpm || op == OpFpm || op == OpAdd || op == OpSub;
  endfunction

  // Where the butterfly takes its multiplicand from.
  typedef enum logic [1:0] {
    WTable = 2'd0,  // this processing unit's twiddle
    WMirror = 2'd1,  // the mirrored unit's twiddle (inverse transform)
    WMem = 2'd2,  // the other operand of a product
    WConst = 2'd3  // the command's constant: R^2 mod q, or R mod q for sums
  } wsel_e;

  // How results cross the lanes on their way to memory.
  typedef enum logic [1:0] {
    NetStraight = 2'd0,
    NetShuffle = 2'd1,  // lane number rotated left
    NetUnshuffle = 2'd2  // lane number rotated right
  } net_e;

  // What one cycle of the array does: the addresses leave with it, the rest is used 1, 2 and
  // WriteLatency - 1 cycles later.
  typedef struct packed {
    logic set;
    logic sel;  // u comes from bank 1, v from bank 0
    logic zero_u;
    wsel_e wsel;
  } operand_t;

  typedef struct packed {
    logic swap;  // out0 goes to bank 1, out1 to bank 0
    net_e net;
  } route_t;

  // The smallest degree of every configuration is 2^MinLogN.
  localparam int unsigned MinLogN = 8;

  // Cycles from a command to its first read: command register, decision, sequencer or stream unit,
  // address register.
  localparam int unsigned CommandLatency = 4;
  // Cycles from a read address to the write of its result: memory, operand register, butterfly,
  // register behind the network.
  localparam int unsigned ButterflyLatency =
      rm_arith_pkg::mod_mul_latency(rm_arith_pkg::NttFriendly, 32, 64'd0) + 1;
  localparam int unsigned WriteLatency = 3 + ButterflyLatency;
  // The least cycles from a read to the read of a word that is computed from it.
  localparam int unsigned DepLatency = WriteLatency + 1;
  // Idle cycles from the last product to the first inverse butterfly: the adders change sides of
  // the multiplier. Even with two rows, the fewest possible, the first inverse reads then find
  // their products.
  localparam int unsigned TurnGap = DepLatency - 2;

endpackage
