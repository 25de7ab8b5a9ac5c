// SPDX-License-Identifier: Apache-2.0
// Fetches a stream of micro words from its program memory into a queue, ahead of the board.
//
// A word is an instruction word. The WAIT words before another word become counts beside it, the
// largest of each retire counter, so they cost the board no cycle. run_i starts at the first word;
// END is the last one given. A word that is refused (rm_ring_decode) is given with its code and
// ends the stream, too, as does the memory's last word if it is not END (CodeNoEnd). Words are
// given by (valid_o, pop_i). full_o: the queue is full, or it has the end of its stream.
//
// A word a cycle into the queue; a read of the memory takes two cycles.
module rm_ring_fetch
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Rpaus = 10,
    parameter memory_t Memory = DefaultMemory,
    parameter int unsigned Controllers = 2,
    parameter int unsigned Constants = 256,
    parameter int unsigned StreamRows = 128,
    parameter int unsigned GaloisRows = 128,
    parameter int unsigned Layers = 1,
    parameter int unsigned Words = 4096,
    parameter int unsigned CountWidth = 16,
    localparam int unsigned AddrWidth = $clog2(Words),
    localparam int unsigned Depth = 8
) (
    input  logic                                clk_i,
    input  logic                                rst_ni,
    input  logic [          1:0]                stream_i,
    input  logic                                load_i,
    input  logic [AddrWidth-1:0]                load_addr_i,
    input  logic [         63:0]                load_data_i,
    input  logic                                run_i,
    output logic                                full_o,
    output logic                                valid_o,
    input  logic                                pop_i,
    output logic [         63:0]                word_o,
    output logic [   Queues-1:0][CountWidth-1:0] needs_o,
    output code_e                               code_o
);

  localparam int unsigned EntryWidth = 64 + Queues * CountWidth + 4;

  logic run_q, drain_q, ended_q, held;
  logic [AddrWidth-1:0] at_q;
  logic [1:0] read_q, last_q;  // words on their way, and whether it is the memory's last
  logic read, push, is_ok, is_wait, is_end, ready;
  logic [63:0] word;
  code_e found, code;
  logic [Queues-1:0][CountWidth-1:0] needs_d, needs_q;
  logic [$clog2(Depth+1)-1:0] count;

  rm_ram_1r1w #(
      .Width (64),
      .Depth (Words),
      .OutReg(1'b1),
      .Style ("block")
  ) u_words (
      .clk_i,
      .we_i   (load_i),
      .waddr_i(load_addr_i),
      .wdata_i(load_data_i),
      .re_i   (1'b1),
      .raddr_i(at_q),
      .rdata_o(word)
  );

  rm_ring_decode #(
      .Rpaus(Rpaus),
      .Memory(Memory),
      .Controllers(Controllers),
      .Constants(Constants),
      .StreamRows(StreamRows),
      .GaloisRows(GaloisRows),
      .Layers(Layers)
  ) u_decode (
      .word_i(word),
      .stream_i,
      .code_o(found),
      .ok_o  (is_ok),
      .wait_o(is_wait)
  );

  // A word is read only if there is room for it beside the words that are on their way.
  assign read = run_q && !drain_q && !ended_q && 32'(count) + 32'(read_q[0]) + 32'(read_q[1]) < Depth;
  assign is_end = word[WordOpLow+:WordOpWidth] == OpEnd;
  assign push = read_q[1] && !ended_q && (!is_wait || last_q[1]);
  assign code = (is_ok && last_q[1] && !is_end) ? CodeNoEnd : found;

  always_comb begin
    needs_d = needs_q;
    if (read_q[1] && !ended_q) begin
      if (push) begin
        needs_d = '0;
      end else begin
        for (int unsigned q = 0; q < Queues; q++) begin
          if (word[WaitQueueLow+:WaitQueueWidth] == WaitQueueWidth'(q)) begin
            if (word[WaitCountLow+:WaitCountWidth] > WaitCountWidth'(needs_q[q])) begin
              // More words than are counted never retire.
              needs_d[q] = (word[WaitCountLow+CountWidth+:WaitCountWidth-CountWidth] == '0) ?
                  word[WaitCountLow+:CountWidth] : '1;
            end
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q <= 1'b0;
      drain_q <= 1'b0;
      ended_q <= 1'b0;
      read_q <= '0;
    end else begin
      run_q <= run_i || run_q;
      // Words that are left of the procedure before are dropped.
      drain_q <= run_i || (drain_q && held);
      read_q <= run_i ? '0 : {read_q[0], read};
      ended_q <= !run_i && (ended_q || (push && (is_end || last_q[1] || !is_ok)));
    end
  end

  always_ff @(posedge clk_i) begin
    last_q <= {last_q[0], &at_q};
    if (run_i) at_q <= '0;
    else if (read) at_q <= at_q + 1'b1;
    needs_q <= run_i ? '0 : needs_d;
  end

  rm_fifo #(
      .Width(EntryWidth),
      .Depth(Depth)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .valid_i(push),
      .ready_o(ready),
      .data_i ({code, needs_q, word}),
      .valid_o(held),
      .ready_i(pop_i || drain_q),
      .data_o ({code_o, needs_o, word_o}),
      .count_o(count)
  );

  assign valid_o = held && !drain_q;
  assign full_o = !run_i && !drain_q && (ended_q || count == ($clog2(Depth + 1))'(Depth));

  logic unused_ready;
  assign unused_ready = ready;

endmodule
