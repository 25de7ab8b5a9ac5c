// SPDX-License-Identifier: Apache-2.0
// Executes the commands of the TFHE engine: the streams of a load and an unload, and the sample
// extract.
//
//   command   what comes or goes                                                         place
//   OpLoad    minus the body's exponent modulo 2N, the table's N words, Dim exponents;   where to
//             the accumulator becomes (0, X^e table), e the first word
//   OpRun     the key                                                                    the last
//   OpUnload  N mask words and the body of the extracted ciphertext                      where from
//   OpSwitch  the switching key                                                          the last
//   OpGive    Dim mask words and the body of the switched ciphertext                     where from
//
// A load takes a word a cycle. An extraction, at the end of a run, takes N + 1 cycles a place, one
// for each word. A place that was run holds no ciphertext to run any more. A place that was
// extracted can be switched and unloaded until it is run again. A command that is refused
// (BadCommand, NotLoaded) changes nothing and takes no stream. After another error there is no
// result of the load, run or switch; the stream is taken up to its end. Places of a wrong load or
// run must then be loaded again.
module rm_torus_ctl
  import rm_torus_isa_pkg::*, rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned Places = 2,
    parameter int unsigned Dim = 24,
    parameter int unsigned Unroll = 1,
    localparam int unsigned PlaceWidth = (Places > 1) ? $clog2(Places) : 1,
    localparam int unsigned Steps = (Dim + Unroll - 1) / Unroll,
    localparam int unsigned StepWidth = (Steps > 1) ? $clog2(Steps) : 1,
    localparam int unsigned BitWidth = (Unroll > 1) ? $clog2(Unroll) : 1,
    localparam int unsigned WordWidth = word_width(LogN, Dim)
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    input  logic                    cmd_valid_i,
    output logic                    cmd_ready_o,
    input  logic [2:0]              cmd_op_i,
    input  logic [7:0]              cmd_place_i,
    output logic                    done_o,
    output logic [2:0]              code_o,
    // Streams.
    input  logic                    in_valid_i,
    output logic                    in_ready_o,
    input  logic [31:0]             in_data_i,
    input  logic                    in_last_i,
    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output logic                    out_last_o,
    // Loading.
    output logic                    set_o,
    output logic [PlaceWidth-1:0]   place_o,
    output logic [LogN-1:0]         set_index_o,
    output logic [31:0]             set_data_o,
    output logic                    exponent_o,
    output logic [StepWidth-1:0]    exponent_step_o,
    output logic [BitWidth-1:0]     exponent_bit_o,
    output logic [LogN:0]           exponent_data_o,
    // A run.
    output logic                    start_o,
    output logic                    run_o,
    output logic                    idle_o,
    output logic                    abort_o,
    output logic [PlaceWidth-1:0]   last_place_o,
    input  logic                    run_done_i,
    input  logic                    key_short_i,
    input  logic                    key_long_i,
    input  logic                    key_ended_i,
    // Extraction: word `word_o` of place_o, N the body's; `extract_o` reads the accumulators.
    output logic                    extract_o,
    output logic [WordWidth-1:0]    word_o,
    // A key switch of places 0 to the last.
    output logic                    switch_o,
    input  logic                    switch_done_i,
    input  logic                    switch_short_i,
    input  logic                    switch_long_i,
    // Reading the next word of the extracted ciphertext, or of the switched one.
    output logic                    read_o,
    output logic                    small_o
);

  // The cycles of an abort until nothing is under way any more: more than any pipeline's depth.
  localparam int unsigned Drain = 63;

  typedef enum logic [2:0] {
    Idle,
    Load,
    Swallow,
    Run,
    Extract,
    Unload,
    Switch,
    Abort
  } state_e;

  // Parts of a load.
  typedef enum logic [1:0] {
    Body,
    Table,
    Mask
  } part_e;

  state_e state_d, state_q;
  part_e part_d, part_q;
  code_e code_d, code_q;
  logic [PlaceWidth-1:0] place_d, place_q, last_d, last_q;
  logic [WordWidth-1:0] word_d, word_q;
  logic [LogN:0] body_q;
  logic [StepWidth-1:0] step_d, step_q;
  logic [BitWidth-1:0] bit_d, bit_q;
  logic [(1<<PlaceWidth)-1:0] loaded_d, loaded_q, made_d, made_q, wanted;
  logic [(1<<PlaceWidth)-1:0] switched_d, switched_q, ran;
  logic done_d, done_q, out_valid_d, out_valid_q, out_last_q;
  logic move, fits, at_end, bad_d, bad_q, advance, exists, ready_to_run;
  logic ready_to_switch, small_d, small_q, at_unload_end;
  logic [5:0] drain_d, drain_q;
  logic [LogN:0] turned;
  logic set_q, neg_q;
  logic [LogN-1:0] set_index_q;
  logic [31:0] set_data_q;

  assign cmd_ready_o = state_q == Idle;
  assign in_ready_o = state_q == Load || state_q == Swallow;
  assign move = in_valid_i & in_ready_o;
  assign fits = in_data_i[31:LogN+1] == '0;
  assign at_end = part_q == Mask && step_q == StepWidth'(Steps - 1) &&
      bit_q == BitWidth'(Dim - (Steps - 1) * Unroll - 1);
  assign exists = cmd_place_i < 8'(Places);
  assign advance = state_q == Unload && (!out_valid_q || out_ready_i);

  // Places 0 to the last of a run.
  always_comb begin
    for (int unsigned p = 0; p < (1 << PlaceWidth); p++) begin
      wanted[p] = p <= 32'(cmd_place_i);
      ran[p] = p <= 32'(last_q);
    end
  end

  assign ready_to_run = (wanted & ~loaded_q) == '0;
  assign ready_to_switch = (wanted & ~made_q) == '0;
  assign at_unload_end = word_q == (small_q ? WordWidth'(Dim) : WordWidth'(1 << LogN));

  always_comb begin
    state_d = state_q;
    part_d = part_q;
    code_d = code_q;
    place_d = place_q;
    last_d = last_q;
    word_d = word_q;
    step_d = step_q;
    bit_d = bit_q;
    loaded_d = loaded_q;
    made_d = made_q;
    switched_d = switched_q;
    small_d = small_q;
    bad_d = bad_q;
    drain_d = drain_q - 1'b1;
    done_d = 1'b0;
    out_valid_d = out_valid_q;
    unique case (state_q)
      Idle: begin
        code_d = Ok;
        part_d = Body;
        word_d = '0;
        step_d = '0;
        bit_d = '0;
        bad_d = 1'b0;
        drain_d = 6'(Drain);
        out_valid_d = 1'b0;
        if (cmd_valid_i) begin
          place_d = PlaceWidth'(cmd_place_i);
          last_d = PlaceWidth'(cmd_place_i);
          small_d = cmd_op_i == OpGive;
          if (!exists) begin
            code_d = BadCommand;
            done_d = 1'b1;
          end else begin
            unique case (cmd_op_i)
              OpLoad: begin
                state_d = Load;
                loaded_d[PlaceWidth'(cmd_place_i)] = 1'b0;
              end
              OpRun: begin
                place_d = '0;
                if (!ready_to_run) begin
                  code_d = NotLoaded;
                  done_d = 1'b1;
                end else begin
                  state_d = Run;
                  loaded_d = loaded_q & ~wanted;
                  made_d = made_q & ~wanted;
                  switched_d = switched_q & ~wanted;
                end
              end
              OpUnload, OpGive: begin
                if (cmd_op_i == OpGive ? switched_q[PlaceWidth'(cmd_place_i)] :
                    made_q[PlaceWidth'(cmd_place_i)]) state_d = Unload;
                else begin
                  code_d = NotLoaded;
                  done_d = 1'b1;
                end
              end
              OpSwitch: begin
                if (ready_to_switch) begin
                  state_d = Switch;
                  switched_d = switched_q & ~wanted;
                end else begin
                  code_d = NotLoaded;
                  done_d = 1'b1;
                end
              end
              default: begin
                code_d = BadCommand;
                done_d = 1'b1;
              end
            endcase
          end
        end
      end
      Load: begin
        if (move) begin
          if (part_q == Body) part_d = Table;
          if (part_q == Table) begin
            word_d = word_q + 1'b1;
            if (word_q == WordWidth'((1 << LogN) - 1)) part_d = Mask;
          end
          if (part_q == Mask) begin
            bit_d = bit_q + 1'b1;
            if (bit_q == BitWidth'(Unroll - 1)) begin
              bit_d = '0;
              step_d = step_q + 1'b1;
            end
          end
          bad_d = bad_q || (part_q != Table && !fits);
          if (in_last_i) begin
            state_d = Idle;
            done_d = 1'b1;
            if (!at_end) code_d = CutShort;
            else if (bad_d) code_d = BadExponent;
            else loaded_d[place_q] = 1'b1;
          end else if (at_end) begin
            state_d = Swallow;
            code_d = TooLong;
          end
        end
      end
      Swallow: begin
        if (move && in_last_i) begin
          state_d = Idle;
          done_d = 1'b1;
        end
      end
      Run: begin
        drain_d = 6'(Drain);
        if (key_short_i || key_long_i) begin
          state_d = Abort;
          code_d = key_short_i ? KeyShort : KeyLong;
        end else if (run_done_i) begin
          state_d = Extract;
        end
      end
      Extract: begin
        word_d = word_q + 1'b1;
        if (word_q[LogN]) begin
          word_d = '0;
          made_d[place_q] = 1'b1;
          place_d = place_q + 1'b1;
          if (place_q == last_q) begin
            state_d = Idle;
            done_d = 1'b1;
          end
        end
      end
      Unload: begin
        if (advance) begin
          word_d = word_q + 1'b1;
          out_valid_d = !out_last_q || !out_valid_q;
          if (out_valid_q && out_last_q) begin
            state_d = Idle;
            done_d = 1'b1;
          end
        end
      end
      Switch: begin
        if (switch_done_i) begin
          state_d = Idle;
          done_d = 1'b1;
          if (switch_short_i) code_d = KeyShort;
          else if (switch_long_i) code_d = KeyLong;
          else switched_d = switched_q | ran;
        end
      end
      default: begin
        if (drain_q == '0) begin
          drain_d = '0;
          if (key_ended_i) begin
            state_d = Idle;
            done_d = 1'b1;
          end
        end
      end
    endcase
  end

  // The table's word j is coefficient (j + exponent) mod 2N of the body, where coefficient N + i is
  // minus coefficient i.
  assign turned = (LogN + 1)'(word_q) + body_q;

  always_ff @(posedge clk_i) begin
    part_q <= part_d;
    code_q <= code_d;
    place_q <= place_d;
    last_q <= last_d;
    word_q <= word_d;
    step_q <= step_d;
    bit_q <= bit_d;
    bad_q <= bad_d;
    small_q <= small_d;
    drain_q <= drain_d;
    if (state_q == Load && part_q == Body) body_q <= in_data_i[LogN:0];
    set_index_q <= turned[LogN-1:0];
    set_data_q <= in_data_i;
    neg_q <= turned[LogN];
    if (advance) out_last_q <= at_unload_end;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      loaded_q <= '0;
      made_q <= '0;
      switched_q <= '0;
      done_q <= 1'b0;
      out_valid_q <= 1'b0;
      set_q <= 1'b0;
    end else begin
      state_q <= state_d;
      loaded_q <= loaded_d;
      made_q <= made_d;
      switched_q <= switched_d;
      done_q <= done_d;
      out_valid_q <= out_valid_d;
      set_q <= move && state_q == Load && part_q == Table;
    end
  end

  assign done_o = done_q;
  assign code_o = code_q;
  assign out_valid_o = out_valid_q;
  assign out_last_o = out_last_q;
  assign set_o = set_q;
  assign place_o = place_q;
  assign set_index_o = set_index_q;
  assign set_data_o = neg_q ? -set_data_q : set_data_q;
  assign exponent_o = move && state_q == Load && part_q == Mask;
  assign exponent_step_o = step_q;
  assign exponent_bit_o = bit_q;
  assign exponent_data_o = in_data_i[LogN:0];
  assign start_o = state_q == Idle && cmd_valid_i && exists && cmd_op_i == OpRun && ready_to_run;
  assign switch_o = state_q == Idle && cmd_valid_i && exists && cmd_op_i == OpSwitch &&
      ready_to_switch;
  assign run_o = state_q == Run || state_q == Abort;
  assign idle_o = state_q == Idle;
  assign abort_o = state_q == Abort;
  assign last_place_o = last_q;
  assign extract_o = state_q == Extract;
  assign word_o = word_q;
  assign read_o = advance;
  assign small_o = small_q;

endmodule
