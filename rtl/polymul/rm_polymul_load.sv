// SPDX-License-Identifier: Apache-2.0
// Writes the input stream to a polynomial or to a slot of tables, and checks it.
//
// A polynomial is n / Beat beats of Beat residues in order, word 0 lowest, with in_last_i on the
// last beat. Coefficient l of a row of 2 P goes to place l div P of unit l mod P. In evaluation
// form it goes to place l mod 2 of unit l div 2, where the forward transform leaves it.
//
// Tables are two beats {.., q} and {0, .., R mod q, R^2 mod q}, then n words, Beat a beat. Word 0
// is psi^(n/2) R^2 mod q. Word m + j is the twiddle psi^bitrev(m + j) R mod q of block j in the
// stage of m blocks.
//
// A stream that ends early or does not end is an error; the unit drops all words after a missing
// end, up to the next in_last_i. Words not below q, and a q that is not 1 modulo 2n, are errors.
// The code names the first error in the order length, modulus, words. abort_i ends a stream that
// was cut at any point. After each of these the next command starts afresh.
//
// Throughput: one beat a cycle for a polynomial, one word a cycle for tables. start_i comes in
// cycle 2 of its command, and the first beat is taken in cycle 3 at the earliest. done_o with
// code_o, and the write, come two cycles after the last beat.
module rm_polymul_load
  import rm_polymul_isa_pkg::*, rm_polymul_pkg::*;
#(
    parameter int unsigned Units = 32,
    parameter int unsigned Width = 32,
    parameter int unsigned Beat = 4,
    parameter int unsigned RowBits = 6,
    parameter int unsigned TwAddrWidth = 9,
    localparam int unsigned AddrWidth = RowBits + 1
) (
    input  logic                                clk_i,
    input  logic                                rst_ni,
    input  logic                                start_i,
    input  logic                                abort_i,
    input  command_t                            command_i,
    output logic                                done_o,
    output code_e                               code_o,
    // Stream.
    input  logic                                in_valid_i,
    output logic                                in_ready_o,
    input  logic     [Beat*Width-1:0]           in_data_i,
    input  logic                                in_last_i,
    // Coefficient memories, one register before their ports: which banks of which units.
    output logic     [Units-1:0][1:0]           we_o,
    output logic                                set_o,
    output logic     [AddrWidth-1:0]            waddr_o,
    // Their words, in the cycle of the write.
    output logic     [Units-1:0][1:0][Width-1:0] wdata_o,
    // Twiddle memories.
    output logic     [Units-1:0]                tw_we_o,
    output logic     [TwAddrWidth:0]            tw_waddr_o,
    output logic     [Width-1:0]                tw_wdata_o,
    // Configuration: the words of the header, and the slot's modulus and degree.
    output logic                                modulus_we_o,
    output logic                                constants_we_o,
    output logic     [1:0][Width-1:0]           header_o,
    input  logic     [Width-1:0]                q_i,
    input  logic     [4:0]                      log_n_i
);

  localparam int unsigned LaneBits = $clog2(Units) + 1;
  localparam int unsigned BeatBits = $clog2(Beat);
  localparam int unsigned UnitBits = LaneBits - 1;
  localparam int unsigned GroupBits = LaneBits - BeatBits;
  localparam int unsigned CountWidth = RowBits + GroupBits;

  typedef enum logic [2:0] {
    Idle,
    Modulus,
    Constants,
    Words,
    Beats,
    Drop
  } state_e;

  state_e state_d, state_q;
  logic running_q, set_q, buffer_q, eval_q, slot_q;
  logic finish, short_d, short_q, long_d, long_q, bad_q, unreduced_q;
  logic ended_q, done_q, aborted_q;
  code_e code_d, code_q;
  // The bits of q, above the lowest, that must be 0 because q is 1 modulo 2n.
  logic [Width-2:1] fixed_d, fixed_q;
  logic [CountWidth-1:0] count_d, count_q, last_count_q;
  logic [RowBits:0] row_d, row_q, last_row_q;
  logic [UnitBits-1:0] part_d, part_q, mask_d, mask_q;
  logic [TwAddrWidth-1:0] tw_addr_d, tw_addr_q;
  logic [BeatBits-1:0] word_d, word_q;
  logic first_d, first_q, beat, last_word, last_beat, part_done;
  logic [Beat-1:0][Width-1:0] data, data_q;

  assign data = in_data_i;
  assign last_word = word_q == BeatBits'(Beat - 1);
  assign last_beat = count_q == last_count_q;
  assign part_done = part_q == mask_q;
  assign in_ready_o = (state_q == Words) ? last_word : running_q;
  assign beat = in_valid_i && in_ready_o;

  always_comb begin
    state_d = state_q;
    count_d = count_q;
    row_d = row_q;
    part_d = part_q;
    mask_d = mask_q;
    tw_addr_d = tw_addr_q;
    word_d = word_q;
    first_d = first_q;
    short_d = short_q;
    long_d = long_q;
    finish = 1'b0;

    unique case (state_q)
      Idle: begin
        if (start_i) begin
          state_d = (command_i.op == OpTables) ? Modulus : Beats;
          count_d = '0;
          row_d = '0;
          part_d = '0;
          mask_d = '0;
          tw_addr_d = '0;
          word_d = '0;
          first_d = 1'b1;
          short_d = 1'b0;
          long_d = 1'b0;
        end
      end
      Modulus: if (beat) state_d = Constants;
      Constants: if (beat) state_d = Words;
      Words: begin
        if (in_valid_i) begin
          word_d = word_q + 1'b1;
          part_d = part_done ? '0 : part_q + 1'b1;
          if (part_done) begin
            tw_addr_d = tw_addr_q + 1'b1;
            row_d = row_q + 1'b1;
            if (row_q == last_row_q) begin
              row_d = '0;
              first_d = 1'b0;
              if (!first_q) mask_d = UnitBits'({mask_q, 1'b1});
            end
          end
        end
      end
      default: ;
    endcase

    if (beat) begin
      finish = in_last_i;
      if (state_q == Words || state_q == Beats) begin
        count_d = count_q + 1'b1;
        if (in_last_i) short_d = !last_beat;
        else if (last_beat) begin
          state_d = Drop;
          long_d = 1'b1;
        end
      end else if (state_q != Drop) short_d = in_last_i;
    end
    if (abort_i && state_q != Idle) finish = 1'b1;
    if (finish) state_d = Idle;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      running_q <= 1'b0;
      ended_q <= 1'b0;
      done_q <= 1'b0;
    end else begin
      state_q <= state_d;
      running_q <= state_d != Idle;
      ended_q <= finish;
      done_q <= ended_q;
    end
  end

  always_ff @(posedge clk_i) begin
    count_q <= count_d;
    row_q <= row_d;
    part_q <= part_d;
    mask_q <= mask_d;
    tw_addr_q <= tw_addr_d;
    word_q <= word_d;
    first_q <= first_d;
    short_q <= short_d;
    long_q <= long_d;
    aborted_q <= abort_i && !(beat && in_last_i);
    if (start_i) begin
      set_q <= command_i.set;
      buffer_q <= command_i.buffer;
      eval_q <= command_i.eval;
      slot_q <= command_i.slot;
    end
    // log_n_i is that of the slot at the latest two cycles after start_i, in time for the first
    // word that needs these registers.
    fixed_q <= fixed_d;
    last_count_q <= CountWidth'((32'd1 << (log_n_i - 5'(BeatBits))) - 32'd1);
    last_row_q <= (RowBits + 1)'((32'd1 << (log_n_i - 5'(LaneBits))) - 32'd1);
  end

  // The words of a beat are checked in the cycle after it.
  logic check_q, modulus_q, bad, unreduced;
  logic [Beat-1:0] over;

  for (genvar i = 0; i < Beat; i++) begin : gen_over
    assign over[i] = data_q[i] >= q_i;
  end
  assign unreduced = check_q && (|over);

  // q is 1 modulo 2n and not 1.
  for (genvar i = 1; i < Width - 1; i++) begin : gen_fixed
    assign fixed_d[i] = log_n_i >= 5'(i);
  end
  assign bad = modulus_q && (!data_q[0][0] || data_q[0][Width-1:1] == '0 ||
      (data_q[0][Width-2:1] & fixed_q) != '0);

  always_ff @(posedge clk_i) begin
    data_q <= data;
    modulus_q <= beat && state_q == Modulus;
    check_q <= beat && (state_q == Constants || state_q == Words || state_q == Beats);
    if (start_i) begin
      bad_q <= 1'b0;
      unreduced_q <= 1'b0;
    end else begin
      bad_q <= bad_q || bad;
      unreduced_q <= unreduced_q || unreduced;
    end
  end

  always_comb begin
    code_d = CodeOk;
    if (aborted_q) code_d = CodeAborted;
    else if (short_q) code_d = CodeTooShort;
    else if (long_q) code_d = CodeTooLong;
    // A stream that ends with its modulus is too short.
    else if (bad_q) code_d = CodeBadModulus;
    else if (unreduced_q || unreduced) code_d = CodeNotReduced;
  end

  always_ff @(posedge clk_i) code_q <= code_d;

  assign done_o = done_q;
  assign code_o = code_q;

  assign modulus_we_o = modulus_q;
  assign header_o = {data_q[1], data_q[0]};

  // Writes leave from registers.
  logic [RowBits-1:0] row;
  logic [GroupBits-1:0] group;
  logic parity, parity_q, write_eval_q, constants_q;
  logic [Units-1:0][1:0] we;
  logic [Units-1:0] tw_we;
  logic [Units-1:0][1:0][Width-1:0] wdata_d;

  assign row = count_q[CountWidth-1:GroupBits];
  assign group = count_q[GroupBits-1:0];
  assign parity = (^row) ^ buffer_q;

  for (genvar p = 0; p < Units; p++) begin : gen_unit
    logic hit, hit_eval;
    // A beat lies in one place of Beat units, or in both places of Beat / 2 units.
    if (Units > Beat) begin : gen_groups
      assign hit = group[GroupBits-2:0] == (GroupBits - 1)'(p / Beat);
    end else begin : gen_all
      assign hit = 1'b1;
    end
    assign hit_eval = group == GroupBits'(p / (Beat / 2));
    for (genvar b = 0; b < 2; b++) begin : gen_bank
      assign we[p][b] = (state_q == Beats) && beat &&
          (eval_q ? hit_eval : hit && (group[GroupBits-1] ^ parity) == 1'(b));
      assign wdata_d[p][b] = !write_eval_q ? data_q[p%Beat]
          : (parity_q ^ 1'(b)) ? data_q[(2*p)%Beat+1] : data_q[(2*p)%Beat];
    end
    assign tw_we[p] = (state_q == Words) && in_valid_i && (UnitBits'(p) & mask_q) == part_q;
  end

  always_ff @(posedge clk_i) begin
    set_o <= set_q;
    waddr_o <= {buffer_q, row};
    wdata_o <= wdata_d;
    parity_q <= parity;
    write_eval_q <= eval_q;
    tw_waddr_o <= {slot_q, tw_addr_q};
    tw_wdata_o <= data[word_q];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      we_o <= '0;
      tw_we_o <= '0;
      constants_q <= 1'b0;
    end else begin
      we_o <= we;
      tw_we_o <= tw_we;
      constants_q <= beat && state_q == Constants;
    end
  end

  assign constants_we_o = constants_q;

  logic unused_command;
  assign unused_command = ^command_i.log_n;

endmodule
