// SPDX-License-Identifier: Apache-2.0
// The traffic controller (BASALISC paper, sections 5 and 7): sends instructions in order to the
// units, and gives the buffer's port to reads and write-backs.
//
// It sends at most one instruction a cycle, as soon as nothing blocks it. The rules are those of
// `Clockwork` in crates/machines/src/vector/clockwork.rs, cycle for cycle.
//
// An instruction from the queue (word_i with its modulus and R mod q) is decoded and stands in three
// registers, for at least a cycle each. From the first (next_q), its operands are compared with the
// writes in flight. The second (compared_q) waits for the result. In the third it is the head. The
// head is sent (send_o) when
//
// - no chunk that it reads or writes is still to be written,
// - no register that it reads is busy,
// - the port is free, if it reads the buffer,
// - its unit takes it; HCF has no unit, and waits until those that write to the buffer are idle.
//
// An access takes the port for Buffer cycles. The first write-back of waits_i gets the port
// (take_o) when it is free and no read takes it in this cycle. The space that a write-back frees
// counts from the next cycle on.
//
// pending_o: an instruction that has left the queue is still to be sent. held_o: it is the head.
// last_o: the head is HCF. head_* describe the head, so that units can say whether they take it.
// They take it with send_o.
module rm_vector_control
  import rm_vector_isa_pkg::*;
  import rm_vector_top_pkg::*;
#(
    parameter int unsigned LogLimb = 3,
    parameter int unsigned Registers = 16,
    // Writes under way at most, as rm_vector_board has them.
    parameter int unsigned Passes = 33,
    parameter int unsigned Loads = 16,
    parameter int unsigned Buffer = 6,
    parameter int unsigned Width = 32
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  logic                        valid_i,
    output logic                        ready_o,
    input  word_t                       word_i,
    input  logic    [    Width-1:0]     q_i,
    input  logic    [    Width-1:0]     one_i,
    // Units. busy_i: the registers that the multiply-accumulate unit still writes in the next
    // cycle, without those of the instruction that is sent in this one.
    input  logic    [Registers-1:0]     busy_i,
    input  logic                        mac_ready_i,
    input  logic                        mac_idle_i,
    input  logic                        transform_ready_i,
    input  logic                        transform_idle_i,
    input  logic                        load_ready_i,
    input  logic                        load_idle_i,
    input  logic                        store_ready_i,
    output word_t                       head_o,
    output logic                        head_morph_o,
    output logic    [    Width-1:0]     head_q_o,
    output logic    [    Width-1:0]     head_one_o,
    output logic                        send_o,
    output logic                        send_mac_o,
    output logic                        send_transform_o,
    output logic                        send_load_o,
    output logic                        send_store_o,
    output logic                        read_o,
    output logic                        read_columns_o,
    output logic                        halt_o,
    output logic                        pending_o,
    output logic                        held_o,
    output logic                        last_o,
    // Write-backs.
    input  writers_t                    waits_i,
    output writers_t                    take_o
);

  localparam int unsigned RegWidth = $clog2(Registers);
  localparam int unsigned Sums = rm_vector_pkg::mac_stages();
  localparam int unsigned PortWidth = $clog2(Buffer + 1);

  // A decoded instruction.
  typedef struct packed {
    word_t            word;
    logic [Width-1:0] q;
    logic [Width-1:0] one;
    logic             mac;
    logic             transform;
    logic             morph;
    logic             load;
    logic             store;
    logic             halt;
    logic             reads;    // a chunk, with a
    logic             writes;   // a chunk, with d
    logic [Registers-1:0] registers;  // that it reads
    lie_e             from;
    lie_e             to;
  } head_t;

  head_t next_d, next_q, compared_q, head_q;
  logic next_held_q, compared_held_q, held_q, compare, load;
  logic blocked, register_d, register_q, unit, send, access, free_q;
  logic [PortWidth-1:0] port_q;

  function automatic head_t decoded(word_t word);
    head_t head;
    head = '0;
    head.word = word;
    head.mac = unit_of(word.op) == UnitMac;
    head.transform = unit_of(word.op) == UnitTransform;
    head.morph = word.op == OpMorph;
    head.load = word.op == OpLoad;
    head.store = word.op == OpStore;
    head.halt = word.op == OpHcf;
    head.reads = word.a_kind == KindChunk;
    head.writes = word.d_kind == KindChunk;
    if (word.a_kind == KindRegister) head.registers[word.a[RegWidth-1:0]] = 1'b1;
    if (word.b_kind == KindRegister) head.registers[word.b[RegWidth-1:0]] = 1'b1;
    head.from = read_lie(word.op);
    head.to = write_lie(word.op);
    return head;
  endfunction

  always_comb begin
    next_d = decoded(word_i);
    next_d.q = q_i;
    next_d.one = one_i;
  end

  assign load = compared_held_q && (!held_q || send);
  assign compare = next_held_q && (!compared_held_q || !held_q || send);
  assign ready_o = !next_held_q || !compared_held_q || !held_q || send;

  always_ff @(posedge clk_i) begin
    if (ready_o) next_q <= next_d;
    if (compare) compared_q <= next_q;
    if (load) head_q <= compared_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_held_q <= 1'b0;
      compared_held_q <= 1'b0;
      held_q <= 1'b0;
    end else begin
      if (ready_o) next_held_q <= valid_i;
      compared_held_q <= compare || (compared_held_q && !load);
      held_q <= load || (held_q && !send);
    end
  end

  rm_vector_board #(
      .LogLimb(LogLimb),
      .Sums(Sums),
      .Passes(Passes),
      .Loads(Loads)
  ) u_board (
      .clk_i,
      .rst_ni,
      .load_i(compare),
      .a_valid_i(next_q.reads),
      .a_i('{lie: next_q.from, place: next_q.word.a}),
      .d_valid_i(next_q.writes),
      .d_i('{lie: next_q.to, place: next_q.word.d}),
      .load_head_i(load),
      .blocked_o(blocked),
      .set_i({send_load_o, send_transform_o, send_mac_o && head_q.writes}),
      .set_target_i('{lie: head_q.to, place: head_q.word.d}),
      .clear_i(take_o)
  );

  // Whether registers that the head reads are still to be written. busy_i lacks the instruction
  // that is sent in this cycle. That does no harm: only the multiply-accumulate unit reads
  // registers, and it takes no other instruction in the next cycle.
  assign register_d = ((load ? compared_q.registers : head_q.registers) & busy_i) != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) register_q <= 1'b0;
    else register_q <= register_d;
  end

  assign unit = (head_q.mac && mac_ready_i) || (head_q.transform && transform_ready_i) ||
      (head_q.load && load_ready_i) || (head_q.store && store_ready_i) ||
      (head_q.halt && mac_idle_i && transform_idle_i && load_idle_i);
  assign send = held_q && !blocked && !register_q && unit && (free_q || !head_q.reads);

  assign head_o = head_q.word;
  assign head_morph_o = head_q.morph;
  assign head_q_o = head_q.q;
  assign head_one_o = head_q.one;
  assign send_o = send;
  assign send_mac_o = send && head_q.mac;
  assign send_transform_o = send && head_q.transform;
  assign send_load_o = send && head_q.load;
  assign send_store_o = send && head_q.store;
  assign read_o = send && head_q.reads;
  assign read_columns_o = head_q.from == LieColumns;
  assign halt_o = send && head_q.halt;
  assign pending_o = next_held_q || compared_held_q || held_q;
  assign held_o = held_q;
  assign last_o = head_q.word.op == OpHcf;

  // A read takes the port before write-backs do. Among write-backs the first of writer_e takes it.
  always_comb begin
    take_o = '0;
    if (waits_i[WriterMac]) take_o[WriterMac] = 1'b1;
    else if (waits_i[WriterTransform]) take_o[WriterTransform] = 1'b1;
    else if (waits_i[WriterLoad]) take_o[WriterLoad] = 1'b1;
    if (!free_q || read_o) take_o = '0;
  end

  // The port's cycles that are left after this one.
  assign access = read_o || (free_q && waits_i != '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      port_q <= '0;
      free_q <= 1'b1;
    end else begin
      port_q <= access ? PortWidth'(Buffer - 1) : port_q - PortWidth'(port_q != '0);
      free_q <= !access && port_q <= PortWidth'(1);
    end
  end

  if (Buffer < 2) begin : gen_check
    $error("rm_vector_control: an access takes two cycles at least");
  end

endmodule
