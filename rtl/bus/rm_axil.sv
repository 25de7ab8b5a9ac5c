// SPDX-License-Identifier: Apache-2.0
// Turns AXI4-Lite transfers of 32 bits into plain accesses to registers.
//
// A write waits for its address and its data, a read for its address. The module then offers each
// as an access, reads after writes, until ready_i takes it. The answer comes with ready_i: rdata_i,
// and error_i for SLVERR. There is one access at a time. A write that does not carry all four bytes
// is answered with an error and not offered.
//
// Latency from the handshakes to the response: 2 cycles, and the cycles until ready_i.
module rm_axil #(
    parameter int unsigned AddrWidth = 12
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // AXI4-Lite.
    input  logic                 s_awvalid_i,
    output logic                 s_awready_o,
    input  logic [AddrWidth-1:0] s_awaddr_i,
    input  logic                 s_wvalid_i,
    output logic                 s_wready_o,
    input  logic [         31:0] s_wdata_i,
    input  logic [          3:0] s_wstrb_i,
    output logic                 s_bvalid_o,
    input  logic                 s_bready_i,
    output logic [          1:0] s_bresp_o,
    input  logic                 s_arvalid_i,
    output logic                 s_arready_o,
    input  logic [AddrWidth-1:0] s_araddr_i,
    output logic                 s_rvalid_o,
    input  logic                 s_rready_i,
    output logic [         31:0] s_rdata_o,
    output logic [          1:0] s_rresp_o,
    // Accesses.
    output logic                 valid_o,
    output logic                 write_o,
    output logic [AddrWidth-1:0] addr_o,
    output logic [         31:0] wdata_o,
    input  logic                 ready_i,
    input  logic [         31:0] rdata_i,
    input  logic                 error_i
);

  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;

  logic aw_q, w_q, ar_q, b_q, r_q, reading_q, whole_q, write_go, read_go, write_done, read_done;
  logic [AddrWidth-1:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q, rdata_q;
  logic [1:0] bresp_q, rresp_q;

  assign s_awready_o = !aw_q;
  assign s_wready_o = !w_q;
  assign s_arready_o = !ar_q;

  // An access that is offered stays: a write does not come before a read that waits.
  assign write_go = aw_q && w_q && !b_q && !reading_q;
  assign read_go = ar_q && !r_q && !write_go;
  assign valid_o = (write_go && whole_q) || read_go;
  assign write_o = write_go;
  assign addr_o = write_go ? awaddr_q : araddr_q;
  assign wdata_o = wdata_q;
  assign write_done = write_go && (ready_i || !whole_q);
  assign read_done = read_go && ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_q <= 1'b0;
      w_q <= 1'b0;
      ar_q <= 1'b0;
      b_q <= 1'b0;
      r_q <= 1'b0;
      reading_q <= 1'b0;
    end else begin
      aw_q <= aw_q ? !write_done : s_awvalid_i;
      w_q <= w_q ? !write_done : s_wvalid_i;
      ar_q <= ar_q ? !read_done : s_arvalid_i;
      b_q <= b_q ? !s_bready_i : write_done;
      r_q <= r_q ? !s_rready_i : read_done;
      reading_q <= read_go && !ready_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!aw_q) awaddr_q <= s_awaddr_i;
    if (!w_q) begin
      wdata_q <= s_wdata_i;
      whole_q <= &s_wstrb_i;
    end
    if (!ar_q) araddr_q <= s_araddr_i;
    if (write_done) bresp_q <= (error_i || !whole_q) ? SlvErr : Okay;
    if (read_done) begin
      rdata_q <= rdata_i;
      rresp_q <= error_i ? SlvErr : Okay;
    end
  end

  assign s_bvalid_o = b_q;
  assign s_bresp_o = bresp_q;
  assign s_rvalid_o = r_q;
  assign s_rdata_o = rdata_q;
  assign s_rresp_o = rresp_q;

endmodule
