// SPDX-License-Identifier: Apache-2.0
//! Runs products on the polynomial multiplier, by its cycle model or its RTL. A run gives the cycles of every command
//! and the products' residues.

use std::sync::Arc;

use ringmill_device::DeviceError;
use ringmill_hdl::Hdl;
use ringmill_hdl::polymul::{Multiplier, execute};
use ringmill_isa::mid::{ModulusId, ValueId};
use ringmill_machines::MachineError;
use ringmill_machines::coprocessor::Resident;
use ringmill_machines::polymul::{
    ArrayOp, Command, Degree, Job, PolymulError, Shape, Tables, Timed, golden, loaded_after,
    timeline,
};

use crate::error::PaperError;
use crate::polymul::cycles::simulated;

/// The polynomial multiplier in the decryption study, with the tables and operands that it keeps from call to call.
pub struct Card {
    shape: Shape,
    rtl: Option<Multiplier>,
    holds: Resident,
}

/// One product for the machine. Its modulus and its operands are numbers in [`Work`].
#[derive(Clone, Copy, Debug)]
pub struct Product {
    pub op: ArrayOp,
    pub modulus: u16,
    pub a: u32,
    pub b: u32,
}

/// The tables of moduli and the operands of one call of the machine. The call's products name them by number. The
/// machine keeps values by number from call to call, and a kept value does not cross the link again. So a number must
/// stand for the same value until [`Card::forget`] is called.
pub struct Work<'a> {
    pub tables: Vec<Arc<Tables>>,
    pub operands: Vec<&'a [u64]>,
}

/// The result of one call of the machine, from idle to idle: its timed commands, and its products in the requested
/// order.
pub struct Call {
    pub commands: Vec<Timed>,
    pub products: Vec<Vec<u64>>,
}

impl Call {
    pub fn cycles(&self) -> u64 {
        self.commands
            .iter()
            .map(|timed| timed.end)
            .max()
            .unwrap_or(0)
    }

    /// Returns the cycles of each command with this name in the call of the machine.
    pub fn of(&self, name: &str) -> Vec<u64> {
        let of = self.commands.iter().filter(|t| t.command.name() == name);
        of.map(|timed| timed.end - timed.begin).collect()
    }

    /// Returns the mean cycles from one result to the next, over the second half of the call's stream of products. It
    /// is 0 for fewer than two products.
    pub fn period(&self) -> f64 {
        let unloads = self.commands.iter();
        let unloads = unloads.filter(|t| matches!(t.command, Command::Unload { .. }));
        let mut ends: Vec<u64> = unloads.map(|timed| timed.end).collect();
        ends.sort_unstable();
        let half = ends.len() / 2;
        match (ends.get(half.wrapping_sub(1)), ends.last()) {
            (Some(from), Some(to)) => (to - from) as f64 / (ends.len() - half) as f64,
            _ => 0.0,
        }
    }
}

impl Card {
    pub fn new(shape: Shape, hdl: Option<&Hdl>) -> Result<Self, PaperError> {
        Ok(Self {
            shape,
            rtl: simulated(shape, hdl)?,
            holds: Resident::default(),
        })
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Forgets all tables and operands that the machine keeps, so that the next call is a first one.
    pub fn forget(&mut self) {
        self.holds = Resident::default();
    }

    /// Runs the scheduler's commands for some products, in RTL if there is a simulator, and returns their times with
    /// the products. Every product of the RTL is compared with the reference. Without RTL, the reference is returned as
    /// the product.
    ///
    /// # Errors
    /// Returns [`PaperError::Disagreement`] if a product of the RTL differs from the reference. Also fails if the
    /// operands do not suit the machine, or if the RTL does not run.
    pub fn call(&mut self, work: &Work<'_>, products: &[Product]) -> Result<Call, PaperError> {
        let degree = degree(work)?;
        // Results get numbers after those of the operands.
        let first = work.operands.len() as u32;
        let jobs: Vec<Job> = (first..)
            .zip(products)
            .map(|(out, product)| Job {
                op: product.op,
                modulus: ModulusId(product.modulus),
                a: ValueId(product.a),
                b: Some(ValueId(product.b)),
                out: ValueId(out),
            })
            .collect();
        let reference = products.iter().map(|product| product.reference(work));
        let reference = reference.collect::<Result<Vec<_>, PaperError>>()?;
        let mut commands = timeline(self.shape, degree, &jobs, &self.holds);
        if let Some(rtl) = &mut self.rtl {
            let tables = |id: ModulusId| work.tables.get(usize::from(id.0)).cloned();
            let operand = |id: ValueId| work.operands.get(id.0 as usize).copied();
            let ran = execute(rtl, &commands, tables, operand).map_err(DeviceError::from)?;
            commands = ran.commands;
            for (value, limb) in ran.limbs {
                let want = reference.get((value.0 - first) as usize);
                if want != Some(&limb) {
                    return Err(PaperError::Disagreement(format!(
                        "the RTL's product {} differs from the reference",
                        value.0 - first
                    )));
                }
            }
        }
        self.holds = loaded_after(&commands, std::mem::take(&mut self.holds));
        Ok(Call {
            commands,
            products: reference,
        })
    }
}

impl Product {
    fn reference(&self, work: &Work<'_>) -> Result<Vec<u64>, PaperError> {
        let operand = |at: u32| work.operands.get(at as usize).copied();
        let tables = work.tables.get(usize::from(self.modulus));
        let (Some(tables), Some(a), Some(b)) = (tables, operand(self.a), operand(self.b)) else {
            return Err(PaperError::Internal(format!(
                "{self:?} names what is not there"
            )));
        };
        let product = golden(tables, self.op, a, b).map_err(MachineError::from)?;
        Ok(product)
    }
}

fn degree(work: &Work<'_>) -> Result<Degree, PaperError> {
    let tables = work.tables.first();
    let tables = tables.ok_or(MachineError::from(PolymulError::NoTables))?;
    Ok(tables.degree())
}
