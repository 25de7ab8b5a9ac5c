// SPDX-License-Identifier: Apache-2.0
// The store unit of the vector machine: sends chunks of the buffer to distant memory.
//
// An instruction is taken with send_i while ready_o is high, which needs fewer than Chunks on their
// way out. Its chunk is at chunk_i two cycles later, and leaves with its address by (out_valid_o,
// out_ready_i).
module rm_vector_store #(
    parameter int unsigned Chunks = 16,
    parameter int unsigned Words = 32,
    parameter int unsigned Width = 32
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        send_i,
    output logic                        ready_o,
    output logic                        idle_o,
    input  logic [        31:0]         address_i,
    input  logic [   Words-1:0][Width-1:0] chunk_i,
    output logic                        out_valid_o,
    input  logic                        out_ready_i,
    output logic [        31:0]         out_address_o,
    output logic [   Words-1:0][Width-1:0] out_chunk_o
);

  localparam int unsigned CountWidth = $clog2(Chunks + 1);

  logic [CountWidth-1:0] count_d, count_q, unused_held;
  logic leaves, ready_q;
  logic [1:0] came_q;
  logic [1:0][31:0] address_q;
  logic unused_ready;

  assign count_d = count_q + CountWidth'(send_i) - CountWidth'(leaves);
  assign leaves = out_valid_o && out_ready_i;
  assign ready_o = ready_q;
  assign idle_o = count_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      ready_q <= 1'b1;
      came_q <= '0;
    end else begin
      count_q <= count_d;
      // This is count_d < Chunks, computed so that send_i, which comes late, passes little logic.
      ready_q <= leaves || count_q < (send_i ? CountWidth'(Chunks - 1) : CountWidth'(Chunks));
      came_q <= {came_q[0], send_i};
    end
  end

  always_ff @(posedge clk_i) address_q <= {address_q[0], address_i};

  rm_fifo #(
      .Width(32 + Words * Width),
      .Depth(Chunks)
  ) u_chunk (
      .clk_i,
      .rst_ni,
      .valid_i(came_q[1]),
      .ready_o(unused_ready),
      .data_i({address_q[1], chunk_i}),
      .valid_o(out_valid_o),
      .ready_i(out_ready_i),
      .data_o({out_address_o, out_chunk_o}),
      .count_o(unused_held)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      room_for_it : assert (!send_i || ready_o);
      room_is_counted : assert (ready_q == (count_q < CountWidth'(Chunks)));
    end
  end
`endif

endmodule
