// SPDX-License-Identifier: Apache-2.0
// The link's station beside RPAU 0: moves one limb at a time between the host and a slot or a key
// slot of an RPAU, a residue a beat of 64 bits.
//
// Its instruction words come as they come to RPAU 0. want_* shows what the host is asked for: a
// limb to the machine (store_o 0) or from it, the RPAU, and the place that the word names, or with
// key_o the index of a key. Then beats pass by in_* (in_ready_o is high from the first cycle in
// which a beat is taken) or by out_*. A transfer may take the host any time; nothing else waits for
// it.
//
//   LOAD    word in cycle t, beats from t + 3 on, each given to the RPAUs' wires as it comes
//   STORE   rows of the ring in a memory of one limb; the first one's in cycle t, its residues from t + 4 on
//
// end_o marks the last beat's cycle. bad_o with it says that the host's limb ended early, or does
// not end where it should. If a limb is too long, the excess is dropped until its last beat.
//
// A residue a cycle each way; limbs of 2^log_n_i, which is held.
module rm_ring_link
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned Width = 60,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned LogSteps = LogN - LogRow
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    input  logic [SizeWidth-1:0]       log_n_i,
    input  logic                       start_i,
    input  word_t                      word_i,
    output logic                       end_o,
    output logic                       bad_o,
    // The host.
    output logic                       want_o,
    output logic                       store_o,
    output logic                       key_o,
    output logic [3:0]                 rpau_o,
    output logic [11:0]                place_o,
    input  logic                       in_valid_i,
    output logic                       in_ready_o,
    input  logic [63:0]                in_data_i,
    input  logic                       in_last_i,
    output logic                       out_valid_o,
    input  logic                       out_ready_i,
    output logic [63:0]                out_data_o,
    output logic                       out_last_o,
    // Loads' wires, and what the ring brings.
    output logic                       load_valid_o,
    output logic [ LogN-1:0]           load_index_o,
    output logic [Width-1:0]           load_data_o,
    input  logic                       row_valid_i,
    input  logic [Row-1:0][Width-1:0]  row_i
);

  // ---- The word. ----

  word_t word_q;
  logic want_q, open_q, drop_q, load_start;
  logic [1:0] start_q;
  logic [LogN-1:0] count_q, before_last_q;
  logic accept, sent, whole_q;  // whole: the limb's last residue is next

  assign load_start = start_i && word_i.op == OpLoad;
  assign in_ready_o = open_q || drop_q;
  assign accept = in_valid_i && open_q && !drop_q;
  assign sent = out_valid_o && out_ready_i;
  assign end_o = (accept && (whole_q || in_last_i)) || (sent && whole_q);
  assign bad_o = accept && whole_q != in_last_i;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < LogN; i++) before_last_q[i] <= i > 0 && i < 32'(log_n_i);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      start_q <= '0;
      want_q <= 1'b0;
      open_q <= 1'b0;
      drop_q <= 1'b0;
    end else begin
      start_q <= {start_q[0], load_start};
      want_q <= start_i || (want_q && !end_o);
      open_q <= start_q[1] || (open_q && !end_o);
      drop_q <= (accept && whole_q && !in_last_i) || (drop_q && !(in_valid_i && in_last_i));
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      word_q <= word_i;
      count_q <= '0;
      whole_q <= 1'b0;
    end else if (accept || sent) begin
      count_q <= count_q + 1'b1;
      whole_q <= count_q == before_last_q;
    end
  end

  assign want_o = want_q;
  assign store_o = word_q.op == OpStore;
  assign key_o = !store_o && word_q.b_kind == KindKey;
  assign place_o = key_o ? 12'(word_q.b) : word_q.imm;

  always_comb begin
    rpau_o = '0;
    for (int unsigned r = 0; r < 16; r++) if (word_q.mask[r]) rpau_o = 4'(r);
  end

  assign load_valid_o = accept;
  assign load_index_o = count_q;
  assign load_data_o = in_data_i[Width-1:0];

  // ---- Rows that leave. ----

  logic [LogSteps:0] filled_q, fetched_q;
  logic ahead, take, row_valid_q;
  logic [1:0] ahead_q;
  logic [Row-1:0][Width-1:0] rdata, row_q;
  logic [LogRow-1:0] mask;

  rm_ram_1r1w #(
      .Width (Row * Width),
      .Depth (1 << LogSteps),
      .OutReg(1'b1),
      .Style ("block")
  ) u_rows (
      .clk_i,
      .we_i   (row_valid_i),
      .waddr_i(filled_q[LogSteps-1:0]),
      .wdata_i(row_i),
      .re_i   (1'b1),
      .raddr_i(fetched_q[LogSteps-1:0]),
      .rdata_o(rdata)
  );

  assign ahead = fetched_q != filled_q;
  // The next row is taken when the last residue of the row before is sent.
  assign take = ahead_q[1] && (!row_valid_q || (sent && (&count_q[LogRow-1:0])));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      filled_q <= '0;
      fetched_q <= '0;
      ahead_q <= '0;
      row_valid_q <= 1'b0;
    end else if (start_i) begin
      filled_q <= '0;
      fetched_q <= '0;
      ahead_q <= '0;
      row_valid_q <= 1'b0;
    end else begin
      if (row_valid_i) filled_q <= filled_q + 1'b1;
      if (take) fetched_q <= fetched_q + 1'b1;
      ahead_q <= take ? '0 : {ahead_q[0], ahead};
      row_valid_q <= take || (row_valid_q && !(sent && (&count_q[LogRow-1:0])));
    end
  end

  always_ff @(posedge clk_i) if (take) row_q <= rdata;

  assign mask = LogRow'(column_of(IndexWidth'(count_q[LogN-1:LogRow]), LogRow));
  assign out_valid_o = row_valid_q;
  assign out_data_o = 64'(row_q[count_q[LogRow-1:0]^mask]);
  assign out_last_o = whole_q;

  logic unused;
  assign unused = ^{word_q, in_data_i};

endmodule
