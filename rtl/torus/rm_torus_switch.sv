// SPDX-License-Identifier: Apache-2.0
// Switches Places extracted ciphertexts from the ring's key to the small key, with one stream for
// the switching key (rm_torus_ks).
//
// The ciphertexts are those of places 0 to last_place_i. The stream is the eight words of the seed,
// the first bytes lowest, then the bodies of the N Levels rows, the last one marked.
//
// start_i begins, and last_place_i is held from then on. done_o comes with short_o if the stream
// ended early, with long_o if it went on. The stream is then taken to its end and no further, as
// the words behind belong to the next stream. The unit holds no secret: masks are the seed's
// streams, bodies are encryptions.
//
// Words of the ciphertexts are asked for by number, N for the body. The words of all places come a
// cycle later. A result leaves word by word. One clock.
//
// Cycles: one of the command, eight of the seed, one, those of rm_torus_ks, and a last one.
module rm_torus_switch
  import rm_torus_isa_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned Places = 2,
    parameter int unsigned Dim = 24,
    parameter int unsigned LogBase = 2,
    parameter int unsigned Levels = 5,
    parameter int unsigned Cores = 1,
    parameter int unsigned Rounds = 4,
    parameter int unsigned Steps = 2,
    localparam int unsigned PlaceWidth = (Places > 1) ? $clog2(Places) : 1,
    localparam int unsigned ColumnWidth = $clog2(Dim + 1)
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    start_i,
    input  logic [PlaceWidth-1:0]   last_place_i,
    output logic                    done_o,
    output logic                    short_o,
    output logic                    long_o,
    // The switching key.
    input  logic                    valid_i,
    output logic                    ready_o,
    input  logic [31:0]             data_i,
    input  logic                    last_i,
    // Words of the extracted ciphertexts.
    output logic                    read_o,
    output logic [LogN:0]           word_o,
    input  logic [Places-1:0][31:0] words_i,
    // Words of the results, column Dim the body's.
    output logic                    put_o,
    output logic [PlaceWidth-1:0]   put_place_o,
    output logic [ColumnWidth-1:0]  put_column_o,
    output logic [31:0]             put_data_o
);

  localparam int unsigned SeedWords = 8;

  typedef enum logic [1:0] {
    Idle,
    Seed,
    Begin,
    Bodies
  } state_e;

  state_e state_d, state_q;
  logic [$clog2(SeedWords)-1:0] count_d, count_q;
  logic [SeedWords-1:0][31:0] seed_q;
  logic move, ended_q, cut_d, cut_q, ks_done, ks_in_ready, ks_cmd_ready, out_last;
  logic [15:0] address, column;
  logic [7:0] ciphertext;
  logic [1:0] ks_code;

  assign ready_o = state_q == Seed || (state_q == Bodies && !ended_q && ks_in_ready);
  assign move = valid_i & ready_o;

  always_comb begin
    state_d = state_q;
    count_d = count_q;
    cut_d = 1'b0;
    unique case (state_q)
      Idle: begin
        count_d = '0;
        if (start_i) state_d = Seed;
      end
      Seed: begin
        if (move) begin
          count_d = count_q + 1'b1;
          if (&count_q) state_d = Begin;
          if (last_i) begin
            state_d = Idle;
            cut_d = 1'b1;
          end
        end
      end
      Begin: if (ks_cmd_ready) state_d = Bodies;
      default: if (ks_done) state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      cut_q <= 1'b0;
      ended_q <= 1'b0;
    end else begin
      state_q <= state_d;
      cut_q <= cut_d;
      ended_q <= state_q == Bodies && (ended_q || (move && last_i));
    end
  end

  always_ff @(posedge clk_i) begin
    count_q <= count_d;
    if (state_q == Seed && move) seed_q <= {data_i, seed_q[SeedWords-1:1]};
  end

  assign done_o = cut_q || ks_done;
  assign short_o = cut_q || ks_code == SwitchCutShort;
  assign long_o = !cut_q && ks_code == SwitchTooLong;

  rm_torus_ks #(
      .Batch(Places),
      .Cores(Cores),
      .Rounds(Rounds),
      .Steps(Steps),
      .LogBase(LogBase),
      .Levels(Levels),
      .MaxLarge(1 << LogN),
      .MaxSmall(Dim)
  ) u_ks (
      .clk_i,
      .rst_ni,
      .cmd_valid_i(state_q == Begin),
      .cmd_ready_o(ks_cmd_ready),
      .cmd_large_i(16'(1 << LogN)),
      .cmd_small_i(16'(Dim)),
      .cmd_count_i(8'(last_place_i) + 8'd1),
      .cmd_seed_i(seed_q),
      .done_o(ks_done),
      .code_o(ks_code),
      .mem_read_o(read_o),
      .mem_addr_o(address),
      .mem_word_i(words_i),
      .in_valid_i(valid_i && state_q == Bodies && !ended_q),
      .in_ready_o(ks_in_ready),
      .in_body_i(data_i),
      .in_last_i(last_i),
      .out_valid_o(put_o),
      .out_ready_i(1'b1),
      .out_word_o(put_data_o),
      .out_column_o(column),
      .out_ciphertext_o(ciphertext),
      .out_last_o(out_last)
  );

  assign word_o = address[LogN:0];
  assign put_place_o = PlaceWidth'(ciphertext);
  assign put_column_o = ColumnWidth'(column);

  logic unused_wide;
  assign unused_wide = ^{address, ciphertext, column, out_last};

endmodule
