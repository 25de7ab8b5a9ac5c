// The main cores: as many as a row has lanes, with the wires between them.
//
// Coefficient-wise every core takes a lane. A transform takes a row in the order of lanes:
//
//   Stages = 2   chained pairs: a forward row goes through the cores B (pairs on lane bit 1), then the cores A (lane bit
//                0), an inverse one through A, then B. A's twiddles are tw_a_i, B's tw_b_i, each for two butterflies. With
//                b_idle_i a pass has no pair for B.
//   Stages = 1   the cores A take the row's pairs on lane bit 0. The cores B make twiddles: B of pair m multiplies
//                tw_a_i[m] by factor_i (next_o).
//
// An inverse row's lanes are complements (docs/machines/ring.md, "Inverse"): what is first of a pair stands second.
//
// Latency MulLatency + 1 for each stage, a row a cycle; wise_o, second_o and next_o come behind one. Each core's twiddle,
// and b_idle_i, come with its operands; b_idle_out_i with B's results. The others are held.
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
    // A lane's operands, and how a core works on them.
    input  mode_t [Row-1:0]             modes_i,
    input  logic [Row-1:0]              passes_i,
    input  logic [Row-1:0][Width-1:0]   u_i,
    input  logic [Row-1:0][Width-1:0]   v_i,
    input  logic [Row-1:0][Width-1:0]   w_i,
    output logic [Row-1:0][Width-1:0]   wise_o,
    output logic [Row-1:0][Width-1:0]   second_o,
    // Transforms.
    input  logic [Row-1:0][Width-1:0]   row_i,
    input  logic [Half-1:0][Width-1:0]  tw_a_i,
    input  logic [Half/2-1:0][Width-1:0] tw_b_i,
    input  logic                        b_idle_i,
    input  logic                        b_idle_out_i,
    input  logic [Width-1:0]            factor_i,
    output logic [Half-1:0][Width-1:0]  next_o,
    output logic [Row-1:0][Width-1:0]   row_o
);

  logic [Row-1:0][Width-1:0] a_in, b_in, a_out, b_out;

  if (Stages == 2) begin : gen_chained
    assign a_in = inverse_i ? row_i : b_out;
    assign b_in = inverse_i ? a_out : row_i;
    assign row_o = inverse_i ? b_out : a_out;

    logic unused_single;
    assign unused_single = ^factor_i;
  end else begin : gen_single
    assign a_in = row_i;
    assign b_in = '0;
    assign row_o = a_out;

    logic unused_chained;
    assign unused_chained = ^{b_in, b_out, tw_b_i, b_idle_i, b_idle_out_i};
  end

  for (genvar m = 0; m < Half; m++) begin : gen_pair
    localparam int unsigned Low = (m / 2) * 4 + m % 2;  // lanes Low, Low + 2 in core B
    logic [Width-1:0] a0, a1, b0, b1, b_u, b_v, b_w;
    mode_t b_mode;
    logic b_pass;

    rm_ring_core #(
        .Width(Width),
        .QWidth(QWidth),
        .Moduli(Moduli),
        .Q(Q),
        .MulLatency(MulLatency)
    ) u_a (
        .clk_i,
        .which_i,
        .mode_i(modes_i[m]),
        .pass_i(passes_i[m]),
        .u_i   (transform_i ? a_in[2*m] : u_i[m]),
        .v_i   (transform_i ? a_in[2*m+1] : v_i[m]),
        .w_i   (transform_i ? tw_a_i[m] : w_i[m]),
        .out0_o(a0),
        .out1_o(a1)
    );

    if (Stages == 2) begin : gen_butterfly
      assign b_mode = modes_i[Half+m];
      assign b_pass = passes_i[Half+m] || b_idle_i;
      assign b_u = b_in[Low];
      assign b_v = b_in[Low+2];
      assign b_w = b_idle_i ? Width'(1) : tw_b_i[m/2];
    end else begin : gen_generator
      assign b_mode = transform_i ? '0 : modes_i[Half+m];
      assign b_pass = passes_i[Half+m];
      assign b_u = '0;
      assign b_v = tw_a_i[m];
      assign b_w = factor_i;
    end

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
        .u_i   (transform_i ? b_u : u_i[Half+m]),
        .v_i   (transform_i ? b_v : v_i[Half+m]),
        .w_i   (transform_i ? b_w : w_i[Half+m]),
        .out0_o(b0),
        .out1_o(b1)
    );

    assign a_out[2*m] = inverse_i ? a1 : a0;
    assign a_out[2*m+1] = inverse_i ? a0 : a1;
    assign b_out[Low] = (inverse_i && !b_idle_out_i) ? b1 : b0;
    assign b_out[Low+2] = (inverse_i && !b_idle_out_i) ? b0 : b1;
    assign wise_o[m] = modes_i[m].second ? a1 : a0;
    assign wise_o[Half+m] = modes_i[Half+m].second ? b1 : b0;
    assign second_o[m] = a1;
    assign second_o[Half+m] = b1;
    assign next_o[m] = b0;
  end

endmodule
