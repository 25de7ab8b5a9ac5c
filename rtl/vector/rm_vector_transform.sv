// SPDX-License-Identifier: Apache-2.0
// The transform and automorphism unit of the vector machine: read permutation, transform and write
// permutation in a row, with their control (BASALISC paper, sections 6.1 and 6.2).
//
// It executes the instructions of unit `transform` on chunks of square limbs. A chunk goes in two
// halves of Span / 2 lines, the second Period cycles after the first. MORPH bypasses the transform.
// An instruction of one way enters when nothing is inside of the other way.
//
// An instruction enters with send_i while ready_o is high; ready_o depends on morph_i. Its chunk is
// at lines_i in the order of the banks two cycles later and stays for Period cycles more. At the
// end it waits (waits_o) until take_i. target_o is its target and lines_o its chunk in the order of
// the banks. rows_o has the numbers of the rows, or with LieColumns of the columns, that its lines
// are.
//
// item_q[r] is the item in rank r. crates/machines/src/vector/passes.rs says what goes from one
// rank to the next. Factors behind a pass are the powers of a line's seed: rm_vector_seed and
// rm_vector_factory work beside the transform and have them when it does.
module rm_vector_transform
  import rm_vector_pkg::*;
  import rm_vector_isa_pkg::*;
  import rm_vector_top_pkg::*;
#(
    parameter int unsigned LogRadix = 2,
    parameter int unsigned LogSpan = 1,
    parameter int unsigned Moduli = 4,
    parameter int unsigned Period = 3,
    parameter int unsigned Width = 32,
    localparam int unsigned Radix = 1 << LogRadix,
    localparam int unsigned Span = 1 << LogSpan
) (
    input  logic                                        clk_i,
    input  logic                                        rst_ni,
    input  logic                                        load_i,
    input  entry_t                                      entry_i,
    input  logic                                        send_i,
    input  logic                                        morph_i,
    output logic                                        ready_o,
    output logic                                        idle_o,
    input  word_t                                       word_i,
    input  logic    [Width-1:0]                         q_i,
    input  logic    [Width-1:0]                         one_i,
    input  logic    [ Span-1:0][   Radix-1:0][Width-1:0] lines_i,
    output logic                                        enters_o,
    output logic                                        waits_o,
    input  logic                                        take_i,
    output target_t                                     target_o,
    output logic    [ Span-1:0][LogRadix-1:0]           rows_o,
    output logic    [ Span-1:0][   Radix-1:0][Width-1:0] lines_o
);

  localparam int unsigned Lines = Span / 2;
  localparam int unsigned LogLimb = LogRadix - LogSpan;
  localparam int unsigned LogN = 2 * LogRadix;
  localparam int unsigned IndexWidth = (Moduli > 1) ? $clog2(Moduli) : 1;
  localparam int unsigned Side = net_stages(LogRadix);
  localparam int unsigned Ntt = ntt_stages(LogRadix);
  // Pass: the ranks of the way through the transform. Out: the first rank of the write side. Seed:
  // the rank beside which seeds begin, so that their powers are ready behind the butterflies.
  localparam int unsigned Pass = pass_stages(LogRadix);
  localparam int unsigned Out = Side + Ntt;
  localparam int unsigned Seed = Side + LogRadix - 1;
  localparam int unsigned Powers = Seed + 1 + MulStages;
  localparam int unsigned LogLow = LogRadix / 2;

  if (LogSpan < 1 || LogSpan >= LogRadix || Period < 3) begin : gen_check
    $error("rm_vector_transform: halves of whole lines, and a chunk is there two cycles after its item");
  end

  // The values that half a chunk keeps to the last rank.
  typedef struct packed {
    logic                  morph;
    logic                  half;
    logic                  columns;
    logic [1:0]            pass;     // lowest bits of the instruction's code; bit 1 is inverse
    logic [IndexWidth-1:0] modulus;
    logic [Width-1:0]      q;
    logic [Width-1:0]      one;
    logic [LogN:0]         g;
    logic [LogLimb-1:0]    a;        // chunk of its limb
    logic [13:0]           d;
  } item_t;

  item_t entering, again_q;
  item_t [Pass-1:0] item_q;
  item_t out;
  logic way, again, enters;
  logic [1:0] entered_q;
  logic [Pass:0] move;

  // Returns the number, in the limb, of line l of an item's half.
  function automatic logic [LogRadix-1:0] line_of(logic [LogLimb-1:0] chunk, logic half,
                                                  logic [LogRadix-1:0] l);
    return LogRadix'({chunk, half}) * LogRadix'(Lines) + l;
  endfunction

  // What enters: the first half with its instruction, the second from a copy.
  assign enters = send_i || again;
  assign enters_o = enters;

  always_comb begin
    entering = again_q;
    entering.half = 1'b1;
    if (send_i) begin
      entering = '{
          morph: morph_i,
          half: 1'b0,
          columns: read_lie(word_i.op) == LieColumns,
          pass: word_i.op[1:0],
          modulus: word_i.modulus[IndexWidth-1:0],
          q: q_i,
          one: one_i,
          g: word_i.n[LogN:0],
          a: word_i.a[LogLimb-1:0],
          d: word_i.d
      };
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) entered_q <= '0;
    else entered_q <= {entered_q[0], enters};
  end

  always_ff @(posedge clk_i) if (send_i) again_q <= entering;

  rm_vector_ways #(
      .LogRadix(LogRadix),
      .Period(Period)
  ) u_ways (
      .clk_i,
      .rst_ni,
      .send_i,
      .morph_i,
      .ready_o,
      .idle_o,
      .again_o(again),
      .way_o(way),
      .waits_o,
      .take_i,
      .move_o(move[Pass:1])
  );

  // The buffer's words are in rank 0 two cycles after their item.
  assign move[0] = entered_q[1];

  always_ff @(posedge clk_i) begin
    if (enters) item_q[0] <= entering;
    for (int unsigned r = 1; r < Pass; r++) begin
      if (move[r]) item_q[r] <= (r == Out) ? out : item_q[r-1];
    end
  end

  assign out = way ? item_q[Side-1] : item_q[Out-1];

  // The read side: from banks into their own order.
  logic [Lines-1:0][Radix-1:0][Width-1:0] banks, natural, turned, written, written_in, first_q;
  logic [Lines-1:0][LogRadix-1:0] own;

  assign banks = item_q[0].half ? lines_i[Span-1:Lines] : lines_i[Lines-1:0];
  for (genvar l = 0; l < Lines; l++) begin : gen_own
    assign own[l] = line_of(item_q[0].a, item_q[0].half, LogRadix'(l));
  end

  // The parameters and rows of the target of an automorphism.
  logic [LogRadix-1:0] a;
  logic [Lines-1:0][LogRadix-1:0] b, row, b_out, c_out, row_out, first_row_q;

  rm_vector_read #(
      .LogLanes(LogRadix),
      .Lines(Lines),
      .Width(Width)
  ) u_read (
      .clk_i,
      .move_i(move[Side-1:0]),
      .g_i(item_q[0].g),
      .own_i(own),
      .lines_i(banks),
      .a_o(a),
      .b_o(b),
      .row_o(row),
      .lines_o(natural)
  );

  // The transform and its control signals.
  localparam int unsigned Within = ntt_factors(LogRadix, LogRadix);
  logic [Ntt-1:0][Width-1:0] q_ntt;
  logic [LogRadix-1:0] half, within_move, within_inverse;
  logic [LogRadix-1:0][IndexWidth-1:0] within_modulus;
  logic [Radix-1:1][Width-1:0] ahead;
  logic [Within-1:0][Width-1:0] inner;
  logic [MulStages-1:0][Width-1:0] q_seed;
  logic [LogRadix*MulStages-1:0][Width-1:0] q_powers;

  for (genvar k = 0; k < Ntt; k++) begin : gen_q
    assign q_ntt[k] = item_q[Side+k-1].q;
  end
  for (genvar k = 0; k < MulStages; k++) begin : gen_q_seed
    assign q_seed[k] = item_q[Seed+k].q;
  end
  for (genvar k = 0; k < LogRadix * MulStages; k++) begin : gen_q_powers
    assign q_powers[k] = item_q[Powers+k-1].q;
  end
  for (genvar s = 0; s < LogRadix; s++) begin : gen_rank
    localparam int unsigned First = Side + MulStages + s * butterfly_stages();
    assign half[s] = item_q[First-1].pass[1];
    assign within_move[s] = move[First];
    assign within_modulus[s] = item_q[First-1].modulus;
    assign within_inverse[s] = item_q[First-1].pass[1];
  end

  rm_vector_factors #(
      .LogRadix(LogRadix),
      .Moduli(Moduli),
      .Width(Width)
  ) u_factors (
      .clk_i,
      .load_i,
      .entry_i,
      .before_move_i(move[Side-1]),
      .before_modulus_i(item_q[Side-2].modulus),
      .before_pass_i(item_q[Side-2].pass[0]),
      .before_none_i(item_q[Side-2].pass[1]),
      .one_i(item_q[Side-2].one),
      .within_move_i(within_move),
      .within_modulus_i(within_modulus),
      .within_inverse_i(within_inverse),
      .before_o(ahead),
      .within_o(inner)
  );

  for (genvar l = 0; l < Lines; l++) begin : gen_unit
    logic [Width-1:0] seed;
    logic [Radix-1:1][Width-1:0] powers;

    rm_vector_seed #(
        .LogLow(LogLow),
        .LogHigh(LogRadix - LogLow),
        .Sets(4 * Moduli),
        .Width(Width)
    ) u_seed (
        .clk_i,
        .load_i(load_i && (entry_i.kind inside {TableSeedLow, TableSeedHigh})),
        .load_high_i(entry_i.kind == TableSeedHigh),
        .load_set_i({entry_i.modulus[IndexWidth-1:0], entry_i.pass}),
        .load_index_i(entry_i.index[LogRadix-LogLow-1:0]),
        .load_word_i(entry_i.word[Width-1:0]),
        .move_i(move[Seed+:1+MulStages]),
        .q_i(q_seed),
        .set_i({item_q[Seed-1].modulus, item_q[Seed-1].pass}),
        .column_i(line_of(item_q[Seed-1].a, item_q[Seed-1].half, LogRadix'(l))),
        .seed_o(seed)
    );

    rm_vector_factory #(
        .LogRadix(LogRadix),
        .Width(Width)
    ) u_factory (
        .clk_i,
        .move_i(move[Powers+:LogRadix*MulStages]),
        .q_i(q_powers),
        .seed_i(seed),
        .power_o(powers)
    );

    rm_vector_ntt #(
        .LogRadix(LogRadix),
        .Width(Width)
    ) u_ntt (
        .clk_i,
        .move_i(move[Side+:Ntt]),
        .q_i(q_ntt),
        .half_i(half),
        .skip_i('0),
        .before_i(ahead),
        .within_i(inner),
        .behind_i(powers),
        .line_i(natural[l]),
        .line_o(turned[l])
    );
  end

  // The write side: back into the order of banks, or to where an automorphism has them.
  assign written_in = way ? natural : turned;
  for (genvar l = 0; l < Lines; l++) begin : gen_out
    assign b_out[l] = way ? b[l] : '0;
    assign c_out[l] = way ? row[l] : line_of(item_q[Out-1].d[LogLimb-1:0], item_q[Out-1].half, LogRadix'(l));
  end

  rm_vector_write #(
      .LogLanes(LogRadix),
      .Lines(Lines),
      .Width(Width)
  ) u_write (
      .clk_i,
      .move_i(move[Pass-1:Out]),
      .a_i(way ? a : LogRadix'(1)),
      .b_i(b_out),
      .c_i(c_out),
      .lines_i(written_in),
      .c_o(row_out),
      .lines_o(written)
  );

  // The first half waits behind the last rank for the second.
  always_ff @(posedge clk_i) begin
    if (move[Pass]) begin
      first_q <= written;
      first_row_q <= row_out;
    end
  end

  assign lines_o = {written, first_q};
  assign rows_o = {row_out, first_row_q};
  assign target_o = '{
          lie: item_q[Pass-1].morph ? LieScattered : item_q[Pass-1].columns ? LieColumns : LieRows,
          place: item_q[Pass-1].d
      };

  logic unused_word;
  assign unused_word = ^word_i;

endmodule
