// SPDX-License-Identifier: Apache-2.0
// Sequencer of the multiplier's array: turns a command into passes, and a pass into one operation a
// cycle.
//
// Within the units a polynomial is an array of 2 rows words, with the local index x = {row, place}.
// Word x of polynomial b lies at address {b, x >> 1} of bank parity(x) xor b. So two words whose
// indices differ in one bit lie in different banks, and so does the same word of the two
// polynomials. A stage pairs words x0 and x1 = x0 + hot. hot is rows, rows / 2, .., 2, 1, and then
// 1 again for each of the log2 P stages across the units. Before each of these the network brings
// the next index bit into the place. In operation c of a pass, x0 is c with a zero inserted at the
// bit of hot. The twiddles are read in one sweep, upwards in a forward and downwards in an inverse
// transform.
//
//   pass       operations   does
//   Scale      rows         v := R v, the half without a twiddle in the first stage (OpMul: all)
//   Forward    rows         Cooley-Tukey stage
//   Product    2 rows       a := a b
//   Inverse    rows         Gentleman-Sande stage with halving
//   Sum        2 rows       a := a + b or a - b
//
// OpFpm runs each forward stage for both polynomials in turn. Each first read of a pass comes
// DepLatency cycles after the read of the words from which its word is computed. The sequencer
// waits between passes for just that; the wait is 0 once rows is at least DepLatency + rows / 2.
// The schedule depends on the degree and the command alone.
//
// start_i comes in cycle 2 of its command. Addresses leave in cycles 3 to L + 2 (for registers in
// front of the memories), and done_o is high in cycle L + WriteLatency - 1. L is the number of
// operations and waits. The last word is then not yet written, but no command that may follow can
// read sooner.
module rm_polymul_seq
  import rm_polymul_isa_pkg::*, rm_polymul_pkg::*;
#(
    parameter int unsigned RowBits = 6,
    parameter int unsigned TwAddrWidth = 9,
    localparam int unsigned AddrWidth = RowBits + 1
) (
    input  logic                                clk_i,
    input  logic                                rst_ni,
    // With start_i, for the slot of its tables: rows = n / 2P, its logarithm, log2 n - 1, and the
    // address of the last twiddle.
    input  logic     [RowBits:0]                rows_i,
    input  logic     [3:0]                      log_rows_i,
    input  logic     [4:0]                      last_stage_i,
    input  logic     [TwAddrWidth-1:0]          tw_top_i,
    input  logic                                slot_i,
    input  logic                                start_i,
    input  op_e                                 op_i,
    input  logic                                set_i,
    input  logic                                buf_i,
    output logic                                done_o,
    // Addresses, for registers in front of the memories; the cycles below count from behind them.
    output logic                                read_o,
    output logic                                set_o,
    output logic     [1:0][AddrWidth-1:0]       raddr_o,
    output logic     [TwAddrWidth:0]            tw_addr_o,
    // In the cycle of the read, for the registers of each unit: used a cycle later.
    output operand_t                            operand_o,
    // One cycle after the read, the same: the butterfly's mode, held while data is in flight.
    output logic                                inverse_o,
    // WriteLatency - 2 cycles after the read, the same.
    output route_t                              route_o,
    // WriteLatency - 1 cycles after the read, for registers in front of the memories.
    output logic     [1:0]                      we_o,
    output logic                                wset_o,
    output logic     [1:0][AddrWidth-1:0]       waddr_o
);

  typedef enum logic [2:0] {
    Scale,
    Forward,
    Product,
    Inverse,
    Sum
  } pass_e;

  localparam int unsigned WaitWidth = RowBits + 5;
  localparam logic [WaitWidth-1:0] Flush = WaitWidth'(WriteLatency - CommandLatency);

  op_e op_d, op_q;
  pass_e pass_d, pass_q;
  logic active_d, active_q, finish_d, finish_q, set_d, set_q, buf_d, buf_q;
  logic [4:0] stage_d, stage_q;
  logic [RowBits:0] count_d, count_q, hot_d, hot_q;
  logic [TwAddrWidth-1:0] tw_d, tw_q, tw_start_d, tw_start_q;
  // The cycles that are left to wait, and whether any are left.
  logic [WaitWidth-1:0] wait_d, wait_q, gap_d, gap_q;
  logic waits_d, waits_q;
  // double: whether the pass has 2 rows operations, and not rows. last: whether the next operation
  // is its last. low: hot - 1.
  logic double_d, double_q, last_d, last_q;
  logic [RowBits:0] low_d, low_q;

  // Configuration, held from start to start: rows - 1, rows - 2, and by how much DepLatency exceeds
  // rows and 2 rows.
  logic slot_q;
  logic [RowBits:0] rows_last_q, rows_before_q;
  logic [WaitWidth:0] lack_q, lack_double_q;
  logic [3:0] log_rows_q;
  logic [4:0] last_stage_q;
  logic [TwAddrWidth-1:0] tw_top_q;

  logic issue, pair, scaled, low_end, climbs, final_stage;
  logic [RowBits:0] x0;
  logic [RowBits-1:0] row1;
  logic [WaitWidth:0] lack, more, gap;
  logic [TwAddrWidth-1:0] tw_next;

  assign issue = active_q && !finish_q && !waits_q;
  assign pair = op_q == OpFpm;
  assign scaled = (op_q == OpHpm && !buf_q) || (op_q == OpFpm && buf_q);
  assign low_end = &(count_q | ~low_q);
  assign final_stage = stage_q == last_stage_q;
  // The next inverse stage is on a higher bit.
  assign climbs = stage_q <= {1'b0, log_rows_q};
  assign tw_next = (pass_q == Inverse) ? tw_q - TwAddrWidth'(low_end)
                                       : tw_q + TwAddrWidth'(low_end);

  assign done_o = active_q && finish_q && !waits_q;

  // The wait after the present pass, unless the next block sets another: DepLatency less the
  // operations of the pass, plus the distance of the words of its pairs. A pass has at least two
  // operations, so the registered wait is ready in time.
  always_comb begin
    lack = lack_q;
    more = '0;
    unique case (pass_q)
      Scale: if (double_q) lack = lack_double_q;
      Forward: begin
        if (!final_stage) begin
          if (pair) lack = lack_double_q;
          more = (WaitWidth + 1)'(hot_q >> 1);
        end
      end
      default: if (climbs) more = (WaitWidth + 1)'(hot_q);
    endcase
  end

  assign gap = lack + more;

  always_comb begin
    gap_d = gap[WaitWidth] ? '0 : gap[WaitWidth-1:0];
    unique case (pass_q)
      Scale: ;
      Forward: begin
        if (pair && !buf_q) gap_d = '0;
        else if (final_stage && op_q == OpNtt) gap_d = Flush;
      end
      Product: gap_d = (op_q == OpMul) ? Flush : WaitWidth'(TurnGap);
      Inverse: if (stage_q == '0) gap_d = Flush;
      default: gap_d = Flush;
    endcase
  end

  always_comb begin
    op_d = op_q;
    pass_d = pass_q;
    active_d = active_q;
    finish_d = finish_q;
    set_d = set_q;
    buf_d = buf_q;
    stage_d = stage_q;
    count_d = count_q;
    hot_d = hot_q;
    low_d = low_q;
    double_d = double_q;
    last_d = last_q;
    tw_d = tw_q;
    tw_start_d = tw_start_q;
    wait_d = wait_q - WaitWidth'(waits_q);
    waits_d = waits_q && wait_q[WaitWidth-1:1] != '0;

    if (!active_q) begin
      if (start_i) begin
        active_d = 1'b1;
        finish_d = 1'b0;
        op_d = op_i;
        set_d = set_i;
        count_d = '0;
        wait_d = '0;
        waits_d = 1'b0;
        buf_d = (op_i == OpFpm) ? 1'b1 : is_pair(op_i) ? 1'b0 : buf_i;
        unique case (op_i)
          OpNtt: pass_d = Forward;
          OpIntt: pass_d = Inverse;
          OpAdd, OpSub: pass_d = Sum;
          default: pass_d = Scale;
        endcase
        stage_d = (op_i == OpIntt) ? last_stage_i : '0;
        hot_d = (op_i == OpIntt) ? (RowBits + 1)'(1) : rows_i;
        low_d = (op_i == OpIntt) ? '0 : rows_i - 1'b1;
        double_d = op_i == OpMul || op_i == OpAdd || op_i == OpSub;
        last_d = 1'b0;
        tw_d = (op_i == OpIntt) ? tw_top_i : TwAddrWidth'(1);
        tw_start_d = TwAddrWidth'(1);
      end
    end else if (finish_q) begin
      if (!waits_q) active_d = 1'b0;
    end else if (issue) begin
      count_d = count_q + 1'b1;
      last_d = count_q == (double_q ? {rows_last_q[RowBits-1:0], 1'b0} : rows_before_q);
      if (pass_q == Forward || pass_q == Inverse) tw_d = tw_next;
      if (last_q) begin
        count_d = '0;
        last_d = 1'b0;
        wait_d = gap_q;
        waits_d = gap_q != '0;
        unique case (pass_q)
          Scale: begin
            pass_d = (op_q == OpMul) ? Product : Forward;
            buf_d = 1'b0;
          end
          Forward: begin
            if (pair && !buf_q) begin
              buf_d = 1'b1;
              tw_d = tw_start_q;
            end else begin
              if (pair) buf_d = 1'b0;
              stage_d = stage_q + 1'b1;
              tw_start_d = tw_next;
              if (!hot_q[0]) begin
                hot_d = hot_q >> 1;
                low_d = low_q >> 1;
              end
              if (final_stage) begin
                pass_d = Product;
                double_d = 1'b1;
                finish_d = op_q == OpNtt;
              end
            end
          end
          Product: begin
            pass_d = Inverse;
            double_d = 1'b0;
            finish_d = op_q == OpMul;
            stage_d = last_stage_q;
            hot_d = (RowBits + 1)'(1);
            low_d = '0;
            tw_d = tw_top_q;
          end
          Inverse: begin
            stage_d = stage_q - 1'b1;
            if (climbs) begin
              hot_d = hot_q << 1;
              low_d = {low_q[RowBits-1:0], 1'b1};
            end
            finish_d = stage_q == '0;
          end
          default: finish_d = 1'b1;
        endcase
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      finish_q <= 1'b0;
      wait_q <= '0;
      waits_q <= 1'b0;
    end else begin
      active_q <= active_d;
      finish_q <= finish_d;
      wait_q <= wait_d;
      waits_q <= waits_d;
    end
  end

  always_ff @(posedge clk_i) begin
    op_q <= op_d;
    pass_q <= pass_d;
    set_q <= set_d;
    buf_q <= buf_d;
    stage_q <= stage_d;
    count_q <= count_d;
    hot_q <= hot_d;
    low_q <= low_d;
    double_q <= double_d;
    last_q <= last_d;
    tw_q <= tw_d;
    tw_start_q <= tw_start_d;
    gap_q <= gap_d;
    if (start_i) begin
      slot_q <= slot_i;
      rows_last_q <= rows_i - 1'b1;
      rows_before_q <= rows_i - (RowBits + 1)'(2);
      lack_q <= (WaitWidth + 1)'(DepLatency) - (WaitWidth + 1)'(rows_i);
      lack_double_q <= (WaitWidth + 1)'(DepLatency) - ((WaitWidth + 1)'(rows_i) << 1);
      log_rows_q <= log_rows_i;
      last_stage_q <= last_stage_i;
      tw_top_q <= tw_top_i;
    end
  end

  // The operation of this cycle.
  logic transform, bank;
  logic [1:0] we;
  logic [AddrWidth-1:0] addr0, addr1;
  logic [1:0][AddrWidth-1:0] addr;
  operand_t operand;
  route_t route;

  assign transform = pass_q == Forward || pass_q == Inverse;
  assign x0 = transform ? ((count_q & ~low_q) << 1) | (count_q & low_q) : count_q;
  assign row1 = x0[RowBits:1] | (transform ? hot_q[RowBits:1] : '0);
  // x0 has the parity of the count, because a transform only inserts a zero.
  assign bank = (^count_q) ^ buf_q;
  assign addr0 = {buf_q, x0[RowBits:1]};
  assign addr1 = {buf_q ^ (pass_q == Product || pass_q == Sum), row1};
  assign addr = bank ? {addr0, addr1} : {addr1, addr0};
  assign we = !issue ? 2'b00 : transform ? 2'b11 : bank ? 2'b10 : 2'b01;
  // A difference leaves as out1.
  assign route.swap = bank ^ (pass_q == Sum && op_q == OpSub);

  always_comb begin
    operand.set = set_q;
    operand.sel = !bank;
    operand.zero_u = pass_q == Scale || pass_q == Product;
    operand.wsel = WTable;
    route.net = NetStraight;
    unique case (pass_q)
      Scale: operand.wsel = WConst;
      Product: operand.wsel = WMem;
      Sum: begin
        operand.sel = bank;
        operand.wsel = WConst;
      end
      Forward: begin
        operand.sel = bank;
        if (hot_q[0] && !final_stage) route.net = NetShuffle;
      end
      default: begin
        operand.wsel = WMirror;
        if (!climbs) route.net = NetUnshuffle;
      end
    endcase
  end

  assign read_o = issue;
  assign set_o = set_q;
  assign raddr_o = addr;
  // The first stage of the scaled polynomial takes its one twiddle times R, kept in entry 0.
  assign tw_addr_o = {
    slot_q, (pass_q == Forward && scaled && stage_q == '0) ? TwAddrWidth'(0) : tw_q
  };

  // Signals that are needed later wait beside the pipeline.
  logic read_q, inverse_q, inverse_held_q;
  operand_t operand_q;

  always_ff @(posedge clk_i) begin
    operand_q <= operand;
    inverse_q <= pass_q == Inverse;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q <= 1'b0;
      inverse_held_q <= 1'b0;
    end else begin
      read_q <= issue;
      // The butterfly wants its mode held while data is in flight.
      if (read_q) inverse_held_q <= inverse_q;
    end
  end

  logic unused_place;
  assign unused_place = x0[0];

  assign operand_o = operand_q;
  assign inverse_o = inverse_held_q;

  rm_delay #(
      .Width($bits(route_t)),
      .Depth(WriteLatency - 1)
  ) u_route (
      .clk_i,
      .d_i(route),
      .q_o(route_o)
  );

  for (genvar b = 0; b < 2; b++) begin : gen_write_valid
    rm_valid #(
        .Depth(WriteLatency)
    ) u_we (
        .clk_i,
        .rst_ni,
        .valid_i(we[b]),
        .valid_o(we_o[b])
    );
  end

  rm_delay #(
      .Width(2 * AddrWidth + 1),
      .Depth(WriteLatency)
  ) u_write (
      .clk_i,
      .d_i({set_q, addr}),
      .q_o({wset_o, waddr_o})
  );

`ifndef SYNTHESIS
  // The writes of the operations before, the latest first. Their words must not be read until
  // DepLatency cycles after the operation's own read.
  typedef struct packed {
    logic [1:0] we;
    logic set;
    logic [1:0][AddrWidth-1:0] addr;
  } write_t;

  write_t [DepLatency-2:0] before_q;
  logic [1:0] needs;
  logic early;

  // A Scale works on one of the two words that it reads.
  assign needs = !issue ? 2'b00 : (pass_q != Scale) ? 2'b11 : bank ? 2'b10 : 2'b01;

  always_comb begin
    early = 1'b0;
    for (int unsigned i = 0; i < DepLatency - 1; i++) begin
      for (int unsigned b = 0; b < 2; b++) begin
        early |= needs[b] && before_q[i].we[b] && before_q[i].set == set_q &&
            before_q[i].addr[b] == addr[b];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) before_q <= '0;
    else before_q <= {before_q[DepLatency-3:0], we, set_q, addr};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      started_when_idle : assert (!start_i || !active_q);
      two_operations : assert (!start_i || rows_i >= (RowBits + 1)'(2));
      none_read_early : assert (!early);
      wait_told : assert (waits_q == (wait_q != '0));
      pair_distance : assert (!issue || ($onehot(hot_q) && low_q == hot_q - 1'b1));
      last_told :
      assert (!issue || last_q ==
              (count_q == (double_q ? {rows_last_q[RowBits-1:0], 1'b1} : rows_last_q)));
      stage_in_range : assert (!issue || !transform || stage_q <= last_stage_q);
      twiddle_in_range : assert (!issue || !transform || tw_q <= tw_top_q);
    end
  end
`endif

endmodule
