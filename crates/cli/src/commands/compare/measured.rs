// SPDX-License-Identifier: Apache-2.0
//! Measures the CPU's part of a comparison: makes keys and inputs, runs the program, and checks the outputs.

use std::sync::Arc;

use ringmill_compiler::Compiled;
use ringmill_device::{Device, Request};
use ringmill_isa::macros::Visibility;
use ringmill_limits::Watch;
use ringmill_runtime::report::RunReport;
use ringmill_runtime::report::compared::Row;
use ringmill_runtime::shown::{Bar, repeated};
use ringmill_runtime::{AnswerOf, Ciphers, Client, Messages, Served, Server};

use crate::args::compare::CompareArgs;
use crate::commands::program::{self, Read};
use crate::error::CliError;
use crate::inputs::Room;
use crate::kept::scheme::{self as kept, Prepared};
use crate::numbers;

/// The seed of random inputs, which is the default of `ringmill run --seed`.
const SEED: u64 = 1;

/// A compiled program with new keys and encrypted inputs, ready to be measured. The inputs are the values of the
/// `--sample` files, or random values if the command line names no such file.
pub struct Measured<S: Served> {
    server: Server<S>,
    client: Client<S>,
    ciphers: Ciphers<S>,
    plains: Messages<S>,
    inputs: Messages<S>,
}

/// Makes keys for the program and encrypts its inputs. The inputs are the values of the `--sample` files. Without such
/// files they are random numbers in the inputs' ranges.
///
/// # Errors
/// Fails if a `--range` or `--sample` option is refused, or if keys or encryptions cannot be made.
pub fn ready<S: Served>(
    args: &CompareArgs,
    read: &Read,
    compiled: Arc<Compiled<S>>,
    watch: &Watch,
) -> Result<Measured<S>, CliError> {
    let program = &read.program;
    let ranges = program::ranges::<S>(&args.program, read)?;
    let sample = program::sample::<S>(&args.program, read)?;
    let mut inputs = Messages::<S>::new();
    for ((number, input), range) in program.inputs.iter().enumerate().zip(ranges) {
        let typical = sample.as_ref().and_then(|sample| sample.get(number));
        let message = match typical {
            Some(message) => message.clone(),
            None => {
                let room = Room::new(program.slots, read.arrays.lengths.input(number));
                let bound = args.program.input_bound;
                numbers::random::<S>(SEED, number as u64, room, range.as_ref(), bound)?
            }
        };
        inputs.insert(input.name.clone(), message);
    }
    let part = |visibility| -> Messages<S> {
        let wanted = compiled
            .inputs
            .iter()
            .filter(|i| i.visibility == visibility);
        let found = wanted.filter_map(|input| inputs.get_key_value(&input.name));
        found
            .map(|(name, message)| (name.clone(), message.clone()))
            .collect()
    };
    let plains = part(Visibility::Plain);
    let encrypted = part(Visibility::Encrypted);
    let Prepared {
        client,
        keys,
        ciphers,
        folder: _,
    } = kept::prepare(&compiled, &encrypted, &plains, None, watch)?;
    Ok(Measured {
        server: Server::new_watched(compiled, keys, watch)?,
        client,
        ciphers,
        plains,
        inputs,
    })
}

impl<S: Served> Measured<S> {
    pub fn compiled(&self) -> &Arc<Compiled<S>> {
        self.server.compiled()
    }

    /// Measures the program on the CPU with this number of threads, or with one thread for each core. Returns the CPU's
    /// row of the comparison, and a note on how it was measured.
    ///
    /// # Errors
    /// Fails if a run fails, or if the scheme's check against the computation in the clear finds a fault in an output
    /// of the first run.
    pub fn on_cpu(&self, threads: Option<usize>, watch: &Watch) -> Result<(Row, String), CliError> {
        let name = threads.map_or_else(|| "cpu".to_owned(), |threads| format!("cpu:{threads}"));
        let device = ringmill_sim::open(&name)?;
        let (server, bar) = (&self.server, Bar::new());
        let mut done = repeated(&*device, server, &self.ciphers, &self.plains, &bar, watch)?;
        self.judge(&mut done.first)?;
        Ok(Row::of_cpu(&done.report, done.runs))
    }

    /// Checks the outputs of a run against the computation without encryption.
    ///
    /// # Errors
    /// Returns [`CliError::Disagreement`] if the scheme's check finds a fault in an output.
    fn judge(&self, answer: &mut AnswerOf<S>) -> Result<(), CliError> {
        let outputs = answer.outputs.take().unwrap_or_default();
        let clear = self.client.decrypt(&outputs)?;
        let found = (&outputs, &clear);
        match &S::judge(&self.client, &self.inputs, found, &mut answer.report)?[..] {
            [] => Ok(()),
            wrong => Err(CliError::Disagreement(format!(
                "{}: {}",
                S::WRONG,
                wrong.join(", ")
            ))),
        }
    }

    /// Runs the program on a co-processor, a machine that leaves some instructions to its host. Returns the report,
    /// which has the measured time of the host's instructions.
    ///
    /// # Errors
    /// Fails if the run fails, or if the scheme's check against the computation in the clear finds a fault in an
    /// output.
    pub fn on_machine(
        &self,
        device: &dyn Device,
        spill: bool,
        watch: &Watch,
    ) -> Result<RunReport, CliError> {
        let request = Request {
            spill,
            watch: watch.clone(),
            ..Request::both()
        };
        let bar = Bar::new();
        let mut done = self
            .server
            .run(device, &self.ciphers, &self.plains, request, &bar)?;
        self.judge(&mut done)?;
        Ok(done.report)
    }
}
