// SPDX-License-Identifier: Apache-2.0
// A transform unit of the TFHE engine: transforms Slots polynomials of each of Group ciphertexts
// with Lanes butterflies, in constant geometry.
//
// With H = N / (2 Lanes), a pass of the forward transform reads rows r and r + H of Lanes words and
// writes rows 2 r and 2 r + 1. Butterfly j of all N / 2 takes words j and j + N / 2 and gives words
// 2 j and 2 j + 1. So there is no network between butterflies and memory, and after log N passes
// each word is in its place of the standard order. The inverse reads 2 r and 2 r + 1 and writes r
// and r + H. There are two banks. A row lies in the bank of its highest plus its lowest bit, so
// every pass reads and writes one row of each bank. Passes go from one half of the memory to the
// other.
//
// The first forward pass takes digits. The last one leaves the evaluations in a memory that the
// products read. The first inverse pass takes sums from the memory that the products write
// (HasSums). The last one gives its rows away.
//
// With Coefficients, forward transforms are of digits or of a column of the bundles, the keys that
// rm_torus_gather has summed for a step. The bundles' evaluations, of the step at work and the one
// after it, lie beside those of the digits.
//
// Latency BflyLatency + 1 from the read of a row to its write, visible a cycle later; Lanes
// butterflies a cycle. The unit works in one direction at a time, with BflyLatency idle cycles
// between two.
module rm_torus_unit
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned Slots = 2,
    parameter int unsigned Places = 2,
    parameter int unsigned Group = 1,
    parameter int unsigned LogPos = 0,
    parameter bit HasSums = 1'b1,
    parameter bit Coefficients = 1'b0,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned Pos = 1 << LogPos,
    localparam int unsigned LogH = LogN - LogLanes - 1,
    localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1,
    localparam int unsigned PlaceWidth = (Places > 1) ? $clog2(Places) : 1,
    localparam int unsigned TagWidth = SlotWidth + $clog2(Group)
) (
    input  logic                               clk_i,
    // Reading: in the cycle before the butterflies' operands are in their registers.
    input  logic                               read_i,
    input  logic                               inverse_i,
    input  logic                               first_i,
    input  logic                               half_i,
    input  logic [    TagWidth-1:0]            tag_i,  // ciphertext of the group, slot
    input  logic [        LogH-1:0]            row_i,
    input  logic [  PlaceWidth-1:0]            place_i,
    input  logic [   2*Lanes-1:0][Width-1:0]   digits_i,
    input  logic [     Lanes-1:0][Width-1:0]   twiddle_i,
    // Writing: BflyLatency + 1 cycles later.
    input  logic                               write_i,
    input  logic                               write_inverse_i,
    input  logic                               write_last_i,
    input  logic                               write_half_i,
    input  logic [    TagWidth-1:0]            write_tag_i,
    input  logic [        LogH-1:0]            write_row_i,
    input  logic [  PlaceWidth-1:0]            write_place_i,
    input  logic                               write_bundle_i,
    input  logic                               write_column_i,
    input  logic                               write_odd_i,  // step
    output logic [   2*Lanes-1:0][Width-1:0]   rows_o,
    // Products. get_*: evaluations of Pos positions of every slot come two cycles after their
    // number. put_*: sums of a column.
    input  logic [  PlaceWidth-1:0]            get_place_i,
    input  logic [ LogN-LogPos-1:0]            get_group_i,
    output logic [Slots-1:0][Pos-1:0][Width-1:0] get_o,
    input  logic                               get_odd_i,  // step
    output logic [Slots-1:0][1:0][Pos-1:0][Width-1:0] get_bundle_o,
    input  logic                               put_i,
    input  logic [  PlaceWidth-1:0]            put_place_i,
    input  logic [ LogN-LogPos-1:0]            put_group_i,
    input  logic [       Pos-1:0][Width-1:0]   put_data_i
);

  localparam int unsigned RowWidth = Lanes * Width;
  localparam int unsigned Parts = Lanes / Pos;
  localparam int unsigned WorkWidth = $clog2(Slots) + $clog2(Group) + 1 + LogH;
  localparam int unsigned BufferWidth = $clog2(Places) + LogH;
  localparam int unsigned PartWidth = (Parts > 1) ? $clog2(Parts) : 1;
  // Bits of a place and of which of two steps.
  localparam int unsigned BothWidth = $clog2(Places) + 1;

  // Returns the place in a bank of one of rows 2 r and 2 r + 1: 2 r + (bank ^ h), where h is r's
  // highest bit, so that row 2 r is in bank h. Rows r and r + H are both at place r, row r in bank
  // r[0].
  function automatic logic [LogH-1:0] near(logic [LogH-1:0] row, logic bank);
    logic odd;
    odd = bank ^ row[LogH-1];
    return LogH'({row, odd});
  endfunction

  // ---- Operands. ----

  logic far_read, swap_read;
  logic [1:0][LogH-1:0] read_row;
  logic [1:0][RowWidth-1:0] work, sums, banks;
  logic [2*Lanes-1:0][Width-1:0] words;
  logic [Lanes-1:0][Width-1:0] u_d, u_q, v_d, v_q;
  logic inverse_q;

  assign far_read = !inverse_i;
  assign swap_read = far_read ? row_i[0] : row_i[LogH-1];
  for (genvar b = 0; b < 2; b++) begin : gen_read_row
    assign read_row[b] = far_read ? row_i : near(row_i, b == 1);
  end

  assign banks = (first_i && inverse_i) ? sums : work;
  assign words = swap_read ? {banks[0], banks[1]} : {banks[1], banks[0]};

  for (genvar b = 0; b < Lanes; b++) begin : gen_operand
    assign u_d[b] = inverse_i ? words[2*b] : first_i ? digits_i[b] : words[b];
    assign v_d[b] = inverse_i ? words[2*b+1] : first_i ? digits_i[Lanes+b] : words[Lanes+b];
  end

  always_ff @(posedge clk_i) begin
    u_q <= u_d;
    v_q <= v_d;
    if (read_i) inverse_q <= inverse_i;
  end

  // ---- Butterflies. ----

  logic [Lanes-1:0][Width-1:0] out0, out1;

  for (genvar b = 0; b < Lanes; b++) begin : gen_butterfly
    rm_torus_butterfly u_butterfly (
        .clk_i,
        .inverse_i(inverse_q),
        .u_i(u_q[b]),
        .v_i(v_q[b]),
        .w_i(twiddle_i[b]),
        .out0_o(out0[b]),
        .out1_o(out1[b])
    );
    assign rows_o[b] = out0[b];
    assign rows_o[Lanes+b] = out1[b];
  end

  // ---- Rows written. ----

  logic [1:0][RowWidth-1:0] made, to_bank;
  logic [2*Lanes-1:0][Width-1:0] woven;
  logic [1:0][LogH-1:0] write_row;
  logic swap_write;
  logic [TagWidth-1:0] read_tag, write_tag;

  // A tag without its slot, where there is but one.
  assign read_tag = (Slots > 1) ? tag_i : tag_i >> 1;
  assign write_tag = (Slots > 1) ? write_tag_i : write_tag_i >> 1;

  for (genvar b = 0; b < Lanes; b++) begin : gen_woven
    assign woven[2*b] = out0[b];
    assign woven[2*b+1] = out1[b];
  end

  assign made = write_inverse_i ? rows_o : woven;
  assign swap_write = write_inverse_i ? write_row_i[0] : write_row_i[LogH-1];
  assign to_bank = swap_write ? {made[0], made[1]} : made;
  for (genvar b = 0; b < 2; b++) begin : gen_write_row
    assign write_row[b] = write_inverse_i ? write_row_i : near(write_row_i, b == 1);

    rm_torus_lutram #(
        .Width(RowWidth),
        .Depth(1 << WorkWidth)
    ) u_work (
        .clk_i,
        .we_i(write_i && !write_last_i),
        .waddr_i(WorkWidth'({write_tag, write_half_i, write_row[b]})),
        .wdata_i(to_bank[b]),
        .raddr_i(WorkWidth'({read_tag, half_i, read_row[b]})),
        .rdata_o(work[b])
    );
  end

  // ---- Evaluations. ----

  logic evaluated;
  logic [LogH:0] get_row;
  logic [PartWidth-1:0] get_part;

  assign evaluated = write_i && write_last_i && !write_inverse_i;
  assign get_row = get_group_i[LogN-LogPos-1-:LogH+1];
  if (Parts > 1) begin : gen_get_part
    assign get_part = get_group_i[PartWidth-1:0];
  end else begin : gen_whole
    assign get_part = '0;
  end

  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    logic here;
    assign here = evaluated && write_tag_i[SlotWidth-1:0] == SlotWidth'(s);

    rm_torus_evaluations #(
        .Lanes(Lanes),
        .LogH(LogH),
        .Places(Places),
        .Pos(Pos),
        .Width(Width)
    ) u_evaluations (
        .clk_i,
        .put_i(here && !write_bundle_i),
        .put_place_i(write_place_i),
        .put_row_i(write_row),
        .put_data_i(to_bank),
        .get_place_i,
        .get_row_i(get_row),
        .get_part_i(get_part),
        .get_o(get_o[s])
    );

    for (genvar c = 0; c < 2; c++) begin : gen_column
      if (Coefficients) begin : gen_bundle
        rm_torus_evaluations #(
            .Lanes(Lanes),
            .LogH(LogH),
            .Places(2 << $clog2(Places)),
            .Pos(Pos),
            .Width(Width)
        ) u_evaluations (
            .clk_i,
            .put_i(here && write_bundle_i && write_column_i == (c == 1)),
            .put_place_i(BothWidth'({write_place_i, write_odd_i})),
            .put_row_i(write_row),
            .put_data_i(to_bank),
            .get_place_i(BothWidth'({get_place_i, get_odd_i})),
            .get_row_i(get_row),
            .get_part_i(get_part),
            .get_o(get_bundle_o[s][c])
        );
      end else begin : gen_none
        assign get_bundle_o[s][c] = '0;
      end
    end
  end

  if (!Coefficients) begin : gen_no_bundles
    logic unused_bundles;
    assign unused_bundles = ^{write_column_i, write_odd_i, get_odd_i};
  end

  // ---- Sums of products. ----

  if (HasSums) begin : gen_sums
    logic [LogH:0] put_row;
    assign put_row = put_group_i[LogN-LogPos-1-:LogH+1];

    for (genvar b = 0; b < 2; b++) begin : gen_bank
      for (genvar t = 0; t < Parts; t++) begin : gen_part
        logic here;
        if (Parts > 1) begin : gen_one
          assign here = put_group_i[PartWidth-1:0] == PartWidth'(t);
        end else begin : gen_all
          assign here = 1'b1;
        end

        rm_torus_lutram #(
            .Width(Pos * Width),
            .Depth(1 << BufferWidth)
        ) u_sums (
            .clk_i,
            .we_i(put_i && here && (put_row[LogH] ^ put_row[0]) == (b == 1)),
            .waddr_i(BufferWidth'({put_place_i, put_row[LogH-1:0]})),
            .wdata_i(put_data_i),
            .raddr_i(BufferWidth'({place_i, read_row[b]})),
            .rdata_o(sums[b][t*Pos*Width+:Pos*Width])
        );
      end
    end
  end else begin : gen_no_sums
    assign sums = '0;
    logic unused_sums;
    assign unused_sums = ^{put_i, put_place_i, put_group_i, put_data_i, place_i};
  end

endmodule
