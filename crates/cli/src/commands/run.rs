// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill run`: encrypts inputs, runs a program on each device, decrypts, checks and reports.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ringmill_compiler::Compiled;
use ringmill_compiler::arrays::Lengths;
use ringmill_device::Device;
use ringmill_isa::macros::{MacroProgram, Visibility};
use ringmill_limits::{Watch, human};
use ringmill_runtime::html::{Along, of_runs};
use ringmill_runtime::report::RunReport;
use ringmill_runtime::shown::{Asked, Bar, run_on};
use ringmill_runtime::with_scheme;
use ringmill_runtime::{Ciphers, Messages, Served, Server};
use serde_json::{Map, Value, json};

use crate::PythonTracer;
use crate::args::RunArgs;
use crate::commands::cure;
use crate::commands::pages;
use crate::commands::program::{self, Read};
use crate::error::CliError;
use crate::inputs::{self, Room};
use crate::kept::Folder;
use crate::kept::scheme::{self as kept, Prepared};
use crate::{numbers, output};

pub fn run(
    args: &RunArgs,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<(), CliError> {
    if args.program.fill.is_some() && args.inputs.is_empty() && args.program.samples.is_empty() {
        return Err(CliError::Usage(
            "--fill is about the files of --input and --sample, and none is given; leave it out"
                .to_owned(),
        ));
    }
    pages::apart(&[
        ("--trace", args.trace.as_deref()),
        ("--output", args.output.as_deref()),
        ("--html", args.html.as_deref()),
    ])?;
    if let (Some(_), [_, _, ..]) = (&args.checkpoint, &args.devices[..]) {
        return Err(CliError::Usage(format!(
            "--checkpoint is of one run, and {} devices are named; name one",
            args.devices.len()
        )));
    }
    let devices = args
        .devices
        .iter()
        .map(|name| Ok(ringmill_sim::open(name)?))
        .collect::<Result<Vec<_>, CliError>>()?;
    let read = program::read(&args.program, args.json, python, watch)?;
    with_scheme!(read.scheme, S => carried_out::<S>(args, read, &devices, watch))
}

fn carried_out<S: Served>(
    args: &RunArgs,
    read: Read,
    devices: &[Box<dyn Device>],
    watch: &Watch,
) -> Result<(), CliError> {
    let scheme = read.report();
    let lengths = read.arrays.lengths.clone();
    let (vectors, from_files) = gather::<S>(&read, args)?;
    let sample = from_files.then(|| {
        let inputs = read.program.inputs.iter();
        inputs
            .filter_map(|input| vectors.get(&input.name).cloned())
            .collect()
    });
    let (compiled, options) = program::compile::<S>(&args.program, read, sample, args.json, watch)?;
    let compiled = Arc::new(compiled);
    let part = |visibility| -> Messages<S> {
        let wanted = compiled
            .inputs
            .iter()
            .filter(|input| input.visibility == visibility);
        wanted
            .filter_map(|input| vectors.get_key_value(&input.name))
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect()
    };
    let plains = part(Visibility::Plain);
    if !args.json {
        output::text(&format!("{}\n", key_line(&compiled)))?;
    }
    let Prepared {
        client,
        keys,
        ciphers,
        folder,
    } = kept::prepare(
        &compiled,
        &part(Visibility::Encrypted),
        &plains,
        args.checkpoint.as_deref(),
        watch,
    )?;
    if let (Some(folder), false) = (&folder, args.json) {
        output::text(folder.told())?;
    }
    let server = Server::new_watched(Arc::clone(&compiled), keys, watch)?;

    let sources = pages::sources(&args.program.program);
    let mut reports: Vec<RunReport> = Vec::new();
    let mut first: Option<(String, Ciphers<S>)> = None;
    let mut wrong = Vec::new();
    for (number, device) in devices.iter().enumerate() {
        let trace = args
            .trace
            .as_deref()
            .filter(|_| number + 1 == devices.len());
        let done = run_on(
            device.as_ref(),
            &server,
            &ciphers,
            &plains,
            Asked {
                spill: !args.no_spill,
                trace,
                timeline: args.html.is_some(),
                saving: folder
                    .as_ref()
                    .map(|folder| folder.saving(Duration::from_secs(args.checkpoint_every.into()))),
                resume: folder.as_ref().and_then(Folder::resume),
                expanded_bytes: args.expanded_bytes.map(|size| size.memory),
            },
            &Bar::new(),
            watch,
        );
        let mut answer = match done.map_err(CliError::from) {
            Err(error) if error.is_interrupt() && !reports.is_empty() => {
                return Err(complete(args, &compiled, &reports, &device.name())?);
            }
            done => done.map_err(|refused| {
                let machine = device.name();
                let (_, machine) = machine.split_once(':').unwrap_or(("", &machine));
                cure::of_refusal(refused, machine, &compiled, &options)
            })?,
        };
        let outputs = answer.outputs.take().unwrap_or_default();
        let clear = client.decrypt(&outputs)?;
        answer.report.scheme = scheme.clone();
        let found = (&outputs, &clear);
        wrong.extend(S::judge(&client, &vectors, found, &mut answer.report)?);
        // All devices give the same bits, so the first device's outputs are valid even if another device fails.
        if let (None, Some(path)) = (&first, &args.output) {
            write_outputs::<S>(path, &compiled.source, &lengths, &clear)?;
        }
        if args.detail {
            output::text(&format!("{}\n", answer.report.detail()))?;
        } else if !args.json {
            output::text(&format!("{}\n", answer.report))?;
        }
        if args.profile {
            output::text(&format!("{}\n", answer.report.profile(&sources)))?;
        }
        reports.push(answer.report);
        match &first {
            Some((name, bits)) if *bits != outputs => {
                if args.json {
                    print_reports(&compiled, false, &reports)?;
                }
                return Err(CliError::Disagreement(format!(
                    "{} and {} gave different bits",
                    name,
                    device.name()
                )));
            }
            Some(_) => {}
            None => first = Some((device.name(), outputs)),
        }
    }
    folder.map(Folder::clear).transpose()?;
    if let Some(path) = &args.html {
        let along = Along::of(&compiled.managed, &*compiled.params);
        let all: Vec<&RunReport> = reports.iter().collect();
        let title = format!("Run of {}", compiled.source.name);
        pages::write(path, &title, &of_runs(&all, Some(&along), &sources))?;
    }
    if args.json {
        print_reports(&compiled, wrong.is_empty(), &reports)?;
    }
    if !wrong.is_empty() {
        return Err(CliError::Disagreement(format!(
            "{}: {}",
            S::WRONG,
            wrong.join(", ")
        )));
    }
    if !args.json {
        let devices = if reports.len() > 1 {
            "all devices gave the same bits; "
        } else {
            ""
        };
        output::text(&format!(
            "{devices}every output agrees with the computation in the clear\n"
        ))?;
    }
    Ok(())
}

fn print_reports<S: Served>(
    compiled: &Compiled<S>,
    agrees: bool,
    reports: &[RunReport],
) -> Result<(), CliError> {
    output::json(
        &json!({ "program": compiled.source.name, "key_bytes": compiled.key_bytes(), "agrees": agrees, "reports": reports }),
    )
}

/// Returns a line of text with the number of evaluation keys to make, and their size.
fn key_line<S: Served>(compiled: &Compiled<S>) -> String {
    let count = compiled.keys.len();
    let keys = if count == 1 { "key" } else { "keys" };
    format!(
        "{count} evaluation {keys} of {} to make",
        human(compiled.key_bytes())
    )
}

/// Prints the reports of the devices that finished before an interrupt, if the output is JSON; as text they are printed
/// one by one. Returns the error for the interrupt on device `at`, which names the finished devices.
fn complete<S: Served>(
    args: &RunArgs,
    compiled: &Compiled<S>,
    reports: &[RunReport],
    at: &str,
) -> Result<CliError, CliError> {
    if args.json {
        output::json(
            &json!({ "program": compiled.source.name, "interrupted": at, "reports": reports }),
        )?;
    }
    let devices: Vec<&str> = reports.iter().map(|r| r.device.as_str()).collect();
    let mut kept = format!("complete: the report of {}", devices.join(", "));
    if let Some(path) = &args.output {
        kept += &format!(", outputs in {}", path.display());
    }
    Ok(CliError::Interrupted {
        at: at.to_owned(),
        kept,
    })
}

/// Returns the values of every input of the program, and whether all come from files. Inputs without a file are random
/// if `--random-inputs` is given, and an error otherwise.
fn gather<S: Served>(read: &Read, args: &RunArgs) -> Result<(Messages<S>, bool), CliError> {
    let program = &read.program;
    let mut files = inputs::parse_options("--input", &args.inputs)?;
    let mut vectors = Messages::<S>::new();
    let mut from_files = true;
    let bound = args.program.input_bound;
    let ranges = program::ranges::<S>(&args.program, read)?;
    for ((number, input), range) in program.inputs.iter().enumerate().zip(ranges) {
        let room = Room::new(program.slots, read.arrays.lengths.input(number));
        let values = match files.remove(&input.name) {
            Some(path) => numbers::read::<S>(&path, room, args.program.fill)?,
            None if args.random_inputs => {
                from_files = false;
                let seed = args.seed.unwrap_or(1);
                numbers::random::<S>(seed, number as u64, room, range.as_ref(), bound)?
            }
            None => {
                return Err(CliError::Usage(format!(
                    "input `{0}` is missing; give --input {0}=FILE, or --random-inputs",
                    input.name
                )));
            }
        };
        vectors.insert(input.name.clone(), values);
    }
    inputs::all_known(&files, program)?;
    Ok((vectors, from_files))
}

/// Writes the decrypted outputs as a JSON file.
fn write_outputs<S: Served>(
    path: &Path,
    source: &MacroProgram,
    lengths: &Lengths,
    outputs: &Messages<S>,
) -> Result<(), CliError> {
    let values = |name: &String| {
        let number = source.outputs.iter().position(|output| output == name);
        let length = number.and_then(|number| lengths.output(number));
        length.unwrap_or(source.slots) as usize
    };
    let object: Map<String, Value> = outputs
        .iter()
        .map(|(name, message)| {
            let shown = numbers::shown(&S::values(message.clone()), values(name));
            (name.clone(), shown)
        })
        .collect();
    output::whole_file(path, |out| Ok(serde_json::to_writer(out, &object)?))
}
