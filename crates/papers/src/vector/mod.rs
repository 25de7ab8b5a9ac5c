// SPDX-License-Identifier: Apache-2.0
//! The vector paper: parameters (Table 1), arithmetic (Table 4), memories and units (Tables 5 and 6), the instructions of a sigmoid (Table 7), the
//! operations of Table 8 on the machine and beside HElib on our CPU, and what the text claims.

mod areas;
mod batches;
mod card;
mod claims;
mod cycles;
mod elements;
mod machine;
mod opcodes;
mod operations;
mod paper;
mod parameters;
mod removal;
mod runs;
mod sigmoid;
mod speed;
mod training;
mod variants;

use std::sync::Arc;

use ringmill_device::progress::Progress;
use ringmill_math::slots::linear::Shape;
use ringmill_schemes::bgv::BgvError;
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure, Set};

use crate::error::PaperError;
use crate::paper::{Asked, Paper, Reproduced};
use crate::row::Row;

fn rows(
    procedure: &Arc<Procedure>,
    size: training::Size,
    progress: &dyn Progress,
) -> Result<Vec<Row>, PaperError> {
    let paper = paper::vector()?;
    let mut found = parameters::rows(&paper, procedure.setup());
    found.extend(sigmoid::rows(&paper, procedure)?);
    found.extend(elements::rows(&paper)?);
    let machines = machine::bootstrapping(procedure.setup())?;
    found.extend(machine::rows(&paper, &machines)?);
    found.extend(card::rows(procedure.params())?);
    let (bootstrap, bootstrap_ms) = machine::bootstrap(&paper, &machines, progress)?;
    found.extend(bootstrap);
    found.extend(removal::rows(&paper, &machines, progress)?);
    let (iteration, iteration_s) = training::rows(&paper, &machines, size, progress)?;
    found.extend(iteration);
    found.extend(variants::rows(&machines, progress)?);
    found.extend(claims::speedups(&paper, bootstrap_ms, iteration_s));
    found.extend(operations::rows(&paper, procedure.params())?);
    Ok(found)
}

fn made(setup: Result<Bootstrapping, BootstrapError>) -> Result<Arc<Procedure>, BootstrapError> {
    let setup = setup?;
    let maps = Maps::new(&setup, Shape::default())?;
    Ok(Arc::new(Procedure::new(setup, maps, true)?))
}

/// BASALISC: its Tables 1 and 4 to 8, and what its text claims.
pub struct Basalisc;

impl Paper for Basalisc {
    fn name(&self) -> &'static str {
        "vector"
    }

    fn title(&self) -> &'static str {
        "BASALISC: Flexible Asynchronous Hardware Accelerator for Fully Homomorphic Encryption"
    }

    fn tables(&self, asked: &Asked, progress: &dyn Progress) -> Result<Reproduced, PaperError> {
        let procedure = made(Set::BASALISC.bootstrapping()).map_err(BgvError::from)?;
        let mut rows = rows(&procedure, training::WHOLE, progress)?;
        rows.extend(areas::rows(&paper::vector()?, asked.sources.synthesis)?);
        Ok(Reproduced {
            rows,
            notes: notes()? + areas::NOTE,
            ..Reproduced::default()
        })
    }
}

/// What a reader must know of the figures.
fn notes() -> Result<String, PaperError> {
    let training = paper::vector()?.logistic_regression;
    Ok(format!(
        "\n{}Table 7: our sigmoid is a table of 127 values, by one polynomial of degree 253 and one of 380, with its bootstraps; the \
         paper's\ndrawing (Figure 9) is lost. {}{}{}Table 8: HElib's times are the paper's, on its computer; ours are measured on one thread \
         of this one.\nThe training whose iteration is timed above ({} macro instructions, {} mid-level ones and {} bootstraps in the paper) is \
         examples/06_training.py.\n",
        parameters::NOTE,
        opcodes::NOTE,
        machine::NOTE,
        card::NOTE,
        training.macros,
        training.mid,
        training.bootstraps
    ))
}

#[cfg(test)]
mod tests {
    use ringmill_device::progress::Silent;
    use ringmill_schemes::bgv::{Params, PrimePower};

    use super::*;
    use crate::row;

    #[test]
    fn the_tables_that_need_no_machine() {
        let t = PrimePower::new(17, 3).unwrap().modulus().unwrap();
        let params = Params::builder(9, t)
            .friendly_primes(39, 13)
            .unwrap()
            .further_plain_moduli(1)
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap();
        let procedure = made(Bootstrapping::new(params, 8)).unwrap();
        let toy = training::Size {
            samples: 8,
            features: 3,
            step: 3,
        };
        let rows = rows(&procedure, toy, &Silent).unwrap();
        let of = |table: &str| {
            rows.iter()
                .filter(|row| row.table.starts_with(table))
                .count()
        };
        assert_eq!(
            (
                of("Table 1:"),
                of("Table 7:"),
                of("Table 8, "),
                of("Table 8 at N = 1024")
            ),
            (16, 10, 6, 24)
        );
        let find = |metric: &str| rows.iter().find(|row| row.metric == metric).unwrap();
        assert_eq!(find("CONVERT").printed, Some(56204.0));
        for opcode in opcodes::OPCODES {
            assert!(find(opcode).value().unwrap() > 0.0, "{opcode}");
        }
        assert!(find("keyswitch").value().unwrap() > 0.0);
        assert_eq!(of("Table 5:"), 8);
        let text = row::table(&rows) + &notes().unwrap();
        for said in ["1302", "1747", "MORPH", "measured", "06_training"] {
            assert!(text.contains(said), "{said}");
        }
    }

    /// The figures of `docs/compiler.md` and `docs/machines/vector.md`: what an iteration executes, of the set and of what the machine takes.
    #[test]
    #[ignore = "two or three minutes of one core at full size; `make full` runs it"]
    fn an_iteration_bootstraps_no_more_than_is_said() {
        let usual = made(Set::BASALISC.bootstrapping()).unwrap();
        let friendly = machine::bootstrapping(usual.setup()).unwrap();
        for (procedure, said) in [(usual, 36), (friendly, 52)] {
            let begin = std::time::Instant::now();
            let compiled = training::compiled(&procedure, training::WHOLE).unwrap();
            let counts = training::counts(&compiled);
            println!("{counts:?} compiled in {:.1?}", begin.elapsed());
            assert!(counts[0] <= said, "{counts:?}");
        }
    }

    #[test]
    fn the_sigmoid_is_piecewise_linear_and_symmetric() {
        let values = sigmoid::table(127);
        assert_eq!(
            (values.len(), values[63], values[126], values[0]),
            (127, 32, 64, 0)
        );
        for z in 0..127 {
            assert_eq!(values[z] + values[126 - z], 64);
        }
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
