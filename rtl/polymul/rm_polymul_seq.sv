// Sequencer of the array: turns a command into passes, a pass into one operation a cycle.
//
// Within the units a polynomial is an array of 2 rows words (local index x = {row, place}); word x
// of polynomial b lies at address {b, x >> 1} of bank parity(x) xor b, so two words whose indices
// differ in one bit, and the same word of the two polynomials, lie in different banks. A stage
// pairs words x0 and x1 = x0 + hot, where hot = rows, rows / 2, .., 2, 1 and then 1 again for each
// of the log2 P stages across the units, before which the network has brought the next index bit
// into the place. Operation c of a pass takes x0 = c with a zero put in at the bit of hot, and the
// twiddles are read in one sweep, upwards in a forward and downwards in an inverse transform.
//
//   pass       operations   does
//   Scale      rows         v := R v, the half without a twiddle in the first stage (OpMul: all)
//   Forward    rows         Cooley-Tukey stage
//   Product    2 rows       a := a b
//   Inverse    rows         Gentleman-Sande stage with halving
//
// OpFpm runs each forward stage for both polynomials in turn. Between passes the sequencer waits
// just so long that each first read comes DepLatency cycles after the read that its word hangs on;
// the wait is 0 once rows is at least DepLatency + rows / 2. The schedule hangs on the degree and
// the command alone.
//
// start_i in cycle 0: addresses leave in cycles 2 to L + 1, done_o in cycle L + DepLatency + 1,
// where L is the number of operations and waits.
module rm_polymul_seq
  import rm_polymul_pkg::*;
#(
    parameter int unsigned RowBits = 6,
    parameter int unsigned TwAddrWidth = 9,
    localparam int unsigned AddrWidth = RowBits + 1
) (
    input  logic                                clk_i,
    input  logic                                rst_ni,
    // Degree, held while busy: rows = n / 2P, its logarithm, log2 n, and the address of the last
    // twiddle.
    input  logic     [RowBits:0]                rows_i,
    input  logic     [3:0]                      log_rows_i,
    input  logic     [4:0]                      log_n_i,
    input  logic     [TwAddrWidth-1:0]          tw_top_i,
    input  logic                                start_i,
    input  op_e                                 op_i,
    input  logic                                set_i,
    input  logic                                buf_i,
    output logic                                busy_o,
    output logic                                done_o,
    output logic                                set_o,
    // Addresses.
    output logic                                read_o,
    output logic     [1:0][AddrWidth-1:0]       raddr_o,
    output logic     [TwAddrWidth-1:0]          tw_addr_o,
    // One cycle later.
    output operand_t                            operand_o,
    // Two cycles later.
    output logic                                valid_o,
    output logic                                inverse_o,
    // WriteLatency cycles later.
    output logic     [1:0]                      we_o,
    output logic     [1:0][AddrWidth-1:0]       waddr_o,
    output route_t                              route_o
);

  typedef enum logic [1:0] {
    Scale,
    Forward,
    Product,
    Inverse
  } pass_e;

  localparam int unsigned WaitWidth = RowBits + 5;
  localparam logic [WaitWidth-1:0] Dep = WaitWidth'(DepLatency);
  localparam logic [WaitWidth-1:0] Flush = WaitWidth'(WriteLatency);

  // What remains of `need` cycles after `spent`.
  function automatic logic [WaitWidth-1:0] wait_for(logic [WaitWidth-1:0] need,
                                                    logic [WaitWidth-1:0] spent);
    return (need > spent) ? need - spent : '0;
  endfunction

  op_e op_d, op_q;
  pass_e pass_d, pass_q;
  logic done_q, active_d, active_q, finish_d, finish_q, set_d, set_q, buf_d, buf_q;
  logic [4:0] stage_d, stage_q;
  logic [RowBits:0] count_d, count_q, hot_d, hot_q;
  logic [TwAddrWidth-1:0] tw_d, tw_q, tw_start_d, tw_start_q;
  logic [WaitWidth-1:0] wait_d, wait_q;

  logic issue, last, pair, scaled, low_end, climbs;
  logic [RowBits:0] low, x0;
  logic [RowBits-1:0] row1;
  logic [WaitWidth-1:0] rows, span;
  logic [TwAddrWidth-1:0] tw_next;

  assign rows = WaitWidth'(rows_i);
  assign span = (pass_q == Product || op_q == OpMul) ? rows << 1 : rows;
  assign issue = active_q && !finish_q && wait_q == '0;
  assign last = WaitWidth'(count_q) == span - 1'b1;
  assign pair = op_q == OpFpm;
  assign scaled = (op_q == OpHpm && !buf_q) || (op_q == OpFpm && buf_q);
  assign low = hot_q - 1'b1;
  assign low_end = (count_q & low) == low;
  // The next inverse stage is on a higher bit.
  assign climbs = stage_q <= {1'b0, log_rows_i};
  assign tw_next = (pass_q == Inverse) ? tw_q - TwAddrWidth'(low_end)
                                       : tw_q + TwAddrWidth'(low_end);

  assign busy_o = active_q;
  assign done_o = done_q;
  assign set_o = set_q;

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
    tw_d = tw_q;
    tw_start_d = tw_start_q;
    wait_d = (wait_q == '0) ? '0 : wait_q - 1'b1;

    if (!active_q) begin
      if (start_i) begin
        active_d = 1'b1;
        finish_d = 1'b0;
        op_d = op_i;
        set_d = set_i;
        count_d = '0;
        wait_d = '0;
        buf_d = (op_i == OpFpm) ? 1'b1 : (op_i == OpHpm || op_i == OpMul) ? 1'b0 : buf_i;
        pass_d = (op_i == OpNtt) ? Forward : (op_i == OpIntt) ? Inverse : Scale;
        stage_d = (op_i == OpIntt) ? log_n_i - 1'b1 : '0;
        hot_d = (op_i == OpIntt) ? (RowBits + 1)'(1) : rows_i;
        tw_d = (op_i == OpIntt) ? tw_top_i : TwAddrWidth'(1);
        tw_start_d = TwAddrWidth'(1);
      end
    end else if (finish_q) begin
      if (wait_q == '0) active_d = 1'b0;
    end else if (issue) begin
      count_d = count_q + 1'b1;
      if (pass_q == Forward || pass_q == Inverse) tw_d = tw_next;
      if (last) begin
        count_d = '0;
        unique case (pass_q)
          Scale: begin
            pass_d = (op_q == OpMul) ? Product : Forward;
            buf_d = 1'b0;
            wait_d = wait_for(Dep, span);
          end
          Forward: begin
            if (pair && !buf_q) begin
              buf_d = 1'b1;
              tw_d = tw_start_q;
            end else begin
              if (pair) buf_d = 1'b0;
              stage_d = stage_q + 1'b1;
              tw_start_d = tw_next;
              hot_d = (hot_q == (RowBits + 1)'(1)) ? hot_q : hot_q >> 1;
              wait_d = wait_for(Dep + WaitWidth'(hot_q >> 1), pair ? rows << 1 : rows);
              if (stage_q == log_n_i - 1'b1) begin
                pass_d = Product;
                finish_d = op_q == OpNtt;
                wait_d = (op_q == OpNtt) ? Flush : wait_for(Dep, rows);
              end
            end
          end
          Product: begin
            pass_d = Inverse;
            finish_d = op_q == OpMul;
            stage_d = log_n_i - 1'b1;
            hot_d = (RowBits + 1)'(1);
            tw_d = tw_top_i;
            wait_d = (op_q == OpMul) ? Flush : WaitWidth'(TurnGap);
          end
          default: begin
            stage_d = stage_q - 1'b1;
            if (climbs) hot_d = hot_q << 1;
            wait_d = wait_for(climbs ? Dep + WaitWidth'(hot_q) : Dep, rows);
            if (stage_q == '0) begin
              finish_d = 1'b1;
              wait_d = Flush;
            end
          end
        endcase
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      op_q <= OpNtt;
      pass_q <= Scale;
      active_q <= 1'b0;
      done_q <= 1'b0;
      finish_q <= 1'b0;
      set_q <= 1'b0;
      buf_q <= 1'b0;
      stage_q <= '0;
      count_q <= '0;
      hot_q <= '0;
      tw_q <= '0;
      tw_start_q <= '0;
      wait_q <= '0;
    end else begin
      op_q <= op_d;
      pass_q <= pass_d;
      active_q <= active_d;
      done_q <= active_q && !active_d;
      finish_q <= finish_d;
      set_q <= set_d;
      buf_q <= buf_d;
      stage_q <= stage_d;
      count_q <= count_d;
      hot_q <= hot_d;
      tw_q <= tw_d;
      tw_start_q <= tw_start_d;
      wait_q <= wait_d;
    end
  end

  // The operation of this cycle.
  logic transform, bank;
  logic [1:0] we;
  logic [AddrWidth-1:0] addr0, addr1;
  logic [1:0][AddrWidth-1:0] addr;
  operand_t operand;
  route_t route;
  logic inverse;

  assign transform = pass_q == Forward || pass_q == Inverse;
  assign x0 = transform ? ((count_q & ~low) << 1) | (count_q & low) : count_q;
  assign row1 = x0[RowBits:1] | (transform ? hot_q[RowBits:1] : '0);
  assign bank = (^x0) ^ buf_q;
  assign addr0 = {buf_q, x0[RowBits:1]};
  assign addr1 = {buf_q ^ (pass_q == Product), row1};
  assign addr = bank ? {addr0, addr1} : {addr1, addr0};
  assign we = transform ? 2'b11 : bank ? 2'b10 : 2'b01;
  assign inverse = pass_q == Inverse;
  assign route.swap = bank;

  always_comb begin
    operand.sel = !bank;
    operand.zero_u = !transform;
    operand.wsel = WTable;
    route.net = NetStraight;
    unique case (pass_q)
      Scale: operand.wsel = WScale;
      Product: operand.wsel = WMem;
      Forward: begin
        operand.sel = bank;
        if (hot_q == (RowBits + 1)'(1) && stage_q != log_n_i - 1'b1) route.net = NetShuffle;
      end
      default: begin
        operand.wsel = WMirror;
        if (!climbs) route.net = NetUnshuffle;
      end
    endcase
  end

  // Addresses leave from registers; what is needed later waits beside the pipeline.
  logic read_q;
  logic [1:0] issue_we_q;
  logic [1:0][AddrWidth-1:0] addr_q;
  logic [TwAddrWidth-1:0] tw_addr_q;
  operand_t operand_q, operand_late_q;
  route_t issue_route_q;
  logic inverse_q, inverse_late_q, inverse_held_q, late_q, valid_q;

  always_ff @(posedge clk_i) begin
    addr_q <= addr;
    // The first stage of the scaled polynomial takes its one twiddle times R, kept in entry 0.
    tw_addr_q <= (pass_q == Forward && scaled && stage_q == '0) ? '0 : tw_q;
    operand_q <= operand;
    operand_late_q <= operand_q;
    issue_route_q <= route;
    inverse_q <= inverse;
    inverse_late_q <= inverse_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q <= 1'b0;
      issue_we_q <= '0;
      late_q <= 1'b0;
      valid_q <= 1'b0;
      inverse_held_q <= 1'b0;
    end else begin
      read_q <= issue;
      issue_we_q <= issue ? we : '0;
      late_q <= read_q;
      valid_q <= late_q;
      // The butterfly wants its mode held while data is in flight.
      if (late_q) inverse_held_q <= inverse_late_q;
    end
  end

  assign read_o = read_q;
  assign raddr_o = addr_q;
  assign tw_addr_o = tw_addr_q;
  assign operand_o = operand_late_q;
  assign valid_o = valid_q;
  assign inverse_o = inverse_held_q;

  for (genvar b = 0; b < 2; b++) begin : gen_write_valid
    rm_valid #(
        .Depth(WriteLatency)
    ) u_we (
        .clk_i,
        .rst_ni,
        .valid_i(issue_we_q[b]),
        .valid_o(we_o[b])
    );
  end

  rm_delay #(
      .Width(2 * AddrWidth + $bits(route_t)),
      .Depth(WriteLatency)
  ) u_write (
      .clk_i,
      .d_i({addr_q, issue_route_q}),
      .q_o({waddr_o, route_o})
  );

endmodule
