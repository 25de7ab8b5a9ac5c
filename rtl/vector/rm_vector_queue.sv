// SPDX-License-Identifier: Apache-2.0
// The instruction queue (BASALISC paper, section 6.5.3): words come in batches, and those that are
// instructions leave in order.
//
// The queue holds at most Depth words. A word that comes into the empty queue is offered three
// cycles later: written, read, checked.
//
// Refill: refill_o asks for a batch when there is room for a whole one, beside the words that were
// asked for and have not come. The request is taken when refill_ready_i is high.
//
// Exhaustion: exhausted_o is an interrupt. It rises when a program runs (its first instruction was
// sent, HCF was not) and the controller has no instruction that it could send. It stays until
// clear_i, or until acknowledge_i comes after that. held_i says that the controller has one, last_i
// that it is HCF. underrun_o counts the cycles of exhaustion since clear_i: the cycles by which
// instructions came too late, as `fed` in crates/machines/src/vector/queue.rs counts them. A fault
// exhausts the queue as well.
//
// A word at the head that is no instruction (rm_vector_check) stops the queue until clear_i.
// fault_o names the fault, word_o the word, and number_o its number since the last clear_i. clear_i
// empties the queue and forgets the words that were asked for. The rest of the machine ends its
// work. So before clear_i the host lets the batches on their way come (asked_o is 0 when it stops
// asking), and the controller's instructions be sent.
module rm_vector_queue
  import rm_vector_isa_pkg::*;
  import rm_vector_fault_pkg::*;
#(
    parameter int unsigned Depth = 64,
    parameter int unsigned Batch = 16,
    parameter int unsigned Registers = 16,
    parameter int unsigned Chunks = 64,
    parameter int unsigned LogLimb = 2,
    parameter int unsigned LogN = 8,
    parameter int unsigned Distant = 1024,
    localparam int unsigned CountWidth = $clog2(Depth + 1)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  clear_i,
    input  logic [          10:0] moduli_i,
    output logic                  refill_o,
    input  logic                  refill_ready_i,
    output logic [CountWidth-1:0] asked_o,
    input  logic                  valid_i,
    output logic                  ready_o,
    input  word_t                 word_i,
    output logic                  valid_o,
    input  logic                  ready_i,
    output word_t                 word_o,
    input  logic                  held_i,
    input  logic                  last_i,
    output logic [          31:0] number_o,
    output fault_e                fault_o,
    output logic                  exhausted_o,
    input  logic                  acknowledge_i,
    output logic [          31:0] underrun_o
);

  if (Batch > Depth) begin : gen_check
    $error("rm_vector_queue: a batch fits the queue");
  end

  logic clear_q, push, stored, read, read_held_q, check, held_q, held, taken;
  logic runs_q, dry, asks, comes;
  logic [CountWidth-1:0] count_d, count_q, asked_d, asked_q, unused_stored;
  logic [31:0] number_q, underrun_q;
  logic exhausted_q;
  word_t stored_word, read_q, word_q;
  wrong_t wrong, wrong_q;
  logic unused_room;

  rm_fifo #(
      .Width($bits(word_t)),
      .Depth(Depth)
  ) u_words (
      .clk_i,
      .rst_ni(rst_ni && !clear_q),
      .valid_i(push),
      .ready_o(unused_room),
      .data_i(word_i),
      .valid_o(stored),
      .ready_i(read),
      .data_o(stored_word),
      .count_o(unused_stored)
  );

  // Two registers: the word that was read, then the word that was checked.
  assign check = !held_q || taken;
  assign read = !read_held_q || check;

  always_ff @(posedge clk_i) begin
    if (read) read_q <= stored_word;
    if (check) begin
      word_q <= read_q;
      wrong_q <= wrong;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_held_q <= 1'b0;
      held_q <= 1'b0;
    end else begin
      if (clear_q) read_held_q <= 1'b0;
      else if (read) read_held_q <= stored;
      if (clear_q) held_q <= 1'b0;
      else if (check) held_q <= read_held_q;
    end
  end

  rm_vector_check #(
      .Registers(Registers),
      .Chunks(Chunks),
      .LogLimb(LogLimb),
      .LogN(LogN),
      .Distant(Distant)
  ) u_check (
      .word_i(read_q),
      .moduli_i,
      .wrong_o(wrong)
  );

  assign ready_o = count_q != CountWidth'(Depth) && !clear_q;
  assign push = valid_i && ready_o;
  assign word_o = word_q;
  assign held = held_q && !clear_q;
  assign fault_o = held ? first_fault(wrong_q) : FaultNone;
  assign valid_o = held && wrong_q == '0;
  assign taken = valid_o && ready_i;
  assign number_o = number_q;
  assign underrun_o = underrun_q;
  assign exhausted_o = exhausted_q;
  assign asked_o = asked_q;

  // Room for a batch beside the words that are held and those that were asked for.
  assign refill_o = !clear_q && 32'(count_q) + 32'(asked_q) + Batch <= Depth;
  assign asks = refill_o && refill_ready_i;
  assign comes = push && asked_q != '0;
  assign count_d = count_q + CountWidth'(push) - CountWidth'(taken);
  assign asked_d = asked_q + (asks ? CountWidth'(Batch) : '0) - CountWidth'(comes);

  // runs_q counts only in cycles without a head, and the last head has set it. So this logic does
  // not depend on the instruction that is sent in this cycle, which is known late.
  assign dry = runs_q && !held_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q <= 1'b1;
      runs_q <= 1'b0;
      exhausted_q <= 1'b0;
      count_q <= '0;
      asked_q <= '0;
      number_q <= '0;
      underrun_q <= '0;
    end else begin
      clear_q <= clear_i;
      runs_q <= (held_i ? !last_i : runs_q) && !clear_q;
      exhausted_q <= (dry || (exhausted_q && !acknowledge_i)) && !clear_q;
      count_q <= clear_q ? '0 : count_d;
      asked_q <= clear_q ? '0 : asked_d;
      number_q <= clear_q ? '0 : number_q + 32'(taken);
      underrun_q <= clear_q ? '0 : underrun_q + 32'(dry);
    end
  end

endmodule
