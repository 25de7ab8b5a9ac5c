// SPDX-License-Identifier: Apache-2.0
//! What the applications of the ring paper's section 5.3 have in common: what a run takes, in the paper's terms.

use ringmill_compiler::ckks::Compiled;
use ringmill_device::report::MachineReport;
use ringmill_isa::macros::{MacroOp, MacroProgram, MacroType, MacroValue};

use crate::figure::{Figure, How};

/// The row of [`Taken::spills_ms`].
pub const SPILLS: &str = "communication, limbs without room, beyond compute";

/// Figures of one machine in one case of a table.
pub struct Case<'a> {
    pub table: &'static str,
    pub case: &'a str,
    pub machine: &'a str,
}

impl Case<'_> {
    pub fn figure(
        &self,
        metric: &str,
        unit: &str,
        paper: Option<f64>,
        ours: f64,
        how: How,
    ) -> Figure {
        Figure {
            machine: self.machine.to_owned(),
            table: self.table.to_owned(),
            case: self.case.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            paper,
            should_be: None,
            ours,
            how,
            tool: None,
        }
    }
}

/// Of a run on a machine. Times are the link's and the machine's in turn, as the report has them.
pub struct Taken {
    pub cycles: f64,
    /// Inputs, plaintexts, outputs and programs over the link.
    pub communication_ms: f64,
    /// Keys that were not there.
    pub keys_ms: f64,
    /// Limbs that leave for want of room and come back, less what hides behind the units' work.
    pub spills_ms: f64,
    pub total_ms: f64,
}

impl Taken {
    pub fn by(report: &MachineReport) -> Self {
        let link = &report.link;
        Self {
            cycles: report.cycles as f64,
            communication_ms: (link.seconds_in + link.seconds_out + link.program_seconds) * 1e3,
            keys_ms: link.key_seconds * 1e3,
            spills_ms: (report.end_to_end.spills_seconds - report.end_to_end.overlap_seconds) * 1e3,
            total_ms: report.end_to_end.seconds * 1e3,
        }
    }
}

/// Operation counts of a managed program.
pub struct Operations {
    pub rotations: f64,
    pub multiplications: f64,
    pub rescales: f64,
    /// By plaintexts and by constants: products that nothing relinearises.
    pub plain_products: f64,
    pub additions: f64,
}

impl Operations {
    pub fn of(compiled: &Compiled) -> Self {
        let program: &MacroProgram = &compiled.managed;
        let count = |ops: &[MacroOp]| {
            let results = |op: MacroOp, dst: usize| if op == MacroOp::Hrotate { dst } else { 1 };
            program
                .instrs
                .iter()
                .filter(|i| ops.contains(&i.op))
                .map(|i| results(i.op, i.dst.len()))
                .sum::<usize>() as f64
        };
        let plain = program.instrs.iter().filter(|i| {
            let ty = |v: &MacroValue| program.types.get(v.0 as usize);
            let of = |v| matches!(ty(v), Some(MacroType::Plain { .. }));
            i.op == MacroOp::Mul && i.src.iter().any(of)
        });
        Self {
            rotations: count(&[MacroOp::Rotate, MacroOp::Hrotate]),
            multiplications: count(&[MacroOp::Relin]),
            rescales: count(&[MacroOp::Rescale]),
            plain_products: plain.count() as f64 + count(&[MacroOp::Mulc]),
            additions: count(&[MacroOp::Add, MacroOp::Sub, MacroOp::Addc]),
        }
    }
}
