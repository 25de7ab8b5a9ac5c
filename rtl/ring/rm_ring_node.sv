// SPDX-License-Identifier: Apache-2.0
// An RPAU's node of the ring: passes rows on to the next RPAU, sends the rows of its own source,
// and keeps rows for its RPAU, as the word's mask says.
//
// No row goes farther than to the last receiver, so a ring that is free holds no row.
//
// With Reduces a row that is kept becomes residues of the receiver's prime, with the constant of
// the instruction word added (rm_ring_reduce); a source adds its own constant on the way out.
// Without Reduces rows arrive as sent: residues of the source's prime, which the instruction word
// RED reduces.
//
// Rows are in the order of the columns. Latency from sent_i to ring_row_o 1 with Reduces, else 0.
// Latency from the row that passes the node to recv_data_o Reducer + 1, else 0. A row a cycle.
// start_i comes before a word's rows; which_i and constant_i are held from the first row on.
module rm_ring_node
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Rpaus = 2,
    parameter int unsigned LogRow = 2,
    parameter int unsigned LogSteps = 4,
    // Width: bits of its RPAU's residues. RingWidth: bits of residues on the ring, the same without
    // Reduces.
    parameter int unsigned Width = 60,
    parameter int unsigned RingWidth = Width,
    parameter int unsigned QWidth = 60,
    parameter int unsigned Moduli = 1,
    parameter logic [Moduli-1:0][63:0] Q = {Moduli{64'h0800_0000_0230_0001}},
    parameter bit Reduces = 1'b1,
    parameter int unsigned Reducer = 3,
    localparam int unsigned Row = 1 << LogRow
) (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    input  logic [           3:0]           place_i,  // the RPAU's number
    input  logic                            start_i,
    input  word_t                           word_i,
    output logic                            is_source_o,  // of word_i
    input  logic [WhichWidth-1:0]           which_i,
    input  logic [     Width-1:0]           constant_i,
    input  logic                            sent_valid_i,
    input  logic [       Row-1:0][Width-1:0] sent_i,
    input  logic                            ring_valid_i,
    input  logic [       Row-1:0][RingWidth-1:0] ring_row_i,
    output logic                            ring_valid_o,
    output logic [       Row-1:0][RingWidth-1:0] ring_row_o,
    output logic                            store_valid_o,  // ring_row_o is the link's
    output logic                            recv_valid_o,
    output logic [  LogSteps-1:0]           recv_row_o,
    output logic [       Row-1:0][Width-1:0] recv_data_o
);

  // A store's source is the RPAU that its mask names, and the link, beside RPAU 0, its receiver.
  logic is_store, store_q;
  assign is_store = word_i.op == OpStore;
  assign is_source_o = is_store ? word_i.mask[place_i] : word_i.c == {1'b0, place_i};

  // Whether there is a receiver farther on than this RPAU: the masks by hops from here, and how far on the source is, are known a
  // cycle before. No row comes so early.
  logic [Rpaus-1:0] ahead_q, within_q;
  logic onwards_q, on_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      onwards_q <= is_store && place_i != '0;
      for (int unsigned hops = 0; hops < Rpaus; hops++) begin
        ahead_q[hops] <= hops > 0 && !is_store && word_i.mask[(32'(place_i)+hops)%Rpaus];
        // Whether a row reaches that RPAU before it is back at its source.
        within_q[hops] <= hops < (32'(word_i.c) + Rpaus - 32'(place_i) - 1) % Rpaus + 1;
      end
    end
    on_q <= onwards_q || (ahead_q & within_q) != '0;
  end

  logic source_q, receives_q, passes, comes, out_valid;
  logic [Row-1:0][Width-1:0] out;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      source_q <= is_source_o;
      store_q <= is_store;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) receives_q <= 1'b0;
    else if (start_i) receives_q <= !is_store && word_i.mask[place_i];
  end

  assign passes = source_q ? out_valid : ring_valid_i;
  assign ring_valid_o = passes && on_q;
  for (genvar c = 0; c < Row; c++) begin : gen_row
    assign ring_row_o[c] = source_q ? RingWidth'(out[c]) : ring_row_i[c];
  end
  assign store_valid_o = passes && store_q;
  assign comes = receives_q && passes;

  if (Reduces) begin : gen_reduces
    logic [QWidth-1:0] prime;
    logic sent_valid_q;
    // The sum of a residue and of the constant less the prime. A negative sum gets the prime back
    // behind the register.
    logic [Width:0] less_q;
    logic [Row-1:0][Width:0] sum_q;

    always_comb begin
      prime = Q[0][QWidth-1:0];
      for (int unsigned m = 1; m < Moduli; m++) begin
        if (which_i == WhichWidth'(m)) prime = Q[m][QWidth-1:0];
      end
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) sent_valid_q <= 1'b0;
      else sent_valid_q <= sent_valid_i;
    end

    assign out_valid = sent_valid_q;

    // A store's row, and one without a constant, is sent unchanged, because its residues may be of
    // any prime.
    always_ff @(posedge clk_i) begin
      if (store_q || constant_i == '0) less_q <= '0;
      else less_q <= (Width + 1)'(constant_i[QWidth-1:0]) - (Width + 1)'(prime);
    end

    for (genvar c = 0; c < Row; c++) begin : gen_sent
      always_ff @(posedge clk_i) sum_q[c] <= {1'b0, sent_i[c]} + less_q;
      assign out[c] = sum_q[c][Width-1:0] + (sum_q[c][Width] ? Width'(prime) : '0);
    end

    logic [Moduli-1:0][Row-1:0][Width-1:0] reduced;

    for (genvar m = 0; m < Moduli; m++) begin : gen_modulus
      localparam int unsigned Bits = bits_of(Q[m]);
      logic [2:0][Bits:0] addends;

      rm_ring_addends #(
          .Width(RingWidth),
          .QWidth(Bits),
          .Q(Q[m])
      ) u_addends (
          .clk_i,
          .constant_i(source_q ? '0 : constant_i[Bits-1:0]),
          .addends_o(addends)
      );

      for (genvar c = 0; c < Row; c++) begin : gen_arrival
        logic [RingWidth-1:0] r;

        rm_ring_reduce #(
            .Width(RingWidth),
            .QWidth(Bits),
            .Q(Q[m]),
            .Latency(Reducer)
        ) u_reduce (
            .clk_i,
            .x_i(ring_row_o[c]),
            .addends_i(addends),
            .r_o(r)
        );

        assign reduced[m][c] = r[Width-1:0];

        logic unused_top;
        assign unused_top = ^r;
      end
    end

    always_comb begin
      recv_data_o = reduced[0];
      for (int unsigned m = 1; m < Moduli; m++) begin
        if (which_i == WhichWidth'(m)) recv_data_o = reduced[m];
      end
    end

    rm_valid #(
        .Depth(Reducer + 1)
    ) u_comes (
        .clk_i,
        .rst_ni,
        .valid_i(comes),
        .valid_o(recv_valid_o)
    );
  end else begin : gen_raw
    assign out_valid = sent_valid_i;
    assign out = sent_i;
    assign recv_valid_o = comes;
    for (genvar c = 0; c < Row; c++) begin : gen_kept
      assign recv_data_o[c] = ring_row_o[c][Width-1:0];
    end

    logic unused_reduction;
    assign unused_reduction = ^{which_i, constant_i};
  end

  always_ff @(posedge clk_i) begin
    if (start_i) recv_row_o <= '0;
    else if (recv_valid_o) recv_row_o <= recv_row_o + 1'b1;
  end

  logic unused;
  assign unused = ^word_i;

endmodule
