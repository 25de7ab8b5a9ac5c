// SPDX-License-Identifier: Apache-2.0
// Combines the patterns of an unrolled bootstrapping key in coefficient form, without a multiplier:
// for each step and ciphertext, and every row and column,
//
//   B = sum over patterns u of (X^(a_u) - 1) K_u      modulo 2^32
//
// A pattern u is a value other than 0 of the Unroll secret bits of a step, K_u its gadget
// ciphertext, and a_u the sum of the exponents of its bits. X^(a_u) is a rotation. The sum B is the
// bundle of the step. The output is the residue of a coefficient nearest to 0 (rm_torus_coefs).
//
// Beats of the key, each of one pattern and a group of Pos positions, come in the order of
// rm_torus. They wait in a memory for each pattern until a step is whole. Meanwhile the module
// computes the sum of the K_u, which it subtracts later. Two steps are held: one comes while the
// other is combined, for one ciphertext after the other, a group a cycle. A ciphertext's next
// bundle begins when free_i says that the bundle before was taken.
//
// Pos Rows 2 (2^Unroll - 1) words are rotated and summed a cycle. take_o takes the beat that
// available_i offers, and its words come two cycles later. Exponents come a cycle after their place
// and step. A bundle takes Groups + 4 cycles. Latency gather_latency of rm_torus_pkg from a group's
// read to put_o.
module rm_torus_gather
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogPos = 1,
    parameter int unsigned Rows = 2,
    parameter int unsigned Unroll = 2,
    parameter int unsigned Steps = 8,
    parameter int unsigned LastBits = 2,
    parameter int unsigned Places = 1,
    localparam int unsigned Pos = 1 << LogPos,
    localparam int unsigned LogGroups = LogN - LogPos,
    localparam int unsigned StepWidth = (Steps > 1) ? $clog2(Steps) : 1,
    localparam int unsigned PlaceWidth = (Places > 1) ? $clog2(Places) : 1
) (
    input  logic                                  clk_i,
    input  logic                                  rst_ni,
    input  logic                                  clear_i,
    input  logic [PlaceWidth-1:0]                 last_place_i,
    // The key.
    input  logic                                  available_i,
    output logic                                  take_o,
    input  logic [Pos-1:0][Rows-1:0][1:0][31:0]   key_i,
    // Whose exponents.
    output logic [PlaceWidth-1:0]                 place_o,
    output logic [StepWidth-1:0]                  step_o,
    input  logic [Unroll-1:0][LogN:0]             exponents_i,
    // Bundles.
    input  logic [(1<<PlaceWidth)-1:0]            free_i,
    output logic                                  put_o,
    output logic                                  put_last_o,  // of the bundle
    output logic [PlaceWidth-1:0]                 put_place_o,
    output logic [LogGroups-1:0]                  put_group_o,
    output logic [Rows-1:0][1:0][Pos-1:0][32:0]   put_data_o
);

  localparam int unsigned Words = 2 * Rows;
  localparam int unsigned Patterns = (1 << Unroll) - 1;
  localparam int unsigned Latency = gather_latency(Unroll);

  // Returns the number of patterns of a step, which is the last pattern's number.
  function automatic logic [Unroll-1:0] last_pattern(logic [StepWidth-1:0] step);
    return (step == StepWidth'(Steps - 1)) ? Unroll'((1 << LastBits) - 1) : Unroll'(Patterns);
  endfunction

  // ---- Beats of the key, by patterns. ----

  logic [StepWidth-1:0] fill_step_q;
  logic [LogGroups-1:0] fill_group_q;
  logic [Unroll-1:0] fill_pattern_q;
  logic [1:0] held_q, whole_q;
  logic fill_begins, fill_last, filled, freed;

  assign fill_begins = fill_pattern_q == Unroll'(1) && fill_group_q == '0;
  assign fill_last = fill_pattern_q == last_pattern(fill_step_q);
  assign take_o = available_i && (!fill_begins || held_q != 2'd2);
  assign filled = take_o && fill_last && (&fill_group_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fill_step_q <= '0;
      fill_group_q <= '0;
      fill_pattern_q <= Unroll'(1);
      held_q <= '0;
      whole_q <= '0;
    end else if (clear_i) begin
      fill_step_q <= '0;
      fill_group_q <= '0;
      fill_pattern_q <= Unroll'(1);
      held_q <= '0;
      whole_q <= '0;
    end else begin
      held_q <= held_q + 2'(take_o && fill_begins) - 2'(freed);
      whole_q <= whole_q + 2'(filled) - 2'(freed);
      if (take_o) begin
        fill_pattern_q <= fill_last ? Unroll'(1) : fill_pattern_q + 1'b1;
        if (fill_last) fill_group_q <= fill_group_q + 1'b1;
        if (filled) fill_step_q <= fill_step_q + 1'b1;
      end
    end
  end

  logic store, store_step, store_first, store_last, plain_store_q, plain_step_q;
  logic [LogGroups-1:0] store_group, plain_group_q;
  logic [Unroll-1:0] store_pattern;
  logic [Pos-1:0][Words-1:0][31:0] plain_d, plain_q;

  rm_valid #(
      .Depth(2)
  ) u_store (
      .clk_i,
      .rst_ni,
      .valid_i(take_o),
      .valid_o(store)
  );

  rm_delay #(
      .Width(2 + LogGroups + Unroll),
      .Depth(2)
  ) u_stored (
      .clk_i,
      .d_i({fill_step_q[0], fill_last, fill_group_q, fill_pattern_q}),
      .q_o({store_step, store_last, store_group, store_pattern})
  );

  assign store_first = store_pattern == Unroll'(1);

  for (genvar j = 0; j < Pos; j++) begin : gen_plain
    for (genvar w = 0; w < Words; w++) begin : gen_word
      assign plain_d[j][w] = key_i[j][w/2][w%2] + (store_first ? '0 : plain_q[j][w]);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) plain_store_q <= 1'b0;
    else plain_store_q <= store & store_last;
  end

  always_ff @(posedge clk_i) begin
    if (store) plain_q <= plain_d;
    plain_step_q <= store_step;
    plain_group_q <= store_group;
  end

  // ---- Which bundle. ----

  typedef enum logic [1:0] {
    Idle,
    Fetch,
    Load,
    Run
  } state_e;

  state_e state_q;
  logic [PlaceWidth-1:0] place_q;
  logic [StepWidth-1:0] step_q;
  logic [(1<<PlaceWidth)-1:0] begun_q, begins;
  // The number of groups that were read for the bundle: its own, and one before them.
  logic [LogGroups:0] count_q;
  logic start, run, run_last, last_place;
  logic [Patterns:1][LogN:0] exponent_d, exponent_q;
  logic [Patterns:1] used_d, used_q;

  assign place_o = place_q;
  assign step_o = step_q;
  assign last_place = place_q == last_place_i;
  assign start = state_q == Idle && whole_q != '0 && !begun_q[place_q];
  assign run = state_q == Run;
  assign run_last = run && count_q == (LogGroups + 1)'(1 << LogGroups);
  assign freed = run_last && last_place;

  for (genvar p = 0; p < (1 << PlaceWidth); p++) begin : gen_begins
    assign begins[p] = start && place_q == PlaceWidth'(p);
  end

  always_comb begin
    for (int unsigned u = 1; u <= Patterns; u++) begin
      exponent_d[u] = '0;
      for (int unsigned t = 0; t < Unroll; t++) begin
        if (((u >> t) & 1) == 1) exponent_d[u] = exponent_d[u] + exponents_i[t];
      end
      used_d[u] = Unroll'(u) <= last_pattern(step_q);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      place_q <= '0;
      step_q <= '0;
      begun_q <= '0;
      count_q <= '0;
    end else if (clear_i) begin
      state_q <= Idle;
      place_q <= '0;
      step_q <= '0;
      begun_q <= '0;
      count_q <= '0;
    end else begin
      begun_q <= (begun_q & ~free_i) | begins;
      unique case (state_q)
        Idle: if (start) state_q <= Fetch;
        Fetch: state_q <= Load;
        Load: state_q <= Run;
        default: begin
          count_q <= run_last ? '0 : count_q + 1'b1;
          if (run_last) begin
            state_q <= Idle;
            place_q <= last_place ? '0 : place_q + 1'b1;
            if (last_place) step_q <= step_q + 1'b1;
          end
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Fetch) begin
      exponent_q <= exponent_d;
      used_q <= used_d;
    end
  end

  // ---- Turned. ----

  logic [Patterns:1][Pos-1:0][Words-1:0][31:0] turned;
  logic [Patterns:1][Pos-1:0] negative;
  logic [Pos-1:0][Words-1:0][31:0] plain, plain_late;
  logic [LogGroups-1:0] group;

  for (genvar u = 1; u <= Patterns; u++) begin : gen_pattern
    rm_torus_gather_turn #(
        .LogN(LogN),
        .LogPos(LogPos),
        .Words(Words)
    ) u_turn (
        .clk_i,
        .we_i(store && store_pattern == Unroll'(u)),
        .we_step_i(store_step),
        .we_group_i(store_group),
        .we_data_i(key_i),
        .step_i(step_q[0]),
        .load_i(state_q == Load),
        .run_i(run),
        .used_i(used_q[u]),
        .exponent_i(exponent_q[u]),
        .turned_o(turned[u]),
        .negative_o(negative[u])
    );
  end

  assign group = LogGroups'(count_q - 1'b1);

  rm_ram_1r1w #(
      .Width(Pos * Words * 32),
      .Depth(2 << LogGroups),
      .OutReg(1'b1),
      .Style("block")
  ) u_plain (
      .clk_i,
      .we_i(plain_store_q),
      .waddr_i({plain_step_q, plain_group_q}),
      .wdata_i(plain_q),
      .re_i(1'b1),
      .raddr_i({step_q[0], group}),
      .rdata_o(plain)
  );

  rm_delay #(
      .Width(Pos * Words * 32),
      .Depth(2)
  ) u_plain_late (
      .clk_i,
      .d_i(plain),
      .q_o(plain_late)
  );

  // ---- Summed: -x is ~x + 1, and the ones are added together. ----

  for (genvar j = 0; j < Pos; j++) begin : gen_position
    logic [Unroll:0] ones_d, ones;

    always_comb begin
      ones_d = (Unroll + 1)'(1);
      for (int unsigned u = 1; u <= Patterns; u++) ones_d = ones_d + (Unroll + 1)'(negative[u][j]);
    end

    rm_delay #(
        .Width(Unroll + 1),
        .Depth(Unroll)
    ) u_ones (
        .clk_i,
        .d_i(ones_d),
        .q_o(ones)
    );

    for (genvar w = 0; w < Words; w++) begin : gen_word
      logic [Unroll:0][Patterns:0][31:0] level;
      logic [31:0] total_q, low_q;
      logic big_q;

      assign level[0][0] = ~plain_late[j][w];
      for (genvar u = 1; u <= Patterns; u++) begin : gen_term
        assign level[0][u] = turned[u][j][w] ^ {32{negative[u][j]}};
      end

      for (genvar k = 0; k < Unroll; k++) begin : gen_level
        for (genvar i = 0; i <= Patterns; i++) begin : gen_sum
          if (i < (1 << (Unroll - k - 1))) begin : gen_pair
            logic [31:0] sum_q;
            always_ff @(posedge clk_i) sum_q <= level[k][2*i] + level[k][2*i+1];
            assign level[k+1][i] = sum_q;
          end else begin : gen_none
            assign level[k+1][i] = '0;
          end
        end
      end

      // The residue nearest to 0: the sum, or the sum less 2^32 if it is 2^31 or more. Modulo P,
      // -2^32 is 2^52 - 2^32 - 4095.
      always_ff @(posedge clk_i) begin
        total_q <= level[Unroll][0] + 32'(ones);
        low_q <= total_q - (total_q[31] ? 32'd4095 : 32'd0);
        big_q <= total_q[31];
      end

      assign put_data_o[w/2][w%2][j] = {big_q, low_q};

      logic unused_level;
      assign unused_level = ^level;
    end
  end

  // clear_i also empties this delay, so that no group of an aborted run comes out in the next run.
  logic [Latency-1:0] put_q, put_last_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      put_q <= '0;
      put_last_q <= '0;
    end else if (clear_i) begin
      put_q <= '0;
      put_last_q <= '0;
    end else begin
      put_q <= {put_q[Latency-2:0], run && count_q != '0};
      put_last_q <= {put_last_q[Latency-2:0], run_last};
    end
  end

  assign put_o = put_q[Latency-1];
  assign put_last_o = put_last_q[Latency-1];

  rm_delay #(
      .Width(PlaceWidth + LogGroups),
      .Depth(Latency)
  ) u_put_at (
      .clk_i,
      .d_i({place_q, group}),
      .q_o({put_place_o, put_group_o})
  );

endmodule
