// SPDX-License-Identifier: Apache-2.0
// Holds the results of bootstraps and key switches of the TFHE engine, place by place.
//
// A place has the extracted ciphertext, N mask words and the body under the ring's key. It also has
// the ciphertext that the key switch makes of it, Dim mask words and the body under the small key.
//
// put_i writes a word of an extracted ciphertext; number N is the body. start_i switches places 0
// to last_place_i; the stream of the switching key (rm_torus_switch) enters here. Their extracted
// ciphertexts stay. read_i reads a word of either kind. data_o has it a cycle later, and until the
// next read. No word is read during a switch.
module rm_torus_results #(
    parameter int unsigned LogN = 7,
    parameter int unsigned Places = 2,
    parameter int unsigned Dim = 24,
    parameter int unsigned SwitchBase = 2,
    parameter int unsigned SwitchLevels = 5,
    parameter int unsigned Cores = 1,
    parameter int unsigned Rounds = 4,
    parameter int unsigned Steps = 2,
    localparam int unsigned PlaceWidth = (Places > 1) ? $clog2(Places) : 1,
    localparam int unsigned WordWidth = rm_torus_pkg::word_width(LogN, Dim)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  put_i,
    input  logic [PlaceWidth-1:0] put_place_i,
    input  logic [LogN:0]         put_word_i,
    input  logic [31:0]           put_data_i,
    // The key switch.
    input  logic                  start_i,
    input  logic [PlaceWidth-1:0] last_place_i,
    output logic                  done_o,
    output logic                  short_o,
    output logic                  long_o,
    input  logic                  switch_valid_i,
    output logic                  switch_ready_o,
    input  logic [31:0]           switch_data_i,
    input  logic                  switch_last_i,
    // Reading; the place and the kind stay until the word was used.
    input  logic                  read_i,
    input  logic                  small_i,
    input  logic [PlaceWidth-1:0] place_i,
    input  logic [WordWidth-1:0]  word_i,
    output logic [31:0]           data_o
);

  localparam int unsigned ColumnWidth = $clog2(Dim + 1);
  localparam int unsigned SmallWidth = $clog2(Places) + ColumnWidth;

  logic switch_read, read, body_q, small_put;
  logic [LogN:0] switch_word, word;
  logic [Places-1:0][31:0] words;
  logic [PlaceWidth-1:0] small_place;
  logic [ColumnWidth-1:0] small_column;
  logic [31:0] small_data, small_word;

  // ---- Extracted: a memory for each place, so that a switch reads a word of all. ----

  assign read = read_i || switch_read;
  assign word = switch_read ? switch_word : (LogN + 1)'(word_i);

  always_ff @(posedge clk_i) begin
    if (read) body_q <= word[LogN];
  end

  for (genvar p = 0; p < Places; p++) begin : gen_place
    logic here;
    logic [31:0] body_word_q, mask_word;

    assign here = put_i && put_place_i == PlaceWidth'(p);

    rm_ram_1r1w #(
        .Width(32),
        .Depth(1 << LogN),
        .Style("block")
    ) u_mask (
        .clk_i,
        .we_i(here && !put_word_i[LogN]),
        .waddr_i(put_word_i[LogN-1:0]),
        .wdata_i(put_data_i),
        .re_i(read),
        .raddr_i(word[LogN-1:0]),
        .rdata_o(mask_word)
    );

    always_ff @(posedge clk_i) begin
      if (here && put_word_i[LogN]) body_word_q <= put_data_i;
    end

    assign words[p] = body_q ? body_word_q : mask_word;
  end

  // ---- Switched. ----

  rm_torus_switch #(
      .LogN(LogN),
      .Places(Places),
      .Dim(Dim),
      .LogBase(SwitchBase),
      .Levels(SwitchLevels),
      .Cores(Cores),
      .Rounds(Rounds),
      .Steps(Steps)
  ) u_switch (
      .clk_i,
      .rst_ni,
      .start_i,
      .last_place_i,
      .done_o,
      .short_o,
      .long_o,
      .valid_i(switch_valid_i),
      .ready_o(switch_ready_o),
      .data_i(switch_data_i),
      .last_i(switch_last_i),
      .read_o(switch_read),
      .word_o(switch_word),
      .words_i(words),
      .put_o(small_put),
      .put_place_o(small_place),
      .put_column_o(small_column),
      .put_data_o(small_data)
  );

  rm_ram_1r1w #(
      .Width(32),
      .Depth(1 << SmallWidth),
      .Style("block")
  ) u_small (
      .clk_i,
      .we_i(small_put),
      .waddr_i(SmallWidth'({small_place, small_column})),
      .wdata_i(small_data),
      .re_i(read_i),
      .raddr_i(SmallWidth'({place_i, word_i[ColumnWidth-1:0]})),
      .rdata_o(small_word)
  );

  // ---- Either. ----

  always_comb begin
    data_o = small_word;
    if (!small_i) begin
      data_o = '0;
      for (int unsigned p = 0; p < Places; p++) begin
        if (place_i == PlaceWidth'(p)) data_o |= words[p];
      end
    end
  end

endmodule
