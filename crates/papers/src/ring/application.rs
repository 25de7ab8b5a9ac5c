// SPDX-License-Identifier: Apache-2.0
//! Times the applications of section 5.3 of the Medha paper on our machines and on the CPU.

use std::collections::BTreeMap;

use ringmill_compiler::ckks::Compiled;
use ringmill_cpu::Cpu;
use ringmill_isa::macros::{MacroOp, MacroProgram, MacroType, MacroValue};
use ringmill_runtime::shown::Parts;

use super::{Named, forecast, programs};
use crate::error::PaperError;
use crate::scope::{Record, Scope, fields, record};
use crate::single::{self, simulate};
use crate::value;

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
                "logistic" => programs::logistic()?,
                "privft_counts" => programs::counted(at)?,
                "classifier" => programs::classifier()?,
                "forecast" => forecast::compile()?,
                _ => return Err(PaperError::Tables(format!("no application `{name}`"))),
            };
            self.0 = Some((name, compiled));
        }
        let found = self.0.as_ref().map(|(_, compiled)| compiled);
        found.ok_or_else(|| PaperError::Internal("no program was compiled".to_owned()))
    }
}

/// Returns for each ring machine the report of the application that the current row of `data/ring.toml` names.
///
/// # Errors
/// Fails if the row names no application, or if a machine refuses its program.
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
        let mut found = fields(&BTreeMap::from([("run", &report)]))?;
        found.insert("machine".to_owned(), (*name).into());
        found.extend(counts(compiled));
        Ok(found)
    });
    runs.collect()
}

/// Returns the milliseconds on this computer's CPU of the application that the current row of `data/ring.toml` names.
///
/// # Errors
/// Fails if the row names no application, or if its program does not run.
pub fn measured(
    at: &Scope<'_>,
    program: &mut Program,
    cpu: &Cpu,
    parts: &mut Parts<'_>,
) -> Result<Vec<Record>, PaperError> {
    let compiled = program.of(at)?;
    let ms = single::measure(cpu, &compiled.program)? * 1e3;
    parts.done();
    let mut found = counts(compiled);
    found.insert("ms".to_owned(), value::measured(ms));
    Ok(vec![found])
}

/// Counts the parts of an application's program: records in a batch, layers, and homomorphic operations.
fn counts(compiled: &Compiled) -> Record {
    let program: &MacroProgram = &compiled.managed;
    let count = |ops: &[MacroOp]| {
        let results = |op: MacroOp, dst: usize| if op == MacroOp::Hrotate { dst } else { 1 };
        let those = program.instrs.iter().filter(|i| ops.contains(&i.op));
        those.map(|i| results(i.op, i.dst.len())).sum::<usize>()
    };
    let plain = program.instrs.iter().filter(|i| {
        let ty = |v: &MacroValue| program.types.get(v.0 as usize);
        let of = |v| matches!(ty(v), Some(MacroType::Plain { .. }));
        i.op == MacroOp::Mul && i.src.iter().any(of)
    });
    let plain = plain.count() + count(&[MacroOp::Mulc]);
    let additions = [MacroOp::Add, MacroOp::Sub, MacroOp::Addc];
    record([
        ("records", programs::RECORDS.into()),
        ("hidden_layers", forecast::HIDDEN_LAYERS.into()),
        (
            "rotations",
            count(&[MacroOp::Rotate, MacroOp::Hrotate]).into(),
        ),
        ("multiplications", count(&[MacroOp::Relin]).into()),
        ("rescales", count(&[MacroOp::Rescale]).into()),
        // Products that are not relinearised.
        ("plain_products", plain.into()),
        ("additions", count(&additions).into()),
    ])
}
