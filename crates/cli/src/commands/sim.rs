//! `ringmill sim`: the cycle model alone.

use crate::args::SimArgs;
use crate::commands::program;
use crate::error::CliError;
use crate::output;
use crate::progress::Bar;
use crate::trace::simulate_on;

pub fn sim(args: &SimArgs) -> Result<(), CliError> {
    let device = ringmill_devices::open(&format!("sim:{}", args.machine))?;
    let compiled = program::compile(&args.program)?;
    let options = (args.spill, !args.send_keys);
    let report = simulate_on(
        device.as_ref(),
        &compiled,
        options,
        args.trace.as_deref(),
        &Bar::new(),
    )?;
    match &report.machine {
        Some(machine) if args.json => output::json(machine),
        _ => output::text(&format!("{report}\n")),
    }
}
