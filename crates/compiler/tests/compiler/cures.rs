// SPDX-License-Identifier: Apache-2.0
//! Each cure that the error of a refused program names works.

use ringmill_compiler::Accuracy;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Options, ParamsChoice, Wanted};
use ringmill_compiler::options::Options as AnyOptions;
use ringmill_compiler::{CompileError, Cures, compile};
use ringmill_isa::macros::{MacroProgram, Visibility};
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::rlwe::{Params, SecurityLevel};

use crate::run::small_params;
use crate::sequence::powers;

fn choosing(precision_bits: u32) -> Options {
    Options {
        params: ParamsChoice::Choose(Wanted {
            accuracy: Accuracy::Bits(precision_bits),
            bootstrapping: false,
            ..Wanted::default()
        }),
        ..Options::default()
    }
}

fn cures<E: std::error::Error>(error: &CompileError<E>) -> Cures {
    match error {
        CompileError::NoParameters { cures, .. }
        | CompileError::TooDeep { cures, .. }
        | CompileError::TooNoisy { cures, .. } => *cures,
        other => panic!("{other}"),
    }
}

#[test]
fn a_program_of_too_many_levels_names_the_line_and_the_count() {
    let count = Params::MAX_PRIMES as u32 + 16;
    let refused = compile(powers(count, 16, "ckks"), &choosing(5)).unwrap_err();
    let CompileError::NoParameters {
        levels,
        most,
        most_primes,
        ..
    } = refused
    else {
        panic!("{refused}");
    };
    assert_eq!(levels, count);
    // The first prime and the special prime give no levels. The bits that are secure run out before the number of
    // primes.
    assert_eq!(most_primes, None);
    assert!((most as usize) < Params::MAX_PRIMES - 2);
    assert_eq!(refused.loc().unwrap().line, 10 + most);
    let cures = cures(&refused);
    assert_eq!((cures.at_most, cures.accuracy), (Some(most), None));
    compile(powers(most, 16, "ckks"), &choosing(1)).unwrap();
}

#[test]
fn a_lower_precision_is_a_cure_where_it_leaves_bits_for_all_levels() {
    let at = |precision_bits| Options {
        params: ParamsChoice::Choose(Wanted {
            accuracy: Accuracy::Bits(precision_bits),
            level: SecurityLevel::from_bits(256).unwrap(),
            ..Wanted::default()
        }),
        ..Options::default()
    };
    let program = || powers(42, 16, "ckks");
    let refused = compile(program(), &at(20)).unwrap_err();
    let CompileError::NoParameters {
        most_primes: None, ..
    } = refused
    else {
        panic!("{refused}");
    };
    let Some(Accuracy::Bits(named)) = cures(&refused).accuracy else {
        panic!("{refused}");
    };
    compile(program(), &at(named)).unwrap();
    assert!(compile(program(), &at(named + 1)).is_err());
}

#[test]
fn chosen_parameters_are_a_cure_if_the_program_compiles_with_them() {
    let given = Options::given(small_params());
    let refused = compile(powers(8, 8, "ckks"), &given).unwrap_err();
    assert!(cures(&refused).chosen, "{refused}");
    assert!(refused.to_string().contains("let the compiler choose"));
    // Each square doubles errors, so no precision is enough.
    let hopeless = compile(squares(60), &given).unwrap_err();
    assert!(!cures(&hopeless).chosen, "{hopeless}");
}

/// Returns the program that squares its input `count` times.
fn squares(count: u32) -> MacroProgram {
    let mut t = TraceBuilder::new("squares", 8).unwrap();
    let mut y = t.input("x", Visibility::Encrypted, None).unwrap();
    for _ in 0..count {
        y = t.square(y, None).unwrap();
    }
    t.output("y", y, None).unwrap();
    t.finish()
}

#[test]
fn bootstrapping_is_a_cure_of_whole_numbers_that_fit_its_set() {
    let refused = |program| compile(program, &AnyOptions::<Bfv>::default()).unwrap_err();
    let fits = refused(powers(60, 16, "bfv"));
    assert_eq!(cures(&fits).bootstrapping, Some("basalisc"), "{fits}");
    let long = refused(powers(60, 128, "bfv"));
    assert_eq!(cures(&long).bootstrapping, None, "{long}");
}

#[test]
fn cures_read_as_a_sentence() {
    let mut cures = Cures::default();
    assert_eq!(cures.to_string(), "multiply less often in sequence");
    cures.at_most = Some(4);
    cures.accuracy = Some(Accuracy::Bits(9));
    let said = "multiply at most 4 times in sequence, or ask for a precision of 9 bits";
    assert_eq!(cures.to_string(), said);
    cures.chosen = true;
    let said = "multiply at most 4 times in sequence, ask for a precision of 9 bits, or let the compiler choose the parameters";
    assert_eq!(cures.to_string(), said);
}
