// The instruction queue (vector paper, section 6.5.3): words come in batches and leave in order, those that are instructions.
//
// Refill: where there is room for a whole batch beside what was asked for and has not come, refill_o asks for one; it is on its way
// when refill_ready_i is up. Exhaustion: exhausted_o, an interrupt, rises when a program runs (from its first instruction to HCF) and
// the queue has nothing for the controller, until acknowledge_i; underrun_o counts the cycles of that since clear_i.
//
// A word at the head that is no instruction (rm_vector_check) stops the queue: fault_o names what is wrong, word_o the word and
// number_o which one since clear_i it is, until clear_i, which empties the queue and forgets what was asked for; the rest of the
// machine ends what it has. So the host first lets batches that are on their way come (asked_o is 0 when it stops asking).
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
    output logic [          31:0] number_o,
    output fault_e                fault_o,
    output logic                  exhausted_o,
    input  logic                  acknowledge_i,
    output logic [          31:0] underrun_o
);

  if (Batch > Depth) begin : gen_check
    $error("rm_vector_queue: a batch fits the queue");
  end

  logic clear_q, room, held, taken, runs_d, runs_q, dry, asks, comes;
  logic [CountWidth-1:0] count, asked_d, asked_q;
  logic [31:0] number_q, underrun_q;
  logic exhausted_q;
  fault_e fault;

  rm_fifo #(
      .Width($bits(word_t)),
      .Depth(Depth)
  ) u_words (
      .clk_i,
      .rst_ni(rst_ni && !clear_q),
      .valid_i(valid_i && ready_o),
      .ready_o(room),
      .data_i(word_i),
      .valid_o(held),
      .ready_i(taken),
      .data_o(word_o),
      .count_o(count)
  );

  rm_vector_check #(
      .Registers(Registers),
      .Chunks(Chunks),
      .LogLimb(LogLimb),
      .LogN(LogN),
      .Distant(Distant)
  ) u_check (
      .word_i(word_o),
      .moduli_i,
      .fault_o(fault)
  );

  assign ready_o = room && !clear_q;
  assign fault_o = held ? fault : FaultNone;
  assign valid_o = held && fault == FaultNone;
  assign taken = valid_o && ready_i;
  assign number_o = number_q;
  assign underrun_o = underrun_q;
  assign exhausted_o = exhausted_q;
  assign asked_o = asked_q;

  // A batch beside those that are held and those that are on their way.
  assign refill_o = !clear_q && 32'(count) + 32'(asked_q) + Batch <= Depth;
  assign asks = refill_o && refill_ready_i;
  assign comes = valid_i && ready_o && asked_q != '0;
  assign asked_d = asked_q + (asks ? CountWidth'(Batch) : '0) - CountWidth'(comes);

  assign runs_d = taken ? word_o.op != OpHcf : runs_q;
  assign dry = runs_q && ready_i && !held;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clear_q <= 1'b1;
      runs_q <= 1'b0;
      exhausted_q <= 1'b0;
      asked_q <= '0;
      number_q <= '0;
      underrun_q <= '0;
    end else begin
      clear_q <= clear_i;
      runs_q <= runs_d && !clear_q;
      exhausted_q <= (dry || (exhausted_q && !acknowledge_i)) && !clear_q;
      asked_q <= clear_q ? '0 : asked_d;
      number_q <= clear_q ? '0 : number_q + 32'(taken);
      underrun_q <= clear_q ? '0 : underrun_q + 32'(dry);
    end
  end

endmodule
