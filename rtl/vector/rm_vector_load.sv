// SPDX-License-Identifier: Apache-2.0
// The load unit of the vector machine: asks for chunks of distant memory, and holds them until the
// buffer's port is free.
//
// An instruction is taken with send_i while ready_o is high, which needs fewer than Chunks in
// flight. want_* asks for its chunk. Chunks come at (chunk_valid_i, chunk_ready_o), in the order in
// which they were asked for. A chunk that has come waits at waits_o until take_i.
module rm_vector_load #(
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
    input  logic [        13:0]         place_i,
    output logic                        want_valid_o,
    input  logic                        want_ready_i,
    output logic [        31:0]         want_address_o,
    input  logic                        chunk_valid_i,
    output logic                        chunk_ready_o,
    input  logic [   Words-1:0][Width-1:0] chunk_i,
    output logic                        waits_o,
    input  logic                        take_i,
    output logic [        13:0]         place_o,
    output logic [   Words-1:0][Width-1:0] chunk_o
);

  localparam int unsigned CountWidth = $clog2(Chunks + 1);

  logic [CountWidth-1:0] count_d, count_q, unused_wanted, unused_held, unused_placed;
  logic ready_q, idle_q;
  logic unused_want_ready, unused_place_ready, unused_place_valid;

  assign count_d = count_q + CountWidth'(send_i) - CountWidth'(take_i);
  assign ready_o = ready_q;
  assign idle_o = idle_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      ready_q <= 1'b1;
      idle_q <= 1'b1;
    end else begin
      count_q <= count_d;
      // This is count_d < Chunks, computed so that take_i and send_i, which come late, pass little
      // logic.
      ready_q <= take_i || count_q < (send_i ? CountWidth'(Chunks - 1) : CountWidth'(Chunks));
      idle_q <= !send_i && count_q == CountWidth'(take_i);
    end
  end

  // The chunks that are still to be asked for.
  rm_fifo #(
      .Width(32),
      .Depth(Chunks)
  ) u_want (
      .clk_i,
      .rst_ni,
      .valid_i(send_i),
      .ready_o(unused_want_ready),
      .data_i(address_i),
      .valid_o(want_valid_o),
      .ready_i(want_ready_i),
      .data_o(want_address_o),
      .count_o(unused_wanted)
  );

  rm_fifo #(
      .Width(14),
      .Depth(Chunks)
  ) u_place (
      .clk_i,
      .rst_ni,
      .valid_i(send_i),
      .ready_o(unused_place_ready),
      .data_i(place_i),
      .valid_o(unused_place_valid),
      .ready_i(take_i),
      .data_o(place_o),
      .count_o(unused_placed)
  );

  rm_fifo #(
      .Width(Words * Width),
      .Depth(Chunks)
  ) u_chunk (
      .clk_i,
      .rst_ni,
      .valid_i(chunk_valid_i),
      .ready_o(chunk_ready_o),
      .data_i(chunk_i),
      .valid_o(waits_o),
      .ready_i(take_i),
      .data_o(chunk_o),
      .count_o(unused_held)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      asked_for : assert (!waits_o || unused_place_valid);
      room_for_it : assert (!send_i || ready_o);
      room_is_counted : assert (ready_q == (count_q < CountWidth'(Chunks)));
      emptiness_is_counted : assert (idle_q == (count_q == '0));
    end
  end
`endif

endmodule
