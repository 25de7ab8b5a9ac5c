// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill devices`: lists the devices on which programs can run.

use ringmill_sim::Devices;
use serde_json::json;

use crate::args::DevicesArgs;
use crate::error::CliError;
use crate::output;

pub fn devices(args: &DevicesArgs) -> Result<(), CliError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let known = Devices::standard();
    let devices: Vec<(String, String)> = std::iter::once((
        "cpu".to_owned(),
        format!("this computer, {cores} cores; cpu:N for N threads"),
    ))
    .chain(known.machines().names().map(|name| {
        (
            format!("sim:{name}"),
            "results by the CPU, timing by the machine's cycle model".to_owned(),
        )
    }))
    .chain(known.with_rtl().into_iter().map(|name| {
        (
            format!("rtl:{name}"),
            "results and timing by the machine's RTL, the rest by the CPU; needs `make hdl-tools`"
                .to_owned(),
        )
    }))
    .chain([(
        "sim:FILE.toml".to_owned(),
        "the same for a machine description of your own; rtl:FILE.toml".to_owned(),
    )])
    .collect();
    if args.json {
        let list: Vec<_> = devices
            .iter()
            .map(|(name, about)| json!({ "name": name, "about": about }))
            .collect();
        return output::json(&list);
    }
    output::text(
        &devices
            .iter()
            .map(|(name, about)| format!("{name:<18} {about}\n"))
            .collect::<String>(),
    )
}
