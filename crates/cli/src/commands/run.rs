//! `ringmill run`: encrypt, run on each device, decrypt, check, report.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use num_complex::Complex64;
use ringmill_compiler::ckks::{Compiled, InputRange};
use ringmill_devices::report::RunReport;
use ringmill_devices::runtime::{Ciphertexts, Server, Vectors};
use ringmill_isa::macros::{MacroProgram, Visibility};
use ringmill_limits::{Watch, human};
use serde_json::{Map, Value, json};

use crate::PythonTracer;
use crate::args::RunArgs;
use crate::commands::program;
use crate::error::CliError;
use crate::kept::{self, Folder, Prepared};
use crate::progress::Bar;
use crate::trace::{Asked, run_on};
use crate::{inputs, output};

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
    if args.trace.is_some() && args.trace == args.output {
        return Err(CliError::Usage(
            "--trace and --output name one file; give each its own".to_owned(),
        ));
    }
    if let (Some(_), [_, _, ..]) = (&args.checkpoint, &args.devices[..]) {
        return Err(CliError::Usage(format!(
            "--checkpoint is of one run, and {} devices are named; name one",
            args.devices.len()
        )));
    }
    let devices = args
        .devices
        .iter()
        .map(|name| Ok(ringmill_devices::open(name)?))
        .collect::<Result<Vec<_>, CliError>>()?;
    let source = program::read(&args.program, args.json, python, watch)?;
    let (vectors, from_files) = gather(&source, args)?;
    let sample = from_files.then(|| {
        let inputs = source.inputs.iter();
        inputs
            .filter_map(|input| vectors.get(&input.name).cloned())
            .collect()
    });
    let compiled = Arc::new(program::compile_for(
        &args.program,
        source,
        sample,
        args.json,
        watch,
    )?);
    let part = |visibility| -> Vectors {
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
        output::text(match folder.goes_on {
            true => "going on from the checkpoint\n",
            false => "saved as it runs: the same command goes on after an interruption\n",
        })?;
    }
    let server = Server::new_watched(Arc::clone(&compiled), keys, watch)?;

    let mut reports: Vec<RunReport> = Vec::new();
    let mut first: Option<(String, Ciphertexts)> = None;
    for (number, device) in devices.iter().enumerate() {
        let trace = args
            .trace
            .as_deref()
            .filter(|_| number + 1 == devices.len());
        let done = run_on(
            device.as_ref(),
            &server,
            (&ciphers, &plains),
            Asked {
                spill: !args.no_spill,
                trace,
                saving: folder
                    .as_ref()
                    .map(|folder| folder.saving(Duration::from_secs(args.checkpoint_every.into()))),
                resume: folder.as_ref().and_then(Folder::resume),
                expanded_bytes: args.expanded_bytes.map(|size| size.memory),
            },
            &Bar::new(),
            watch,
        );
        let mut answer = match done {
            Err(error) if error.is_interrupt() && !reports.is_empty() => {
                return Err(complete(args, &compiled, &reports, &device.name())?);
            }
            done => done?,
        };
        let outputs = answer.outputs.take().unwrap_or_default();
        let clear = client.decrypt(&outputs)?;
        answer.report.scheme = program::scheme(&args.program, &compiled);
        answer.report.precision = client.measure(&vectors, &clear)?;
        // All devices give the same bits, so the first one's outputs are there whatever becomes of the others.
        if let (None, Some(path)) = (&first, &args.output) {
            write_outputs(path, &clear)?;
        }
        if args.detail {
            output::text(&format!("{}\n", answer.report.detail()))?;
        } else if !args.json {
            output::text(&format!("{}\n", answer.report))?;
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
    let wrong = wrong_outputs(&reports);
    if args.json {
        print_reports(&compiled, wrong.is_empty(), &reports)?;
    }
    if !wrong.is_empty() {
        return Err(CliError::Disagreement(format!(
            "less precise than predicted: {}",
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

fn print_reports(compiled: &Compiled, agrees: bool, reports: &[RunReport]) -> Result<(), CliError> {
    output::json(
        &json!({ "program": compiled.source.name, "key_bytes": compiled.key_bytes(), "agrees": agrees, "reports": reports }),
    )
}

/// How many keys will be made, and their size.
fn key_line(compiled: &Compiled) -> String {
    let count = compiled.keys.len();
    let keys = if count == 1 { "key" } else { "keys" };
    format!(
        "{count} evaluation {keys} of {} to make",
        human(compiled.key_bytes())
    )
}

/// Hands out what was finished before an interrupt on device `at`; the error says what that is.
fn complete(
    args: &RunArgs,
    compiled: &Compiled,
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

/// Every input of the program, and whether all come from files: the others are random.
fn gather(program: &MacroProgram, args: &RunArgs) -> Result<(Vectors, bool), CliError> {
    let mut files = inputs::parse_options("--input", &args.inputs)?;
    let slots = program.slots as usize;
    let mut vectors = Vectors::new();
    let mut from_files = true;
    let bound = args.program.input_bound.unwrap_or(1.0).min(1.0);
    let ranges = program::ranges(&args.program, program)?;
    for ((number, input), range) in (0u64..).zip(&program.inputs).zip(ranges) {
        let values = match files.remove(&input.name) {
            Some(path) => inputs::read(&path, slots, args.program.fill)?,
            None if args.random_inputs => {
                from_files = false;
                let ends = match range {
                    Some(InputRange::Real { lowest, highest }) => (lowest, highest),
                    Some(InputRange::Disc { radius }) => (-radius, radius),
                    None => (-bound, bound),
                };
                inputs::random(args.seed.unwrap_or(1), number, slots, ends)
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

/// Outputs whose error is larger than the noise model guarantees.
fn wrong_outputs(reports: &[RunReport]) -> Vec<String> {
    let rows = reports
        .iter()
        .flat_map(|report| report.precision.iter().map(move |row| (report, row)));
    rows.filter(|(_, row)| {
        row.measured_bits
            .is_some_and(|bits| bits < row.predicted_bits)
    })
    .map(|(report, row)| format!("{} on {}", row.output, report.device))
    .collect()
}

/// Outputs as JSON: a list of numbers each; of pairs where the imaginary parts are more than noise.
fn write_outputs(path: &Path, outputs: &Vectors) -> Result<(), CliError> {
    let list = |values: &Vec<Complex64>| -> Value {
        let largest = values.iter().map(|z| z.norm()).fold(0.0, f64::max);
        if values
            .iter()
            .all(|z| z.im.abs() <= 1e-4 * largest.max(1e-4))
        {
            values.iter().map(|z| z.re).collect()
        } else {
            values.iter().map(|z| json!([z.re, z.im])).collect()
        }
    };
    let object: Map<String, Value> = outputs
        .iter()
        .map(|(name, values)| (name.clone(), list(values)))
        .collect();
    output::whole_file(path, |out| Ok(serde_json::to_writer(out, &object)?))
}
