// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill plans`: shows which kernel each transform runs on this computer.

use ringmill_limits::Watch;
use ringmill_math::plans::{self, Choice, Task};
use ringmill_math::{Backend, Modulus, Ntt32, NttPlan, Ring, primes};
use serde_json::{Value, json};

use crate::args::PlansArgs;
use crate::error::CliError;
use crate::output;

/// The factor by which the command times a transform's candidate kernels longer than a program does, so that the times
/// are more exact.
const LONGER: u32 = 4;

pub fn plans(args: &PlansArgs, watch: &Watch) -> Result<(), CliError> {
    plans::check_environment()?;
    let mut choices = Vec::new();
    for &bits in &args.bits {
        for &log_n in &args.log_n {
            watch.check()?;
            choices.extend(of_prime(bits, log_n)?);
        }
    }
    let (processor, level) = (plans::processor(), Backend::current());
    if args.json {
        let shapes: Vec<Value> = choices.iter().map(record).collect();
        return output::json(&json!({
            "processor": processor,
            "level": level.name(),
            "shapes": shapes,
        }));
    }
    let lines: String = choices.iter().map(line).collect();
    output::text(&format!(
        "{processor}, level {}\n\n{:<12} {:>5} {:>4} {:>5}  {:<27} {:>9}  {}\n{lines}",
        level.name(),
        "task",
        "words",
        "bits",
        "N",
        "kernel",
        "us",
        "others, times as long"
    ))
}

/// Returns the chosen kernels of the transforms of length 2^`log_n`, modulo the largest prime of `bits` bits that is 1
/// modulo 2^(`log_n` + 1). The list has the kernels on words of 64 bits and, for primes of at most 32 bits, also the
/// kernels on words of 32 bits. It is empty if there is no such prime.
fn of_prime(bits: u32, log_n: u8) -> Result<Vec<Choice>, CliError> {
    let list = primes::ntt_primes(bits, u32::from(log_n), 1)?;
    let Some(&prime) = list.first() else {
        return Ok(Vec::new());
    };
    let (q, ring) = (Modulus::new(prime)?, Ring::full(log_n));
    let patience = plans::patience(log_n) * LONGER;
    let mut found = Vec::new();
    if bits <= 32 {
        let plan = Ntt32::shared(q, ring)?;
        found.extend([Task::Forward, Task::Inverse].map(|task| plan.choose(task, patience)));
    }
    let plan = NttPlan::shared(q, ring)?;
    let tasks = [Task::Forward, Task::Inverse, Task::ForwardFrom];
    found.extend(tasks.map(|task| plan.choose(task, patience)));
    Ok(found.into_iter().flatten().collect())
}

/// Returns the chosen kernel's seconds, or `None` if it was not timed.
fn seconds(choice: &Choice) -> Option<f64> {
    let mut candidates = choice.candidates.iter();
    candidates.find(|c| c.kernel == choice.kernel)?.seconds
}

fn line(choice: &Choice) -> String {
    let shape = choice.shape;
    let own = seconds(choice);
    let others = choice
        .candidates
        .iter()
        .filter(|c| c.kernel != choice.kernel);
    let others: Vec<String> = others
        .map(|other| match (own, other.seconds) {
            (Some(own), Some(time)) => format!("{} {:.2}", other.kernel, time / own),
            _ => other.kernel.clone(),
        })
        .collect();
    let own = own.map_or_else(
        || choice.source.name().to_owned(),
        |own| format!("{:.2}", own * 1e6),
    );
    let text = format!(
        "{:<12} {:>5} {:>4} {:>5}  {:<27} {own:>9}  {}",
        shape.task.name(),
        shape.word_bits,
        shape.bits,
        format!("2^{}", shape.log_n),
        choice.kernel,
        others.join("; ")
    );
    format!("{}\n", text.trim_end())
}

fn record(choice: &Choice) -> Value {
    let own = seconds(choice);
    let candidates: Vec<Value> = choice
        .candidates
        .iter()
        .map(|candidate| {
            json!({
                "kernel": candidate.kernel,
                "us": candidate.seconds.map(|time| time * 1e6),
                "times_as_long": own.zip(candidate.seconds).map(|(own, time)| time / own),
            })
        })
        .collect();
    json!({
        "task": choice.shape.task.name(),
        "word_bits": choice.shape.word_bits,
        "bits": choice.shape.bits,
        "log_n": choice.shape.log_n,
        "kernel": choice.kernel,
        "source": choice.source.name(),
        "candidates": candidates,
    })
}
