// Input stream: fills a polynomial, or the tables, and keeps the configuration that came with the
// tables.
//
// A polynomial is n / Beat beats of Beat residues in order, word 0 lowest, in_last_i with the last.
// Coefficient l of a row of 2 P goes to place l div P of unit l mod P; in evaluation form (eval_i)
// to place l mod 2 of unit l div 2, where the forward transform leaves it. Tables are one beat {..,
// R^2 mod q, q} and n words, Beat a beat: word 0 is psi^(n/2) R^2 mod q, word m + j the twiddle
// psi^bitrev(m + j) R mod q of block j in the stage of m blocks.
//
// A stream that ends early, or does not end, is an error; what follows a missing end is dropped up
// to the next in_last_i. Residues not below q, and a q that is not 1 modulo 2n, are errors.
// After each the next command starts afresh; tables are valid only after tables that ended with
// CodeOk.
//
// One beat a cycle for a polynomial, one word a cycle for tables. start_i in cycle 0, the first
// beat is taken in cycle 1 at the earliest, done_o with code_o comes the cycle after the last.
module rm_polymul_load
  import rm_polymul_pkg::*;
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
    input  logic                                tables_i,
    input  logic                                set_i,
    input  logic                                buf_i,
    input  logic                                eval_i,
    input  logic     [4:0]                      log_n_i,
    output logic                                busy_o,
    output logic                                busy_tables_o,
    output logic                                set_o,
    output logic                                buf_o,
    output logic                                done_o,
    output code_e                               code_o,
    // Stream.
    input  logic                                in_valid_i,
    output logic                                in_ready_o,
    input  logic     [Beat*Width-1:0]           in_data_i,
    input  logic                                in_last_i,
    // Coefficient memories: which banks of which units, and their words.
    output logic     [Units-1:0][1:0]           we_o,
    output logic     [AddrWidth-1:0]            waddr_o,
    output logic     [Units-1:0][1:0][Width-1:0] wdata_o,
    // Twiddle memories.
    output logic     [Units-1:0]                tw_we_o,
    output logic     [TwAddrWidth-1:0]          tw_waddr_o,
    output logic     [Width-1:0]                tw_wdata_o,
    // Configuration.
    output logic                                valid_o,
    output logic     [4:0]                      log_n_o,
    output logic     [Width-1:0]                q_o,
    output logic     [Width-1:0]                scale_o
);

  localparam int unsigned LaneBits = $clog2(Units) + 1;
  localparam int unsigned BeatBits = $clog2(Beat);
  localparam int unsigned UnitBits = LaneBits - 1;
  localparam int unsigned GroupBits = LaneBits - BeatBits;
  localparam int unsigned CountWidth = RowBits + GroupBits;

  typedef enum logic [2:0] {
    Idle,
    Header,
    Words,
    Beats,
    Drop
  } state_e;

  state_e state_d, state_q;
  code_e code_d, code_q;
  logic finish, done_q, tables_q, set_q, buf_q, eval_q, valid_d, valid_q;
  logic [4:0] log_n_q;
  logic [Width-1:0] q_q, scale_q;
  logic [CountWidth-1:0] count_d, count_q, last_count;
  logic [RowBits:0] row_d, row_q, rows;
  logic [UnitBits-1:0] part_d, part_q, mask_d, mask_q;
  logic [TwAddrWidth-1:0] tw_addr_d, tw_addr_q;
  logic [BeatBits-1:0] word_d, word_q;
  logic first_d, first_q, beat, word_done, unreduced, low_bits;
  logic [Beat-1:0][Width-1:0] data;
  logic [Beat-1:0] over;
  logic [4:0] word;

  assign data = in_data_i;
  assign rows = (RowBits + 1)'(1) << (log_n_q - 5'(LaneBits));
  assign last_count = CountWidth'({rows, GroupBits'(0)} - 1'b1);
  assign word_done = word_q == BeatBits'(Beat - 1);
  assign in_ready_o = (state_q == Words) ? word_done
      : state_q == Header || state_q == Beats || state_q == Drop;
  assign beat = in_valid_i && in_ready_o;

  for (genvar i = 0; i < Beat; i++) begin : gen_over
    assign over[i] = data[i] >= q_q;
  end
  assign unreduced = |over;

  // q in the header is 1 modulo 2n.
  assign word = log_n_q + 1'b1;
  always_comb begin
    low_bits = !data[0][0];
    for (int unsigned i = 1; i < Width - 1; i++) begin
      if (5'(i) < word) low_bits |= data[0][i];
    end
  end

  always_comb begin
    state_d = state_q;
    code_d = code_q;
    count_d = count_q;
    row_d = row_q;
    part_d = part_q;
    mask_d = mask_q;
    tw_addr_d = tw_addr_q;
    word_d = word_q;
    first_d = first_q;
    valid_d = valid_q;
    finish = 1'b0;

    unique case (state_q)
      Idle: begin
        if (start_i) begin
          state_d = tables_i ? Header : Beats;
          code_d = CodeOk;
          count_d = '0;
          row_d = '0;
          part_d = '0;
          mask_d = '0;
          tw_addr_d = '0;
          word_d = '0;
          first_d = 1'b1;
          if (tables_i) valid_d = 1'b0;
        end
      end
      Header: begin
        if (beat) begin
          state_d = Words;
          finish = in_last_i;
          if (low_bits || data[0][Width-1:1] == '0) code_d = CodeBadModulus;
          else if (data[1] >= data[0]) code_d = CodeNotReduced;
          if (in_last_i) code_d = CodeTooShort;
        end
      end
      Words: begin
        if (in_valid_i) begin
          word_d = word_q + 1'b1;
          part_d = (part_q == mask_q) ? '0 : part_q + 1'b1;
          if (part_q == mask_q) begin
            tw_addr_d = tw_addr_q + 1'b1;
            row_d = row_q + 1'b1;
            if (row_q == rows - 1'b1) begin
              row_d = '0;
              first_d = 1'b0;
              if (!first_q) mask_d = UnitBits'({mask_q, 1'b1});
            end
          end
        end
      end
      default: ;
    endcase

    if (beat && (state_q == Words || state_q == Beats)) begin
      count_d = count_q + 1'b1;
      if (unreduced && code_q == CodeOk) code_d = CodeNotReduced;
      if (in_last_i) begin
        finish = 1'b1;
        if (count_q != last_count) code_d = CodeTooShort;
      end else if (count_q == last_count) begin
        state_d = Drop;
        code_d = CodeTooLong;
      end
    end
    if (beat && state_q == Drop) finish = in_last_i;
    if (finish) begin
      state_d = Idle;
      if (tables_q) valid_d = code_d == CodeOk;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      code_q <= CodeOk;
      valid_q <= 1'b0;
      done_q <= 1'b0;
      tables_q <= 1'b0;
      set_q <= 1'b0;
      buf_q <= 1'b0;
      eval_q <= 1'b0;
      log_n_q <= 5'(MinLogN);
    end else begin
      state_q <= state_d;
      code_q <= code_d;
      valid_q <= valid_d;
      done_q <= finish;
      if (state_q == Idle && start_i) begin
        tables_q <= tables_i;
        set_q <= set_i;
        buf_q <= buf_i;
        eval_q <= eval_i;
        if (tables_i) log_n_q <= log_n_i;
      end
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
    if (beat && state_q == Header) begin
      q_q <= data[0];
      scale_q <= data[1];
    end
  end

  assign busy_o = state_q != Idle;
  assign busy_tables_o = busy_o && tables_q;
  assign set_o = set_q;
  assign buf_o = buf_q;
  assign done_o = done_q;
  assign code_o = code_q;
  assign valid_o = valid_q;
  assign log_n_o = log_n_q;
  assign q_o = q_q;
  assign scale_o = scale_q;

  // Writes leave from registers.
  logic [RowBits-1:0] row;
  logic [GroupBits-1:0] group;
  logic parity, parity_q, write_eval_q;
  logic [Units-1:0][1:0] we;
  logic [Units-1:0] tw_we;
  logic [Beat-1:0][Width-1:0] data_q;

  assign row = count_q[CountWidth-1:GroupBits];
  assign group = count_q[GroupBits-1:0];
  assign parity = (^row) ^ buf_q;

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
      assign wdata_o[p][b] = !write_eval_q ? data_q[p%Beat]
          : (parity_q ^ 1'(b)) ? data_q[(2*p)%Beat+1] : data_q[(2*p)%Beat];
    end
    assign tw_we[p] = (state_q == Words) && in_valid_i && (UnitBits'(p) & mask_q) == part_q;
  end

  always_ff @(posedge clk_i) begin
    waddr_o <= {buf_q, row};
    data_q <= data;
    parity_q <= parity;
    write_eval_q <= eval_q;
    tw_waddr_o <= tw_addr_q;
    tw_wdata_o <= data[word_q];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      we_o <= '0;
      tw_we_o <= '0;
    end else begin
      we_o <= we;
      tw_we_o <= tw_we;
    end
  end

endmodule
