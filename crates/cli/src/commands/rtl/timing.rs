// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill rtl timing`: finds the worst paths between registers of a design, on every target.

use ringmill_hdl::{
    Area, BAR_MHZ, Effort, Family, Hdl, HdlError, LevelPath, Levels, MOST_CARRY, MOST_LEVELS, Part,
    Placement, Top,
};
use serde::Serialize;
use serde_json::json;

use super::{design, open};
use crate::args::rtl::{TimingArgs, TimingTarget};
use crate::error::CliError;
use crate::output;

/// The text that the command prints for paths on Xilinx parts in place of nanoseconds: the reason why there are none.
const NO_TOOL: &str = "not timed: no open tool knows this part's delays";
/// The largest number of paths that the text output prints of each list of paths. `--json` prints all paths that the
/// measurement keeps.
const SHOWN: usize = 6;

/// The timing of a design's paths on one target, or why it has none.
#[derive(Serialize)]
#[serde(tag = "how", rename_all = "snake_case")]
enum Found {
    /// Levels of logic between registers, for a part whose delays no open tool knows.
    Levels {
        #[serde(flatten)]
        levels: Box<Levels>,
        within_bar: bool,
        timed: &'static str,
    },
    Placed {
        slack_ns: f64,
        placement: Box<Placement>,
    },
    Cells {
        slack_ns: f64,
        mhz: f64,
        area: Box<Area>,
    },
    NotTimed {
        why: String,
    },
}

pub fn timing(args: &TimingArgs) -> Result<(), CliError> {
    let hdl = open()?;
    let design = design::find(hdl.sources(), &args.design)?;
    let mut found = Vec::new();
    for &target in &args.target {
        found.push((target, on(&hdl, &design.top, target, args)?));
    }
    let within = found
        .iter()
        .all(|(_, f)| !matches!(f, Found::Levels { within_bar, .. } if !within_bar));
    if args.json {
        let targets: serde_json::Map<_, _> = found
            .iter()
            .map(|(target, f)| (target.name().to_owned(), json!(f)))
            .collect();
        return output::json(&json!({
            "design": design.name, "machine": design.machine, "top": design.top,
            "bar": { "levels": MOST_LEVELS, "carry": MOST_CARRY, "mhz": BAR_MHZ }, "within_bar": within,
            "aim_mhz": args.mhz, "targets": targets,
        }));
    }
    let mut text = format!(
        "{}\nthe bar, for {BAR_MHZ} MHz: at most {MOST_LEVELS} levels of look-up tables and {MOST_CARRY} carry bits between \
         registers; a register stands at every port\n",
        design.top
    );
    for (target, f) in &found {
        text += &format!("\n{}: {}", target.name(), described(f, args.mhz));
    }
    output::text(&text)
}

fn on(hdl: &Hdl, top: &Top, target: TimingTarget, args: &TimingArgs) -> Result<Found, CliError> {
    let slack = |ns: f64| 1000.0 / f64::from(args.mhz) - ns;
    match target {
        TimingTarget::Xc7 => levels(hdl, top, Family::Xc7),
        TimingTarget::Xcup => levels(hdl, top, Family::Xcup),
        TimingTarget::Ecp5 | TimingTarget::Nexus => {
            let part = if target == TimingTarget::Ecp5 {
                Part::Ecp5
            } else {
                Part::Nexus
            };
            let effort = Effort {
                mhz: args.mhz,
                seed: args.seed,
            };
            untimed(hdl.place_on(top, part, effort).map(|made| Found::Placed {
                slack_ns: slack(1000.0 / made.mhz),
                placement: Box::new(made),
            }))
        }
        TimingTarget::Asic => untimed(hdl.area(top).map(|area| {
            match &area.path {
            Some(path) => Found::Cells {
                slack_ns: slack(path.ns),
                mhz: 1000.0 / path.ns,
                area: Box::new(area),
            },
            None if area.versions.opensta.is_none() => Found::NotTimed {
                why: "OpenSTA is not installed; `make hdl-tools` unpacks it where there is apt-get"
                    .to_owned(),
            },
            None => Found::NotTimed {
                why: "no path through cells".to_owned(),
            },
        }
        })),
    }
}

fn levels(hdl: &Hdl, top: &Top, family: Family) -> Result<Found, CliError> {
    let levels = hdl.levels(top, family)?;
    Ok(Found::Levels {
        within_bar: levels.paths.within_bar(),
        levels: Box::new(levels),
        timed: NO_TOOL,
    })
}

/// Turns two kinds of errors into a result without times: a design that does not fit a part, and a missing tool or
/// library. So the command can still print the other targets.
fn untimed(found: Result<Found, HdlError>) -> Result<Found, CliError> {
    match found {
        Err(
            error @ (HdlError::Misfit { .. }
            | HdlError::LibertyMissing { .. }
            | HdlError::ToolsMissing { .. }),
        ) => Ok(Found::NotTimed {
            why: error.to_string(),
        }),
        found => Ok(found?),
    }
}

fn described(found: &Found, aim: u32) -> String {
    match found {
        Found::Levels { levels, timed, .. } => {
            let paths = &levels.paths;
            let mut text = format!(
                "{} levels and {} carry bits at most; {} of {} endpoints beyond the bar; {timed}\n",
                paths.levels(),
                paths.carry(),
                paths.beyond,
                paths.endpoints
            );
            for (what, list) in [("levels", &paths.by_levels), ("carry", &paths.by_carry)] {
                text += &format!("  worst by {what}: levels, carry bits, endpoints, from -> to\n");
                let lines = list.iter().take(SHOWN).map(line);
                text.extend(lines);
            }
            text
        }
        Found::Placed {
            slack_ns,
            placement: p,
        } => format!(
            "{:.1} MHz, slack {slack_ns:.2} ns at {aim} MHz; {} registers of DSP blocks in use ({}; nextpnr, seed {})\n  \
             {:.1} ns in logic and {:.1} ns in wires, {} -> {}\n",
            p.mhz,
            p.absorbed,
            p.device,
            p.effort.seed,
            p.path.logic,
            p.path.wires,
            p.path.from,
            p.path.to
        ),
        Found::Cells {
            slack_ns,
            mhz,
            area,
        } => {
            let (from, to) = area
                .path
                .as_ref()
                .map_or(("", ""), |path| (&path.from, &path.to));
            format!(
                "{mhz:.1} MHz, slack {slack_ns:.2} ns at {aim} MHz; cells of {} without wires{} (OpenSTA {})\n  {from} -> {to}\n",
                area.library.name,
                if area.memory_bits > 0 {
                    ", paths from and to memories left out"
                } else {
                    ""
                },
                area.versions.opensta.as_deref().unwrap_or_default(),
            )
        }
        Found::NotTimed { why } => format!("not timed: {why}\n"),
    }
}

fn line(path: &LevelPath) -> String {
    format!(
        "  {:>4} {:>4} {:>6}  {} -> {}\n",
        path.levels, path.carry, path.endpoints, path.from, path.to
    )
}
