// SPDX-License-Identifier: Apache-2.0
// Buffers the evaluations of one polynomial of each ciphertext between a transform and the
// products.
//
// Rows come in the order of the last pass of a transform, both banks at once. Pos positions leave
// together, in the standard order. Row R of 2 H lies in the bank of its highest plus its lowest
// bit, at R modulo H (rm_torus_unit).
//
// Latency two cycles from get_row_i to get_o; a pair of rows in and a group of positions out a
// cycle.
module rm_torus_evaluations #(
    parameter int unsigned Lanes = 4,
    parameter int unsigned LogH = 3,
    parameter int unsigned Places = 2,
    parameter int unsigned Pos = 1,
    parameter int unsigned Width = 52,
    localparam int unsigned Parts = Lanes / Pos,
    localparam int unsigned PartWidth = (Parts > 1) ? $clog2(Parts) : 1,
    localparam int unsigned AddrWidth = $clog2(Places) + LogH,
    localparam int unsigned PlaceWidth = (Places > 1) ? $clog2(Places) : 1
) (
    input  logic                        clk_i,
    input  logic                        put_i,
    input  logic [PlaceWidth-1:0]       put_place_i,
    input  logic [1:0][LogH-1:0]        put_row_i,   // of each bank
    input  logic [1:0][Lanes*Width-1:0] put_data_i,
    input  logic [PlaceWidth-1:0]       get_place_i,
    input  logic [LogH:0]               get_row_i,
    input  logic [PartWidth-1:0]        get_part_i,
    output logic [Pos-1:0][Width-1:0]   get_o
);

  logic [1:0][Parts-1:0][Pos*Width-1:0] rows;
  logic bank_q;
  logic [PartWidth-1:0] part_q;
  logic [Pos*Width-1:0] get_q;

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    rm_torus_ram #(
        .Width(Lanes * Width),
        .Depth(1 << AddrWidth)
    ) u_rows (
        .clk_i,
        .we_i(put_i),
        .waddr_i(AddrWidth'({put_place_i, put_row_i[b]})),
        .wdata_i(put_data_i[b]),
        .raddr_i(AddrWidth'({get_place_i, get_row_i[LogH-1:0]})),
        .rdata_o(rows[b])
    );
  end

  always_ff @(posedge clk_i) begin
    bank_q <= get_row_i[LogH] ^ get_row_i[0];
    part_q <= get_part_i;
    get_q <= rows[bank_q][part_q];
  end

  assign get_o = get_q;

endmodule
