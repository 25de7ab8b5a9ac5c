// SPDX-License-Identifier: Apache-2.0
// The ciphertext buffer for square limbs: a memory with one port that reads or writes a chunk of
// rows or columns in one access (BASALISC paper, sections 5 and 6.1.1, Figure 5).
//
// It has Rows banks of Span sub-banks. The word of row r and column c lies in bank r xor c, there
// in sub-bank r mod Span, at address c / Span of its limb. Span rows, Span columns, and the rows
// that an automorphism writes each take one word from each sub-bank: `Layout` in
// crates/machines/src/vector/layout.rs has the proof. A chunk is Span lines; word v of line l is
// that of bank v.
//
//   rows     Line l is row rows_i[l]; the rows differ modulo Span. Sub-bank s of bank v has the
//            word of the row that is s modulo Span, at the address of column v xor row. So every
//            sub-bank has an address of its own.
//   columns  Line l is column rows_i[0] + l, where rows_i[0] is a multiple of Span. Sub-bank s of
//            bank v has the word of line s xor (v mod Span). All addresses are the same.
//
// base_i is the limb's first address. A read's chunk is at lines_o in the next cycle and stays
// until the next read. There is an access in each cycle of access_i, a write if write_i is high.
module rm_vector_ctb #(
    parameter int unsigned LogRows = 4,
    parameter int unsigned LogSpan = 1,
    parameter int unsigned Depth = 64,
    parameter int unsigned Width = 32,
    // Sub-banks are UltraRAM, of an FPGA that has it; else what the synthesiser chooses.
    parameter bit Ultra = 1'b0,
    localparam int unsigned Rows = 1 << LogRows,
    localparam int unsigned Span = 1 << LogSpan,
    localparam int unsigned Address = $clog2(Depth)
) (
    input  logic                                    clk_i,
    input  logic                                    access_i,
    input  logic                                    write_i,
    input  logic                                    columns_i,
    input  logic [Address-1:0]                      base_i,
    input  logic [   Span-1:0][LogRows-1:0]         rows_i,
    input  logic [   Span-1:0][   Rows-1:0][Width-1:0] lines_i,
    output logic [   Span-1:0][   Rows-1:0][Width-1:0] lines_o
);

  if (LogSpan < 1 || LogSpan > LogRows) begin : gen_check
    $error("rm_vector_ctb: two sub-banks at least, and no more than rows");
  end

  // For an access of rows: the line in sub-bank s, and that line's row. line_q and columns_q keep
  // the kind of the last read, for its output.
  logic [Span-1:0][LogSpan-1:0] line_of;
  logic [Span-1:0][LogRows-1:0] row_of;
  logic [Span-1:0][LogSpan-1:0] line_q;
  logic columns_q;

  always_comb begin
    line_of = '0;
    row_of = '0;
    for (int unsigned l = 0; l < Span; l++) begin
      line_of[rows_i[l][LogSpan-1:0]] = LogSpan'(l);
      row_of[rows_i[l][LogSpan-1:0]] = rows_i[l];
    end
  end

  always_ff @(posedge clk_i) begin
    if (access_i && !write_i) begin
      columns_q <= columns_i;
      for (int unsigned l = 0; l < Span; l++) line_q[l] <= rows_i[l][LogSpan-1:0];
    end
  end

  for (genvar v = 0; v < Rows; v++) begin : gen_bank
    logic [Span-1:0][Width-1:0] read_q;

    for (genvar s = 0; s < Span; s++) begin : gen_sub
      localparam int unsigned Crossed = s ^ (v % Span);
      logic [LogRows-1:0] column;
      logic [Address-1:0] address;
      logic [Width-1:0] word;

      assign column = columns_i ? rows_i[0] : LogRows'(v) ^ row_of[s];
      assign address = base_i + Address'(column >> LogSpan);
      assign word = columns_i ? lines_i[Crossed][v] : lines_i[line_of[s]][v];

      if (Ultra) begin : gen_ultra
        (* ram_style = "ultra" *) logic [Width-1:0] words[Depth];
        always_ff @(posedge clk_i) begin
          if (access_i) begin
            if (write_i) words[address] <= word;
            else read_q[s] <= words[address];
          end
        end
      end else begin : gen_any
        logic [Width-1:0] words[Depth];
        always_ff @(posedge clk_i) begin
          if (access_i) begin
            if (write_i) words[address] <= word;
            else read_q[s] <= words[address];
          end
        end
      end
    end

    // Line l comes from the sub-bank of its row if rows were read, and from sub-bank l xor (v mod
    // Span) if columns were.
    for (genvar l = 0; l < Span; l++) begin : gen_line
      assign lines_o[l][v] = columns_q ? read_q[l^(v%Span)] : read_q[line_q[l]];
    end
  end

`ifndef SYNTHESIS
  // One access a sub-bank: it has one port, and no two lines of an access fall into it.
  always_ff @(posedge clk_i) begin
    for (int unsigned l = 1; l < Span; l++) begin
      for (int unsigned k = 0; k < l; k++) begin
        if (access_i && !columns_i) begin
          one_line_a_sub_bank : assert (rows_i[l][LogSpan-1:0] != rows_i[k][LogSpan-1:0]);
        end
      end
    end
    if (access_i && columns_i) first_of_its_columns : assert (rows_i[0][LogSpan-1:0] == '0);
  end
`endif

endmodule
