// A processing unit: one butterfly, its two banks of coefficients in each of two sets, its
// twiddles.
//
//   t                   addresses at the memories
//   t + 1               u from bank `sel` (0 for products), v from the other, w by `wsel`
//   t + 2               butterfly takes them
//   t + WriteLatency    out0_o, out1_o; wdata_i comes back through the network and is written
//
// One set serves the array while the other serves load and unload: every port of every bank has its
// own address and enable, and wdata is the array's or the loader's by `load_set_i`. The twiddle
// memory holds, for n = 2 rows P: entries 0 to rows - 1 as the transform's table; then rows entries
// for each stage k = 0 to log2 P, entry r being that of block r 2^k + (unit mod 2^k). The inverse
// transform takes minus the twiddle of the mirrored block, which is in the unit with the
// complemented number: w_mirror_i.
//
// Throughput one butterfly a cycle.
module rm_polymul_pu
  import rm_arith_pkg::*, rm_ntt_pkg::*, rm_polymul_pkg::*;
#(
    parameter int unsigned Width = 32,
    parameter int unsigned AddrWidth = 7,
    parameter int unsigned TwDepth = 448,
    localparam int unsigned TwAddrWidth = $clog2(TwDepth)
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    // Modulus, held while data is in flight.
    input  logic     [Width-1:0]              q_i,
    input  logic     [Width-1:0]              scale_i,
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
    // One cycle after the addresses.
    input  logic                              set_i,
    input  operand_t                          operand_i,
    // Two cycles after them.
    input  logic                              valid_i,
    input  logic                              inverse_i,
    // WriteLatency cycles after them.
    output logic     [Width-1:0]              out0_o,
    output logic     [Width-1:0]              out1_o,
    input  logic     [1:0][Width-1:0]         wdata_i,
    input  logic     [1:0]                    load_set_i,
    input  logic     [1:0][Width-1:0]         ldata_i
);

  logic [1:0][Width-1:0] read;
  logic [Width-1:0] first, u_q, v_q, w_d, w_q;
  logic unused_valid;

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
          .wdata_i(load_set_i[s] ? ldata_i[b] : wdata_i[b]),
          .re_i(re_i[s][b]),
          .raddr_i(raddr_i[s][b]),
          .rdata_o(rdata_o[s][b])
      );
    end
  end

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(TwDepth),
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

  assign read = rdata_o[set_i];
  assign first = operand_i.sel ? read[1] : read[0];

  always_comb begin
    unique case (operand_i.wsel)
      WMirror: w_d = tw_mirror_i;
      WMem: w_d = first;
      WScale: w_d = scale_i;
      default: w_d = tw_o;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (operand_i.zero_u) u_q <= '0;
    else u_q <= first;
    v_q <= operand_i.sel ? read[0] : read[1];
    w_q <= w_d;
  end

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
      .mode_i(inverse_i ? BfGs : BfCt),
      .half_i(1'b1),
      .valid_i,
      .u_i(u_q),
      .v_i(v_q),
      .w_i(w_q),
      .valid_o(unused_valid),
      .out0_o,
      .out1_o
  );

endmodule
