// Run-time configurable polynomial multiplier over Z_q[x] / (x^n + 1): number-theoretic transforms
// and products of polynomials of n = 2^8 to 2^MaxLogN coefficients for any prime q = 1 mod 2n of at
// most 32 bits (polymul paper; docs/machines/polymul.md derives schedule, memory layout and
// cycles).
//
// The transform is the negacyclic one with psi merged into the twiddles: a in natural order to
// a(psi^(2 bitrev(i) + 1)) at position i, and back with halvings. Two sets of two polynomials each:
// commands work within one set while the other is loaded or unloaded.
//
// A command is answered in the next cycle (rsp_valid_o, rsp_code_o): CodeOk means that it has
// begun, any other code that nothing has changed. When a unit ends it raises its done bit (array,
// load, unload) for one cycle and takes the next command; load_code_o then says how the stream
// ended. From command to done, without stalls of the streams:
//   transform, product      operations and waits of rm_polymul_seq + 11
//   load, unload, tables    n / Beat + 1, n / Beat + 4, n + 2
// whatever the data.
module rm_polymul
  import rm_polymul_pkg::*;
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
    input  logic [2:0]            cmd_op_i,
    input  logic                  cmd_set_i,
    input  logic                  cmd_buf_i,
    input  logic                  cmd_eval_i,  // load, unload: in evaluation form
    input  logic [4:0]            cmd_log_n_i,  // tables
    output logic                  rsp_valid_o,
    output logic [2:0]            rsp_code_o,
    output logic [2:0]            busy_o,  // {unload, load, array}
    output logic [2:0]            done_o,
    output logic [2:0]            load_code_o,
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
  localparam int unsigned TwDepth = (LaneBits + 1) * 2 ** RowBits;
  localparam int unsigned TwAddrWidth = $clog2(TwDepth);

  // Commands.
  op_e op;
  code_e code, code_q;
  logic rsp_valid_q, start_array, start_load, start_unload;
  logic array_busy, array_done, array_set;
  logic load_busy, load_tables, load_set, load_buf, load_done;
  logic unload_busy, unload_set, unload_buf, unload_done;
  code_e load_code;

  // Configuration.
  logic tables_valid;
  logic [4:0] log_n;
  logic [Width-1:0] q, scale;
  logic [RowBits:0] rows;
  logic [3:0] log_rows;
  logic [TwAddrWidth-1:0] tw_top;

  assign op = op_e'(cmd_op_i);

  rm_polymul_cmd #(
      .MaxLogN(MaxLogN)
  ) u_cmd (
      .valid_i(cmd_valid_i),
      .op_i(op),
      .set_i(cmd_set_i),
      .buf_i(cmd_buf_i),
      .log_n_i(cmd_log_n_i),
      .tables_valid_i(tables_valid),
      .array_busy_i(array_busy),
      .array_set_i(array_set),
      .load_busy_i(load_busy),
      .load_tables_i(load_tables),
      .load_set_i(load_set),
      .load_buf_i(load_buf),
      .unload_busy_i(unload_busy),
      .unload_set_i(unload_set),
      .unload_buf_i(unload_buf),
      .code_o(code),
      .start_array_o(start_array),
      .start_load_o(start_load),
      .start_unload_o(start_unload)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rsp_valid_q <= 1'b0;
      code_q <= CodeOk;
    end else begin
      rsp_valid_q <= cmd_valid_i;
      code_q <= code;
    end
  end

  assign rsp_valid_o = rsp_valid_q;
  assign rsp_code_o = code_q;
  assign busy_o = {unload_busy, load_busy, array_busy};
  assign done_o = {unload_done, load_done, array_done};
  assign load_code_o = load_code;

  assign log_rows = 4'(log_n - 5'(LaneBits));
  assign rows = (RowBits + 1)'(1) << log_rows;
  assign tw_top = (TwAddrWidth'(LaneBits + 1) << log_rows) - 1'b1;

  // Array: one sequencer for all units.
  logic array_read;
  logic [1:0][AddrWidth-1:0] array_raddr, array_waddr;
  logic [1:0] array_we;
  logic [TwAddrWidth-1:0] tw_raddr;
  operand_t operand;
  route_t route;
  logic bf_valid, bf_inverse;

  rm_polymul_seq #(
      .RowBits(RowBits),
      .TwAddrWidth(TwAddrWidth)
  ) u_seq (
      .clk_i,
      .rst_ni,
      .rows_i(rows),
      .log_rows_i(log_rows),
      .log_n_i(log_n),
      .tw_top_i(tw_top),
      .start_i(start_array),
      .op_i(op),
      .set_i(cmd_set_i),
      .buf_i(cmd_buf_i),
      .busy_o(array_busy),
      .done_o(array_done),
      .set_o(array_set),
      .read_o(array_read),
      .raddr_o(array_raddr),
      .tw_addr_o(tw_raddr),
      .operand_o(operand),
      .valid_o(bf_valid),
      .inverse_o(bf_inverse),
      .we_o(array_we),
      .waddr_o(array_waddr),
      .route_o(route)
  );

  assign issue_o = array_read;

  // Streams.
  logic [Units-1:0][1:0] load_we;
  logic [AddrWidth-1:0] load_waddr, unload_raddr;
  logic [Units-1:0][1:0][Width-1:0] load_wdata, unload_rdata;
  logic unload_read;
  logic [Units-1:0] tw_we;
  logic [TwAddrWidth-1:0] tw_waddr;
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
      .tables_i(op == OpTables),
      .set_i(cmd_set_i),
      .buf_i(cmd_buf_i),
      .eval_i(cmd_eval_i),
      .log_n_i(cmd_log_n_i),
      .busy_o(load_busy),
      .busy_tables_o(load_tables),
      .set_o(load_set),
      .buf_o(load_buf),
      .done_o(load_done),
      .code_o(load_code),
      .in_valid_i,
      .in_ready_o,
      .in_data_i,
      .in_last_i,
      .we_o(load_we),
      .waddr_o(load_waddr),
      .wdata_o(load_wdata),
      .tw_we_o(tw_we),
      .tw_waddr_o(tw_waddr),
      .tw_wdata_o(tw_wdata),
      .valid_o(tables_valid),
      .log_n_o(log_n),
      .q_o(q),
      .scale_o(scale)
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
      .set_i(cmd_set_i),
      .buf_i(cmd_buf_i),
      .eval_i(cmd_eval_i),
      .log_n_i(log_n),
      .busy_o(unload_busy),
      .set_o(unload_set),
      .buf_o(unload_buf),
      .done_o(unload_done),
      .read_o(unload_read),
      .raddr_o(unload_raddr),
      .rdata_i(unload_rdata),
      .out_valid_o,
      .out_ready_i,
      .out_data_o,
      .out_last_o
  );

  // Ports of the memories, [set][bank]: the array owns its set while busy, the streams the other or
  // both.
  logic [1:0] array_owns;
  logic [1:0][1:0] re;
  logic [1:0][1:0][AddrWidth-1:0] raddr, waddr;

  for (genvar s = 0; s < 2; s++) begin : gen_set
    assign array_owns[s] = array_busy && array_set == 1'(s);
    assign re[s] = array_owns[s] ? {2{array_read}} : {2{unload_read && unload_set == 1'(s)}};
    assign raddr[s] = array_owns[s] ? array_raddr : {2{unload_raddr}};
    assign waddr[s] = array_owns[s] ? array_waddr : {2{load_waddr}};
  end

  // Units and the network between them.
  logic [Units-1:0][Width-1:0] out0, out1, bank0, bank1, tw;

  rm_polymul_net #(
      .Units(Units),
      .Width(Width)
  ) u_net (
      .route_i(route),
      .out0_i(out0),
      .out1_i(out1),
      .bank0_o(bank0),
      .bank1_o(bank1)
  );

  for (genvar p = 0; p < Units; p++) begin : gen_unit
    logic [1:0][1:0] we;
    logic [1:0][1:0][Width-1:0] rdata;

    for (genvar s = 0; s < 2; s++) begin : gen_we
      assign we[s] = array_owns[s] ? array_we : (load_set == 1'(s)) ? load_we[p] : 2'b00;
    end
    assign unload_rdata[p] = rdata[unload_set];

    rm_polymul_pu #(
        .Width(Width),
        .AddrWidth(AddrWidth),
        .TwDepth(TwDepth)
    ) u_pu (
        .clk_i,
        .rst_ni,
        .q_i(q),
        .scale_i(scale),
        .re_i(re),
        .raddr_i(raddr),
        .we_i(we),
        .waddr_i(waddr),
        .rdata_o(rdata),
        .tw_we_i(tw_we[p]),
        .tw_waddr_i(tw_waddr),
        .tw_wdata_i(tw_wdata),
        .tw_re_i(array_read),
        .tw_raddr_i(tw_raddr),
        .tw_o(tw[p]),
        .tw_mirror_i(tw[Units-1-p]),
        .set_i(array_set),
        .operand_i(operand),
        .valid_i(bf_valid),
        .inverse_i(bf_inverse),
        .out0_o(out0[p]),
        .out1_o(out1[p]),
        .wdata_i({bank1[p], bank0[p]}),
        .load_set_i(~array_owns),
        .ldata_i(load_wdata[p])
    );
  end

endmodule
