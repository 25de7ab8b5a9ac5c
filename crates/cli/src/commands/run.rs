//! `ringmill run`: encrypt, run on each device, decrypt, check, report.

use std::path::Path;
use std::sync::Arc;

use num_complex::Complex64;
use ringmill_devices::report::RunReport;
use ringmill_devices::runtime::{Ciphertexts, Client, Server, Vectors};
use ringmill_isa::macros::{MacroProgram, Visibility};
use serde_json::{Map, Value, json};

use crate::args::RunArgs;
use crate::commands::program;
use crate::error::CliError;
use crate::progress::Bar;
use crate::trace::run_on;
use crate::{inputs, output};

pub fn run(args: &RunArgs) -> Result<(), CliError> {
    let devices = args
        .devices
        .iter()
        .map(|name| Ok(ringmill_devices::open(name)?))
        .collect::<Result<Vec<_>, CliError>>()?;
    let source = program::read(&args.program)?;
    let (vectors, from_files) = gather(&source, args)?;
    let sample = from_files.then(|| {
        let inputs = source.inputs.iter();
        inputs
            .filter_map(|input| vectors.get(&input.name).cloned())
            .collect()
    });
    let compiled = Arc::new(program::compile_for(&args.program, source, sample)?);
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
    let mut client = Client::new(Arc::clone(&compiled))?;
    let keys = client.evaluation_keys()?;
    let ciphers = client.encrypt(&part(Visibility::Encrypted))?;
    let server = Server::new(Arc::clone(&compiled), keys)?;

    let mut reports: Vec<RunReport> = Vec::new();
    let mut first: Option<(String, Ciphertexts)> = None;
    let mut clear = Vectors::new();
    for (number, device) in devices.iter().enumerate() {
        let trace = args
            .trace
            .as_deref()
            .filter(|_| number + 1 == devices.len());
        let mut answer = run_on(
            device.as_ref(),
            &server,
            (&ciphers, &plains),
            args.spill,
            trace,
            &Bar::new(),
        )?;
        let outputs = answer.outputs.take().unwrap_or_default();
        clear = client.decrypt(&outputs)?;
        answer.report.precision = client.measure(&vectors, &clear)?;
        if !args.json {
            output::text(&format!("{}\n", answer.report))?;
        }
        reports.push(answer.report);
        match &first {
            Some((name, bits)) if *bits != outputs => {
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
    if let Some(path) = &args.output {
        write_outputs(path, &clear)?;
    }
    let wrong = wrong_outputs(&reports);
    if args.json {
        output::json(
            &json!({ "program": compiled.source.name, "agrees": wrong.is_empty(), "reports": reports }),
        )?;
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

/// Every input of the program, and whether all come from files: the others are random.
fn gather(program: &MacroProgram, args: &RunArgs) -> Result<(Vectors, bool), CliError> {
    let mut files = inputs::parse_options("--input", &args.inputs)?;
    let slots = program.slots as usize;
    let mut vectors = Vectors::new();
    let mut from_files = true;
    for (number, input) in (0u64..).zip(&program.inputs) {
        let values = match files.remove(&input.name) {
            Some(path) => inputs::read(&path, slots)?,
            None if args.random_inputs => {
                from_files = false;
                inputs::random(args.seed, number, slots)
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
