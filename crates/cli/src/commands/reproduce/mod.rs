//! `ringmill reproduce`: the tables of a machine's paper, one row a figure.

mod application;
mod figure;
mod paper;
mod ring;
mod single;

use crate::args::ReproduceArgs;
use crate::error::CliError;
use crate::output;
use crate::progress::Bar;

pub fn reproduce(args: &ReproduceArgs) -> Result<(), CliError> {
    let figures = match args.machine.as_str() {
        "ring" => ring::figures(&Bar::new())?,
        other => {
            return Err(CliError::Usage(format!(
                "no paper is known for machine `{other}`; known: ring"
            )));
        }
    };
    if args.json {
        return figures.iter().try_for_each(output::json);
    }
    output::text(&figure::table(&figures))
}
