// SPDX-License-Identifier: Apache-2.0
// Decodes a stream of words of 64 bits into entries for tables and programs, two words an entry.
//
// The first word has the fields Entry, and the second is the data (docs/isa/ring.md).
//
// An entry is left out if it has no kind, has bits outside its fields, or names a table, an RPAU or
// a row beyond the machine. So is one whose data is a key slot, a seed or a prime that does not
// exist, or a size of limbs that the machine lacks. Other data is not checked. bad_o says so at the
// end (done_o). bad_o is also high for a stream that ends within an entry.
//
// A word a cycle; latency 1 from an entry's data to load_o.
module rm_ring_table
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Rpaus = 2,
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned Stages = 2,
    parameter int unsigned MulLatency = 12,
    parameter int unsigned KeySlots = 18,
    parameter int unsigned Constants = 256,
    parameter int unsigned StreamRows = 128,
    parameter int unsigned Seeds = 64,
    parameter int unsigned GaloisRows = 128,
    parameter int unsigned Words = 4096,
    parameter int unsigned Moduli = 1,
    // The number of the primes that have twiddles at a time.
    parameter int unsigned Layers = Moduli
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             valid_i,
    output logic             ready_o,
    input  logic [     63:0] data_i,
    input  logic             last_i,
    output logic             done_o,
    output logic             bad_o,
    output logic             load_o,
    output logic [Rpaus-1:0] select_o,
    output logic [      3:0] kind_o,
    output logic [      7:0] table_o,
    output logic [     15:0] addr_o,
    output logic [     63:0] data_o
);

  localparam int unsigned Half = (1 << LogRow) / 2;
  localparam int unsigned Rings = 3 * Layers;
  localparam int unsigned Passes = pass_count(LogN, Stages);
  localparam int unsigned Deep = table_base(LogN, LogRow, Stages, Passes);
  localparam int unsigned Flat = Passes - deep_passes(LogN, LogRow, Stages, 1);
  localparam int unsigned Most = first_values(MulLatency);
  localparam int unsigned First = first_base(LogN, LogRow, Most, LogN);
  localparam int unsigned Generated = deep_passes(LogN, LogRow, 1, Most);

  // Returns {number of tables, rows of each} for a kind of twiddle tables, stored or generated.
  function automatic logic [1:0][31:0] twiddles_of(logic [3:0] kind);
    if (Stages == 1) begin
      unique case (kind)
        TableDeepA: return {32'(Half), 32'(Rings * First)};
        TableDeepB: return {32'd1, 32'(Rings * Generated)};
        default: return '0;
      endcase
    end
    unique case (kind)
      TableFlatA: return {32'(Half), 32'(Rings * Flat)};
      TableFlatB: return {32'(Half / 2), 32'(Rings * Flat)};
      TableDeepA: return {32'(Half), 32'(Rings * Deep)};
      default: return {32'(Half / 2), 32'(Rings * Deep)};
    endcase
  endfunction

  // Returns {number of tables, rows of each} for a kind of entries, zero for an undefined kind.
  function automatic logic [1:0][31:0] size_of(logic [3:0] kind);
    unique case (kind)
      TableConstant: return {32'd1, 32'(Constants)};
      TableFlatA, TableFlatB, TableDeepA, TableDeepB: return twiddles_of(kind);
      TableKeySlot: return {32'd1, 32'd128};
      TableStream, TableSeedPlace: return {32'd1, 32'(StreamRows)};
      TableSeed: return {32'd1, 32'(8 * Seeds)};
      TableZeta: return {32'd1, 32'(Moduli)};
      TablePrime: return {32'd1, 32'd8};
      TableSize: return {32'd1, 32'd1};
      TableGalois, TableGaloisInverse: return {32'd1, 32'(GaloisRows)};
      TableProgram: return {32'(Streams), 32'(Words)};
      default: return '0;
    endcase
  endfunction

  logic second_q, entry, fits, bad_q, load_q, last_q, cut_q;
  logic [63:0] head_q, data_q;
  logic [EntryKindWidth-1:0] of_kind;
  logic [EntryTableWidth-1:0] table_of;
  logic [EntryAddressWidth-1:0] address;
  logic [1:0][31:0] size;

  assign ready_o = 1'b1;
  assign entry = valid_i && second_q;
  assign of_kind = head_q[EntryKindLow+:EntryKindWidth];
  assign table_of = head_q[EntryTableLow+:EntryTableWidth];
  assign address = head_q[EntryAddressLow+:EntryAddressWidth];
  assign size = size_of(of_kind);
  assign fits = 32'(table_of) < size[1] && 32'(address) < size[0] &&
      head_q[EntryRpausLow-1:EntryKindLow+EntryKindWidth] == '0 &&
      (64'(head_q[63:EntryRpausLow]) >> Rpaus) == '0 &&
      // A slot of key memory, a seed's place and a prime must exist, because the machine uses them
      // as indices.
      !(of_kind == TableKeySlot && data_i >= 64'(KeySlots)) &&
      !(of_kind == TableSeedPlace && data_i >= 64'(Seeds)) &&
      !(of_kind == TablePrime && data_i >= 64'(Moduli)) &&
      // A limb must have more than one row.
      !(of_kind == TableSize && (data_i <= 64'(LogRow) || data_i > 64'(LogN)));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      second_q <= 1'b0;
      bad_q <= 1'b0;
      load_q <= 1'b0;
      last_q <= 1'b0;
    end else begin
      if (valid_i) second_q <= !second_q && !last_i;
      load_q <= entry && fits;
      last_q <= valid_i && last_i;
      bad_q <= !last_q && (bad_q || (entry && !fits));
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && !second_q) head_q <= data_i;
    data_q <= data_i;
    cut_q <= !second_q;
    if (entry) begin
      select_o <= head_q[EntryRpausLow+:Rpaus];
      kind_o <= of_kind;
      table_o <= table_of;
      addr_o <= address;
    end
  end

  assign load_o = load_q;
  assign data_o = data_q;
  assign done_o = last_q;
  assign bad_o = bad_q || cut_q;

endmodule
