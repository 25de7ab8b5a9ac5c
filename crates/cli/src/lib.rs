// SPDX-License-Identifier: Apache-2.0
//! The `ringmill` command as a library, which both the binary and the Python package's command call.

mod args;
mod commands;
mod error;
mod inputs;
mod kept;
mod numbers;
mod output;
mod waiting;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use ringmill_compiler::arrays::Lengths;
use ringmill_limits::{Limits, Watch};

pub use error::INTERRUPTED;

use args::{Cli, Command, MachineCommand};
use commands::{
    circuit, compare, compile, completion, devices, machine, params, plans, reproduce, rtl, run,
    sim,
};
use error::CliError;

/// A request of the command to trace a program in a Python file.
pub struct Trace<'a> {
    /// The program's argument, `FILE.py` or `FILE.py:NAME`.
    pub program: &'a Path,
    /// The length of the program's vectors in slots, if the command line gives it.
    pub slots: Option<u32>,
    /// The name of the scheme for which the program is traced, if the command line gives it.
    pub scheme: Option<&'static str>,
    /// Whether the command prints JSON.
    pub json: bool,
}

/// A program that was traced from a Python file.
pub struct TracedFile {
    /// The traced program as macro text.
    pub text: String,
    /// The name, least and largest value of each input whose type determines its range.
    pub ends: Vec<(String, i128, i128)>,
    /// The lengths of the array inputs and outputs of the program.
    pub lengths: Lengths,
}

/// A function that traces the program of a Python file. The Python package provides it.
pub type PythonTracer<'a> = &'a dyn Fn(Trace<'_>) -> Result<TracedFile, Untraced>;

/// The reason why a Python file was not traced.
pub enum Untraced {
    /// Ctrl-C stopped the trace of the Python file.
    Interrupted,
    /// Python raised an error while it traced the file. The text is that of the error.
    Raised(String),
}

/// Runs the command with its arguments, the first being its own name, and returns the exit status:
///
/// - 0: done.
/// - 1: results disagree.
/// - 2: the request could not be carried out. The reason is on standard error, as JSON under `--json`.
/// - 130: stopped, because the flag `stop` was set.
///
/// Without the tracer `python`, programs in Python files are refused. An interrupt is reported once: by this function,
/// or by a caller that no longer waits for it. Whichever reports first sets the flag `told`.
pub fn main(
    args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    python: Option<PythonTracer<'_>>,
    stop: Arc<AtomicBool>,
    told: &AtomicBool,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        // Help and version come here too, with code 0. A closed pipe is no failure.
        Err(said) if said.exit_code() == 0 => {
            let _ = said.print();
            return 0;
        }
        Err(error) if asks_for_json(&args) => {
            output::fault(
                error.render().to_string().trim_start_matches("error: "),
                2,
                true,
            );
            return 2;
        }
        Err(error) => {
            let _ = error.print();
            return 2;
        }
    };
    let json = cli.command.json();
    let limits = match cli.max_memory.map_or_else(Limits::from_environment, Ok) {
        Ok(limits) => limits,
        Err(error) => {
            output::fault(&format!("{}: {error}", Limits::VARIABLE), 2, json);
            return 2;
        }
    };
    let watch = Watch::stopped_by(limits, stop);
    if json {
        // A panic is reported below, as JSON; the default hook would print it as text.
        std::panic::set_hook(Box::new(|_| {}));
    }
    let done = catch_unwind(AssertUnwindSafe(|| carry_out(&cli.command, python, &watch)));
    let done = done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(CliError::Internal(text.unwrap_or_default()))
    });
    match done.and_then(|()| output::flush()) {
        Ok(()) => 0,
        Err(error) if error.reader_left() => 0,
        // The caller that stopped the work has reported the interrupt already, if the work took too long.
        Err(error) if error.exit_code() == INTERRUPTED && told.swap(true, Ordering::AcqRel) => {
            INTERRUPTED
        }
        Err(error) => {
            output::fault(&error.to_string(), error.exit_code(), json);
            error.exit_code()
        }
    }
}

fn carry_out(
    command: &Command,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<(), CliError> {
    match command {
        Command::Run(args) => run::run(args, python, watch),
        Command::Compile(args) => compile::compile(args, python, watch),
        Command::Sim(args) => sim::sim(args, python, watch),
        Command::Compare(args) => compare::compare(args, python, watch),
        Command::Circuit(args) => circuit::circuit(args, watch),
        Command::Params(args) => params::params(args),
        Command::Devices(args) => devices::devices(args),
        Command::Plans(args) => plans::plans(args, watch),
        Command::Machine(MachineCommand::Show(args)) => machine::show(args),
        Command::Rtl(command) => rtl::rtl(command),
        Command::Reproduce(args) => reproduce::reproduce(args),
        Command::Completion(args) => completion::completion(args),
    }
}

/// Returns whether the arguments contain `--json`, although they cannot be parsed.
fn asks_for_json(args: &[OsString]) -> bool {
    args.iter()
        .take_while(|arg| *arg != "--")
        .any(|arg| arg == "--json")
}

#[doc(hidden)]
pub mod internals {
    //! Items of the crate that its own tests use. They are no part of the public interface.

    pub use crate::args::rtl::DesignArgs;
    pub use crate::args::{Cli, Fill};
    pub use crate::commands::program::python_file;
    pub use crate::commands::rtl::design::{Design, find as find_design};
    pub use crate::error::CliError;
    pub use crate::inputs::{Room, parse_options};
    pub use crate::kept::asked::{Asked, Key};
    pub use crate::numbers::{bounded, random, range, read, unsaid};
    pub use crate::waiting::{Going, Waiting};
}
