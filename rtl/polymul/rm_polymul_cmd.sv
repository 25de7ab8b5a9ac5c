// Whether a command may begin: code_o, and with CodeOk the start of its unit.
//
// The array needs a whole set; load and unload may work beside each other on different polynomials,
// and beside the array on the other set; tables change under nobody.
//
// Latency 0 (combinational).
module rm_polymul_cmd
  import rm_polymul_pkg::*;
#(
    parameter int unsigned MaxLogN = 12
) (
    input  logic        valid_i,
    input  op_e         op_i,
    input  logic        set_i,
    input  logic        buf_i,
    input  logic  [4:0] log_n_i,
    input  logic        tables_valid_i,
    input  logic        array_busy_i,
    input  logic        array_set_i,
    input  logic        load_busy_i,
    input  logic        load_tables_i,
    input  logic        load_set_i,
    input  logic        load_buf_i,
    input  logic        unload_busy_i,
    input  logic        unload_set_i,
    input  logic        unload_buf_i,
    output code_e       code_o,
    output logic        start_array_o,
    output logic        start_load_o,
    output logic        start_unload_o
);

  logic array_uses, load_uses, unload_uses, same_loaded, same_unloaded, conflict, go;

  assign array_uses = array_busy_i && array_set_i == set_i;
  assign load_uses = load_busy_i && (load_tables_i || load_set_i == set_i);
  assign unload_uses = unload_busy_i && unload_set_i == set_i;
  assign same_loaded = load_uses && (load_tables_i || load_buf_i == buf_i);
  assign same_unloaded = unload_uses && unload_buf_i == buf_i;

  always_comb begin
    unique case (op_i)
      OpTables: conflict = array_busy_i || load_busy_i || unload_busy_i;
      OpLoad: conflict = load_busy_i || array_uses || same_unloaded;
      OpUnload: conflict = unload_busy_i || array_uses || same_loaded;
      default: conflict = array_busy_i || load_uses || unload_uses;
    endcase
    code_o = CodeOk;
    if (conflict) code_o = CodeBusy;
    else if (op_i == OpTables) begin
      if (log_n_i < 5'(MinLogN) || log_n_i > 5'(MaxLogN)) code_o = CodeUnsupported;
    end else if (!tables_valid_i) code_o = CodeNoTables;
  end

  assign go = valid_i && code_o == CodeOk;
  assign start_load_o = go && (op_i == OpLoad || op_i == OpTables);
  assign start_unload_o = go && op_i == OpUnload;
  assign start_array_o = go && !(op_i == OpLoad || op_i == OpTables || op_i == OpUnload);

endmodule
