// SPDX-License-Identifier: Apache-2.0
//! Times the applications of section 5.3 of the Medha paper on our machines and on the CPU.

use ringmill_compiler::ckks::Compiled;
use ringmill_cpu::Cpu;
use ringmill_isa::macros::{MacroOp, MacroProgram, MacroType, MacroValue};
use ringmill_runtime::shown::Parts;

use super::{Named, forecast, logistic, text};
use crate::error::PaperError;
use crate::scope::{Record, Scope, record};
use crate::single::{self, own, simulate};
use crate::value::{self, Value, model};

/// The application of the Medha paper that was compiled last, with its name. It is kept so that each application is
/// compiled once.
#[derive(Default)]
pub struct Program(Option<(String, Compiled)>);

impl Program {
    /// Returns the compiled program of the application that the current row of `data/ring.toml` names.
    fn of(&mut self, at: &Scope<'_>) -> Result<&Compiled, PaperError> {
        let name = at.text("application")?;
        if self.0.as_ref().is_none_or(|(known, _)| *known != name) {
            let compiled = match name.as_str() {
                "logistic" => logistic::compile()?,
                "privft_counts" => text::counted(at)?,
                "classifier" => text::classifier()?,
                "forecast" => forecast::compile()?,
                _ => return Err(PaperError::Tables(format!("no application `{name}`"))),
            };
            self.0 = Some((name, compiled));
        }
        let found = self.0.as_ref().map(|(_, compiled)| compiled);
        found.ok_or_else(|| PaperError::Internal("no program was compiled".to_owned()))
    }
}

/// Returns for each ring machine the milliseconds of the link and of the machine, which work one after the other,
/// for the application that the current row of `data/ring.toml` names.
///
/// The part called communication has inputs, plaintexts, outputs and programs. The part called keys has those that
/// were not in the machine before. The part called spills has limbs that leave for lack of room and come back, less
/// the time that the units' work hides.
pub fn simulated(
    at: &Scope<'_>,
    program: &mut Program,
    machines: &[Named],
    parts: &mut Parts<'_>,
) -> Result<Vec<Record>, PaperError> {
    let compiled = program.of(at)?;
    let runs = machines.iter().map(|(name, machine)| {
        let report = simulate(machine.as_ref(), &compiled.program)?;
        parts.done();
        let (link, whole) = (&report.link, &report.end_to_end);
        let communication = link.seconds_in + link.seconds_out + link.program_seconds;
        let limbs = &own(&report)?.keys;
        let mut found = record([
            ("machine", (*name).into()),
            ("instructions", model(report.instructions)),
            ("cycles", model(report.cycles)),
            ("communication", model(communication * 1e3)),
            ("keys", model(link.key_seconds * 1e3)),
            (
                "spills",
                model((whole.spills_seconds - whole.overlap_seconds) * 1e3),
            ),
            ("total", model(whole.seconds * 1e3)),
            ("key_limbs.needed", model(limbs.needed)),
            ("key_limbs.fit", model(limbs.fit)),
            ("key_limbs.loaded", model(limbs.loaded)),
        ]);
        found.extend(counts(compiled));
        Ok(found)
    });
    runs.collect()
}

/// Returns the milliseconds on this computer's CPU of the application that the current row of `data/ring.toml` names.
pub fn measured(
    at: &Scope<'_>,
    program: &mut Program,
    cpu: &Cpu,
    parts: &mut Parts<'_>,
) -> Result<Vec<Record>, PaperError> {
    let compiled = program.of(at)?;
    let ms = single::measure(cpu, &compiled.program)? * 1e3;
    parts.done();
    let mut found = record([("ms", value::measured(ms))]);
    found.extend(counts(compiled));
    Ok(vec![found])
}

/// Counts the parts of an application's program: records in a batch, layers, and homomorphic operations.
fn counts(compiled: &Compiled) -> Record {
    let program: &MacroProgram = &compiled.managed;
    let count = |ops: &[MacroOp]| {
        let results = |op: MacroOp, dst: usize| if op == MacroOp::Hrotate { dst } else { 1 };
        let those = program.instrs.iter().filter(|i| ops.contains(&i.op));
        those.map(|i| results(i.op, i.dst.len())).sum::<usize>() as f64
    };
    let plain = program.instrs.iter().filter(|i| {
        let ty = |v: &MacroValue| program.types.get(v.0 as usize);
        let of = |v| matches!(ty(v), Some(MacroType::Plain { .. }));
        i.op == MacroOp::Mul && i.src.iter().any(of)
    });
    let constants = count(&[MacroOp::Mulc]);
    record([
        ("records", f64::from(logistic::RECORDS).into()),
        ("hidden_layers", (forecast::HIDDEN_LAYERS as f64).into()),
        (
            "rotations",
            count(&[MacroOp::Rotate, MacroOp::Hrotate]).into(),
        ),
        ("multiplications", count(&[MacroOp::Relin]).into()),
        ("rescales", count(&[MacroOp::Rescale]).into()),
        // Products that are not relinearised.
        (
            "plain_products",
            Value::number(plain.count() as f64 + constants),
        ),
        (
            "additions",
            count(&[MacroOp::Add, MacroOp::Sub, MacroOp::Addc]).into(),
        ),
    ])
}
