// Types and latencies of the run-time configurable polynomial multiplier
// (docs/machines/polymul.md).
package rm_polymul_pkg;

  // Commands.
  typedef enum logic [2:0] {
    OpNtt = 3'd0,  // a := NTT(a)
    OpIntt = 3'd1,  // a := INTT(a)
    OpMul = 3'd2,  // a := a .* b, coefficient-wise
    OpHpm = 3'd3,  // a := INTT(NTT(a) .* b): half polynomial multiplication, b in evaluation form
    OpFpm = 3'd4,  // a := a b mod x^n + 1: full polynomial multiplication
    OpLoad = 3'd5,  // a := input stream
    OpUnload = 3'd6,  // output stream := a
    OpTables = 3'd7  // modulus, constants and twiddles := input stream
  } op_e;

  // Answers to a command, and how a command on the input stream ended.
  typedef enum logic [2:0] {
    CodeOk = 3'd0,
    CodeBusy = 3'd1,  // the unit, or the memory it needs, is in use
    CodeNoTables = 3'd2,  // no valid tables are loaded
    CodeUnsupported = 3'd3,  // the degree is not one of this configuration
    CodeTooShort = 3'd4,  // the stream ended early
    CodeTooLong = 3'd5,  // the stream did not end where it should; the rest was dropped
    CodeBadModulus = 3'd6,  // q is not 1 modulo 2n
    CodeNotReduced = 3'd7  // a residue was not below the modulus
  } code_e;

  // Where the butterfly takes its multiplicand from.
  typedef enum logic [1:0] {
    WTable = 2'd0,  // this processing unit's twiddle
    WMirror = 2'd1,  // the mirrored unit's twiddle (inverse transform)
    WMem = 2'd2,  // the other operand of a product
    WScale = 2'd3  // R^2 mod q
  } wsel_e;

  // How results cross the lanes on their way to memory.
  typedef enum logic [1:0] {
    NetStraight = 2'd0,
    NetShuffle = 2'd1,  // lane number rotated left
    NetUnshuffle = 2'd2  // lane number rotated right
  } net_e;

  // What one cycle of the array does: the addresses leave with it, the rest is used 1, 2 and
  // WriteLatency cycles later.
  typedef struct packed {
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

  // Cycles from a read address to the write of its result: memory, operand register, butterfly.
  localparam int unsigned ButterflyLatency =
      rm_arith_pkg::mod_mul_latency(rm_arith_pkg::NttFriendly, 32, 64'd0) + 1;
  localparam int unsigned WriteLatency = 2 + ButterflyLatency;
  // A word may be read this long after the read that its value hangs on.
  localparam int unsigned DepLatency = WriteLatency + 1;
  // Idle cycles from the last product to the first inverse butterfly: the adders change sides of
  // the multiplier.
  localparam int unsigned TurnGap = ButterflyLatency + 1;

endpackage
