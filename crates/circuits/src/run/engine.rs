// SPDX-License-Identifier: Apache-2.0
//! The engines that compute a circuit's bootstraps: the CPU's kernels, or a device that runs limb programs.

use ringmill_device::Device;
use ringmill_limits::Watch;

use super::CircuitRunError;
use crate::bootstrap::Bootstrap;
use crate::tfhe::{Evaluator, LinearEvaluator, LookupTable, LweCiphertext, Workspace};

/// An engine that computes a circuit's bootstraps with evaluation keys. All engines give the same ciphertexts.
#[derive(Clone, Copy)]
pub enum Engine<'a> {
    /// The engine is the CPU's kernels, which run one bootstrap after another in each thread.
    Evaluator(&'a Evaluator),
    /// The engine is a device, which runs the bootstrap as limb programs.
    Device {
        bootstrap: &'a Bootstrap,
        device: &'a dyn Device,
    },
}

impl<'a> Engine<'a> {
    /// Returns the evaluator that computes sums of ciphertexts between the engine's bootstraps.
    pub fn linear(self) -> &'a LinearEvaluator {
        match self {
            Self::Evaluator(evaluator) => evaluator.linear(),
            Self::Device { bootstrap, .. } => bootstrap.linear(),
        }
    }

    /// Returns the engine with the buffers for the work of one thread. `watch` can stop the thread's work.
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

/// An engine of bootstraps with the buffers of one thread.
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

/// The tables whose entries one blind rotation looks up at its operand.
pub(super) enum Wanted<'a> {
    /// The blind rotation looks up the table of the sign, for a sum of encrypted bits.
    Sign,
    Table(&'a LookupTable),
    /// The blind rotation looks up several tables of digits, which share it.
    Shared(Vec<&'a LookupTable>),
}

impl Worker<'_> {
    /// Returns the entries of the tables `wanted` at one ciphertext, in the order of the tables, by one blind
    /// rotation.
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
