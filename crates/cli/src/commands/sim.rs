//! `ringmill sim`: the cycle model alone.

use ringmill_devices::Device;
use ringmill_limits::Watch;

use crate::PythonTracer;
use crate::args::SimArgs;
use crate::commands::program::{self, Read};
use crate::error::CliError;
use crate::output;
use crate::progress::Bar;
use crate::scheme::Served;
use crate::trace::simulate_on;
use crate::with_scheme;

pub fn sim(
    args: &SimArgs,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<(), CliError> {
    let device = ringmill_devices::open(&format!("sim:{}", args.machine))?;
    let read = program::read_alone(&args.program, args.json, python, watch)?;
    with_scheme!(read.scheme, S => timed::<S>(args, read, &*device, watch))
}

fn timed<S: Served>(
    args: &SimArgs,
    read: Read,
    device: &dyn Device,
    watch: &Watch,
) -> Result<(), CliError> {
    let scheme = read.report();
    let compiled = program::compile_for::<S>(&args.program, read, None, args.json, watch)?;
    let options = (!args.no_spill, !args.send_keys);
    let mut report = simulate_on(
        device,
        &compiled,
        options,
        args.trace.as_deref(),
        &Bar::new(),
        watch,
    )?;
    report.scheme = scheme;
    match &report.machine {
        Some(machine) if args.json => output::json(machine),
        None if args.json => output::json(&report),
        _ if args.detail => output::text(&format!("{}\n", report.detail())),
        _ => output::text(&format!("{report}\n")),
    }
}
