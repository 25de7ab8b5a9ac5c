// SPDX-License-Identifier: Apache-2.0
// One pipeline stage of the ChaCha20 block function: Steps of four quarter rounds side by side (RFC
// 8439, section 2.1), and a register.
//
// The stage computes steps First to First + Steps - 1 of the 80 of a block. Even rounds take the
// columns of the state, odd rounds its diagonals.
//
//   step 0   a += b   d = (d ^ a) <<< 16        step 2   a += b   d = (d ^ a) <<< 8
//   step 1   c += d   b = (b ^ c) <<< 12        step 3   c += d   b = (b ^ c) <<< 7
//
// A stage has Steps sums of 32 bits in a row: 1, or 2 for half of the registers. With 2, a stage of
// steps 0 and 1 leaves the last exclusive or and rotation of d and b to the next stage. That stage
// still has a and c, so the look-up tables of its sums take these operations in: one table makes
// the two of a bit.
//
// With Lazy and one step a stage, d and b owe up to four exclusive ors (owed_i, owed_o). The tables
// of the sums take these in as well. Two of every eight steps carry the exclusive ors out, four in
// one table. Registers hold the operands that are owed.
//
// Latency 1 cycle, one state a cycle. No reset.
module rm_chacha_stage
  import rm_chacha_pkg::*;
#(
    parameter int unsigned First = 0,
    parameter int unsigned Steps = 1,
    parameter bit Lazy = 1'b0
) (
    input  logic                   clk_i,
    input  logic [15:0][31:0]      x_i,
    input  logic [15:0][3:0][31:0] owed_i,
    output logic [15:0][31:0]      x_o,
    output logic [15:0][3:0][31:0] owed_o
);

  if (Steps != 1 && Steps != 2 || Lazy && Steps != 1) begin : gen_check
    $error("one or two steps a stage, one of lazy ones");
  end

  logic [Steps:0][15:0][31:0] x;
  logic [15:0][31:0] made, x_q;
  logic [15:0][3:0][31:0] owed;

  // For a stage of two steps: whether d and b enter (Owed) or leave (Owes) without their last
  // exclusive or and rotation.
  localparam bit Owed = Steps == 2 && First % StepsOfRound == 2;
  localparam bit Owes = Steps == 2 && First % StepsOfRound == 0;
  localparam int unsigned Of = First / StepsOfRound % 2;

  for (genvar i = 0; i < 4; i++) begin : gen_in
    localparam int unsigned A = i;
    localparam int unsigned B = 4 + (i + Of) % 4;
    localparam int unsigned C = 8 + (i + 2 * Of) % 4;
    localparam int unsigned D = 12 + (i + 3 * Of) % 4;
    logic [31:0] b, d;

    assign b = x_i[B] ^ x_i[C];
    assign d = x_i[D] ^ x_i[A];
    assign x[0][A] = x_i[A];
    assign x[0][B] = Owed ? {b[19:0], b[31:20]} : x_i[B];
    assign x[0][C] = x_i[C];
    assign x[0][D] = Owed ? {d[15:0], d[31:16]} : x_i[D];
    assign made[A] = x[Steps][A];
    assign made[B] = Owes ? x_i[B] : x[Steps][B];
    assign made[C] = x[Steps][C];
    assign made[D] = Owes ? x_i[D] : x[Steps][D];
  end

  for (genvar s = 0; s < Steps; s++) begin : gen_step
    localparam int unsigned Step = (First + s) % StepsOfRound;
    localparam int unsigned Turn = (First + s) / StepsOfRound % 2;
    for (genvar i = 0; i < 4; i++) begin : gen_quarter
      localparam int unsigned A = i;
      localparam int unsigned B = 4 + (i + Turn) % 4;
      localparam int unsigned C = 8 + (i + 2 * Turn) % 4;
      localparam int unsigned D = 12 + (i + 3 * Turn) % 4;
      localparam int unsigned Left = (Step == 0) ? 16 : (Step == 1) ? 12 : (Step == 2) ? 8 : 7;
      // The word that is added, with the exclusive ors that it owes, and the word that then owes
      // the sum.
      localparam int unsigned Added = (Step % 2 == 0) ? B : D;
      localparam int unsigned Owing = (Step % 2 == 0) ? D : B;
      logic [31:0] added, sum, other;

      if (Step % 2 == 0) begin : gen_ad
        assign sum = x[s][A] + added;
        assign x[s+1][A] = sum;
        assign x[s+1][C] = x[s][C];
      end else begin : gen_cb
        assign sum = x[s][C] + added;
        assign x[s+1][A] = x[s][A];
        assign x[s+1][C] = sum;
      end

      assign x[s+1][Owing] = {other[31-Left:0], other[31:32-Left]};

      if (Lazy) begin : gen_lazy
        localparam int unsigned At = First / 2 % 4;
        localparam bit Pays = (Step % 2 == 0) ? First % 8 == 0 : First % 8 == 7;

        assign added = x[s][Added] ^ owed_i[Added][0] ^ owed_i[Added][1] ^
            owed_i[Added][2] ^ owed_i[Added][3];
        assign other = x[s][Owing];
        assign x[s+1][Added] = Pays ? added : x[s][Added];
        assign owed[A] = '0;
        assign owed[C] = '0;
        assign owed[Added] = Pays ? '0 : owed_i[Added];
        for (genvar k = 0; k < 4; k++) begin : gen_owed
          logic [31:0] one;
          assign one = (k == At) ? sum : owed_i[Owing][k];
          assign owed[Owing][k] = {one[31-Left:0], one[31:32-Left]};
        end
      end else begin : gen_eager
        assign added = x[s][Added];
        assign other = x[s][Owing] ^ sum;
        assign x[s+1][Added] = x[s][Added];
      end
    end
  end

  always_ff @(posedge clk_i) x_q <= made;

  assign x_o = x_q;

  if (Lazy) begin : gen_owed
    logic [15:0][3:0][31:0] owed_q;
    always_ff @(posedge clk_i) owed_q <= owed;
    assign owed_o = owed_q;
    logic unused_paid;
    assign unused_paid = ^owed_i;
  end else begin : gen_paid
    assign owed = '0;
    assign owed_o = owed;
    logic unused_owed;
    assign unused_owed = ^owed_i;
  end

endmodule
