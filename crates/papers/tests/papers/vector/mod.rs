// SPDX-License-Identifier: Apache-2.0
//! Tests of the tables of the BASALISC paper.

mod areas;
mod card;

use ringmill_device::progress::Silent;
use ringmill_papers::internals::vector::{
    OPCODES, Size, WHOLE, bootstrapping, compiled, counts, made, reproduced, table,
};
use ringmill_schemes::bgv::bootstrap::{Bootstrapping, Set};
use ringmill_schemes::bgv::{Params, PrimePower};

use crate::TABLES;

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
    let toy = Size {
        samples: 8,
        features: 3,
        step: 3,
    };
    let found = reproduced(&procedure, toy, TABLES, &Silent).unwrap();
    let rows = &found.rows;
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
    for opcode in OPCODES {
        assert!(find(opcode).value().unwrap() > 0.0, "{opcode}");
    }
    assert!(find("keyswitch").value().unwrap() > 0.0);
    assert_eq!(of("Table 5:"), 8);
    let text = found.text();
    for said in ["1302", "1747", "MORPH", "measured", "06_training"] {
        assert!(text.contains(said), "{said}");
    }
}

/// An iteration of training executes at most as many bootstraps as `docs/compiler.md` and `docs/machines/vector.md`
/// state, for the paper's parameter set and for the primes of the machine.
#[test]
#[ignore = "two or three minutes of one core at full size; `make full` runs it"]
fn an_iteration_bootstraps_no_more_than_is_said() {
    let usual = made(Set::BASALISC.bootstrapping()).unwrap();
    let friendly = bootstrapping(usual.setup()).unwrap();
    for (procedure, said) in [(usual, 36), (friendly, 52)] {
        let begin = std::time::Instant::now();
        let iteration = compiled(&procedure, WHOLE).unwrap();
        let counts = counts(&iteration);
        println!("{counts:?} compiled in {:.1?}", begin.elapsed());
        assert!(counts[0] <= said, "{counts:?}");
    }
}

#[test]
fn the_sigmoid_is_piecewise_linear_and_symmetric() {
    let values = table(127);
    assert_eq!(
        (values.len(), values[63], values[126], values[0]),
        (127, 32, 64, 0)
    );
    for z in 0..127 {
        assert_eq!(values[z] + values[126 - z], 64);
    }
    assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
}
