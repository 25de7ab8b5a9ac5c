// SPDX-License-Identifier: Apache-2.0
//! What does a circuit's bootstraps.

use ringmill_device::Device;
use ringmill_limits::Watch;

use super::CircuitRunError;
use crate::bootstrap::Bootstrap;
use crate::tfhe::{Evaluator, LinearEvaluator, LookupTable, LweCiphertext, Workspace};

/// Who bootstraps. Each gives the same ciphertexts.
#[derive(Clone, Copy)]
pub enum Engine<'a> {
    /// This computer's kernels, one after the other.
    Evaluator(&'a Evaluator),
    /// A device, by programs of the mid level.
    Device {
        bootstrap: &'a Bootstrap,
        device: &'a dyn Device,
    },
}

impl<'a> Engine<'a> {
    /// What adds ciphertexts between bootstraps.
    pub fn linear(self) -> &'a LinearEvaluator {
        match self {
            Self::Evaluator(evaluator) => evaluator.linear(),
            Self::Device { bootstrap, .. } => bootstrap.linear(),
        }
    }

    /// For one thread; what it does can be stopped by `watch`.
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

/// An engine with what one thread needs of it.
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

/// What is looked up.
pub(super) enum Wanted<'a> {
    /// Whether a sum of bits is positive.
    Sign,
    Table(&'a LookupTable),
    /// By one rotation.
    Shared(Vec<&'a LookupTable>),
}

impl Worker<'_> {
    /// The entries at one ciphertext, in the order of the tables.
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
