// SPDX-License-Identifier: Apache-2.0
// Reads a polynomial out as a stream of n / Beat beats of Beat residues in order, word 0 lowest,
// with out_last_o on the last beat.
//
// The places of the words are those of rm_polymul_load. Reads run ahead of the stream by at most
// Ahead beats.
//
// Throughput one beat a cycle. start_i comes in cycle 2 of its command, and the first beat is
// offered in cycle 7. done_o is high in the cycle in which the last beat is taken.
module rm_polymul_unload
  import rm_polymul_isa_pkg::*, rm_polymul_pkg::*;
#(
    parameter int unsigned Units = 32,
    parameter int unsigned Width = 32,
    parameter int unsigned Beat = 4,
    parameter int unsigned RowBits = 6,
    localparam int unsigned AddrWidth = RowBits + 1
) (
    input  logic                                 clk_i,
    input  logic                                 rst_ni,
    input  logic                                 start_i,
    input  command_t                             command_i,
    // log2 n of its tables, with start_i.
    input  logic     [4:0]                       log_n_i,
    output logic                                 done_o,
    // Coefficient memories, one register before their ports; the words come 2 cycles later.
    output logic                                 read_o,
    output logic                                 set_o,
    output logic     [AddrWidth-1:0]             raddr_o,
    input  logic     [Units-1:0][1:0][Width-1:0] rdata_i,
    // Stream.
    output logic                                 out_valid_o,
    input  logic                                 out_ready_i,
    output logic     [Beat*Width-1:0]            out_data_o,
    output logic                                 out_last_o
);

  localparam int unsigned LaneBits = $clog2(Units) + 1;
  localparam int unsigned BeatBits = $clog2(Beat);
  localparam int unsigned GroupBits = LaneBits - BeatBits;
  localparam int unsigned CountWidth = RowBits + GroupBits;
  localparam int unsigned Ahead = 8;

  typedef enum logic [1:0] {
    Idle,
    Run,
    Drain
  } state_e;

  typedef struct packed {
    logic last;
    logic parity;
    logic [GroupBits-1:0] group;
  } select_t;

  state_e state_d, state_q;
  logic set_q, buffer_q, eval_q, issue, pop, all_read, read_q, valid_q, picked_q;
  logic [CountWidth-1:0] count_q, last_count_q;
  logic [3:0] ahead_q;
  logic [RowBits-1:0] row;
  select_t select, read_select_q, select_q, picked_select_q;
  logic [Beat-1:0][1:0][Width-1:0] block_d, block_q;
  logic [Beat-1:0][Width-1:0] beat;
  logic unused_ready;
  logic [$clog2(Ahead + 1)-1:0] unused_count;

  assign all_read = count_q == last_count_q;
  assign issue = state_q == Run && ahead_q != 4'(Ahead);
  assign pop = out_valid_o && out_ready_i;
  assign row = count_q[CountWidth-1:GroupBits];
  assign select = '{last: all_read, parity: (^row) ^ buffer_q, group: count_q[GroupBits-1:0]};

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Idle: if (start_i) state_d = Run;
      Run: if (issue && all_read) state_d = Drain;
      Drain: if (pop && out_last_o) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      count_q <= '0;
      ahead_q <= '0;
      read_q <= 1'b0;
      valid_q <= 1'b0;
      picked_q <= 1'b0;
    end else begin
      state_q <= state_d;
      read_q <= issue;
      valid_q <= read_q;
      picked_q <= valid_q;
      ahead_q <= ahead_q + 4'(issue) - 4'(pop);
      if (state_q == Idle) count_q <= '0;
      else if (issue) count_q <= count_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      set_q <= command_i.set;
      buffer_q <= command_i.buffer;
      eval_q <= command_i.eval;
      last_count_q <= CountWidth'((32'd1 << (log_n_i - 5'(BeatBits))) - 32'd1);
    end
  end

  // First the Beat units that hold the beat, then its words among theirs.
  if (Units > Beat) begin : gen_groups
    localparam int unsigned Groups = Units / Beat;
    logic [GroupBits-2:0] group;
    logic [Groups-1:0][Beat-1:0][1:0][Width-1:0] blocks;
    assign group = eval_q ? select_q.group[GroupBits-1:1] : select_q.group[GroupBits-2:0];
    assign blocks = rdata_i;
    assign block_d = blocks[group];
  end else begin : gen_all
    assign block_d = rdata_i;
  end

  always_ff @(posedge clk_i) begin
    read_select_q <= select;
    select_q <= read_select_q;
    picked_select_q <= select_q;
    block_q <= block_d;
  end

  for (genvar i = 0; i < Beat; i++) begin : gen_word
    logic [1:0][Width-1:0] pair_low, pair_high;
    assign pair_low = block_q[i/2];
    assign pair_high = block_q[Beat/2+i/2];
    assign beat[i] = !eval_q
        ? block_q[i][picked_select_q.group[GroupBits-1]^picked_select_q.parity]
        : picked_select_q.group[0] ? pair_high[picked_select_q.parity^1'(i%2)]
                                   : pair_low[picked_select_q.parity^1'(i%2)];
  end

  rm_fifo #(
      .Width(Beat * Width + 1),
      .Depth(Ahead)
  ) u_fifo (
      .clk_i,
      .rst_ni,
      .valid_i(picked_q),
      .ready_o(unused_ready),
      .data_i({picked_select_q.last, beat}),
      .valid_o(out_valid_o),
      .ready_i(out_ready_i),
      .data_o({out_last_o, out_data_o}),
      .count_o(unused_count)
  );

  assign set_o = set_q;
  assign done_o = state_q == Drain && pop && out_last_o;
  assign read_o = issue;
  assign raddr_o = {buffer_q, row};

  logic unused_command;
  assign unused_command = ^{command_i.op, command_i.slot, command_i.log_n};

endmodule
