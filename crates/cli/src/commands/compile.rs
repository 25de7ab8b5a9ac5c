//! `ringmill compile`.

use std::io::Write;

use ringmill_compiler::Compiled;
use ringmill_isa::{macros, mid};
use ringmill_machines::SimOptions;
use serde_json::json;

use crate::args::{CompileArgs, Emit};
use crate::commands::{machine, params, program};
use crate::error::CliError;
use crate::output;

pub fn compile(args: &CompileArgs) -> Result<(), CliError> {
    let compiled = program::compile(&args.program)?;
    if args.json {
        let mut text = Vec::new();
        emit(&compiled, args, &mut text)?;
        let described = json!({
            "program": compiled.source.name,
            "params": params::describe("compiled", &compiled.params),
            "keys": compiled.keys.iter().map(|key| format!("{key:?}")).collect::<Vec<_>>(),
            "macro_instructions": compiled.managed.instrs.len(),
            "mid_procedures": compiled.program.procs.len(),
            "mid_calls": compiled.program.calls.len(),
            "outputs": compiled.outputs.iter().zip(&compiled.predicted).map(|(output, precision)| {
                json!({ "name": output.name, "level": output.at.level, "predicted_bits": precision.bits() })
            }).collect::<Vec<_>>(),
            "text": String::from_utf8_lossy(&text),
        });
        return output::json(&described);
    }
    match &args.output {
        Some(path) => output::whole_file(path, |out| emit(&compiled, args, out)),
        None => emit(&compiled, args, &mut std::io::stdout().lock()),
    }
}

fn emit(compiled: &Compiled, args: &CompileArgs, out: &mut dyn Write) -> Result<(), CliError> {
    match args.emit {
        Emit::Macro => out.write_all(macros::text::print(&compiled.managed).as_bytes())?,
        Emit::Mid => out.write_all(mid::text::print_program(&compiled.program).as_bytes())?,
        Emit::Micro => machine::find(&args.machine)?.micro_text(
            &compiled.program,
            SimOptions::default(),
            out,
        )?,
    }
    Ok(())
}
