// SPDX-License-Identifier: Apache-2.0
// Sequencer of a blind rotation: decides which transform the units work on, which rows of it, and
// which products.
//
// The units take the forward transforms of each group's first step. Then, group by group and step
// by step, they take the inverse transforms and the forward transforms of the step after. A place
// is the memory of one ciphertext. A group is Group places, or the fewer that are left. For each
// place, forward transforms are LogN passes of Slots polynomials of H rows, and inverse ones passes
// of one polynomial. Passes begin pass_cycles apart, and operations as soon as the butterflies are
// empty and the operands there:
//
// - The products of a place begin when the first of its last rows are written.
// - Inverse transforms begin so that their last row meets the last sum.
// - Forward transforms begin so that the accumulators are whole when they are read.
//
// Products of one group run while the units work on another group, and wait for the key if it is
// late.
//
// With Coefficients, a step of a group begins with the forward transforms of its bundles, the keys
// of the step that rm_torus_gather has summed: the mask's column and the body's. The bundles of the
// step after it are transformed before its inverse transforms, while its products are made: bundles
// do not depend on the accumulator. These transforms begin when rm_torus_gather has written the
// bundles, and free_o says when they were read.
//
// With Pairs, products are summed after the inverse transforms and not before. So inverses begin
// earlier, and accumulators are whole later.
//
// Rows of a pass: butterfly j of H needs the results of two butterflies of the pass before. In the
// inverse these are 2 j and 2 j + 1 modulo H, in the forward transform j / 2 and j / 2 + H / 2. The
// row of cycle c of a pass is c with its bits rotated to the right, modulo LogH. The rotation is by
// the number of passes before the pass (inverse) or after it (forward). So the operands of a row
// were made in nearly the same place of the pass before, and the pause between passes is short
// (pass_cycles). The first inverse pass follows the sums, and products follow the last forward
// pass; these two have their rows in order.
//
// All outputs are given at the issue; parents delay them.
module rm_torus_seq
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned Slots = 2,
    parameter int unsigned Rows = 6,
    parameter int unsigned Places = 2,
    parameter int unsigned Group = 1,
    parameter int unsigned LogPos = 0,
    parameter int unsigned Unroll = 1,
    parameter int unsigned Dim = 24,
    parameter bit Pairs = 1'b0,
    parameter bit Coefficients = 1'b0,
    localparam int unsigned LogH = LogN - LogLanes - 1,
    localparam int unsigned H = 1 << LogH,
    localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1,
    localparam int unsigned PlaceWidth = (Places > 1) ? $clog2(Places) : 1,
    localparam int unsigned TagWidth = SlotWidth + $clog2(Group),
    localparam int unsigned Steps = (Dim + Unroll - 1) / Unroll,
    localparam int unsigned StepWidth = (Steps > 1) ? $clog2(Steps) : 1,
    localparam int unsigned TwWidth = $clog2(2 * H + LogLanes)
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      clear_i,
    input  logic                      start_i,
    input  logic [PlaceWidth-1:0]     last_place_i,
    output logic                      done_o,
    // Transforms.
    output logic                      issue_o,
    output transform_e                transform_o,
    output logic                      step_odd_o,  // of what is transformed
    output logic                      first_o,
    output logic                      last_o,
    output logic                      half_o,  // that is written
    output logic [TagWidth-1:0]       tag_o,  // place within the group, slot
    output logic [LogH-1:0]           row_o,
    output logic [PlaceWidth-1:0]     place_o,
    output logic [StepWidth-1:0]      step_o,
    output logic [TwWidth-1:0]        twiddle_o,
    // Bundles.
    input  logic                      gathered_i,
    input  logic [PlaceWidth-1:0]     gathered_place_i,
    output logic [(1<<PlaceWidth)-1:0] free_o,
    // Products.
    input  logic                      available_i,
    output logic                      product_o,
    output logic                      product_keep_o,
    output logic                      product_end_o,  // of a pass
    output logic                      product_first_o,
    output logic                      product_last_o,
    output logic [PlaceWidth-1:0]     product_place_o,
    output logic [StepWidth-1:0]      product_step_o,
    output logic [LogN-LogPos-1:0]    product_group_o,
    output logic [Unroll-1:0]         product_pattern_o
);

  localparam int unsigned LastBits = Dim - (Steps - 1) * Unroll;
  localparam int unsigned ForwardTail = BflyLatency - 1;
  localparam int unsigned MemberWidth = (Group > 1) ? $clog2(Group) : 1;
  localparam int unsigned InverseWait = inverse_wait(H, Pairs ? 1 : Rows, Unroll);
  localparam int unsigned Whole = Back + 1 + (Pairs ? pair_sum_latency(Rows) : 0);
  localparam int unsigned DoneDelay = (InverseWait > 2) ? InverseWait - 2 : 0;
  localparam int unsigned WaitWidth = 8;
  localparam int unsigned PassWidth = $clog2(LogN);
  localparam int unsigned TurnWidth = (LogH > 1) ? $clog2(LogH) : 1;

  // Returns the idle cycles after a pass of `polynomials` polynomials a unit, between passes whose rows
  // are rotated by `turn` bits and by one more.
  function automatic logic [WaitWidth-1:0] pause_of(int unsigned polynomials, int unsigned turn);
    return WaitWidth'(pass_cycles(H, polynomials, turn) - polynomials * H);
  endfunction

  // Returns the cycles, less one, from the last issue of the inverse transforms of `members` places to the
  // next operation. An accumulator may be read three cycles after its last rows are there. That of the
  // group's first place is read first, and was made H cycles before the next one's.
  function automatic logic [WaitWidth-1:0] inverse_tail(int unsigned members);
    int unsigned ahead;
    ahead = (members - 1) * H;
    return WaitWidth'((Whole > ForwardTail + ahead) ? Whole - ahead : ForwardTail);
  endfunction

  typedef enum logic [2:0] {
    Rest,
    Ready,
    Issue,
    Pause,
    Tail
  } state_e;

  // ---- Transforms. ----

  state_e state_d, state_q;
  transform_e transform_d, transform_q;
  logic inverse;
  // Whether the bundles of the first step of all groups are transformed. The bundles to come are
  // then those of the next step.
  logic ahead_d, ahead_q;
  logic [PlaceWidth-1:0] base_d, base_q, place;  // of the group, of the row
  logic [MemberWidth-1:0] member_d, member_q, last_member;
  logic [(1<<PlaceWidth)-1:0] group;
  logic [WaitWidth-1:0] pause, tail;
  logic [StepWidth-1:0] step_d, step_q;
  logic [PassWidth-1:0] pass_d, pass_q;
  logic [SlotWidth-1:0] slot_d, slot_q;
  logic [LogH-1:0] row_d, row_q;
  logic [WaitWidth-1:0] wait_d, wait_q;
  logic [(1<<PlaceWidth)-1:0] evaluated_d, evaluated_q, summed_d, summed_q, gathered_d, gathered_q;
  logic last_group, last_step, last_row, last_slot, last_turn, last_pass, begins, evaluated, summed;
  logic bundle_next, forward_next;
  logic [PlaceWidth-1:0] evaluated_place, summed_place;

  // Stage s of the standard order; rows are rotated by LogN - 1 - s bits, modulo LogH, in both directions.
  // Between two passes, the lesser rotation.
  logic [PassWidth-1:0] stage;
  logic [TurnWidth-1:0] between;
  logic [LogH-1:0] row;
  assign stage = inverse ? PassWidth'(LogN - 1) - pass_q : pass_q;

  always_comb begin
    row = row_q;
    between = '0;
    for (int unsigned s = 0; s < LogN; s++) begin
      if (stage == PassWidth'(s)) begin
        row = LogH'({row_q, row_q} >> ((LogN - 1 - s) % LogH));
        between = TurnWidth'((inverse ? LogN - 1 - s : LogN - 2 - s + LogH) % LogH);
      end
    end
  end

  // The number of places from the group's first on, less one.
  logic [PlaceWidth-1:0] left;
  assign left = last_place_i - base_q;
  assign last_group = 32'(left) < Group;
  assign last_member = last_group ? MemberWidth'(left) : MemberWidth'(Group - 1);
  assign place = base_q + PlaceWidth'(member_q);

  always_comb begin
    pause = '0;
    tail = WaitWidth'(ForwardTail);
    for (int unsigned m = 0; m < Group; m++) begin
      if (last_member == MemberWidth'(m)) begin
        for (int unsigned t = 0; t < LogH; t++) begin
          if (between == TurnWidth'(t)) begin
            pause = inverse ? pause_of(m + 1, t) : pause_of((m + 1) * Slots, t);
          end
        end
        if (inverse) tail = inverse_tail(m + 1);
        else if (forward_next) tail = WaitWidth'(1);
      end
    end
    for (int unsigned p = 0; p < (1 << PlaceWidth); p++) begin
      group[p] = p >= 32'(base_q) && p <= 32'(base_q) + 32'(last_member);
    end
  end

  assign last_step = step_q == StepWidth'(Steps - 1);
  assign last_row = row_q == LogH'(H - 1);
  assign last_slot = inverse || slot_q == SlotWidth'(Slots - 1);
  assign last_turn = last_slot && member_q == last_member;
  assign last_pass = pass_q == PassWidth'(LogN - 1);
  assign inverse = transform_q == Inverse;

  // After the digits come bundles, except for the last group of the last step. Between two forward
  // transforms the butterflies need not become empty.
  assign bundle_next = Coefficients && !(last_group && last_step);
  always_comb begin
    forward_next = 1'b0;
    begins = state_q == Ready;
    unique case (transform_q)
      Digits: forward_next = bundle_next;
      MaskKey: begin
        forward_next = 1'b1;
        begins = state_q == Ready && (group & ~gathered_q) == '0;
      end
      BodyKey: forward_next = !ahead_q;
      Inverse: begins = state_q == Ready && (group & ~summed_q) == '0;
    endcase
  end

  assign free_o = (issue_o && transform_q == BodyKey && pass_q == '0 && last_turn && last_row) ? group : '0;

  always_comb begin
    state_d = state_q;
    transform_d = transform_q;
    ahead_d = ahead_q;
    base_d = base_q;
    member_d = member_q;
    step_d = step_q;
    pass_d = pass_q;
    slot_d = slot_q;
    row_d = row_q;
    wait_d = wait_q - 1'b1;
    unique case (state_q)
      Ready: begin
        pass_d = '0;
        slot_d = '0;
        member_d = '0;
        row_d = '0;
        if (begins) state_d = Issue;
      end
      Issue: begin
        row_d = row_q + 1'b1;
        if (last_row) begin
          slot_d = last_slot ? '0 : slot_q + 1'b1;
          if (last_slot) member_d = last_turn ? '0 : member_q + 1'b1;
          if (last_turn) begin
            pass_d = pass_q + 1'b1;
            if (last_pass) begin
              state_d = Tail;
              wait_d = tail - 1'b1;
            end else if (pause != '0) begin
              state_d = Pause;
              wait_d = pause - 1'b1;
            end
          end
        end
      end
      Pause: if (wait_q == '0) state_d = Issue;
      Tail: begin
        if (wait_q == '0) begin
          state_d = Ready;
          unique case (transform_q)
            MaskKey: transform_d = BodyKey;
            BodyKey: transform_d = ahead_q ? Inverse : Digits;
            Digits: begin
              base_d = last_group ? '0 : base_q + PlaceWidth'(Group);
              if (step_q == '0) begin
                // The bundles of the first step of all groups are transformed before the first inverse
                // transform.
                ahead_d = last_group;
                transform_d = bundle_next ? MaskKey : last_group ? Inverse : Digits;
              end else begin
                // The next inverse transforms are the next group's of the step before this one, or
                // the first group's of this step.
                step_d = last_group ? step_q : step_q - 1'b1;
                transform_d = bundle_next ? MaskKey : Inverse;
              end
            end
            Inverse:
            if (!last_step) begin
              step_d = step_q + 1'b1;
              transform_d = Digits;
            end else begin
              base_d = base_q + PlaceWidth'(Group);
              if (last_group) state_d = Rest;
            end
          endcase
        end
      end
      default: begin
        transform_d = Coefficients ? MaskKey : Digits;
        ahead_d = 1'b0;
        base_d = '0;
        step_d = '0;
        if (start_i) state_d = Ready;
      end
    endcase
    if (clear_i) state_d = Rest;
  end

  assign done_o = state_q == Tail && wait_q == '0 && inverse && last_step && last_group;
  assign issue_o = state_q == Issue;
  assign transform_o = transform_q;
  assign step_odd_o = step_q[0] ^ ahead_q;
  assign first_o = pass_q == '0;
  assign last_o = last_pass;
  assign half_o = pass_q[0];
  assign tag_o = TagWidth'({member_q, slot_q});
  assign row_o = row;
  assign place_o = place;
  assign step_o = step_q;

  // The entry of the stage and row in the table of twiddles.
  logic [PassWidth-1:0] above;
  assign above = stage - PassWidth'(LogLanes);
  assign twiddle_o = (stage < PassWidth'(LogLanes)) ? TwWidth'(2 * H) + TwWidth'(stage) :
      (TwWidth'(1) << above) | (TwWidth'(row) & ((TwWidth'(1) << above) - 1'b1));

  // ---- Products. ----

  logic product_on_d, product_on_q, pass_ends, product_last_place;
  logic product_last_step, pattern_last;
  logic [PlaceWidth-1:0] product_place_d, product_place_q;
  logic [StepWidth-1:0] product_step_d, product_step_q;
  logic [LogN-LogPos-1:0] group_d, group_q;
  logic [Unroll-1:0] pattern_d, pattern_q;

  assign product_last_place = product_place_q == last_place_i;
  assign product_last_step = product_step_q == StepWidth'(Steps - 1);
  assign pattern_last = pattern_q ==
      (product_last_step ? Unroll'((1 << LastBits) - 1) : Unroll'((1 << Unroll) - 1));
  assign product_o = product_on_q & available_i;
  assign pass_ends = product_o & pattern_last & (&group_q);

  always_comb begin
    product_on_d = product_on_q;
    product_place_d = product_place_q;
    product_step_d = product_step_q;
    group_d = group_q;
    pattern_d = pattern_q;
    if (product_o) begin
      pattern_d = pattern_last ? Unroll'(1) : pattern_q + 1'b1;
      if (pattern_last) group_d = group_q + 1'b1;
      if (pass_ends) begin
        product_on_d = 1'b0;
        product_place_d = product_last_place ? '0 : product_place_q + 1'b1;
        if (product_last_place) product_step_d = product_step_q + 1'b1;
      end
    end else if (!product_on_q) begin
      product_on_d = evaluated_q[product_place_q];
    end
    if (state_q == Rest) begin
      product_on_d = 1'b0;
      product_place_d = '0;
      product_step_d = '0;
      group_d = '0;
      pattern_d = Unroll'(1);
    end
  end

  assign product_keep_o = !product_last_place;
  assign product_end_o = pass_ends;
  assign product_first_o = pattern_q == Unroll'(1);
  assign product_last_o = pattern_last;
  assign product_place_o = product_place_q;
  assign product_step_o = product_step_q;
  assign product_group_o = group_q;
  assign product_pattern_o = pattern_q;

  // ---- What each waits for. ----

  rm_valid #(
      .Depth(Back - 1)
  ) u_evaluated (
      .clk_i,
      .rst_ni,
      .valid_i(issue_o && transform_q == Digits && last_pass && last_slot && row_q == '0),
      .valid_o(evaluated)
  );

  rm_delay #(
      .Width(PlaceWidth),
      .Depth(Back - 1)
  ) u_evaluated_place (
      .clk_i,
      .d_i(place),
      .q_o(evaluated_place)
  );

  rm_valid #(
      .Depth(DoneDelay)
  ) u_summed (
      .clk_i,
      .rst_ni,
      .valid_i(pass_ends),
      .valid_o(summed)
  );

  rm_delay #(
      .Width(PlaceWidth),
      .Depth(DoneDelay)
  ) u_summed_place (
      .clk_i,
      .d_i(product_place_q),
      .q_o(summed_place)
  );

  always_comb begin
    evaluated_d = evaluated_q;
    summed_d = summed_q;
    if (evaluated) evaluated_d[evaluated_place] = 1'b1;
    if (pass_ends) evaluated_d[product_place_q] = 1'b0;
    if (summed) summed_d[summed_place] = 1'b1;
    if (begins && inverse) summed_d = summed_d & ~group;
    gathered_d = gathered_q;
    if (gathered_i) gathered_d[gathered_place_i] = 1'b1;
    if (begins && transform_q == MaskKey) gathered_d = gathered_d & ~group;
    if (state_q == Rest) begin
      evaluated_d = '0;
      summed_d = '0;
      gathered_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Rest;
      evaluated_q <= '0;
      summed_q <= '0;
      gathered_q <= '0;
      product_on_q <= 1'b0;
    end else begin
      state_q <= state_d;
      evaluated_q <= evaluated_d;
      summed_q <= summed_d;
      gathered_q <= gathered_d;
      product_on_q <= product_on_d;
    end
  end

  always_ff @(posedge clk_i) begin
    transform_q <= transform_d;
    ahead_q <= ahead_d;
    base_q <= base_d;
    member_q <= member_d;
    step_q <= step_d;
    pass_q <= pass_d;
    slot_q <= slot_d;
    row_q <= row_d;
    wait_q <= wait_d;
    product_place_q <= product_place_d;
    product_step_q <= product_step_d;
    group_q <= group_d;
    pattern_q <= pattern_d;
  end

endmodule
