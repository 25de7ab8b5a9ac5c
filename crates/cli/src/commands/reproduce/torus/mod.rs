//! The torus paper: steps of a bootstrap (Table I), primes (II), parameter sets (III), and every printed design of Tables IV to
//! VI; ours beside them where it is there: the key switch with honest masks, and the gate on this computer. Known errors of
//! the paper stand beside what it should print.
//!
//! The bootstrapping engine's columns belong into [`rivals`], beside the rows called "proposed".

mod gate;
mod keyswitch;
mod paper;
mod primes;
mod rivals;
mod security;
mod steps;

use std::path::Path;

use ringmill_hdl::Hdl;

pub(super) use paper::Cell;

use super::row::{self, Row};
use crate::error::CliError;
use crate::output;

/// Every row, table by table; without a tool of synthesis no resources.
fn rows(hdl: Option<&Hdl>) -> Result<Vec<Row>, CliError> {
    let paper = paper::torus()?;
    let params = gate::params()?;
    let mut found = steps::rows(&paper, &params)?;
    found.extend(primes::rows(&paper)?);
    found.extend(security::rows(&paper)?);
    found.extend(rivals::rows(&paper, gate::milliseconds()?));
    found.extend(keyswitch::rows(&params, hdl)?);
    Ok(found)
}

/// DSP that the paper prints for its engine of the 128-bit set, as many for each unrolling.
pub fn needs() -> Result<f64, CliError> {
    let paper = paper::torus()?;
    let mut rows = paper.bootstrap_designs.iter();
    let found = rows
        .find(|row| matches!(row.first(), Some(paper::Cell::Text(name)) if name == "Proposed1"));
    // After its name ten columns.
    let dsp = found.and_then(|row| row.get(10)?.figure());
    dsp.ok_or_else(|| CliError::Usage("the built-in paper tables lack a row".to_owned()))
}

/// Prints them, as text or one JSON object a line.
pub fn print(synthesis: bool, json: bool) -> Result<(), CliError> {
    let hdl = match synthesis {
        true => Some(Hdl::find(Path::new("."))?),
        false => None,
    };
    let rows = rows(hdl.as_ref())?;
    if json {
        return rows
            .iter()
            .try_for_each(|row| output::json(&row.json("torus")));
    }
    output::text(&(row::table(&rows) + &notes(synthesis)))
}

/// What a reader must know of the figures.
fn notes(synthesis: bool) -> String {
    let resources = if synthesis {
        "LUT and FF of the key switch: Yosys, synth_xilinx -family xcup, before placement; one generator is mapped for all."
    } else {
        "LUT and FF of the key switch are left out (--no-synth): they take minutes."
    };
    format!(
        "\nTable I: the paper's cycles of a serial machine beside the same operations counted in the program of our bootstrap, whose \
         products\nare in transform form: transforms of digits and of sums, and products between. A step of the blind rotation is \
         one of n.\nThe switching key's masks are distinct for every row, so that a switch takes N t n words of mask; the \
         paper's unit has one mask for all\nrows and the old secret in a ROM, which gives the secret away, and no figure of it \
         compares. Cycles of the key switch are the\nmodel's, which a test holds equal to the RTL's.\n{resources}\nArea-time \
         products in the column `should be` are those of the printed figures. FPT has no key switch. The gate is measured on \
         one thread\nof this computer, with the paper's parameters.\n{KNOWN}"
    )
}

/// The paper's known errors.
const KNOWN: &str = "Known errors of the paper: Table II's widths of the Mersenne primes are decimal digits, not bits. Table III's \
128 and 110 bits are 118 and\n94 today. Table VI's DSP area-time product of Proposed5 is that of the row above it. Table IV: the \
ASIC's 0.56 us at 800 MHz are 448 cycles,\nfewer than the 640 that 8 butterflies need.\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'r>(rows: &'r [Row], table: &str, case: &str, metric: &str) -> &'r Row {
        let mut found = rows.iter().filter(|row| {
            row.table.starts_with(table) && row.case.starts_with(case) && row.metric == metric
        });
        let row = found.next();
        row.unwrap_or_else(|| panic!("{table}, {case}, {metric} is not there"))
    }

    /// What needs no hardware tool: counts that are the paper's or better, every error known, all rivals.
    #[test]
    fn the_tables_that_need_no_engine() {
        let rows = rows(None).unwrap();
        for (metric, operations) in [
            ("(x^a - 1) * bk", 2048.0),
            ("decompose", 6144.0),
            ("accumulate", 12288.0),
        ] {
            let row = find(&rows, "Table I:", "blind_rotate", metric);
            assert_eq!(
                (row.printed, row.value()),
                (Some(operations), Some(operations))
            );
        }
        // Six digits and two sums transformed, twelve products, where the paper has twelve products of polynomials.
        let matrix = find(&rows, "Table I:", "blind_rotate", "matrix");
        assert_eq!(matrix.printed, Some(12.0 * 1024.0 * 1024.0));
        assert_eq!(matrix.value(), Some(8.0 * 5120.0 + 12.0 * 1024.0));
        let switch = find(&rows, "Table I:", "keyswitch", "-");
        assert_eq!(
            (switch.printed, switch.value()),
            (Some(15375.0), Some(15360.0))
        );

        let width = |members| find(&rows, "Table II:", members, "bits, at most");
        for (members, printed, right) in [
            ("mersenne M1-M12", 39.0, 127.0),
            ("mersenne M13", 157.0, 521.0),
        ] {
            let row = width(members);
            assert_eq!((row.printed, row.should_be), (Some(printed), Some(right)));
        }
        for row in rows.iter().filter(|row| row.table.starts_with("Table II:")) {
            if !row.case.starts_with("mersenne") {
                assert!(row.should_be.is_none(), "{row:?}");
            }
            assert!(row.value().is_some(), "{row:?}");
        }

        let bits: Vec<_> = (1..=4)
            .map(|set| find(&rows, "Table III:", &format!("set ({set})"), "security").value())
            .collect();
        assert_eq!(bits, [Some(118.2), Some(93.7), None, Some(93.7)]);

        // A row for each printed figure.
        let of = |table: &str| {
            rows.iter()
                .filter(|row| row.table.starts_with(table))
                .count()
        };
        assert_eq!(
            (of("Table IV:"), of("Table V:"), of("Table VI:")),
            (42, 14, 136)
        );
        let wrong: Vec<_> = rows
            .iter()
            .filter(|row| {
                (row.table.starts_with("Table IV:") || row.table.starts_with("Table VI:"))
                    && row.should_be.is_some()
            })
            .map(|row| (row.case.as_str(), row.metric.as_str()))
            .collect();
        assert_eq!(
            wrong,
            [("Proposed5, 110 bits, m = 3", "DSP area-time product")]
        );
        let gate = find(&rows, "Table VI:", "TFHE library", "latency");
        assert!(gate.printed == Some(13.0) && gate.value().is_some_and(|ms| ms > 0.0));

        let text = row::table(&rows) + &notes(false);
        for said in ["Known errors", "measured", "--no-synth", "counted"] {
            assert!(text.contains(said), "{said}");
        }
    }

    /// Shared by the ciphertexts of a batch, honest masks take fewer cycles than the paper's bootstrap has left.
    #[test]
    fn honest_masks_are_near_their_floor() {
        let rows = keyswitch::rows(&gate::params().unwrap(), None).unwrap();
        let cycles = rows.iter().filter(|row| row.metric == "cycles");
        let floors = rows.iter().filter(|row| row.metric == "floor");
        let both: Vec<_> = cycles.zip(floors).collect();
        assert_eq!(both.len(), keyswitch::CASES.len());
        for (cycles, floor) in both {
            let over = cycles.value().unwrap() / floor.value().unwrap();
            assert!((1.0..1.02).contains(&over), "{cycles:?}: {over}");
        }
    }
}
