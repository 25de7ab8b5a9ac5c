// SPDX-License-Identifier: Apache-2.0
// The bootstrapping engine of TFHE: blind rotation of Places ciphertexts together, sample extract,
// and key switch (docs/machines/torus.md derives schedule, memories and cycles).
//
//   ACC += BK_i x (X^a - 1) ACC                                  Unroll = 1, for each mask bit i
//   ACC += sum over patterns u of (X^(a u) - 1) (BK_u x ACC)      Unroll = 2, 3, for each Unroll bits
//
// A pattern u is a value other than 0 of the Unroll secret bits that a step takes; it has a gadget
// ciphertext BK_u of its own, and a u is the sum of the exponents of its bits. q = 2^32, k = 1, N =
// 2^LogN, and x is the external product. It decomposes the accumulator into Levels signed digits of
// LogBase bits and transforms each decomposed polynomial once modulo 2^52 - 2^12 + 1. The products
// with the rows of the key, in transform form, are summed, and two sums are transformed back. The
// result is exact while no sum passes half of the modulus (circuits::tfhe::exactness).
//
//   Units transform units of 2^LogLanes butterflies: 2 Levels / Units polynomials each
//   4 Levels 2^LogPos product multipliers, 2^LogPos positions a cycle; 2^(LogPos + 1) more for weights
//   Places ciphertexts interleaved, Group of them together in the units, which share the key;
//   KeyBeats beats of it are held
//   Cores generators of masks with Rounds rounds in place for the key switch, whose digits are
//   SwitchLevels of SwitchBase bits (rm_torus_ks)
//
// With Coefficients, the gadget ciphertexts of a step of an unrolled key are summed in coefficient
// form to one, the bundle (rm_torus_gather), and the bundles are transformed. This takes 4 Levels
// forward transforms a step more, for 2^Unroll - 1 times fewer products:
//
//   ACC += (sum over patterns u of (X^(a u) - 1) BK_u) x ACC
//
// The key then comes in coefficient form: words of 32 bits, beats of 2^(LogPos + 1) positions. Two
// steps of it are held, with the sums of their patterns.
//
// With Pairs the order of operations is that of Kong and Li's engine (section III-D.2). There are
// Units = 4 Levels units, one for each pair of a decomposed polynomial and a polynomial of the key.
// Products are summed as coefficients (rm_torus_pairs). 4 Levels 2^LogPos more multipliers bundle
// unrolled keys on their way to the products (rm_torus_bundle), and KeyBeats bundles are held.
// There is one place.
//
// rm_torus_ctl has the commands. Without Coefficients the key comes in transform form, in beats of
// 2^LogPos positions x 2 Levels rows x 2 columns. A beat belongs to one pattern. First come the
// beats of patterns 1 to 2^Unroll - 1 for a group of positions, then those of the next group, step
// by step. A last step of fewer bits has fewer patterns. A beat's words are ((position Rows + row)
// 2 + column). Row c Levels + j is that of digit j of component c (the mask's first), and bit t of
// a pattern is exponent t of the step. The last beat of all has key_last_i, and also key_cut_i if
// it is not whole. The key may stall. So may the switching key: its seed and bodies
// (rm_torus_switch).
//
// The cycles of a run and of a switch do not depend on the data. The cycle model
// ringmill_machines::torus computes them.
module rm_torus
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned Levels = 3,
    parameter int unsigned LogBase = 7,
    parameter int unsigned Dim = 24,
    parameter int unsigned Unroll = 1,
    parameter int unsigned Units = 3,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned LogPos = 0,
    parameter int unsigned Places = 2,
    parameter int unsigned Group = 1,
    parameter int unsigned KeyBeats = 512,
    parameter bit Pairs = 1'b0,
    parameter bit Coefficients = 1'b0,
    parameter int unsigned SwitchBase = 2,
    parameter int unsigned SwitchLevels = 5,
    parameter int unsigned Cores = 1,
    parameter int unsigned Rounds = 4,
    parameter int unsigned Steps = 2,
    localparam int unsigned Rows = 2 * Levels,
    localparam int unsigned Pos = 1 << LogPos,
    localparam int unsigned BeatWidth = beat_width(Rows, LogPos, Coefficients)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 cmd_valid_i,
    output logic                 cmd_ready_o,
    input  logic [          2:0] cmd_op_i,
    input  logic [          7:0] cmd_place_i,
    output logic                 done_o,
    output logic [          2:0] code_o,
    input  logic                 in_valid_i,
    output logic                 in_ready_o,
    input  logic [         31:0] in_data_i,
    input  logic                 in_last_i,
    input  logic                 key_valid_i,
    output logic                 key_ready_o,
    input  logic [BeatWidth-1:0] key_data_i,
    input  logic                 key_last_i,
    input  logic                 key_cut_i,
    input  logic                 switch_valid_i,
    output logic                 switch_ready_o,
    input  logic [         31:0] switch_data_i,
    input  logic                 switch_last_i,
    output logic                 out_valid_o,
    input  logic                 out_ready_i,
    output logic [         31:0] out_data_o,
    output logic                 out_last_o
);

  localparam int unsigned Slots = Pairs ? 1 : Rows / Units;
  localparam int unsigned Lanes = 1 << LogLanes;
  localparam int unsigned LogH = LogN - LogLanes - 1;
  localparam int unsigned H = 1 << LogH;
  localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1;
  localparam int unsigned PlaceWidth = (Places > 1) ? $clog2(Places) : 1;
  localparam int unsigned TagWidth = SlotWidth + $clog2(Group);
  localparam int unsigned Turns = (Dim + Unroll - 1) / Unroll;
  localparam int unsigned StepWidth = (Turns > 1) ? $clog2(Turns) : 1;
  localparam int unsigned BitWidth = (Unroll > 1) ? $clog2(Unroll) : 1;
  localparam int unsigned LastBits = Dim - (Turns - 1) * Unroll;
  localparam int unsigned LogBeat = LogPos + int'(Coefficients);
  localparam int unsigned Beat = 1 << LogBeat;
  localparam int unsigned Groups = 1 << (LogN - LogBeat);
  localparam int unsigned KeyTotal =
      Groups * ((Turns - 1) * ((1 << Unroll) - 1) + (1 << LastBits) - 1);
  localparam int unsigned WordWidth = word_width(LogN, Dim);
  localparam int unsigned TwWidth = $clog2(2 * H + LogLanes);
  // With bundles the sequencer works as for a key with one exponent a step.
  localparam bit Bundles = Pairs && Unroll > 1;
  localparam bit Bundled = Bundles || Coefficients;
  localparam int unsigned SeqUnroll = Bundled ? 1 : Unroll;
  localparam int unsigned RawBeats = 16;

  if (LogN < 4 || LogN > 11 || LogLanes < 1 || LogH < 1 || LogPos > LogLanes || Units < 2 ||
      (Pairs ? (Units != 2 * Rows || Places != 1) : Rows % Units != 0) ||
      Unroll < 1 || Unroll > 3 || Levels < 1 || LogBase < 2 ||
      Levels * LogBase > 32 || Dim < Unroll || Places < 1 || Places > 128 || Group < 1 ||
      Group > Places || Group > 16 ||
      KeyBeats != (1 << $clog2(KeyBeats)) ||
      (Coefficients && (Pairs || Unroll < 2 || LogBeat > LogLanes || KeyBeats != Groups << (Unroll + 1))) ||
      (Places > 1 && KeyBeats < Groups * ((1 << Unroll) - 1))) begin : gen_check
    $error("N 2^4 to 2^11, 4 rows a polynomial, 2 Levels a multiple of Units, the key of a step held");
  end

  // The control signals of a transform's row on its way through the pipeline.
  typedef struct packed {
    logic                  inverse;
    logic                  first;
    logic                  last;
    logic                  half;
    logic                  bundle;
    logic                  column;
    logic                  odd;
    logic [TagWidth-1:0]   tag;
    logic [LogH-1:0]       row;
    logic [PlaceWidth-1:0] place;
  } token_t;

  // ---- Control. ----

  logic set, exponent_set, start, run, idle, abort, run_done, key_short, key_long, key_ended;
  logic extract, read, small_word, switch, switch_done, switch_short, switch_long;
  logic [PlaceWidth-1:0] ctl_place, last_place;
  logic [LogN-1:0] set_index;
  logic [31:0] set_data;
  logic [StepWidth-1:0] exponent_step;
  logic [BitWidth-1:0] exponent_bit;
  logic [LogN:0] exponent_data;
  logic [WordWidth-1:0] word;

  rm_torus_ctl #(
      .LogN(LogN),
      .Places(Places),
      .Dim(Dim),
      .Unroll(Unroll)
  ) u_ctl (
      .clk_i,
      .rst_ni,
      .cmd_valid_i,
      .cmd_ready_o,
      .cmd_op_i,
      .cmd_place_i,
      .done_o,
      .code_o,
      .in_valid_i,
      .in_ready_o,
      .in_data_i,
      .in_last_i,
      .out_valid_o,
      .out_ready_i,
      .out_last_o,
      .set_o(set),
      .place_o(ctl_place),
      .set_index_o(set_index),
      .set_data_o(set_data),
      .exponent_o(exponent_set),
      .exponent_step_o(exponent_step),
      .exponent_bit_o(exponent_bit),
      .exponent_data_o(exponent_data),
      .start_o(start),
      .run_o(run),
      .idle_o(idle),
      .abort_o(abort),
      .last_place_o(last_place),
      .run_done_i(run_done),
      .key_short_i(key_short),
      .key_long_i(key_long),
      .key_ended_i(key_ended),
      .extract_o(extract),
      .word_o(word),
      .switch_o(switch),
      .switch_done_i(switch_done),
      .switch_short_i(switch_short),
      .switch_long_i(switch_long),
      .read_o(read),
      .small_o(small_word)
  );

  // ---- Schedule. ----

  token_t issued, early, reading, writing;
  transform_e transform;
  logic issue, reads, writes, product, product_keep, product_end, product_first, product_last;
  logic available, gathered;
  logic [StepWidth-1:0] step, product_step;
  logic [PlaceWidth-1:0] gathered_place;
  logic [(1<<PlaceWidth)-1:0] gather_free;
  logic [TwWidth-1:0] twiddle_at, twiddle_read;
  logic [PlaceWidth-1:0] product_place;
  logic [LogN-LogPos-1:0] product_group;
  logic [SeqUnroll-1:0] product_pattern;

  rm_torus_seq #(
      .LogN(LogN),
      .LogLanes(LogLanes),
      .Slots(Slots),
      .Rows(Rows),
      .Places(Places),
      .Group(Group),
      .LogPos(LogPos),
      .Unroll(SeqUnroll),
      .Dim(Bundled ? Turns : Dim),
      .Pairs(Pairs),
      .Coefficients(Coefficients)
  ) u_seq (
      .clk_i,
      .rst_ni,
      .clear_i(abort),
      .start_i(start),
      .last_place_i(last_place),
      .done_o(run_done),
      .issue_o(issue),
      .transform_o(transform),
      .step_odd_o(issued.odd),
      .first_o(issued.first),
      .last_o(issued.last),
      .half_o(issued.half),
      .tag_o(issued.tag),
      .row_o(issued.row),
      .place_o(issued.place),
      .step_o(step),
      .twiddle_o(twiddle_at),
      .gathered_i(gathered),
      .gathered_place_i(gathered_place),
      .free_o(gather_free),
      .available_i(available),
      .product_o(product),
      .product_keep_o(product_keep),
      .product_end_o(product_end),
      .product_first_o(product_first),
      .product_last_o(product_last),
      .product_place_o(product_place),
      .product_step_o(product_step),
      .product_group_o(product_group),
      .product_pattern_o(product_pattern)
  );

  assign issued.inverse = transform == Inverse;
  assign issued.bundle = transform == MaskKey || transform == BodyKey;
  assign issued.column = transform == BodyKey;

  rm_valid #(
      .Depth(Front - 1)
  ) u_reads (
      .clk_i,
      .rst_ni,
      .valid_i(issue),
      .valid_o(reads)
  );

  logic [TwWidth-1:0] twiddle_early;

  rm_delay #(
      .Width($bits(token_t) + TwWidth),
      .Depth(Front - 2)
  ) u_early (
      .clk_i,
      .d_i({issued, twiddle_at}),
      .q_o({early, twiddle_early})
  );

  always_ff @(posedge clk_i) begin
    reading <= early;
    twiddle_read <= twiddle_early;
  end

  rm_valid #(
      .Depth(Back - Front + 1)
  ) u_writes (
      .clk_i,
      .rst_ni,
      .valid_i(reads),
      .valid_o(writes)
  );

  rm_delay #(
      .Width($bits(token_t)),
      .Depth(Back - Front + 1)
  ) u_writing (
      .clk_i,
      .d_i(reading),
      .q_o(writing)
  );

  logic unused_token;
  assign unused_token = ^{writing.first, writing.tag};

  // ---- Exponents. ----

  logic [Unroll-1:0][LogN:0] exponents;
  localparam int unsigned ExponentWidth = $clog2(Places) + StepWidth;
  logic [ExponentWidth-1:0] exponent_at;
  logic [StepWidth-1:0] bundle_step;
  logic [PlaceWidth-1:0] bundle_place;

  assign exponent_at = (Unroll == 1) ? ExponentWidth'({issued.place, step}) :
      Bundled ? ExponentWidth'({bundle_place, bundle_step}) :
      ExponentWidth'({product_place, product_step});

  for (genvar t = 0; t < Unroll; t++) begin : gen_exponent
    rm_ram_1r1w #(
        .Width(LogN + 1),
        .Depth(1 << ExponentWidth),
        .Style("block")
    ) u_exponents (
        .clk_i,
        .we_i(exponent_set && exponent_bit == BitWidth'(t)),
        .waddr_i(ExponentWidth'({ctl_place, exponent_step})),
        .wdata_i(exponent_data),
        .re_i(1'b1),
        .raddr_i(exponent_at),
        .rdata_o(exponents[t])
    );
  end

  // ---- Accumulators. ----

  logic [1:0][2*Lanes-1:0][31:0] y, plain;
  // The results of the inverse transforms, with their place and row.
  logic [1:0][2*Lanes-1:0][Width-1:0] made;
  logic made_valid;
  logic [PlaceWidth-1:0] made_place;
  logic [LogH-1:0] made_row;
  logic [LogN-1:0] coefficient;
  logic [PlaceWidth-1:0] issued_place_q, turn_place;
  logic [LogH-1:0] issued_row_q, turn_row;

  // The place and the row, delayed to come with the exponent.
  always_ff @(posedge clk_i) begin
    issued_place_q <= issued.place;
    issued_row_q <= issued.row;
  end

  // The mask's word j is coefficient -j, negated but for j = 0; the body's is coefficient 0.
  assign coefficient = -word[LogN-1:0];
  assign turn_place = extract ? ctl_place : issued_place_q;
  assign turn_row = extract ? coefficient[LogN-2-:LogH] : issued_row_q;

  for (genvar c = 0; c < 2; c++) begin : gen_component
    rm_torus_turn #(
        .LogN(LogN),
        .LogLanes(LogLanes),
        .Places(Places),
        .Levels(Levels),
        .LogBase(LogBase),
        .Turns(Unroll == 1)
    ) u_turn (
        .clk_i,
        .rst_ni,
        .place_i(turn_place),
        .row_i(turn_row),
        .exponent_i(exponents[0]),
        .y_o(y[c]),
        .plain_o(plain[c]),
        .add_i(made_valid),
        .add_place_i(made_place),
        .add_row_i(made_row),
        .add_rows_i(made[c]),
        .set_i(set),
        .set_place_i(ctl_place),
        .set_index_i(set_index),
        .set_data_i((c == 1) ? set_data : '0)
    );
  end

  // ---- Transform units. ----

  logic [Lanes-1:0][Width-1:0] twiddle;
  logic [Rows-1:0][2*Lanes-1:0][Width-1:0] digits;

  for (genvar b = 0; b < Lanes; b++) begin : gen_twiddle
    rm_torus_twiddle #(
        .LogN(LogN),
        .LogLanes(LogLanes),
        .Lane(b)
    ) u_twiddle (
        .clk_i,
        .inverse_i(reading.inverse),
        .addr_i(twiddle_read),
        .w_o(twiddle[b])
    );
  end

  // Row c Levels + j is digit j of component c.
  for (genvar r = 0; r < Rows; r++) begin : gen_digits
    rm_torus_digits #(
        .Count(2 * Lanes),
        .LogBase(LogBase),
        .Low(32 - (r % Levels + 1) * LogBase)
    ) u_digits (
        .y_i(y[r/Levels]),
        .digit_o(digits[r])
    );
  end

  // ---- Key. ----

  logic key_available, key_take, key_keep, key_rewind;
  logic [BeatWidth-1:0] key;

  rm_torus_key #(
      .BeatWidth(BeatWidth),
      .Depth(Bundled ? RawBeats : KeyBeats),
      .Total(KeyTotal)
  ) u_key (
      .clk_i,
      .rst_ni,
      .run_i(run),
      .clear_i(idle),
      .key_valid_i,
      .key_ready_o,
      .key_data_i,
      .key_last_i,
      .key_cut_i,
      .short_o(key_short),
      .long_o(key_long),
      .ended_o(key_ended),
      .available_o(key_available),
      .take_i(key_take),
      .keep_i(key_keep),
      .rewind_i(key_rewind),
      .data_o(key)
  );

  if (Pairs) begin : gen_pairs

    // ---- The paper's order: products and inverse transforms of each pair. ----

    logic [Pos-1:0][Rows-1:0][1:0][Width-1:0] multiplied;
    logic [1:0][2*Lanes-1:0][31:0] sums;

    if (Bundles) begin : gen_bundles
      logic bundle_valid;
      logic [Pos-1:0][Rows-1:0][1:0][Width-1:0] bundle;
      logic [3:0] unused_bundle;

      rm_torus_bundle #(
          .LogN(LogN),
          .LogPos(LogPos),
          .Rows(Rows),
          .Unroll(Unroll),
          .Steps(Turns),
          .LastBits(LastBits),
          .Depth(KeyBeats)
      ) u_bundle (
          .clk_i,
          .rst_ni,
          .clear_i(idle),
          .available_i(key_available),
          .take_o(key_take),
          .step_o(bundle_step),
          .exponents_i(exponents),
          .key_i(key),
          .valid_o(bundle_valid),
          .bundle_o(bundle),
          .taken_i(product)
      );

      // The module u_bundle counts its bundles, so this queue always has room and its stream has no
      // end.
      rm_torus_key #(
          .BeatWidth(BeatWidth),
          .Depth(KeyBeats),
          .Total(Groups * Turns)
      ) u_bundles (
          .clk_i,
          .rst_ni,
          .run_i(run),
          .clear_i(idle),
          .key_valid_i(bundle_valid),
          .key_ready_o(unused_bundle[0]),
          .key_data_i(bundle),
          .key_last_i(1'b0),
          .key_cut_i(1'b0),
          .short_o(unused_bundle[1]),
          .long_o(unused_bundle[2]),
          .ended_o(unused_bundle[3]),
          .available_o(available),
          .take_i(product),
          .keep_i(1'b0),
          .rewind_i(1'b0),
          .data_o(multiplied)
      );
    end else begin : gen_plain
      assign available = key_available;
      assign key_take = product;
      assign multiplied = key;
      assign bundle_step = '0;
    end

    assign key_keep = 1'b0;
    assign key_rewind = 1'b0;
    assign bundle_place = '0;
    assign gathered = 1'b0;
    assign gathered_place = '0;

    rm_torus_pairs #(
        .LogN(LogN),
        .LogLanes(LogLanes),
        .LogPos(LogPos),
        .Levels(Levels)
    ) u_pairs (
        .clk_i,
        .rst_ni,
        .read_i(reads),
        .inverse_i(reading.inverse),
        .first_i(reading.first),
        .half_i(!reading.half),
        .row_i(reading.row),
        .digits_i(digits),
        .twiddle_i(twiddle),
        .write_i(writes),
        .write_inverse_i(writing.inverse),
        .write_last_i(writing.last),
        .write_half_i(writing.half),
        .write_row_i(writing.row),
        .product_i(product),
        .group_i(product_group),
        .key_i(multiplied),
        .sums_o(sums)
    );

    rm_valid #(
        .Depth(pair_sum_latency(Rows))
    ) u_made (
        .clk_i,
        .rst_ni,
        .valid_i(writes && writing.inverse && writing.last),
        .valid_o(made_valid)
    );

    rm_delay #(
        .Width(LogH),
        .Depth(pair_sum_latency(Rows))
    ) u_made_row (
        .clk_i,
        .d_i(writing.row),
        .q_o(made_row)
    );

    assign made_place = '0;
    for (genvar c = 0; c < 2; c++) begin : gen_made
      for (genvar i = 0; i < 2 * Lanes; i++) begin : gen_word
        assign made[c][i] = Width'(sums[c][i]);
      end
    end

    logic unused_products;
    assign unused_products = ^{product_keep, product_end, product_first, product_last,
        product_place, product_step, product_pattern, reading.tag, reading.place, writing.place,
        early, reading.bundle, reading.column, reading.odd, writing.bundle, writing.column,
        writing.odd, gather_free};
  end else begin : gen_sums

    // ---- Our order: transform units, sums of products in transform form. ----

    logic [Units-1:0][2*Lanes-1:0][Width-1:0] rows;
    logic [Units-1:0][Slots-1:0][Pos-1:0][Width-1:0] evaluations;
    logic [Units-1:0][Slots-1:0][1:0][Pos-1:0][Width-1:0] bundles;
    logic [Pos-1:0][Rows-1:0][1:0][Width-1:0] multiplied;
    logic [1:0][Pos-1:0][Width-1:0] sums;
    // The bundles in coefficient form, a column of them at a time.
    logic coefs_put;
    logic [PlaceWidth-1:0] coefs_place;
    logic [LogN-LogBeat-1:0] coefs_group;
    logic [Rows-1:0][1:0][Beat-1:0][32:0] coefs;
    logic [LogN:0] pattern_exponent;
    logic put;
    logic [PlaceWidth-1:0] put_place;
    logic [LogN-LogPos-1:0] put_group;

    for (genvar u = 0; u < Units; u++) begin : gen_unit
      // Slot s has row u Slots + s.
      logic [Slots-1:0][2*Lanes-1:0][Width-1:0] slot_digits;
      logic [2*Lanes-1:0][Width-1:0] unit_digits, entering;
      assign slot_digits = digits[u*Slots+:Slots];
      assign unit_digits = (Slots > 1) ? slot_digits[reading.tag[SlotWidth-1:0]] : slot_digits[0];

      if (Coefficients) begin : gen_coefs
        logic [2*Lanes-1:0][Width-1:0] unit_coefs;

        rm_torus_coefs #(
            .LogN(LogN),
            .LogLanes(LogLanes),
            .Slots(Slots),
            .Places(Places),
            .LogPos(LogBeat)
        ) u_coefs (
            .clk_i,
            .put_i(coefs_put),
            .put_place_i(coefs_place),
            .put_group_i(coefs_group),
            .put_data_i(coefs[u*Slots+:Slots]),
            .get_place_i(early.place),
            .get_slot_i(early.tag[SlotWidth-1:0]),
            .get_column_i(early.column),
            .get_row_i(early.row),
            .get_o(unit_coefs)
        );

        assign entering = reading.bundle ? unit_coefs : unit_digits;
      end else begin : gen_digits_only
        assign entering = unit_digits;
      end

      rm_torus_unit #(
          .LogN(LogN),
          .LogLanes(LogLanes),
          .Slots(Slots),
          .Places(Places),
          .Group(Group),
          .LogPos(LogPos),
          .HasSums(u < 2),
          .Coefficients(Coefficients)
      ) u_unit (
          .clk_i,
          .read_i(reads),
          .inverse_i(reading.inverse),
          .first_i(reading.first),
          .half_i(!reading.half),
          .tag_i(reading.tag),
          .row_i(reading.row),
          .place_i(reading.place),
          .digits_i(entering),
          .twiddle_i(twiddle),
          .write_i(writes),
          .write_inverse_i(writing.inverse),
          .write_last_i(writing.last),
          .write_half_i(writing.half),
          .write_tag_i(writing.tag),
          .write_row_i(writing.row),
          .write_place_i(writing.place),
          .write_bundle_i(writing.bundle),
          .write_column_i(writing.column),
          .write_odd_i(writing.odd),
          .rows_o(rows[u]),
          .get_place_i(product_place),
          .get_group_i(product_group),
          .get_o(evaluations[u]),
          .get_odd_i(product_step[0]),
          .get_bundle_o(bundles[u]),
          .put_i(put),
          .put_place_i(put_place),
          .put_group_i(put_group),
          .put_data_i(sums[u%2])
      );
    end

    assign made_valid = writes && writing.inverse && writing.last;
    assign made_place = writing.place;
    assign made_row = writing.row;
    assign made = rows[1:0];

    if (Coefficients) begin : gen_gather
      logic coefs_last;

      rm_torus_gather #(
          .LogN(LogN),
          .LogPos(LogBeat),
          .Rows(Rows),
          .Unroll(Unroll),
          .Steps(Turns),
          .LastBits(LastBits),
          .Places(Places)
      ) u_gather (
          .clk_i,
          .rst_ni,
          .clear_i(idle),
          .last_place_i(last_place),
          .available_i(key_available),
          .take_o(key_take),
          .key_i(key),
          .place_o(bundle_place),
          .step_o(bundle_step),
          .exponents_i(exponents),
          .free_i(gather_free),
          .put_o(coefs_put),
          .put_last_o(coefs_last),
          .put_place_o(coefs_place),
          .put_group_o(coefs_group),
          .put_data_o(coefs)
      );

      for (genvar j = 0; j < Pos; j++) begin : gen_position
        for (genvar r = 0; r < Rows; r++) begin : gen_row
          for (genvar c = 0; c < 2; c++) begin : gen_column
            assign multiplied[j][r][c] = bundles[r/Slots][r%Slots][c][j];
          end
        end
      end

      assign gathered = coefs_last;
      assign gathered_place = coefs_place;
      assign available = 1'b1;
      assign key_keep = 1'b0;
      assign key_rewind = 1'b0;

      logic unused_key;
      assign unused_key = ^{product_keep, product_end};
    end else begin : gen_key
      assign multiplied = key;
      assign available = key_available;
      assign key_take = product;
      assign key_keep = product_keep;
      assign key_rewind = product_end;
      assign bundle_step = '0;
      assign bundle_place = '0;
      assign gathered = 1'b0;
      assign gathered_place = '0;
      assign coefs_put = 1'b0;
      assign coefs_place = '0;
      assign coefs_group = '0;
      assign coefs = '0;

      logic unused_bundles;
      assign unused_bundles = ^{bundles, coefs_put, coefs_place, coefs_group, coefs, early, gather_free};
    end

    always_comb begin
      pattern_exponent = '0;
      for (int unsigned t = 0; t < Unroll; t++) begin
        if (!Bundled && product_pattern[t%SeqUnroll]) pattern_exponent = pattern_exponent + exponents[t];
      end
    end

    rm_torus_product #(
        .LogN(LogN),
        .LogPos(LogPos),
        .Rows(Rows),
        .Unroll(SeqUnroll)
    ) u_product (
        .clk_i,
        .rst_ni,
        .issue_i(product),
        .first_i(product_first),
        .last_i(product_last),
        .group_i(product_group),
        .exponent_i(pattern_exponent),
        .digits_i(evaluations),
        .key_i(multiplied),
        .valid_o(put),
        .sums_o(sums)
    );

    rm_delay #(
        .Width(PlaceWidth + LogN - LogPos),
        .Depth(product_latency(Rows, SeqUnroll))
    ) u_put (
        .clk_i,
        .d_i({product_place, product_group}),
        .q_o({put_place, put_group})
    );

    logic unused_sums;
    assign unused_sums = ^{rows, bundle_step};
  end

  // ---- Extraction. ----

  // One word of all that are read is selected: first a word of each group by the lower bits of its
  // number, then the group.
  localparam int unsigned IndexWidth = LogLanes + 2;
  localparam int unsigned WordBits = IndexWidth / 2;
  localparam int unsigned GroupBits = IndexWidth - WordBits;

  logic extract_q, extract_q2, extract_q3, negate_q, negate_q2;
  logic [IndexWidth-1:0] index_q;
  logic [GroupBits-1:0] group_q2;
  logic [(1<<GroupBits)-1:0][(1<<WordBits)-1:0][31:0] groups;
  logic [(1<<GroupBits)-1:0][31:0] words_q2;
  logic [PlaceWidth-1:0] put_place_q, put_place_q2, put_place_q3;
  logic [LogN:0] at_q, at_q2, at_q3;
  logic [31:0] picked, word_q3;

  assign groups = plain;
  assign picked = words_q2[group_q2];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      extract_q <= 1'b0;
      extract_q2 <= 1'b0;
      extract_q3 <= 1'b0;
    end else begin
      extract_q <= extract;
      extract_q2 <= extract_q;
      extract_q3 <= extract_q2;
    end
  end

  always_ff @(posedge clk_i) begin
    index_q <= {word[LogN], coefficient[LogN-1], coefficient[LogLanes-1:0]};
    group_q2 <= index_q[IndexWidth-1-:GroupBits];
    for (int unsigned g = 0; g < (1 << GroupBits); g++) begin
      words_q2[g] <= groups[g][index_q[WordBits-1:0]];
    end
    negate_q <= word[LogN-1:0] != '0;
    negate_q2 <= negate_q;
    put_place_q <= ctl_place;
    put_place_q2 <= put_place_q;
    put_place_q3 <= put_place_q2;
    at_q <= word[LogN:0];
    at_q2 <= at_q;
    at_q3 <= at_q2;
    word_q3 <= negate_q2 ? -picked : picked;
  end

  rm_torus_results #(
      .LogN(LogN),
      .Places(Places),
      .Dim(Dim),
      .SwitchBase(SwitchBase),
      .SwitchLevels(SwitchLevels),
      .Cores(Cores),
      .Rounds(Rounds),
      .Steps(Steps)
  ) u_results (
      .clk_i,
      .rst_ni,
      .put_i(extract_q3),
      .put_place_i(put_place_q3),
      .put_word_i(at_q3),
      .put_data_i(word_q3),
      .start_i(switch),
      .last_place_i(last_place),
      .done_o(switch_done),
      .short_o(switch_short),
      .long_o(switch_long),
      .switch_valid_i,
      .switch_ready_o,
      .switch_data_i,
      .switch_last_i,
      .read_i(read),
      .small_i(small_word),
      .place_i(ctl_place),
      .word_i(word),
      .data_o(out_data_o)
  );

endmodule
