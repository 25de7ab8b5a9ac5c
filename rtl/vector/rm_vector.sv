// SPDX-License-Identifier: Apache-2.0
// The vector machine (BASALISC paper, sections 5 and 6; docs/machines/vector.md) for square limbs,
// N = R^2: executes micro instructions on chunks of limbs.
//
// It consists of queue, traffic controller, ciphertext buffer, permutation and transform units,
// multiply-accumulate unit, and the load and store units. The base clock is the micro-clock. Each
// dispatch, entry and write-back is in the cycle that `Clockwork` computes
// (crates/machines/src/vector/clockwork.rs).
//
// At start-up table_* writes the tables, a word a cycle; the tables have moduli_i moduli.
// Instructions come by (valid_i, ready_o). Refill and faults are those of rm_vector_queue. want_*
// asks for chunks, chunk_* brings them in that order, and out_* takes chunks away with their
// address. The words of a chunk are row after row. halt_o: HCF was sent in this cycle. idle_o:
// nothing is in flight in the units and at the buffer; instructions may still wait to be sent.
// pending_o: an instruction that the queue has given is still to be sent; clear_i may come only if
// there is none.
//
// For lockstep: sent_o (an instruction was sent), enters_o (half a chunk enters the permutation
// units), wrote_o (write-backs, by writer_e).
//
// An access of the buffer is decided in one cycle, made in the next, and read in the one after.
module rm_vector
  import rm_vector_isa_pkg::*;
  import rm_vector_fault_pkg::*;
  import rm_vector_top_pkg::*;
#(
    parameter int unsigned LogRadix = 2,
    parameter int unsigned LogSpan = 1,
    // Limbs that the buffer holds.
    parameter int unsigned Slots = 8,
    parameter int unsigned Registers = 16,
    parameter int unsigned Moduli = 4,
    parameter int unsigned Queue = 64,
    parameter int unsigned Batch = 16,
    parameter int unsigned LoadChunks = 16,
    parameter int unsigned StoreChunks = 16,
    // Chunks of distant memory.
    parameter int unsigned Distant = 1048576,
    parameter int unsigned Buffer = 6,
    parameter int unsigned Mac = 4,
    parameter int unsigned Transform = 3,
    // The buffer is UltraRAM.
    parameter bit Ultra = 1'b0,
    localparam int unsigned Width = 32,
    localparam int unsigned Words = 1 << (LogRadix + LogSpan),
    localparam int unsigned CountWidth = $clog2(Queue + 1)
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    // Start-up.
    input  logic                           table_valid_i,
    input  entry_t                         table_i,
    input  logic [          10:0]          moduli_i,
    // Instructions.
    input  logic                           clear_i,
    output logic                           refill_o,
    input  logic                           refill_ready_i,
    output logic [CountWidth-1:0]          asked_o,
    input  logic                           valid_i,
    output logic                           ready_o,
    input  word_t                          word_i,
    output fault_e                         fault_o,
    output word_t                          fault_word_o,
    output logic [          31:0]          number_o,
    output logic                           exhausted_o,
    input  logic                           acknowledge_i,
    output logic [          31:0]          underrun_o,
    output logic                           halt_o,
    output logic                           idle_o,
    output logic                           pending_o,
    // Distant memory.
    output logic                           want_valid_o,
    input  logic                           want_ready_i,
    output logic [          31:0]          want_address_o,
    input  logic                           chunk_valid_i,
    output logic                           chunk_ready_o,
    input  logic [     Words-1:0][Width-1:0] chunk_i,
    output logic                           out_valid_o,
    input  logic                           out_ready_i,
    output logic [          31:0]          out_address_o,
    output logic [     Words-1:0][Width-1:0] out_chunk_o,
    // What happens.
    output logic                           sent_o,
    output logic                           enters_o,
    output writers_t                       wrote_o
);

  localparam int unsigned Radix = 1 << LogRadix;
  localparam int unsigned Span = 1 << LogSpan;
  localparam int unsigned LogLimb = LogRadix - LogSpan;
  localparam int unsigned Depth = Slots << LogLimb;
  localparam int unsigned Address = $clog2(Depth);
  // Chunks that find room in permutation and transform units.
  localparam int unsigned Passes = rm_vector_pkg::pass_stages(LogRadix) / 2;

  typedef logic [Span-1:0][Radix-1:0][Width-1:0] lines_t;
  typedef logic [Span-1:0][LogRadix-1:0] rows_t;

  word_t checked, next, head;
  logic checked_valid, checked_ready, next_valid, next_ready;
  logic [Width-1:0] next_q, next_one, head_q, head_one;
  logic pending, held, last, head_morph, send_mac, send_transform, send_load, send_store, read, read_columns;
  logic [Registers-1:0] busy;
  logic mac_ready, mac_idle, transform_ready, transform_idle, load_ready, load_idle;
  logic store_ready, store_idle;
  writers_t waits, take;
  targets_t target;
  lines_t from_banks, natural, mac_chunk, load_chunk, transform_lines, crossed;
  rows_t transform_rows;

  rm_vector_queue #(
      .Depth(Queue),
      .Batch(Batch),
      .Registers(Registers),
      .Chunks(Depth),
      .LogLimb(LogLimb),
      .LogN(2 * LogRadix),
      .Distant(Distant)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .clear_i,
      .moduli_i,
      .refill_o,
      .refill_ready_i,
      .asked_o,
      .valid_i,
      .ready_o,
      .word_i,
      .valid_o(checked_valid),
      .ready_i(checked_ready),
      .word_o(checked),
      .held_i(held),
      .last_i(last),
      .number_o,
      .fault_o,
      .exhausted_o,
      .acknowledge_i,
      .underrun_o
  );

  assign fault_word_o = checked;

  // Cuts the path from what the controller sends to what the queue offers.
  rm_skid #(
      .Width($bits(word_t))
  ) u_next (
      .clk_i,
      .rst_ni,
      .valid_i(checked_valid),
      .ready_o(checked_ready),
      .data_i(checked),
      .valid_o(next_valid),
      .ready_i(next_ready),
      .data_o(next)
  );

  rm_vector_moduli #(
      .Moduli(Moduli)
  ) u_moduli (
      .clk_i,
      .load_i(table_valid_i),
      .entry_i(table_i),
      .modulus_i(next.modulus),
      .q_o(next_q),
      .one_o(next_one)
  );

  rm_vector_control #(
      .LogLimb(LogLimb),
      .Registers(Registers),
      .Passes(Passes),
      .Loads(LoadChunks),
      .Buffer(Buffer)
  ) u_control (
      .clk_i,
      .rst_ni,
      .valid_i(next_valid),
      .ready_o(next_ready),
      .word_i(next),
      .q_i(next_q),
      .one_i(next_one),
      .busy_i(busy),
      .mac_ready_i(mac_ready),
      .mac_idle_i(mac_idle),
      .transform_ready_i(transform_ready),
      .transform_idle_i(transform_idle),
      .load_ready_i(load_ready),
      .load_idle_i(load_idle),
      .store_ready_i(store_ready),
      .head_o(head),
      .head_morph_o(head_morph),
      .head_q_o(head_q),
      .head_one_o(head_one),
      .send_o(sent_o),
      .send_mac_o(send_mac),
      .send_transform_o(send_transform),
      .send_load_o(send_load),
      .send_store_o(send_store),
      .read_o(read),
      .read_columns_o(read_columns),
      .halt_o,
      .pending_o(pending),
      .held_o(held),
      .last_o(last),
      .waits_i(waits),
      .take_o(take)
  );

  assign wrote_o = take;
  assign pending_o = next_valid || pending;

  // The port: what is accessed, a cycle after it was decided.
  logic access_d, access_q, write_q, columns_d, columns_q, own_q;
  logic [13:0] place_d;
  logic [Address-1:0] base_q;
  rows_t rows_d, rows_q, read_rows_q;
  lines_t words_d, words_q;

  always_comb begin
    unique if (take[WriterMac]) place_d = target[WriterMac].place;
    else if (take[WriterTransform]) place_d = target[WriterTransform].place;
    else if (take[WriterLoad]) place_d = target[WriterLoad].place;
    else place_d = head.a;
    for (int unsigned l = 0; l < Span; l++) rows_d[l] = {place_d[LogLimb-1:0], LogSpan'(l)};
    if (take[WriterTransform]) rows_d = transform_rows;
    columns_d = take[WriterTransform] ? target[WriterTransform].lie == LieColumns :
        read && read_columns;
    words_d = take[WriterMac] ? mac_chunk : take[WriterTransform] ? transform_lines : load_chunk;
    access_d = read || take != '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) access_q <= 1'b0;
    else access_q <= access_d;
  end

  always_ff @(posedge clk_i) begin
    if (access_d) begin
      write_q <= !read;
      columns_q <= columns_d;
      rows_q <= rows_d;
      base_q <= {place_d[LogLimb+:Address-LogLimb], LogLimb'(0)};
      own_q <= !take[WriterTransform];
    end
    if (take != '0) words_q <= words_d;
    if (access_q && !write_q) read_rows_q <= rows_q;
  end

  rm_vector_cross #(
      .LogRows(LogRadix),
      .Lines(Span)
  ) u_write (
      .rows_i(rows_q),
      .lines_i(words_q),
      .lines_o(crossed)
  );

  rm_vector_ctb #(
      .LogRows(LogRadix),
      .LogSpan(LogSpan),
      .Depth(Depth),
      .Ultra(Ultra)
  ) u_buffer (
      .clk_i,
      .access_i(access_q),
      .write_i(write_q),
      .columns_i(columns_q),
      .base_i(base_q),
      .rows_i(rows_q),
      .lines_i(own_q ? crossed : words_q),
      .lines_o(from_banks)
  );

  rm_vector_cross #(
      .LogRows(LogRadix),
      .Lines(Span)
  ) u_read (
      .rows_i(read_rows_q),
      .lines_i(from_banks),
      .lines_o(natural)
  );

  // Units.
  logic [13:0] mac_place, load_place;

  rm_vector_mac #(
      .Lanes(Words),
      .Registers(Registers),
      .Period(Mac)
  ) u_mac (
      .clk_i,
      .rst_ni,
      .valid_i(send_mac),
      .ready_o(mac_ready),
      .word_i(head),
      .q_i(head_q),
      .one_i(head_one),
      .chunk_i(natural),
      .busy_o(busy),
      .idle_o(mac_idle),
      .waits_o(waits[WriterMac]),
      .take_i(take[WriterMac]),
      .place_o(mac_place),
      .chunk_o(mac_chunk)
  );

  rm_vector_transform #(
      .LogRadix(LogRadix),
      .LogSpan(LogSpan),
      .Moduli(Moduli),
      .Period(Transform)
  ) u_transform (
      .clk_i,
      .rst_ni,
      .load_i(table_valid_i),
      .entry_i(table_i),
      .send_i(send_transform),
      .morph_i(head_morph),
      .ready_o(transform_ready),
      .idle_o(transform_idle),
      .word_i(head),
      .q_i(head_q),
      .one_i(head_one),
      .lines_i(from_banks),
      .enters_o,
      .waits_o(waits[WriterTransform]),
      .take_i(take[WriterTransform]),
      .target_o(target[WriterTransform]),
      .rows_o(transform_rows),
      .lines_o(transform_lines)
  );

  rm_vector_load #(
      .Chunks(LoadChunks),
      .Words(Words)
  ) u_load (
      .clk_i,
      .rst_ni,
      .send_i(send_load),
      .ready_o(load_ready),
      .idle_o(load_idle),
      .address_i(head.n),
      .place_i(head.d),
      .want_valid_o,
      .want_ready_i,
      .want_address_o,
      .chunk_valid_i,
      .chunk_ready_o,
      .chunk_i,
      .waits_o(waits[WriterLoad]),
      .take_i(take[WriterLoad]),
      .place_o(load_place),
      .chunk_o(load_chunk)
  );

  rm_vector_store #(
      .Chunks(StoreChunks),
      .Words(Words)
  ) u_store (
      .clk_i,
      .rst_ni,
      .send_i(send_store),
      .ready_o(store_ready),
      .idle_o(store_idle),
      .address_i(head.n),
      .chunk_i(natural),
      .out_valid_o,
      .out_ready_i,
      .out_address_o,
      .out_chunk_o
  );

  assign target[WriterMac] = '{lie: LieRows, place: mac_place};
  assign target[WriterLoad] = '{lie: LieRows, place: load_place};
  assign idle_o = mac_idle && transform_idle && load_idle && store_idle && !access_q;

  logic unused_places;
  assign unused_places = ^place_d;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) one_access : assert ($onehot0({read, take}));
  end
`endif

endmodule
