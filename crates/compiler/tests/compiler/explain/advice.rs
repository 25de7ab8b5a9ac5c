// SPDX-License-Identifier: Apache-2.0
//! Advice names only changes that make a program cheaper.

use std::sync::Arc;

use ringmill_compiler::Accuracy;
use ringmill_compiler::ckks::{Options, ParamsChoice, Wanted};
use ringmill_compiler::compile;
use ringmill_compiler::explain::{Advice, Line, explain};
use ringmill_compiler::options::Options as AnyOptions;
use ringmill_schemes::bgv::Bgv;

use super::{explained, finish, mixed, squares, start};
use crate::bgv::toy;
use crate::random::line;

fn choosing(precision_bits: u32) -> Options {
    Options {
        params: ParamsChoice::Choose(Wanted {
            accuracy: Accuracy::Bits(precision_bits),
            ..Wanted::default()
        }),
        ..Options::default()
    }
}

#[test]
fn a_product_with_a_constant_at_an_output_can_be_done_in_the_clear() {
    let found = explained(mixed(), &Options::default());
    let advice = found
        .advice
        .iter()
        .find(|advice| advice.line.line == Some(8));
    let advice = advice.unwrap();
    assert_eq!(advice.levels, [3, 2]);
    assert!(advice.key_bytes[1] < advice.key_bytes[0]);
}

#[test]
fn a_lower_precision_is_named_if_it_saves_keys_and_is_the_largest_that_does() {
    let (mut t, mut x) = start();
    for i in 0..3 {
        x = t.square(x, line(2 + i)).unwrap();
    }
    let program = finish(t, x);
    let found = (20..34).find_map(|asked| {
        let found = explained(program.clone(), &choosing(asked));
        let advice = found.advice.into_iter().next()?;
        Some((asked, advice))
    });
    let (asked, advice) = found.unwrap();
    let words: Vec<&str> = advice.change.split(' ').collect();
    let named: u32 = words[5].parse().unwrap();
    let bytes = |bits| {
        compile(program.clone(), &choosing(bits))
            .unwrap()
            .key_bytes()
    };
    assert_eq!(advice.key_bytes, [bytes(asked), bytes(named)]);
    assert!(bytes(named) < bytes(asked));
    assert_eq!(bytes(named + 1), bytes(asked), "{advice}");
}

#[test]
fn chosen_parameters_are_named_if_they_are_smaller_than_given_ones() {
    let (mut t, x) = start();
    let y = t.square(x, line(2)).unwrap();
    let program = finish(t, y);
    let large = compile(mixed(), &Options::default()).unwrap().params;
    let given = Options::given(large);
    let found = explained(program.clone(), &given);
    assert_eq!((found.levels.available, found.levels.needed), (3, Some(1)));
    let advice = &found.advice[0];
    assert!(advice.change.starts_with("let the compiler choose"));
    let chosen = compile(program, &Options::default()).unwrap();
    assert_eq!(advice.key_bytes[1], chosen.key_bytes());
}

#[test]
fn what_saves_nothing_is_no_advice() {
    let (mut t, x) = start();
    let y = t.square(x, line(2)).unwrap();
    let found = explained(finish(t, y), &choosing(1));
    assert_eq!(found.advice, []);
    assert_eq!(found.advice_left_out, None);
}

#[test]
fn a_program_that_bootstraps_says_why_no_change_was_tried() {
    let procedure = Arc::new(toy::procedure());
    let options = AnyOptions::<Bgv> {
        bootstrapping: Some(Arc::clone(&procedure)),
        seeded_keys: procedure.seeded(),
        ..AnyOptions::given(Arc::clone(procedure.params()))
    };
    let mut program = squares(9, "bgv");
    program.slots = 2;
    let compiled = compile(program, &options).unwrap();
    let found = explain(&compiled, &options).unwrap();
    assert!(found.advice_left_out.unwrap().contains("bootstraps"));
    assert!(found.costs.bootstraps.count > 0);
}

#[test]
fn advice_says_what_changes_and_nothing_else() {
    let advice = |levels, log_n, key_bytes| {
        let line = Line::default();
        let change = "do less".to_owned();
        let advice = Advice {
            line,
            change,
            levels,
            log_n,
            key_bytes,
        };
        advice.to_string()
    };
    let levels = "levels 2 in place of 3";
    let shown = advice([3, 2], [14, 14], [1 << 20; 2]);
    assert_eq!(shown, format!("do less: {levels}"));
    let shown = advice([3, 2], [14, 13], [1 << 21, 1 << 20]);
    assert!(
        shown.starts_with("do less: keys take 1.0 MiB in place of 2.0 MiB, "),
        "{shown}"
    );
    assert!(
        shown.ends_with(&format!("{levels}, ring degree 2^13 in place of 2^14")),
        "{shown}"
    );
}
