// SPDX-License-Identifier: Apache-2.0
//! Generates the SystemVerilog package that decodes the ring machine's instruction words, from their definition in
//! `ringmill_machines::ring`.

use std::fmt::Write;

use ringmill_machines::ring::encode::{FIELDS, Field, KINDS, WAIT_FIELDS};
use ringmill_machines::ring::micro::{LINK_QUEUE, Opcode, QUEUES, RING_QUEUE, STREAMS};

/// The path of the generated package below the project's root.
pub const PACKAGE: &str = "rtl/ring/rm_ring_isa_pkg.sv";

/// Converts a name such as `BCAST` to camel case, and puts a prefix before it, such as `OpBcast`.
fn camel(prefix: &str, name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    let rest = letters.map(|c| c.to_ascii_lowercase());
    prefix.chars().chain(first).chain(rest).collect()
}

fn logic(field: Field) -> String {
    match field.name {
        "op" => "op_e".to_owned(),
        "b_kind" => "kind_e".to_owned(),
        _ if field.width == 1 => "logic".to_owned(),
        _ => format!("logic [{}:0]", field.width - 1),
    }
}

/// Returns the text of the SystemVerilog package that decodes instruction words.
pub fn package() -> String {
    let mut text = String::from(
        "// SPDX-License-Identifier: Apache-2.0
// The micro words of the ring machine (docs/machines/ring.md, \"The instruction word\"). Generated from
// crates/machines/src/ring by `cargo run -p ringmill-hdl --bin ring-gen`: do not edit.
package rm_ring_isa_pkg;

  typedef enum logic [4:0] {
    OpEnd = 5'd0,
    OpWait = 5'd1",
    );
    let line = |out: &mut String, entry: String| {
        // Writing to a string cannot fail.
        let _ = write!(out, ",\n    {entry}");
    };
    for op in Opcode::ALL {
        line(
            &mut text,
            format!("{} = 5'd{}", camel("Op", op.name()), op as u8),
        );
    }
    text += "\n  } op_e;\n\n  typedef enum logic [1:0] {";
    let kinds = KINDS.iter().enumerate();
    let kinds = kinds.map(|(i, kind)| format!("\n    {} = 2'd{i}", camel("Kind", kind)));
    text += &kinds.collect::<Vec<_>>().join(",");
    text += "\n  } kind_e;\n\n  typedef struct packed {\n";
    for field in FIELDS {
        let _ = writeln!(text, "    {} {};", logic(field), field.name);
    }
    text += "  } word_t;\n\n";
    let _ = writeln!(
        text,
        "  /* verilator lint_off UNUSEDPARAM */  // each module takes what it needs\n  localparam int unsigned LastOp = {};\n  localparam int unsigned Streams = {STREAMS};\n  \
         localparam int unsigned Queues = {QUEUES};\n  localparam int unsigned RingQueue = {RING_QUEUE};\n  \
         localparam int unsigned LinkQueue = {LINK_QUEUE};",
        Opcode::ALL.len() + 1,
    );
    for field in WAIT_FIELDS {
        let _ = writeln!(
            text,
            "  localparam int unsigned Wait{0}Low = {1};\n  localparam int unsigned Wait{0}Width = {2};",
            camel("", field.name),
            field.low,
            field.width,
        );
    }
    text + "  /* verilator lint_on UNUSEDPARAM */\n\nendpackage\n"
}
