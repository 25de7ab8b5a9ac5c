// SPDX-License-Identifier: Apache-2.0
// A lane of the shared base extension (rm_basext_shared): one coefficient a cycle, for the
// redundant channel and Batch channels of targets.
//
//   row i < l          mu = a_i |Qhat_i^-1|_(q_i) mod q_i,     S[c] += mu |q_i^-1|_m mod m
//   row l              mu = a_m |-Q^-1|_m mod m,               S[c] += mu mod m, which is alpha
//   then               x = mu of a row i < l, alpha of row l; zero there where it is not exact
//   channel j          P_j[c] += x w mod p,                    x of this round, or the kept one (X)
//
// X has Rows N / Lanes words: x of a row is written behind the read of the x of the round before. A
// lane has Batch + 2 modular multipliers, the first of which makes mu, and Batch + 1 adders.
//
// By the cycles since issue, with A = sum_delay(Width, Low) = 2 Mul + 1 and r = read_ahead(Depth):
//
//   2                 data_i, source_i, mu_const_i
//   Mul + 2           redundant_const_i
//   A - r             a_re_i, a_raddr_i
//   A + 1             a_first_i, x_re_i, x_raddr_i (the last two at A where memories are deep)
//   A + 2             a_we_i, a_waddr_i, tail_i (row l)
//   A + 3             x_we_i, x_waddr_i, new_i, const_i, modulus_i
//   A + Mul + 2 - r   e_re_i, e_raddr_i
//   A + Mul + 3       first_i, p_i
//   A + Mul + 4       f_we_i, f_waddr_i, channel_i
//   A + Mul + 5       out_o
module rm_basext_shared_lane
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Depth = 1024,
    parameter int unsigned Batch = 7,
    parameter int unsigned Rows = 6,
    localparam int unsigned AddrWidth = $clog2(Depth),
    localparam int unsigned XWidth = AddrWidth + ((Rows > 1) ? $clog2(Rows) : 0),
    localparam int unsigned BWidth = (Batch > 1) ? $clog2(Batch) : 1,
    localparam int unsigned BusWidth = modulus_bits(Width)
) (
    input  logic                                             clk_i,
    // The scaled residue mu of a source: the residue, its modulus and its constant.
    input  logic [    Width-1:0]                             data_i,
    input  logic [steps(Width):0][BusWidth-1:0]              source_i,
    input  logic [    Width-1:0]                             mu_const_i,
    // The channel of the redundant modulus.
    input  logic [ BusWidth-1:0]                             redundant_i,
    input  logic [    Width-1:0]                             redundant_const_i,
    input  logic                                             a_re_i,
    input  logic [AddrWidth-1:0]                             a_raddr_i,
    input  logic                                             a_first_i,
    input  logic                                             a_we_i,
    input  logic [AddrWidth-1:0]                             a_waddr_i,
    // The memory of the words x, which later rounds read again.
    input  logic                                             tail_i,
    input  logic                                             exact_i,
    input  logic                                             x_re_i,
    input  logic [   XWidth-1:0]                             x_raddr_i,
    input  logic                                             x_we_i,
    input  logic [   XWidth-1:0]                             x_waddr_i,
    // The channels of the targets.
    input  logic [    Batch-1:0]                             new_i,
    input  logic [    Batch-1:0][Width-1:0]                  const_i,
    input  logic [    Batch-1:0][steps(Width):0][BusWidth-1:0] modulus_i,
    input  logic                                             e_re_i,
    input  logic [AddrWidth-1:0]                             e_raddr_i,
    input  logic [    Batch-1:0]                             first_i,
    input  logic [    Batch-1:0][Width-1:0]                  p_i,
    input  logic                                             f_we_i,
    input  logic [AddrWidth-1:0]                             f_waddr_i,
    input  logic [   BWidth-1:0]                             channel_i,
    output logic [    Width-1:0]                             out_o
);

  localparam int unsigned Steps = steps(Width);
  localparam int unsigned Mul = mul_latency(Width, Low);
  localparam bit Deep = rm_basext_pkg::read_ahead(Depth) != 0;

  logic [Width-1:0] mu, mu_late, alpha, new_d, new_q, kept, out_q;
  logic [Width-1:0] alpha_old;
  logic [Batch-1:0][Width-1:0] sum, old;

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_mu (
      .clk_i,
      .q_i(source_i),
      .a_i(data_i),
      .b_i(mu_const_i),
      .r_o(mu)
  );

  rm_basext_channel #(
      .Width(Width),
      .Low(Low)
  ) u_redundant (
      .clk_i,
      .x_i(mu),
      .const_i(redundant_const_i),
      .modulus_i({(Steps + 1) {redundant_i}}),
      .old_i(alpha_old),
      .first_i(a_first_i),
      .p_i(redundant_i[Width-1:0]),
      .sum_o(alpha)
  );

  rm_basext_ram #(
      .Width(Width),
      .Depth(Depth),
      .OutReg(Deep)
  ) u_redundant_sums (
      .clk_i,
      .we_i(a_we_i),
      .waddr_i(a_waddr_i),
      .wdata_i(alpha),
      .re_i(a_re_i),
      .raddr_i(a_raddr_i),
      .rdata_o(alpha_old)
  );

  rm_delay #(
      .Width(Width),
      .Depth(Mul + 1)
  ) u_mu_late (
      .clk_i,
      .d_i(mu),
      .q_o(mu_late)
  );

  always_comb begin
    if (!tail_i) new_d = mu_late;
    else new_d = exact_i ? alpha : '0;
  end

  always_ff @(posedge clk_i) new_q <= new_d;

  if (Rows == 0) begin : gen_none_kept
    assign kept = '0;

    logic unused_kept;
    assign unused_kept = ^{x_re_i, x_raddr_i, x_we_i, x_waddr_i};
  end else if (Deep) begin : gen_rows
    // Each row in a memory of its own, and a register behind the choice among them.
    localparam int unsigned RowWidth = (Rows > 1) ? $clog2(Rows) : 1;
    logic [Rows-1:0][Width-1:0] word;
    logic [RowWidth-1:0] read_row, write_row, row;
    logic [Width-1:0] kept_q;

    assign read_row = (Rows > 1) ? RowWidth'(x_raddr_i >> AddrWidth) : '0;
    assign write_row = (Rows > 1) ? RowWidth'(x_waddr_i >> AddrWidth) : '0;

    for (genvar r = 0; r < Rows; r++) begin : gen_row
      rm_basext_ram #(
          .Width(Width),
          .Depth(Depth),
          .OutReg(1'b1)
      ) u_x (
          .clk_i,
          .we_i(x_we_i && write_row == RowWidth'(r)),
          .waddr_i(x_waddr_i[AddrWidth-1:0]),
          .wdata_i(new_q),
          .re_i(x_re_i),
          .raddr_i(x_raddr_i[AddrWidth-1:0]),
          .rdata_o(word[r])
      );
    end

    rm_delay #(
        .Width(RowWidth),
        .Depth(2)
    ) u_row (
        .clk_i,
        .d_i(read_row),
        .q_o(row)
    );

    always_ff @(posedge clk_i) kept_q <= word[row];

    assign kept = kept_q;
  end else begin : gen_kept
    rm_basext_ram #(
        .Width(Width),
        .Depth(Rows * Depth),
        .OutReg(1'b1)
    ) u_x (
        .clk_i,
        .we_i(x_we_i),
        .waddr_i(x_waddr_i),
        .wdata_i(new_q),
        .re_i(x_re_i),
        .raddr_i(x_raddr_i),
        .rdata_o(kept)
    );
  end

  for (genvar j = 0; j < Batch; j++) begin : gen_channel
    rm_basext_channel #(
        .Width(Width),
        .Low(Low)
    ) u_target (
        .clk_i,
        .x_i(new_i[j] ? new_q : kept),
        .const_i(const_i[j]),
        .modulus_i(modulus_i[j]),
        .old_i(old[j]),
        .first_i(first_i[j]),
        .p_i(p_i[j]),
        .sum_o(sum[j])
    );
  end

  // The channels' sums side by side: a block RAM's parity bits hold a part of them, too.
  rm_basext_ram #(
      .Width(Batch * Width),
      .Depth(Depth),
      .OutReg(Deep)
  ) u_sums (
      .clk_i,
      .we_i(f_we_i),
      .waddr_i(f_waddr_i),
      .wdata_i(sum),
      .re_i(e_re_i),
      .raddr_i(e_raddr_i),
      .rdata_o(old)
  );

  always_ff @(posedge clk_i) out_q <= sum[channel_i];

  assign out_o = out_q;

endmodule
