// SPDX-License-Identifier: Apache-2.0
// A polynomial multiplier over Z_q[x] / (x^n + 1) whose degree and modulus are set at run time.
//
// It computes number-theoretic transforms, products, sums and differences of polynomials of n = 2^8
// to 2^MaxLogN coefficients, for any prime q = 1 mod 2n of at most 32 bits (Mert, Öztürk and
// Savaş). Schedule, memory layout and cycles are derived in docs/machines/polymul.md.
//
// The transform is negacyclic, with psi merged into the twiddles. It takes a in natural order to
// a(psi^(2 bitrev(i) + 1)) at position i, and back with halvings. There are two sets of two
// polynomials each: commands work within one set while the other is loaded or unloaded. There are
// two slots of tables. Each polynomial belongs to the slot under which it was loaded. Tables of one
// slot may change while the array works on polynomials of the other.
//
// A command of the array leaves its result in polynomial a, which is buffer 0 of the set for
// products and sums. A half product leaves b (buffer 1) as it was. A full product overwrites b,
// which then counts as not loaded. Neither reset nor new tables scrub a memory. A polynomial counts
// as loaded only after a whole stream into its place, so no command reads older words
// (rm_polymul_cmd).
//
// A command is answered 2 cycles after it (rsp_valid_o, rsp_code_o). CodeOk means that the command
// has begun; any other code means that nothing has changed. A command may come in each cycle. A
// unit that ends raises its done bit (array, load, unload) for one cycle and takes the next
// command; load_code_o then says how the stream ended. OpAbort ends a load whose stream was cut
// without in_last_i. Its done bit comes with CodeAborted, or with the load's own code if the load
// ended just then.
//
// The cycles from command to done, without stalls of the streams, do not depend on the data:
//
//   transform, product, sum   operations and waits of rm_polymul_seq + 11
//   load, unload, tables      n / Beat + 5, n / Beat + 7, n + 7
//
// The array's last words are written in the cycles after its done bit, before any command that
// follows can read them.
module rm_polymul
  import rm_polymul_isa_pkg::*, rm_polymul_pkg::*;
#(
    parameter int unsigned Units = 32,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned Beat = 4,
    localparam int unsigned Width = 32
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // Command.
    input  logic                  cmd_valid_i,
    input  logic [3:0]            cmd_op_i,
    input  logic                  cmd_set_i,
    input  logic                  cmd_buf_i,
    input  logic                  cmd_slot_i,  // load, tables
    input  logic                  cmd_eval_i,  // load, unload: in evaluation form
    input  logic [4:0]            cmd_log_n_i,  // tables
    output logic                  rsp_valid_o,
    output logic [3:0]            rsp_code_o,
    output logic [2:0]            busy_o,  // {unload, load, array}
    output logic [2:0]            done_o,
    output logic [3:0]            load_code_o,
    output logic                  issue_o,  // the array's addresses leave in this cycle
    // Input stream.
    input  logic                  in_valid_i,
    output logic                  in_ready_o,
    input  logic [Beat*Width-1:0] in_data_i,
    input  logic                  in_last_i,
    // Output stream.
    output logic                  out_valid_o,
    input  logic                  out_ready_i,
    output logic [Beat*Width-1:0] out_data_o,
    output logic                  out_last_o
);

  localparam int unsigned LaneBits = $clog2(Units) + 1;
  localparam int unsigned RowBits = MaxLogN - LaneBits;
  localparam int unsigned AddrWidth = RowBits + 1;
  // Twiddle memory: a power of two for each slot.
  localparam int unsigned TwAddrWidth = $clog2((LaneBits + 1) * 2 ** RowBits);

  if (Units < 4 || Units > 64 || 2 ** $clog2(Units) != Units) begin : gen_check_units
    $error("Units must be a power of two from 4 to 64");
  end
  if (MaxLogN < MinLogN || MaxLogN > 16 || MaxLogN < LaneBits + 1) begin : gen_check_degree
    $error("MaxLogN must be 8 to 16, and a polynomial two rows of 2 Units at least");
  end
  if (Beat < 2 || Beat > Units || 2 ** $clog2(Beat) != Beat) begin : gen_check_beat
    $error("Beat must be a power of two from 2 to Units");
  end

  // Commands.
  command_t command, started;
  state_t state;
  code_e rsp_code, load_code, load_end_code;
  logic start_array, start_load, start_unload, abort;
  logic array_done, load_done, unload_done;

  assign command = '{
      op: op_e'(cmd_op_i),
      set: cmd_set_i,
      buffer: cmd_buf_i,
      slot: cmd_slot_i,
      eval: cmd_eval_i,
      log_n: cmd_log_n_i
  };

  rm_polymul_cmd #(
      .MaxLogN(MaxLogN)
  ) u_cmd (
      .clk_i,
      .rst_ni,
      .valid_i(cmd_valid_i),
      .command_i(command),
      .rsp_valid_o,
      .rsp_code_o(rsp_code),
      .start_array_o(start_array),
      .start_load_o(start_load),
      .start_unload_o(start_unload),
      .abort_o(abort),
      .command_o(started),
      .state_o(state),
      .array_done_i(array_done),
      .load_done_i(load_done),
      .load_code_i(load_end_code),
      .unload_done_i(unload_done),
      .done_o,
      .load_code_o(load_code)
  );

  assign rsp_code_o = rsp_code;
  assign load_code_o = load_code;
  assign busy_o = {state.unload_busy, state.load_busy, state.array_busy};

  logic unused_state;
  assign unused_state = ^state;

  // Configuration.
  logic modulus_we, constants_we;
  logic [1:0][Width-1:0] header;
  logic [Width-1:0] q, factor, stream_q;
  logic [RowBits:0] rows;
  logic [3:0] log_rows;
  logic [4:0] last_stage, load_log_n, unload_log_n;
  logic [TwAddrWidth-1:0] tw_top;
  op_e array_op_q;

  // The operation of the array's command under way, which selects the constant.
  always_ff @(posedge clk_i) if (start_array) array_op_q <= started.op;

  rm_polymul_config #(
      .Width(Width),
      .LaneBits(LaneBits),
      .RowBits(RowBits),
      .TwAddrWidth(TwAddrWidth)
  ) u_config (
      .clk_i,
      .slot_i(state.load_slot),
      .degree_we_i(start_load && started.op == OpTables),
      .log_n_i(started.log_n),
      .modulus_we_i(modulus_we),
      .q_i(header[0]),
      .constants_we_i(constants_we),
      .scale_i(header[0]),
      .one_i(header[1]),
      .array_slot_i(state.array_slot),
      .sum_i(array_op_q == OpAdd || array_op_q == OpSub),
      .q_o(q),
      .factor_o(factor),
      .rows_o(rows),
      .log_rows_o(log_rows),
      .last_stage_o(last_stage),
      .tw_top_o(tw_top),
      .stream_q_o(stream_q),
      .load_log_n_o(load_log_n),
      .unload_slot_i(state.slot[state.unload_set][state.unload_buffer]),
      .unload_log_n_o(unload_log_n)
  );

  // Array: one sequencer for all units.
  logic array_read, array_set, array_wset, array_inverse, issue_q;
  logic [1:0][AddrWidth-1:0] array_raddr, array_waddr;
  logic [1:0] array_we;
  logic [TwAddrWidth:0] tw_raddr_d, tw_raddr_q;
  operand_t operand;
  route_t route;

  rm_polymul_seq #(
      .RowBits(RowBits),
      .TwAddrWidth(TwAddrWidth)
  ) u_seq (
      .clk_i,
      .rst_ni,
      .rows_i(rows),
      .log_rows_i(log_rows),
      .last_stage_i(last_stage),
      .tw_top_i(tw_top),
      .slot_i(state.array_slot),
      .start_i(start_array),
      .op_i(started.op),
      .set_i(started.set),
      .buf_i(started.buffer),
      .done_o(array_done),
      .read_o(array_read),
      .set_o(array_set),
      .raddr_o(array_raddr),
      .tw_addr_o(tw_raddr_d),
      .operand_o(operand),
      .inverse_o(array_inverse),
      .route_o(route),
      .we_o(array_we),
      .wset_o(array_wset),
      .waddr_o(array_waddr)
  );

  always_ff @(posedge clk_i) tw_raddr_q <= tw_raddr_d;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) issue_q <= 1'b0;
    else issue_q <= array_read;
  end

  assign issue_o = issue_q;

  // Streams.
  logic [Units-1:0][1:0] load_we;
  logic load_set, unload_read, unload_set;
  logic [AddrWidth-1:0] load_waddr, unload_raddr;
  logic [Units-1:0][1:0][Width-1:0] load_wdata, unload_rdata;
  logic [Units-1:0] tw_we;
  logic [TwAddrWidth:0] tw_waddr;
  logic [Width-1:0] tw_wdata;

  rm_polymul_load #(
      .Units(Units),
      .Width(Width),
      .Beat(Beat),
      .RowBits(RowBits),
      .TwAddrWidth(TwAddrWidth)
  ) u_load (
      .clk_i,
      .rst_ni,
      .start_i(start_load),
      .abort_i(abort),
      .command_i(started),
      .done_o(load_done),
      .code_o(load_end_code),
      .in_valid_i,
      .in_ready_o,
      .in_data_i,
      .in_last_i,
      .we_o(load_we),
      .set_o(load_set),
      .waddr_o(load_waddr),
      .wdata_o(load_wdata),
      .tw_we_o(tw_we),
      .tw_waddr_o(tw_waddr),
      .tw_wdata_o(tw_wdata),
      .modulus_we_o(modulus_we),
      .constants_we_o(constants_we),
      .header_o(header),
      .q_i(stream_q),
      .log_n_i(load_log_n)
  );

  rm_polymul_unload #(
      .Units(Units),
      .Width(Width),
      .Beat(Beat),
      .RowBits(RowBits)
  ) u_unload (
      .clk_i,
      .rst_ni,
      .start_i(start_unload),
      .command_i(started),
      .log_n_i(unload_log_n),
      .done_o(unload_done),
      .read_o(unload_read),
      .set_o(unload_set),
      .raddr_o(unload_raddr),
      .rdata_i(unload_rdata),
      .out_valid_o,
      .out_ready_i,
      .out_data_o,
      .out_last_o
  );

  // Ports of the memories, [set][bank].
  logic [1:0] array_writes;
  logic [1:0][1:0] re;
  logic [1:0][1:0][AddrWidth-1:0] raddr, waddr;
  logic [Units-1:0][1:0][1:0] we;

  rm_polymul_access #(
      .Units(Units),
      .AddrWidth(AddrWidth)
  ) u_access (
      .clk_i,
      .rst_ni,
      .array_read_i(array_read),
      .array_set_i(array_set),
      .array_raddr_i(array_raddr),
      .array_we_i(array_we),
      .array_wset_i(array_wset),
      .array_waddr_i(array_waddr),
      .unload_read_i(unload_read),
      .unload_set_i(unload_set),
      .unload_raddr_i(unload_raddr),
      .load_we_i(load_we),
      .load_set_i(load_set),
      .load_waddr_i(load_waddr),
      .re_o(re),
      .raddr_o(raddr),
      .we_o(we),
      .waddr_o(waddr),
      .array_writes_o(array_writes)
  );

  // Units and the network between them.
  logic [Units-1:0][Width-1:0] out0, out1, lane0, lane1, tw;
  net_e [Units-1:0] net;

  rm_polymul_net #(
      .Units(Units),
      .Width(Width)
  ) u_net (
      .net_i(net),
      .out0_i(out0),
      .out1_i(out1),
      .lane0_o(lane0),
      .lane1_o(lane1)
  );

  for (genvar p = 0; p < Units; p++) begin : gen_unit
    logic [1:0][1:0][Width-1:0] rdata;

    assign unload_rdata[p] = rdata[unload_set];

    rm_polymul_pu #(
        .Width(Width),
        .AddrWidth(AddrWidth),
        .TwAddrWidth(TwAddrWidth + 1)
    ) u_pu (
        .clk_i,
        .rst_ni,
        .q_i(q),
        .factor_i(factor),
        .re_i(re),
        .raddr_i(raddr),
        .we_i(we[p]),
        .waddr_i(waddr),
        .rdata_o(rdata),
        .tw_we_i(tw_we[p]),
        .tw_waddr_i(tw_waddr),
        .tw_wdata_i(tw_wdata),
        .tw_re_i(issue_q),
        .tw_raddr_i(tw_raddr_q),
        .tw_o(tw[p]),
        .tw_mirror_i(tw[Units-1-p]),
        .operand_i(operand),
        .inverse_i(array_inverse),
        .route_i(route),
        .net_o(net[p]),
        .out0_o(out0[p]),
        .out1_o(out1[p]),
        .lane0_i(lane0[p]),
        .lane1_i(lane1[p]),
        .array_writes_i(array_writes),
        .ldata_i(load_wdata[p])
    );
  end

endmodule
