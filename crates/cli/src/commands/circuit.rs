// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill circuit`: predicts the cost of a netlist under TFHE, and runs it on encrypted bits.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ringmill_circuits::circuit::choose::{CANDIDATES, Estimate, Source, choose};
use ringmill_circuits::circuit::netlist::{self, Netlist, NetlistPort};
use ringmill_circuits::circuit::{Chosen, CircuitError, Port};
use ringmill_circuits::run::client::unbound;
use ringmill_circuits::run::{Engine, Keeping, Server, run};
use ringmill_circuits::tfhe::mid::BootstrapPrograms;
use ringmill_circuits::tfhe::{Evaluator, Messages, Order, Params, ParamsBuilder, keys, sets};
use ringmill_isa::mid::text::print_program;
use ringmill_limits::Watch;
use ringmill_math::Prng;
use serde_json::{Value, json};

use crate::args::circuit::{CircuitArgs, CircuitLevel};
use crate::error::CliError;
use crate::inputs;
use crate::kept::Folder;
use crate::kept::circuit::{self as kept, Prepared};
use crate::output;
use ringmill_runtime::shown::Bar;

pub fn circuit(args: &CircuitArgs, watch: &Watch) -> Result<(), CliError> {
    let netlist = read(&args.netlist, watch)?;
    let values = given(args, &netlist)?;
    if let (None, Some(_)) = (&values, &args.checkpoint) {
        return Err(CliError::Usage(
            "--checkpoint is of a run; give --run NAME=VALUE or --random-inputs".to_owned(),
        ));
    }
    let chosen = choose(
        Source::Netlist(&netlist),
        &candidates(args)?,
        args.failure,
        watch,
    )?;
    if let Some(level) = args.emit {
        return output::text(&emitted(level, &chosen)?);
    }
    if !args.json {
        output::text(&told(&netlist, &chosen))?;
    }
    let ran = match &values {
        Some(values) => Some(under_encryption(args, &chosen, values, watch)?),
        None => None,
    };
    let clear = values.as_ref().map(|values| netlist.evaluate(values));
    let clear = clear.transpose()?;
    if args.json {
        let described = described(&chosen, values.as_deref(), ran.as_ref(), clear.as_deref());
        output::json(&described)?;
    }
    let (Some(values), Some(ran), Some(clear)) = (values, ran, clear) else {
        return Ok(());
    };
    if !args.json {
        output::text(&told_of(&chosen, &values, &ran))?;
    }
    ran.folder.map(Folder::clear).transpose()?;
    if ran.outputs == clear {
        return Ok(());
    }
    Err(CliError::Disagreement(format!(
        "the decrypted outputs {:?} are not those of the clear, {clear:?}",
        ran.outputs
    )))
}

fn read(path: &Path, watch: &Watch) -> Result<Netlist, CliError> {
    let what = format!("{} and what is made of it", path.display());
    let bytes = inputs::read_within(path, &what, watch)?;
    netlist::read(&bytes, watch).map_err(|error| match error {
        CircuitError::Halt(halt) => CliError::Halt(halt),
        error => CliError::Input {
            path: path.to_owned(),
            reason: error.to_string(),
        },
    })
}

/// Returns the text of a compiled circuit at a level, for `--emit`.
fn emitted(level: CircuitLevel, chosen: &Chosen) -> Result<String, CliError> {
    let graph = &chosen.circuit.graph;
    if level == CircuitLevel::Macro {
        return Ok(graph.to_string());
    }
    let programs = BootstrapPrograms::new(&chosen.params)?;
    let shared = graph.lookups.iter().any(|lookup| lookup.shared);
    let switched = chosen.params.sizes().order == Order::KeySwitchFirst;
    let each = [
        (switched, "the key switch", &programs.switch),
        (true, "the rotation, its table an input", &programs.rotate),
        (
            shared,
            "the rotation of lookups that share one",
            &programs.turn,
        ),
    ];
    let printed = each.iter().filter(|(used, ..)| *used);
    let printed = printed.map(|(_, what, program)| format!("; {what}\n{}", print_program(program)));
    Ok(printed.collect::<Vec<_>>().join("\n"))
}

/// Returns the TFHE parameter sets to choose from. That is the set that `--params` names, or for `auto` the sets of
/// which the command takes the one with the least work.
fn candidates(args: &CircuitArgs) -> Result<Vec<Arc<Params>>, CliError> {
    let names = match args.params.as_str() {
        "auto" => CANDIDATES.to_vec(),
        name => vec![name],
    };
    let mut found = Vec::new();
    for name in names {
        let named = ParamsBuilder::named(name)?;
        let mut digits = sets::names_with(|messages| messages == Messages::CIRCUITS);
        let builder = match args.toy_for_tests_only {
            false => named,
            true if digits.any(|set| set == name) => ParamsBuilder::toy_circuits_for_tests_only(),
            true => ParamsBuilder::toy_for_tests_only(),
        };
        found.push(builder.build()?);
    }
    Ok(found)
}

/// Returns the values of the inputs on which some output depends, in order, as words of 64 bits. Returns `None` if the
/// command line asks for no run (neither `--run` nor `--random-inputs`).
fn given(args: &CircuitArgs, netlist: &Netlist) -> Result<Option<Vec<u64>>, CliError> {
    let [ports, _] = netlist.ports();
    if args.run.is_none() && !args.random_inputs {
        return Ok(None);
    }
    let mut values = vec![None; ports.len()];
    for text in args.run.iter().flatten() {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let Some(at) = ports.iter().position(|port| port.name == name) else {
            let known: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
            return Err(CliError::Usage(format!(
                "--run {text}: the netlist has no input `{name}`; it has {}",
                known.join(", ")
            )));
        };
        let found = words(value, &ports[at]);
        let found = found.map_err(|what| CliError::Usage(format!("--run {text}: {what}")))?;
        if values[at].replace(found).is_some() {
            return Err(CliError::Usage(format!("--run names `{name}` twice")));
        }
    }
    let mut random = random(args.seed);
    let mut all = Vec::new();
    for (port, value) in ports.iter().zip(values).filter(|(port, _)| port.used) {
        // Random words are drawn for all inputs, so that those of one input do not depend on which others are given.
        let widths = port.words().into_iter();
        let drawn: Vec<u64> = widths
            .map(|bits| random.next_u64() >> (64 - bits))
            .collect();
        let name = &port.name;
        match value {
            Some(value) => all.extend(value),
            None if args.random_inputs => all.extend(drawn),
            None => {
                return Err(CliError::Usage(format!(
                    "input `{name}` is missing; give --run {name}=VALUE, or --random-inputs for what is not given"
                )));
            }
        }
    }
    Ok(Some(all))
}

/// Parses the value of a netlist's port: its words of 64 bits separated by commas, the lowest first. The error says
/// what is wrong with the text.
fn words(text: &str, port: &NetlistPort) -> Result<Vec<u64>, String> {
    let (name, widths) = (&port.name, port.words());
    let read = |word: &str| match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    let words: Option<Vec<u64>> = text.split(',').map(read).collect();
    let words = match words {
        Some(words) if words.len() == widths.len() => words,
        Some(_) | None if widths.len() == 1 => {
            return Err("expected NAME=VALUE, a whole number such as 17 or 0x11".to_owned());
        }
        Some(_) | None => {
            return Err(format!(
                "`{name}` has {} bits, expected its {} words of 64 bits, the lowest first, as {name}=0x11,5",
                port.bits,
                widths.len()
            ));
        }
    };
    for (&word, &bits) in words.iter().zip(&widths) {
        if bits < 64 && word >> bits != 0 {
            let of = if widths.len() == 1 {
                ""
            } else {
                " in its last word"
            };
            return Err(format!(
                "`{name}` has {bits} bits{of}, expected a value from 0 to {}",
                (1u64 << bits) - 1
            ));
        }
    }
    Ok(words)
}

/// Returns a generator of random inputs, which a seed makes repeatable.
fn random(seed: Option<u64>) -> Prng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.unwrap_or(1).to_le_bytes());
    Prng::from_seed_for_reproducible_tests_only(bytes)
}

/// The results of a circuit's run under encryption: outputs, times and threads.
struct Ran {
    outputs: Vec<u64>,
    folder: Option<Folder>,
    elapsed: Duration,
    threads: usize,
}

fn under_encryption(
    args: &CircuitArgs,
    chosen: &Chosen,
    values: &[u64],
    watch: &Watch,
) -> Result<Ran, CliError> {
    let (params, circuit) = (&chosen.params, &chosen.circuit);
    // The keys as they are made, and as bootstraps read them.
    let bytes = keys::bytes(params) + params.floor().key_bytes();
    watch.admit("the evaluation keys", bytes)?;
    let Prepared {
        client,
        bootstrap,
        switch,
        inputs,
        folder,
    } = kept::prepare(chosen, values, args.checkpoint.as_deref(), watch)?;
    if let (Some(folder), false) = (&folder, args.json) {
        output::text(folder.told())?;
    }
    let evaluator = Evaluator::new(Arc::clone(params), &bootstrap, &switch)?;
    let keeping = Keeping {
        saving: folder
            .as_ref()
            .map(|folder| folder.saving(Duration::from_secs(args.checkpoint_every.into()))),
        resume: folder.as_ref().and_then(Folder::resume),
    };
    let bar = if args.json { Bar::none() } else { Bar::new() };
    let server = Server {
        engine: Engine::Evaluator(&evaluator),
        threads: args
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        watch,
        progress: &bar,
    };
    let ran = run(&circuit.graph, &server, inputs, &keeping)?;
    let mut outputs = Vec::with_capacity(circuit.outputs.len());
    let each = circuit.outputs.iter().zip(unbound(circuit, ran.outputs));
    for (port, limbs) in each {
        outputs.push(client.decrypt(port, &limbs)? as u64);
    }
    Ok(Ran {
        outputs,
        folder,
        elapsed: ran.elapsed,
        threads: ran.threads,
    })
}

fn listed<'a>(ports: impl Iterator<Item = &'a NetlistPort>) -> String {
    let each = ports.map(|port| format!("{}[{}]", port.name, port.bits));
    each.collect::<Vec<_>>().join(" ")
}

/// Returns the netlist's inputs and outputs and the circuit's predicted cost as text, which the command prints before a
/// run.
fn told(netlist: &Netlist, chosen: &Chosen) -> String {
    let [inputs, outputs] = netlist.ports();
    let mut text = format!(
        "inputs {}; outputs {}\n",
        listed(inputs.iter().filter(|port| port.used)),
        listed(outputs.iter())
    );
    let unused = listed(inputs.iter().filter(|port| !port.used));
    if !unused.is_empty() {
        let _ = writeln!(text, "no output depends on {unused}: they take no value");
    }
    for estimate in &chosen.estimates {
        let Estimate {
            set,
            bootstraps,
            depth,
            work,
            failure,
        } = *estimate;
        let taken = match chosen.estimates.len() {
            1 => "",
            _ if set == chosen.params.name() => "  <- taken: least work",
            _ => "",
        };
        // Nothing is lost: a string takes whatever is written to it.
        let _ = writeln!(
            text,
            "  {}: {bootstraps} bootstraps, {depth} in a row; {:.3} GB of operations; {}{taken}",
            set.unwrap_or("toy parameters, which keep nothing secret"),
            work as f64 / 1e9,
            match bootstraps {
                0 => "nothing can fail".to_owned(),
                _ => format!("wrong with probability 2^{failure:.0}"),
            },
        );
    }
    text + &chosen.params.summary() + "\n"
}

/// Returns the results of a run as text, each output value with its name.
fn told_of(chosen: &Chosen, values: &[u64], ran: &Ran) -> String {
    let line = |ports: &[Port], values: &[u64]| {
        let each = ports.iter().zip(values);
        let each = each.map(|(port, value)| format!("{} = {value}", port.name));
        each.collect::<Vec<_>>().join(", ")
    };
    let circuit = &chosen.circuit;
    format!(
        "encrypted {}\ndecrypted {}\n{} bootstraps in {:.2} s on {} threads, measured\n",
        line(&circuit.inputs, values),
        line(&circuit.outputs, &ran.outputs),
        circuit.graph.cost().bootstraps,
        ran.elapsed.as_secs_f64(),
        ran.threads,
    )
}

fn described(
    chosen: &Chosen,
    values: Option<&[u64]>,
    ran: Option<&Ran>,
    clear: Option<&[u64]>,
) -> Value {
    let circuit = &chosen.circuit;
    let ports = |ports: &[Port], values: Option<&[u64]>| -> Vec<Value> {
        let each = ports.iter().enumerate();
        each.map(|(i, port)| {
            let value = values.and_then(|values| values.get(i));
            json!({ "name": port.name, "bits": port.kind.bits(), "value": value })
        })
        .collect()
    };
    let estimates = chosen.estimates.iter().map(|e| {
        json!({
            "set": e.set,
            "bootstraps": e.bootstraps,
            "depth": e.depth,
            "work_bytes": e.work,
            "failure_log2": e.failure,
        })
    });
    json!({
        "set": chosen.params.name(),
        "parameters": chosen.params.summary(),
        "key_bytes": keys::bytes(&chosen.params),
        "estimates": estimates.collect::<Vec<_>>(),
        "inputs": ports(&circuit.inputs, values),
        "outputs": ports(&circuit.outputs, ran.map(|ran| ran.outputs.as_slice())),
        "run": ran.map(|ran| json!({
            "seconds": ran.elapsed.as_secs_f64(),
            "threads": ran.threads,
            "as_in_the_clear": Some(ran.outputs.as_slice()) == clear,
        })),
    })
}
