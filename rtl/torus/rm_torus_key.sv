// SPDX-License-Identifier: Apache-2.0
// Buffers the stream of the bootstrapping key in a ring of Depth beats, which the ciphertexts of a
// step read one after the other.
//
// A beat has the words of one gadget ciphertext for Pos positions. With an unrolled key a step has
// several, one for each pattern (value other than 0 of the step's secret bits). Beats are read in
// order, from the first kept beat on. The last ciphertext's pass frees the beats that it reads;
// each earlier pass goes back to the first. The stream ends, with key_last_i, at beat Total of a
// run. A stream that ends early, or within a beat (key_cut_i with it), raises short_o until
// clear_i. A stream that goes on raises long_o until clear_i. Excess beats are taken up to the end
// of the stream (ended_o).
//
// Latency two cycles from take_i to data_o; one beat in and one out a cycle.
module rm_torus_key #(
    parameter int unsigned BeatWidth = 624,
    parameter int unsigned Depth = 512,
    parameter int unsigned Total = 1024,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 run_i,
    input  logic                 clear_i,
    input  logic                 key_valid_i,
    output logic                 key_ready_o,
    input  logic [BeatWidth-1:0] key_data_i,
    input  logic                 key_last_i,
    input  logic                 key_cut_i,
    output logic                 short_o,
    output logic                 long_o,
    output logic                 ended_o,
    output logic                 available_o,
    input  logic                 take_i,
    input  logic                 keep_i,
    input  logic                 rewind_i,  // with the last beat of a pass that keeps
    output logic [BeatWidth-1:0] data_o
);

  localparam int unsigned CountWidth = $clog2(Depth + 1);
  localparam int unsigned TotalWidth = $clog2(Total + 1);

  logic [AddrWidth-1:0] base_q, write_q;
  logic [CountWidth-1:0] count_d, count_q, offset_d, offset_q;
  logic [TotalWidth-1:0] taken_q;
  logic short_q, long_q, ended_q, push, store, free, at_total;

  assign at_total = taken_q == TotalWidth'(Total - 1);
  assign key_ready_o = run_i && !ended_q && (long_q || count_q != CountWidth'(Depth));
  assign push = key_valid_i & key_ready_o;
  assign store = push & !long_q;
  assign free = take_i & !keep_i;
  assign available_o = offset_q < count_q;
  assign count_d = count_q + CountWidth'(store) - CountWidth'(free);
  assign offset_d = rewind_i ? '0 : offset_q + CountWidth'(take_i & keep_i);

  rm_ram_1r1w #(
      .Width(BeatWidth),
      .Depth(Depth),
      .OutReg(1'b1),
      .Style("block")
  ) u_ring (
      .clk_i,
      .we_i(store),
      .waddr_i(write_q),
      .wdata_i(key_data_i),
      .re_i(1'b1),
      .raddr_i(base_q + AddrWidth'(offset_q)),
      .rdata_o(data_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      base_q <= '0;
      write_q <= '0;
      count_q <= '0;
      offset_q <= '0;
      taken_q <= '0;
      short_q <= 1'b0;
      long_q <= 1'b0;
      ended_q <= 1'b0;
    end else if (clear_i) begin
      base_q <= '0;
      write_q <= '0;
      count_q <= '0;
      offset_q <= '0;
      taken_q <= '0;
      short_q <= 1'b0;
      long_q <= 1'b0;
      ended_q <= 1'b0;
    end else begin
      base_q <= base_q + AddrWidth'(free);
      write_q <= write_q + AddrWidth'(store);
      count_q <= count_d;
      offset_q <= offset_d;
      if (store) taken_q <= taken_q + 1'b1;
      if (store && key_last_i && (key_cut_i || !at_total)) short_q <= 1'b1;
      if (store && !key_last_i && at_total) long_q <= 1'b1;
      if (push && key_last_i) ended_q <= 1'b1;
    end
  end

  assign short_o = short_q;
  assign long_o = long_q;
  assign ended_o = ended_q;

endmodule
