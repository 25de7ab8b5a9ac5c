// SPDX-License-Identifier: Apache-2.0
// Buffers bundles of the key in coefficient form for a transform unit (rm_torus_gather).
//
// A bundle is the key of a step of the blind rotation, summed from its gadget ciphertexts. The
// buffer has Slots polynomials of both columns of the bundle for each ciphertext. They come Pos
// positions a cycle and leave by rows r and r + H of Lanes. A coefficient is the residue modulo P
// nearest to 0. The buffer stores its low 32 bits, and one bit that says whether all bits above are
// ones.
//
// Latency 1 from the row's number to get_o.
module rm_torus_coefs
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned Slots = 2,
    parameter int unsigned Places = 2,
    parameter int unsigned LogPos = 1,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned Pos = 1 << LogPos,
    localparam int unsigned LogH = LogN - LogLanes - 1,
    localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1,
    localparam int unsigned PlaceWidth = (Places > 1) ? $clog2(Places) : 1
) (
    input  logic                                    clk_i,
    input  logic                                    put_i,
    input  logic [PlaceWidth-1:0]                   put_place_i,
    input  logic [LogN-LogPos-1:0]                  put_group_i,
    input  logic [Slots-1:0][1:0][Pos-1:0][32:0]    put_data_i,
    input  logic [PlaceWidth-1:0]                   get_place_i,
    input  logic [SlotWidth-1:0]                    get_slot_i,
    input  logic                                    get_column_i,
    input  logic [LogH-1:0]                         get_row_i,
    output logic [2*Lanes-1:0][Width-1:0]           get_o
);

  localparam int unsigned Parts = Lanes / Pos;
  localparam int unsigned PartWidth = (Parts > 1) ? $clog2(Parts) : 1;
  localparam int unsigned AddrWidth = $clog2(Places) + LogH;

  logic [LogH:0] put_row;
  logic [Slots-1:0][1:0][2*Lanes-1:0][32:0] rows;
  logic [2*Lanes-1:0][32:0] get_q;

  assign put_row = put_group_i[LogN-LogPos-1-:LogH+1];

  for (genvar half = 0; half < 2; half++) begin : gen_half
    for (genvar t = 0; t < Parts; t++) begin : gen_part
      logic here;
      if (Parts > 1) begin : gen_one
        assign here = put_group_i[PartWidth-1:0] == PartWidth'(t);
      end else begin : gen_all
        assign here = 1'b1;
      end

      for (genvar s = 0; s < Slots; s++) begin : gen_slot
        for (genvar c = 0; c < 2; c++) begin : gen_column
          rm_torus_lutram #(
              .Width(Pos * 33),
              .Depth(1 << AddrWidth)
          ) u_rows (
              .clk_i,
              .we_i(put_i && here && put_row[LogH] == (half == 1)),
              .waddr_i(AddrWidth'({put_place_i, put_row[LogH-1:0]})),
              .wdata_i(put_data_i[s][c]),
              .raddr_i(AddrWidth'({get_place_i, get_row_i})),
              .rdata_o(rows[s][c][half*Lanes+t*Pos+:Pos])
          );
        end
      end
    end
  end

  if (Slots > 1) begin : gen_slots
    always_ff @(posedge clk_i) get_q <= rows[get_slot_i][get_column_i];
  end else begin : gen_one_slot
    always_ff @(posedge clk_i) get_q <= rows[0][get_column_i];
    logic unused_slot;
    assign unused_slot = ^get_slot_i;
  end

  for (genvar i = 0; i < 2 * Lanes; i++) begin : gen_coefficient
    assign get_o[i] = {{(Width - 32) {get_q[i][32]}}, get_q[i][31:0]};
  end

endmodule
