// SPDX-License-Identifier: Apache-2.0
//! The engines that compute a circuit's bootstraps: this computer's kernels, or a device.

use ringmill_device::Device;
use ringmill_limits::Watch;

use super::CircuitRunError;
use crate::bootstrap::Bootstrap;
use crate::tfhe::{Evaluator, LinearEvaluator, LookupTable, LweCiphertext, Workspace};

/// An engine of bootstraps. All engines give the same ciphertexts.
#[derive(Clone, Copy)]
pub enum Engine<'a> {
    /// This computer's kernels, one bootstrap after another.
    Evaluator(&'a Evaluator),
    /// A device, which runs limb programs.
    Device {
        bootstrap: &'a Bootstrap,
        device: &'a dyn Device,
    },
}

impl<'a> Engine<'a> {
    /// Returns the evaluator that adds ciphertexts between bootstraps.
    pub fn linear(self) -> &'a LinearEvaluator {
        match self {
            Self::Evaluator(evaluator) => evaluator.linear(),
            Self::Device { bootstrap, .. } => bootstrap.linear(),
        }
    }

    /// Returns a worker for one thread. `watch` can stop its work.
    pub(super) fn worker(self, watch: &'a Watch) -> Worker<'a> {
        match self {
            Self::Evaluator(evaluator) => Worker::Evaluator {
                evaluator,
                work: Box::new(evaluator.workspace()),
            },
            Self::Device { bootstrap, device } => Worker::Device {
                bootstrap,
                device,
                watch,
            },
        }
    }
}

/// An engine with the buffers of one thread.
pub(super) enum Worker<'a> {
    Evaluator {
        evaluator: &'a Evaluator,
        work: Box<Workspace>,
    },
    Device {
        bootstrap: &'a Bootstrap,
        device: &'a dyn Device,
        watch: &'a Watch,
    },
}

/// The tables of a rotation.
pub(super) enum Wanted<'a> {
    /// The sign of a sum of bits.
    Sign,
    Table(&'a LookupTable),
    /// Several tables, by one rotation.
    Shared(Vec<&'a LookupTable>),
}

impl Worker<'_> {
    /// Returns the entries at one ciphertext, in the order of the tables.
    pub(super) fn look_up(
        &mut self,
        wanted: &Wanted<'_>,
        operand: &LweCiphertext,
    ) -> Result<Vec<LweCiphertext>, CircuitRunError> {
        match self {
            Self::Evaluator { evaluator, work } => Ok(match wanted {
                Wanted::Sign => vec![evaluator.sign(work, operand)?],
                Wanted::Table(table) => vec![evaluator.lookup(work, table, operand)?],
                Wanted::Shared(tables) => evaluator.lookup_all(work, tables, operand)?,
            }),
            Self::Device {
                bootstrap,
                device,
                watch,
            } => Ok(match wanted {
                Wanted::Sign => vec![bootstrap.sign(*device, operand, watch)?],
                Wanted::Table(table) => vec![bootstrap.lookup(*device, table, operand, watch)?],
                Wanted::Shared(tables) => bootstrap.lookup_all(*device, tables, operand, watch)?,
            }),
        }
    }
}
