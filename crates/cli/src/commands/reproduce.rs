// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill reproduce`: prints the tables of the paper that describes a machine, beside this project's
//! figures. Each figure is a row.

use std::io::Write;

use ringmill_papers::{Asked, Papers, Sources};

use crate::args::reproduce::ReproduceArgs;
use crate::error::CliError;
use crate::output;
use crate::waiting::Going;

pub fn reproduce(args: &ReproduceArgs) -> Result<(), CliError> {
    let asked = Asked {
        sources: Sources {
            model: args.model,
            synthesis: !args.no_synth,
        },
        picture: args.plot.is_some(),
        runs: args.runs,
    };
    let going = Going::new(format!("reproducing the tables of {}", args.machine));
    let found = Papers::standard().reproduce(&args.machine, &asked, &going)?;
    // Nothing of it stands between the lines that follow.
    drop(going);
    if let Some((path, picture)) = args.plot.as_ref().zip(found.picture.as_ref()) {
        output::whole_file(path, |out| Ok(out.write_all(picture.as_bytes())?))?;
    }
    if args.json {
        let mut figures = found.figures.iter();
        figures.try_for_each(|row| output::json(&row.of_machine()))?;
        let mut rows = found.rows.iter();
        return rows.try_for_each(|row| output::json(&row.json(&args.machine)));
    }
    output::text(&found.text())
}
