//! `ringmill sim`: the cycle model alone.

use ringmill_limits::Watch;

use crate::PythonTracer;
use crate::args::SimArgs;
use crate::commands::program;
use crate::error::CliError;
use crate::output;
use crate::progress::Bar;
use crate::trace::simulate_on;

pub fn sim(
    args: &SimArgs,
    python: Option<PythonTracer<'_>>,
    watch: &Watch,
) -> Result<(), CliError> {
    let device = ringmill_devices::open(&format!("sim:{}", args.machine))?;
    let compiled = program::compile(&args.program, args.json, python, watch)?;
    let options = (!args.no_spill, !args.send_keys);
    let mut report = simulate_on(
        device.as_ref(),
        &compiled,
        options,
        args.trace.as_deref(),
        &Bar::new(),
        watch,
    )?;
    report.scheme = program::scheme(&args.program, &compiled);
    match &report.machine {
        Some(machine) if args.json => output::json(machine),
        None if args.json => output::json(&report),
        _ if args.detail => output::text(&format!("{}\n", report.detail())),
        _ => output::text(&format!("{report}\n")),
    }
}
