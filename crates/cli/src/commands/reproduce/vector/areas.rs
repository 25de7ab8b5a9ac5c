//! Table 4: the arithmetic for Montgomery-friendly moduli beside that for any odd modulus, in standard cells of the open library.

use std::path::Path;

use ringmill_hdl::vector::{comparisons, saved_percent};
use ringmill_hdl::{Area, Hdl};

use super::super::figure::How;
use super::super::row::{Ours, Row};
use super::paper::Vector;
use crate::error::CliError;

const TABLE: &str = "Table 4: areas of the arithmetic";

/// What a reader must know of them.
pub const NOTE: &str = "Table 4: ours are in NAND gates of two inputs of the library that each row names (another node than the paper's), cells only, before \
                        placement;\nsavings are comparable, areas are not. Generic arithmetic has as many stages as ours, or (\"stages as short\") one more for each \
                        product that ours does\nnot have: its product of the modulus is twice as deep. The paper's butterfly is its whole saving; power is not \
                        estimated.\n";

/// The rows; where the tools of synthesis are not there they say so.
pub fn rows(printed: &Vector) -> Result<Vec<Row>, CliError> {
    let mut found = Vec::new();
    for (name, um2, _) in &printed.butterfly {
        let row = Row::new(TABLE, "butterfly", name, "um^2", Some(*um2), Ours::None);
        found.push(row.remarked("GF12; ours are in gates, below"));
    }
    let hdl = match Hdl::find(Path::new(".")) {
        Ok(hdl) => hdl,
        Err(error) => {
            let saved = Some(printed.butterfly_saved_percent.area);
            let row = Row::new(TABLE, "butterfly", "saved", "%", saved, Ours::NotMeasured);
            found.push(row.remarked(error.to_string()));
            return Ok(found);
        }
    };
    for comparison in comparisons() {
        let [friendly, generic, deep] = [
            hdl.area(&comparison.friendly)?,
            hdl.area(&comparison.generic)?,
            hdl.area(&comparison.deep)?,
        ];
        let source = |area: &Area| format!("{}, {}", area.library.name, area.library.source);
        for (metric, area) in [
            ("ours", &friendly),
            ("generic, as many stages", &generic),
            ("generic, stages as short", &deep),
        ] {
            let gates = Ours::Is(area.gates.round(), How::Synthesis);
            let row = Row::new(TABLE, comparison.what, metric, "gates", None, gates);
            found.push(row.remarked(source(area)));
        }
        let saved = match comparison.what {
            "butterfly" => Some(printed.butterfly_saved_percent.area),
            _ => None,
        };
        for (metric, than) in [
            ("saved, as many stages", &generic),
            ("saved, stages as short", &deep),
        ] {
            let percent = Ours::Is(saved_percent(friendly.area, than.area), How::Synthesis);
            found.push(Row::new(
                TABLE,
                comparison.what,
                metric,
                "%",
                saved,
                percent,
            ));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::paper;
    use super::*;

    #[test]
    #[ignore = "synthesises nine modules, a minute; `make full` runs it"]
    fn savings_of_every_element() {
        let rows = rows(&paper::vector().unwrap()).unwrap();
        for (what, least) in [
            ("reduction", 55.0),
            ("multiplier", 35.0),
            ("butterfly", 30.0),
        ] {
            let saved = |row: &&Row| row.case == what && row.metric == "saved, stages as short";
            let row = rows.iter().find(saved).unwrap();
            assert!(row.value().unwrap() > least, "{row:?}");
        }
    }
}
