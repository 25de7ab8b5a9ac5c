// SPDX-License-Identifier: Apache-2.0
// A processing unit of the polynomial multiplier: one butterfly, its two banks of coefficients in
// each of two sets, and its twiddles.
//
//   t                       addresses at the memories
//   t + 1                   u from bank `sel` (0 for products), v from the other, w by `wsel`
//   t + 2                   butterfly takes them
//   t + WriteLatency - 1    out0_o, out1_o; lane0_i and lane1_i come back through the network
//   t + WriteLatency        they are written
//
// One set serves the array while the other serves load and unload. So every port of every bank has
// its own address and enable. array_writes_i says whether the array or the loader writes. The
// signals that control all units in a cycle are registered here once more, a copy for each unit.
//
// The twiddle memory holds two slots. For n = 2 rows P, entries 0 to rows - 1 of a slot are as in
// the transform's table. Then come rows entries for each stage k = 0 to log2 P. Entry r of stage k
// is that of block r 2^k + (unit mod 2^k). The inverse transform takes minus the twiddle of the
// mirrored block, which is in the unit with the complemented number: tw_mirror_i.
//
// Throughput one butterfly a cycle.
module rm_polymul_pu
  import rm_arith_pkg::*, rm_ntt_pkg::*, rm_polymul_pkg::*;
#(
    parameter int unsigned Width = 32,
    parameter int unsigned AddrWidth = 7,
    parameter int unsigned TwAddrWidth = 10
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    // Modulus and constant, held while data is in flight.
    input  logic     [Width-1:0]              q_i,
    input  logic     [Width-1:0]              factor_i,
    // Memories: [set][bank].
    input  logic     [1:0][1:0]               re_i,
    input  logic     [1:0][1:0][AddrWidth-1:0] raddr_i,
    input  logic     [1:0][1:0]               we_i,
    input  logic     [1:0][1:0][AddrWidth-1:0] waddr_i,
    output logic     [1:0][1:0][Width-1:0]    rdata_o,
    // Twiddles.
    input  logic                              tw_we_i,
    input  logic     [TwAddrWidth-1:0]        tw_waddr_i,
    input  logic     [Width-1:0]              tw_wdata_i,
    input  logic                              tw_re_i,
    input  logic     [TwAddrWidth-1:0]        tw_raddr_i,
    output logic     [Width-1:0]              tw_o,
    input  logic     [Width-1:0]              tw_mirror_i,
    // Given with the addresses.
    input  operand_t                          operand_i,
    // Given one cycle after the addresses.
    input  logic                              inverse_i,
    // Given WriteLatency - 2 cycles after the addresses; net_o comes a cycle later, with the
    // outputs.
    input  route_t                            route_i,
    output net_e                              net_o,
    // Valid WriteLatency - 1 cycles after the addresses.
    output logic     [Width-1:0]              out0_o,
    output logic     [Width-1:0]              out1_o,
    input  logic     [Width-1:0]              lane0_i,
    input  logic     [Width-1:0]              lane1_i,
    // One cycle before the write: whether it is the array's, for each set.
    input  logic     [1:0]                    array_writes_i,
    input  logic     [1:0][Width-1:0]         ldata_i
);

  operand_t operand;
  route_t route;
  logic inverse;
  logic [1:0] array_writes;
  logic [1:0][Width-1:0] read, lane_q;
  logic [Width-1:0] first, u_q, v_q, w_d, w_q;
  logic unused_valid;

  rm_copy #(.Width($bits(operand_t))) u_operand (.clk_i, .d_i(operand_i), .q_o(operand));
  rm_copy #(.Width(1)) u_inverse (.clk_i, .d_i(inverse_i), .q_o(inverse));
  rm_copy #(.Width($bits(route_t))) u_route (.clk_i, .d_i(route_i), .q_o(route));
  rm_copy #(.Width(2)) u_writes (.clk_i, .d_i(array_writes_i), .q_o(array_writes));

  for (genvar s = 0; s < 2; s++) begin : gen_set
    for (genvar b = 0; b < 2; b++) begin : gen_bank
      rm_ram_1r1w #(
          .Width(Width),
          .Depth(2 ** AddrWidth),
          .Style("block")
      ) u_bank (
          .clk_i,
          .we_i(we_i[s][b]),
          .waddr_i(waddr_i[s][b]),
          .wdata_i(array_writes[s] ? lane_q[b] : ldata_i[b]),
          .re_i(re_i[s][b]),
          .raddr_i(raddr_i[s][b]),
          .rdata_o(rdata_o[s][b])
      );
    end
  end

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(2 ** TwAddrWidth),
      .Style("block")
  ) u_twiddle (
      .clk_i,
      .we_i(tw_we_i),
      .waddr_i(tw_waddr_i),
      .wdata_i(tw_wdata_i),
      .re_i(tw_re_i),
      .raddr_i(tw_raddr_i),
      .rdata_o(tw_o)
  );

  assign read = rdata_o[operand.set];
  assign first = operand.sel ? read[1] : read[0];

  always_comb begin
    unique case (operand.wsel)
      WMirror: w_d = tw_mirror_i;
      WMem: w_d = first;
      WConst: w_d = factor_i;
      default: w_d = tw_o;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (operand.zero_u) u_q <= '0;
    else u_q <= first;
    v_q <= operand.sel ? read[0] : read[1];
    w_q <= w_d;
    lane_q[0] <= route.swap ? lane1_i : lane0_i;
    lane_q[1] <= route.swap ? lane0_i : lane1_i;
  end

  assign net_o = route.net;

  rm_butterfly #(
      .Flavour(NttFriendly),
      .Width(Width)
  ) u_butterfly (
      .clk_i,
      .rst_ni,
      .q_i,
      .qh_i('0),
      .word_i('0),
      .three_i(1'b0),
      .one_i('0),
      .mode_i(inverse ? BfGs : BfCt),
      .half_i(1'b1),
      .valid_i(1'b0),
      .u_i(u_q),
      .v_i(v_q),
      .w_i(w_q),
      .valid_o(unused_valid),
      .out0_o,
      .out1_o
  );

endmodule
