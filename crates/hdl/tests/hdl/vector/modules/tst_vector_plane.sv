// SPDX-License-Identifier: Apache-2.0
// The control of the vector machine, from the queue to the units, connected as in rm_vector. It has one lane, and no permutations,
// transforms and buffer. So the tests find whole paths that go through several modules in one cycle.
module tst_vector_plane
  import rm_vector_isa_pkg::*;
  import rm_vector_fault_pkg::*;
  import rm_vector_top_pkg::*;
#(
    parameter int unsigned LogRadix = 8,
    parameter int unsigned LogSpan = 3,
    parameter int unsigned Slots = 256,
    parameter int unsigned Registers = 16,
    parameter int unsigned Moduli = 64,
    parameter int unsigned Queue = 1024,
    parameter int unsigned LoadChunks = 16,
    parameter int unsigned StoreChunks = 16,
    parameter int unsigned Buffer = 6,
    parameter int unsigned Mac = 4,
    parameter int unsigned Transform = 3,
    localparam int unsigned Width = 32,
    localparam int unsigned LogLimb = LogRadix - LogSpan,
    localparam int unsigned CountWidth = $clog2(Queue + 1),
    localparam int unsigned Pass = rm_vector_pkg::pass_stages(LogRadix)
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  table_valid_i,
    input  entry_t                table_i,
    input  logic [          10:0] moduli_i,
    input  logic                  clear_i,
    output logic                  refill_o,
    input  logic                  refill_ready_i,
    output logic [CountWidth-1:0] asked_o,
    input  logic                  valid_i,
    output logic                  ready_o,
    input  word_t                 word_i,
    output fault_e                fault_o,
    output logic [          31:0] number_o,
    output logic                  exhausted_o,
    input  logic                  acknowledge_i,
    output logic [          31:0] underrun_o,
    output logic                  want_valid_o,
    input  logic                  want_ready_i,
    output logic [          31:0] want_address_o,
    input  logic                  chunk_valid_i,
    output logic                  chunk_ready_o,
    input  logic [     Width-1:0] chunk_i,
    output logic                  out_valid_o,
    input  logic                  out_ready_i,
    output logic [          31:0] out_address_o,
    output logic [     Width-1:0] out_chunk_o,
    // The port's registers, and the enables of the transform's ranks.
    output logic                  access_o,
    output logic [          13:0] place_o,
    output logic                  columns_o,
    output logic [     Width-1:0] word_o,
    output logic                  idle_o,
    output logic [        Pass:1] move_o
);

  word_t checked, next, head;
  logic checked_valid, checked_ready, next_valid, next_ready;
  logic [Width-1:0] next_q, next_one, head_q, head_one, natural_q, mac_word, load_word;
  logic head_morph, send, send_mac, send_transform, send_load, send_store, read, read_columns;
  logic [Registers-1:0] busy;
  logic mac_ready, mac_idle, transform_ready, transform_idle, load_ready, load_idle;
  logic store_ready, store_idle, again, unused_way, halt, pending, held, last;
  writers_t waits, take;
  targets_t target;
  logic [13:0] mac_place, load_place;
  logic access_d, access_q, columns_d, columns_q;
  logic [13:0] place_d, place_q;
  logic [Width-1:0] word_d, word_q;
  // The targets of the items in the transform's first and last rank.
  target_t entering_q, leaving_q;

  rm_vector_queue #(
      .Depth(Queue),
      .Batch(16),
      .Registers(Registers),
      .Chunks(Slots << LogLimb),
      .LogLimb(LogLimb),
      .LogN(2 * LogRadix),
      .Distant(1048576)
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
      .Passes(Pass / 2),
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
      .send_o(send),
      .send_mac_o(send_mac),
      .send_transform_o(send_transform),
      .send_load_o(send_load),
      .send_store_o(send_store),
      .read_o(read),
      .read_columns_o(read_columns),
      .halt_o(halt),
      .pending_o(pending),
      .held_o(held),
      .last_o(last),
      .waits_i(waits),
      .take_o(take)
  );

  always_comb begin
    unique if (take[WriterMac]) place_d = target[WriterMac].place;
    else if (take[WriterTransform]) place_d = target[WriterTransform].place;
    else if (take[WriterLoad]) place_d = target[WriterLoad].place;
    else place_d = head.a;
    columns_d = take[WriterTransform] ? target[WriterTransform].lie == LieColumns :
        read && read_columns;
    word_d = take[WriterMac] ? mac_word : take[WriterTransform] ? natural_q : load_word;
    access_d = read || take != '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) access_q <= 1'b0;
    else access_q <= access_d;
  end

  always_ff @(posedge clk_i) begin
    if (access_d) begin
      place_q <= place_d;
      columns_q <= columns_d;
    end
    if (take != '0) word_q <= word_d;
    if (access_q) natural_q <= word_q;
    if (send_transform || again) entering_q <= '{lie: write_lie(head.op), place: head.d};
    if (move_o[Pass-1]) leaving_q <= entering_q;
  end

  rm_vector_ways #(
      .LogRadix(LogRadix),
      .Period(Transform)
  ) u_ways (
      .clk_i,
      .rst_ni,
      .send_i(send_transform),
      .morph_i(head_morph),
      .ready_o(transform_ready),
      .idle_o(transform_idle),
      .again_o(again),
      .way_o(unused_way),
      .waits_o(waits[WriterTransform]),
      .take_i(take[WriterTransform]),
      .move_o
  );

  rm_vector_mac #(
      .Lanes(1),
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
      .chunk_i(natural_q),
      .busy_o(busy),
      .idle_o(mac_idle),
      .waits_o(waits[WriterMac]),
      .take_i(take[WriterMac]),
      .place_o(mac_place),
      .chunk_o(mac_word)
  );

  rm_vector_load #(
      .Chunks(LoadChunks),
      .Words(1)
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
      .chunk_o(load_word)
  );

  rm_vector_store #(
      .Chunks(StoreChunks),
      .Words(1)
  ) u_store (
      .clk_i,
      .rst_ni,
      .send_i(send_store),
      .ready_o(store_ready),
      .idle_o(store_idle),
      .address_i(head.n),
      .chunk_i(natural_q),
      .out_valid_o,
      .out_ready_i,
      .out_address_o,
      .out_chunk_o
  );

  assign target[WriterMac] = '{lie: LieRows, place: mac_place};
  assign target[WriterTransform] = leaving_q;
  assign target[WriterLoad] = '{lie: LieRows, place: load_place};

  assign access_o = access_q;
  assign place_o = place_q;
  assign columns_o = columns_q;
  assign word_o = word_q;
  assign idle_o = mac_idle && transform_idle && load_idle && store_idle && !access_q && !send && !halt && !pending;

endmodule
