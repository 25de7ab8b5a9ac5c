// SPDX-License-Identifier: Apache-2.0
// The main cores of an RPAU: as many as a row has lanes, with the wires between them.
//
// In a coefficient-wise instruction word every core takes a lane (rm_ring_entry). u is the lane's
// word of row_i or c_i, v that of row_i or b_i, w that of w_i. A second result stays (keep_i) until
// it is written (second_i). A transform takes a row in the order of lanes:
//
//   Stages = 2   chained pairs: a forward row goes through the cores B (pairs on lane bit 1), then the cores A (lane bit
//                0), an inverse one through A, then B. A's twiddles are tw_a_i, B's tw_b_i, each for two butterflies. With
//                b_idle_i a pass has no pair for B.
//   Stages = 1   the cores A take the row's pairs on lane bit 0. The cores B make twiddles: B of pair m multiplies
//                tw_a_i[m] by factor_i (next_o).
//
// The lanes of an inverse row are complements (docs/machines/ring.md, "Inverse"): the first of a
// pair stands second.
//
// Of four lanes, A's pairs are 0 1 and 2 3, B's 0 2 and 1 3. In a coefficient-wise word the cores A
// take lanes 0 and 3, and B 2 and 1. Each is a lane that a transform brings to the core and takes
// from it.
//
// Latency MulLatency + 1 for each stage, a row a cycle; next_o comes behind one. Each core's
// twiddle, and b_idle_i, come with its operands. b_idle_out_i comes a cycle before B's results,
// second_i before the result's place, and keep_i with the results. The others are held.
module rm_ring_cores
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogRow = 3,
    parameter int unsigned Stages = 2,
    parameter int unsigned Width = 60,
    parameter int unsigned QWidth = 60,
    parameter int unsigned Moduli = 1,
    parameter logic [Moduli-1:0][63:0] Q = {Moduli{64'h0800_0000_0230_0001}},
    parameter int unsigned MulLatency = 12,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned Half = Row / 2
) (
    input  logic                        clk_i,
    input  logic [WhichWidth-1:0]       which_i,
    input  logic                        transform_i,
    input  logic                        inverse_i,
    // How a core works on a lane, and on which operands.
    input  mode_t                       mode_i,
    input  logic [Row-1:0]              passes_i,
    input  logic                        u_is_row_i,
    input  logic                        v_is_row_i,
    input  logic [Row-1:0][Width-1:0]   row_i,
    input  logic [Row-1:0][Width-1:0]   b_i,
    input  logic [Row-1:0][Width-1:0]   c_i,
    input  logic [Row-1:0][Width-1:0]   w_i,  // 1 of a transform
    input  logic                        keep_i,
    input  logic                        second_i,
    // Transforms.
    input  logic [Half-1:0][Width-1:0]  tw_a_i,
    input  logic [Half/2-1:0][Width-1:0] tw_b_i,
    input  logic                        b_idle_i,
    input  logic                        b_idle_out_i,
    input  logic [Width-1:0]            factor_i,
    output logic [Half-1:0][Width-1:0]  next_o,
    output logic [Row-1:0][Width-1:0]   row_o
);

  // Where operands come from, of all cores A and all B alike.
  typedef enum logic [1:0] {
    TakeOther,  // c of u, b of v
    TakeLane,   // row_i's
    TakePair,   // row_i's of a pair
    TakeChain   // the other core's result, what generates twiddles
  } take_e;

  take_e [1:0] u_q, v_q;  // A, B
  logic twiddles_q;

  always_ff @(posedge clk_i) begin
    u_q <= u_is_row_i ? {2{TakeLane}} : {2{TakeOther}};
    v_q <= v_is_row_i ? {2{TakeLane}} : {2{TakeOther}};
    twiddles_q <= transform_i;
    if (transform_i) begin
      if (Stages == 2) begin
        u_q <= inverse_i ? {TakeChain, TakePair} : {TakePair, TakeChain};
        v_q <= inverse_i ? {TakeChain, TakePair} : {TakePair, TakeChain};
      end else begin
        u_q <= {TakeOther, TakePair};
        v_q <= {TakeChain, TakePair};
      end
    end
  end

  // Returns whether a lane is a core B's.
  function automatic bit is_b(int unsigned lane);
    return lane % 4 == 1 || lane % 4 == 2;
  endfunction

  logic [Half-1:0][1:0][Width-1:0] a, b;  // results
  logic [Row-1:0][1:0][Width-1:0] own, other;

  for (genvar m = 0; m < Half; m++) begin : gen_pair
    localparam int unsigned Even = (m / 2) * 2;  // of the four lanes' pairs the first
    localparam int unsigned Odd = m % 2;
    localparam int unsigned Low = Even * 2 + Odd;  // lanes Low, Low + 2 in core B
    localparam int unsigned LaneA = 2 * m + Odd;
    localparam int unsigned LaneB = Low + 2 - 2 * Odd;
    logic [Width-1:0] a_u, a_v, a_w, b_u, b_v, b_w;
    logic [1:0][Width-1:0] to_a, to_b;
    mode_t b_mode;
    logic b_pass;

    assign a_u = u_q[0][1] ? (u_q[0][0] ? to_a[0] : row_i[2*m]) :
        (u_q[0][0] ? row_i[LaneA] : c_i[LaneA]);
    assign a_v = v_q[0][1] ? (v_q[0][0] ? to_a[1] : row_i[2*m+1]) :
        (v_q[0][0] ? row_i[LaneA] : b_i[LaneA]);
    assign a_w = twiddles_q ? tw_a_i[m] : w_i[LaneA];

    rm_ring_core #(
        .Width(Width),
        .QWidth(QWidth),
        .Moduli(Moduli),
        .Q(Q),
        .MulLatency(MulLatency)
    ) u_a (
        .clk_i,
        .which_i,
        .mode_i,
        .pass_i(passes_i[LaneA]),
        .u_i   (a_u),
        .v_i   (a_v),
        .w_i   (a_w),
        .out0_o(a[m][0]),
        .out1_o(a[m][1])
    );

    if (Stages == 2) begin : gen_butterfly
      // A row from B, as it is, and one from A, mirrored.
      assign to_a = {b[Even+1][Odd], b[Even][Odd]};
      assign to_b = {a[Even+1][1-Odd], a[Even][1-Odd]};
      assign b_mode = mode_i;
      assign b_pass = passes_i[LaneB] || b_idle_i;
      assign b_w = (twiddles_q && !b_idle_i) ? tw_b_i[m/2] : w_i[LaneB];
    end else begin : gen_generator
      assign to_a = '0;
      assign to_b = {tw_a_i[m], Width'(0)};
      assign b_mode = transform_i ? '0 : mode_i;
      assign b_pass = passes_i[LaneB];
      assign b_w = twiddles_q ? factor_i : w_i[LaneB];
    end

    assign b_u = u_q[1][1] ? (u_q[1][0] ? to_b[0] : row_i[Low]) :
        (u_q[1][0] ? row_i[LaneB] : c_i[LaneB]);
    assign b_v = v_q[1][1] ? (v_q[1][0] ? to_b[1] : row_i[Low+2]) :
        (v_q[1][0] ? row_i[LaneB] : b_i[LaneB]);

    rm_ring_core #(
        .Width(Width),
        .QWidth(QWidth),
        .Moduli(Moduli),
        .Q(Q),
        .MulLatency(MulLatency)
    ) u_b (
        .clk_i,
        .which_i,
        .mode_i(b_mode),
        .pass_i(b_pass),
        .u_i   (b_u),
        .v_i   (b_v),
        .w_i   (b_w),
        .out0_o(b[m][0]),
        .out1_o(b[m][1])
    );

    assign next_o[m] = b[m][0];
    assign own[LaneA] = a[m];
    assign own[LaneB] = b[m];
    // What the other of A and B makes of the lane, mirrored or not.
    assign other[LaneA] = b[Even+LaneA%2];
    assign other[LaneB] = a[LaneB/2];
  end

  // ---- Results. ----

  // A lane's result is one of four: two of its own core, two of the other core. With chains, a lane
  // of B takes from A only the forward result, which is always the same of the two. The fourth
  // choice is there the second result that stayed. For other lanes that one is selected behind the
  // four.
  logic [Row-1:0][Width-1:0] second_q;
  logic [Row-1:0][1:0] from_d, from_q;
  logic later, later_q, swapped;

  assign later = second_i && !transform_i;
  // A mirrored row of B, unless it has passed.
  assign swapped = inverse_i && !(Stages == 2 && b_idle_out_i);

  always_comb begin
    for (int unsigned l = 0; l < Row; l++) begin
      logic from_b;
      from_b = Stages == 2 && inverse_i;
      from_d[l][1] = transform_i && from_b != is_b(l);
      from_d[l][0] = !transform_i ? mode_i.second : swapped ^ (from_b ? l % 4 > 1 : l % 2 == 1);
      if (Stages == 2 && is_b(l)) begin
        if (from_d[l][1]) from_d[l][0] = 1'b0;
        if (later) from_d[l] = '1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    from_q <= from_d;
    later_q <= later;
    for (int unsigned l = 0; l < Row; l++) if (keep_i) second_q[l] <= own[l][1];
  end

  for (genvar l = 0; l < Row; l++) begin : gen_lane
    logic [1:0] from;
    assign from = from_q[l];
    if (Stages == 2 && is_b(l)) begin : gen_b
      logic unused_mirrored;
      assign row_o[l] = from[1] ? (from[0] ? second_q[l] : other[l][l%2]) : own[l][from[0]];
      assign unused_mirrored = ^other[l][1-l%2];
    end else begin : gen_a
      assign row_o[l] = later_q ? second_q[l] : from[1] ? other[l][from[0]] : own[l][from[0]];
    end
  end

  logic unused;
  if (Stages == 2) begin : gen_unused
    assign unused = ^factor_i;
  end else begin : gen_unused_single
    assign unused = ^{tw_b_i, b_idle_i, b_idle_out_i};
  end

endmodule
