// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill compile`: compiles a program, and prints it at one of its levels, as a saved program, or with
//! the compiler's decisions.

use std::io::Write;

use ringmill_compiler::explain::{Explanation, explain};
use ringmill_compiler::saved;
use ringmill_device::whole_file::Contents;
use ringmill_isa::mid::stats::call_counts;
use ringmill_isa::{macros, mid};
use ringmill_limits::Watch;
use ringmill_machines::SimOptions;
use ringmill_runtime::Served;
use ringmill_runtime::html::{of_explanation, of_program};
use ringmill_runtime::with_scheme;
use serde_json::{Map, json};

use crate::PythonTracer;
use crate::args::{CompileArgs, Emit};
use crate::commands::program::Read;
use crate::commands::{machine, pages, params, program};
use crate::error::CliError;
use crate::{numbers, output};

/// The machine of `ringmill compile --emit micro` if the command line names none.
const MACHINE: &str = "ring";

pub fn compile(
    args: &CompileArgs,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<(), CliError> {
    if args.machine.is_some() && args.emit != Some(Emit::Micro) {
        return Err(CliError::Usage(
            "--machine is that of --emit micro; the other levels are the same for every machine: leave it out"
                .to_owned(),
        ));
    }
    pages::apart(&[
        ("--output", args.output.as_deref()),
        ("--html", args.html.as_deref()),
    ])?;
    let read = program::read_alone(&args.program, args.json, python, watch)?;
    with_scheme!(read.scheme, S => printed::<S>(args, read, watch))
}

fn printed<S: Served>(args: &CompileArgs, read: Read, watch: &Watch) -> Result<(), CliError> {
    let level = args.emit.unwrap_or(match read.is_saved() {
        true => Emit::Saved,
        false => Emit::Macro,
    });
    if args.with_sample && level != Emit::Saved {
        return Err(CliError::Usage(
            "--with-sample is about --emit saved; the other levels hold no sample: leave it out"
                .to_owned(),
        ));
    }
    let (scheme, arrays) = (read.report(), read.arrays.clone());
    let (compiled, options) = program::compile::<S>(&args.program, read, None, args.json, watch)?;
    let explanation = match args.explain {
        true => Some(explain(&compiled, &options)?),
        false => None,
    };
    if let Some(path) = &args.html {
        let explained = explanation.iter().flat_map(of_explanation);
        let mut sections = of_program(&compiled, &pages::sources(&args.program.program));
        sections.splice(1..1, explained);
        pages::write(
            path,
            &format!("Program {}", compiled.source.name),
            &sections,
        )?;
    }
    if let Some(explanation) = &explanation {
        return explained(args, explanation);
    }
    let contents = match args.with_sample {
        true => Contents::Secret,
        false => Contents::Public,
    };
    let emit = |out: &mut dyn Write| match level {
        Emit::Saved => {
            let text = match args.with_sample {
                true => saved::print_with_sample(&compiled, &options, &arrays),
                false => Some(saved::print(&compiled, &options, &arrays)),
            };
            let text = text.ok_or_else(|| {
                CliError::Usage(
                    "--with-sample: there is no sample to keep; name it with --sample, or leave --with-sample out"
                        .to_owned(),
                )
            })?;
            Ok(out.write_all(text.as_bytes())?)
        }
        Emit::Macro => Ok(out.write_all(macros::text::print(&compiled.managed).as_bytes())?),
        Emit::Mid => {
            watch.admit("the program's text", text_bytes(&compiled.program))?;
            Ok(out.write_all(mid::text::print_program(&compiled.program).as_bytes())?)
        }
        Emit::Micro => {
            let machine = machine::find(args.machine.as_deref().unwrap_or(MACHINE))?;
            let options = SimOptions {
                watch: watch.clone(),
                ..SimOptions::default()
            };
            Ok(machine.micro_text(&compiled.program, options, out)?)
        }
    };
    if args.json {
        let mut text = Vec::new();
        emit(&mut text)?;
        let described = json!({
            "program": compiled.source.name,
            "scheme": scheme,
            "params": params::describe::<S>("compiled", &compiled.params),
            "keys": compiled.keys.iter().map(|key| format!("{key:?}")).collect::<Vec<_>>(),
            "key_bytes": compiled.key_bytes(),
            "macro_instructions": compiled.managed.instrs.len(),
            "mid_procedures": compiled.program.procs.len(),
            "mid_calls": call_counts(&compiled.program).into_iter().fold(0, u64::saturating_add),
            "outputs": compiled.outputs.iter().zip(&compiled.predicted).map(|(output, prediction)| {
                let mut row = Map::from_iter([("name".to_owned(), json!(output.name)), ("level".to_owned(), json!(output.at.level))]);
                row.extend(numbers::predicted(S::predicted(prediction)));
                row
            }).collect::<Vec<_>>(),
            "text": String::from_utf8_lossy(&text),
        });
        return match &args.output {
            Some(path) => output::whole_file_of(contents, path, |out| {
                serde_json::to_writer(&mut *out, &described)?;
                Ok(writeln!(out)?)
            }),
            None => output::json(&described),
        };
    }
    match &args.output {
        Some(path) => output::whole_file_of(contents, path, |out| emit(out)),
        None => emit(&mut std::io::stdout().lock()),
    }
}

/// Prints the compiler's decisions on a program and what each costs, as text or as JSON.
fn explained(args: &CompileArgs, explanation: &Explanation) -> Result<(), CliError> {
    let write = |out: &mut dyn Write| {
        if args.json {
            serde_json::to_writer(&mut *out, explanation)?;
            return Ok(writeln!(out)?);
        }
        Ok(write!(out, "{explanation}")?)
    };
    match &args.output {
        Some(path) => output::whole_file(path, |out| write(out)),
        None => write(&mut std::io::stdout().lock()),
    }
}

/// Returns the bytes of memory that printing a limb program takes. The text has a few dozen bytes for each instruction,
/// input, output and limb of a call, and takes twice its size while it grows.
fn text_bytes(program: &mid::Program) -> u64 {
    let blocks = program.blocks.iter().flat_map(|b| &b.steps);
    let steps = blocks.chain(&program.steps);
    let steps = steps.map(|s| 8 + s.args.len() + s.immediates.len() + 2 * s.results.len());
    let operands = |i: &mid::Instr| 4 + i.src.len() + i.dst.len();
    let procs = program.procs.iter();
    let procs = procs.map(|p| p.params.len() + p.instrs.iter().map(operands).sum::<usize>());
    let ends = program.inputs.len() + program.outputs.len();
    let items = steps.sum::<usize>() + procs.sum::<usize>() + 4 * ends;
    3 * 16 * items as u64
}
