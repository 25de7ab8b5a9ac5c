// SPDX-License-Identifier: Apache-2.0
// Multiplies one pattern of an unrolled key by X^a: stores the pattern's gadget ciphertext of two
// steps, and rotates it for the bundles (rm_torus_gather).
//
// A pattern is a value other than 0 of the secret bits of a step. Words are stored by groups of Pos
// positions, in turn for one step and the other. Between load_i and the end of run_i, the module
// reads the groups before the exponent's group one after the other. The first of them serves a
// shift within groups only. The group for output group g is read g + 1 cycles after the run begins.
//
// X^a has a = (N or 0) + shift x Pos + lane shift. Lane b of a group comes from lane b - lane shift
// of the group `shift` before. If b is below the lane shift, it comes from lane b - lane shift +
// Pos of the group before that one.
//
// Latency 4 from the read to turned_o. If negative_o is high, turned_o is to be taken from 0.
module rm_torus_gather_turn #(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogPos = 1,
    parameter int unsigned Words = 4,  // of a position
    localparam int unsigned Pos = 1 << LogPos,
    localparam int unsigned LogGroups = LogN - LogPos
) (
    input  logic                              clk_i,
    input  logic                              we_i,
    input  logic                              we_step_i,  // which of the two
    input  logic [LogGroups-1:0]              we_group_i,
    input  logic [Pos-1:0][Words-1:0][31:0]   we_data_i,
    input  logic                              step_i,
    input  logic                              load_i,
    input  logic                              run_i,
    input  logic                              used_i,  // else the part is 0
    input  logic [LogN:0]                     exponent_i,  // held while it runs
    output logic [Pos-1:0][Words-1:0][31:0]   turned_o,
    output logic [Pos-1:0]                    negative_o
);

  localparam int unsigned LaneWidth = (LogPos > 0) ? LogPos : 1;

  logic [LogGroups:0] from_q;
  logic [LogGroups-1:0] shift;
  logic [LaneWidth-1:0] lanes_d, lanes_q, lanes_q2;
  logic negative_d, near_negative, far_negative_q, used_q;
  logic [Pos-1:0][Words-1:0][31:0] near, far_q, mixed_d, mixed_q, turned_d, turned_q;
  logic [Pos-1:0] sign_d, sign_q, sign_turned, sign_q2;

  assign shift = exponent_i[LogN-1:LogPos];
  if (LogPos > 0) begin : gen_lanes
    assign lanes_d = exponent_i[LogPos-1:0];
  end else begin : gen_no_lanes
    assign lanes_d = '0;
  end

  // A group before the first is one from the end with the other sign.
  always_ff @(posedge clk_i) begin
    if (load_i) from_q <= ~{1'b0, shift};
    else if (run_i) from_q <= from_q + 1'b1;
  end
  assign negative_d = from_q[LogGroups] ^ exponent_i[LogN];

  rm_ram_1r1w #(
      .Width(Pos * Words * 32),
      .Depth(2 << LogGroups),
      .OutReg(1'b1),
      .Style("block")
  ) u_words (
      .clk_i,
      .we_i,
      .waddr_i({we_step_i, we_group_i}),
      .wdata_i(we_data_i),
      .re_i(1'b1),
      .raddr_i({step_i, from_q[LogGroups-1:0]}),
      .rdata_o(near)
  );

  rm_delay #(
      .Width(2 + LaneWidth),
      .Depth(2)
  ) u_near (
      .clk_i,
      .d_i({negative_d, used_i, lanes_d}),
      .q_o({near_negative, used_q, lanes_q})
  );

  // The lanes that move up stay in the near group, those that come round are the far one's.
  for (genvar b = 0; b < Pos; b++) begin : gen_mixed
    logic is_near;
    assign is_near = (LogPos + 1)'(b) + (LogPos + 1)'(lanes_q) < (LogPos + 1)'(Pos);
    assign mixed_d[b] = !used_q ? '0 : is_near ? near[b] : far_q[b];
    assign sign_d[b] = used_q && (is_near ? near_negative : far_negative_q);
  end

  // Lanes moved up by the shift, each with its sign: a rotation for each bit of it.
  logic [LogPos:0][Pos-1:0][Words*32:0] turned;

  for (genvar b = 0; b < Pos; b++) begin : gen_turned
    assign turned[0][b] = {sign_q[b], mixed_q[b]};
    assign {sign_turned[b], turned_d[b]} = turned[LogPos][b];
    for (genvar k = 0; k < LogPos; k++) begin : gen_bit
      assign turned[k+1][b] = lanes_q2[k] ? turned[k][(b+Pos-(1<<k))%Pos] : turned[k][b];
    end
  end

  if (LogPos == 0) begin : gen_no_turn
    logic unused_lanes;
    assign unused_lanes = ^lanes_q2;
  end

  always_ff @(posedge clk_i) begin
    far_q <= near;
    far_negative_q <= near_negative;
    mixed_q <= mixed_d;
    sign_q <= sign_d;
    lanes_q2 <= lanes_q;
    turned_q <= turned_d;
    sign_q2 <= sign_turned;
  end

  assign turned_o = turned_q;
  assign negative_o = sign_q2;

endmodule
