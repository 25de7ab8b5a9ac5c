// SPDX-License-Identifier: Apache-2.0
//! Tests that no copy of a secret is left in memory after it is dropped, and none of a phase while its key still
//! exists.

use ringmill_secrets::telling::{Seen, Stage, observe};

fn seen(scenario: &str) -> Vec<Seen> {
    observe(env!("CARGO_BIN_EXE_keeper"), scenario).unwrap()
}

/// Asserts that no search of a scenario finds a copy that must be gone, and that each finds the secrets that are held.
fn clean(scenario: &str) {
    let mut said = String::new();
    let all = seen(scenario);
    for Seen {
        stage,
        left,
        missed,
    } in &all
    {
        for find in left {
            said += &format!("{stage:?}: {find:?}\n");
        }
        for name in missed {
            said += &format!("{stage:?}: {name} was not found though its holder lives\n");
        }
    }
    assert!(said.is_empty(), "{scenario}:\n{said}");
    assert_eq!(all.last().map(|seen| seen.stage), Some(Stage::Dropped));
}

macro_rules! scenarios {
    ($($test:ident: $name:literal;)*) => {
        $(#[test]
        fn $test() {
            clean($name);
        })*
    };
}

scenarios! {
    what_a_generator_draws_is_wiped: "generator";
    what_a_generator_drew_is_found_while_it_is_held: "generator, held";
    secrets_and_phases_of_ckks_are_wiped: "ckks";
    those_in_words_of_32_bits_are_wiped_too: "ckks, words of 32 bits";
    secrets_and_phases_of_bfv_are_wiped: "bfv";
    secrets_and_phases_of_bgv_are_wiped: "bgv";
    sparse_secrets_of_bootstrapping_are_wiped: "bgv bootstrapping";
    secrets_of_tfhe_are_wiped: "tfhe";
    those_of_circuits_are_wiped_too: "tfhe circuits";
    secret_keys_in_files_of_seal_are_wiped: "seal";
    a_panic_leaves_no_secret: "a panic";
}

#[test]
fn planted_copies_are_found() {
    let all = seen("a planted copy");
    let places: Vec<_> = all[1]
        .left
        .iter()
        .map(|find| (find.from, &*find.mapping))
        .collect();
    assert!(all[0].left.is_empty() && all[0].missed.is_empty());
    assert!(
        places.iter().any(|&(from, at)| from == 0 && at == "[heap]"),
        "{places:?}"
    );
    assert!(
        places
            .iter()
            .any(|&(from, at)| from >= 32 && at == "[stack]"),
        "{places:?}"
    );
    // The freed bytes are still there, except for words that the allocator has written.
    assert!(
        all[2].left.iter().any(|find| find.mapping == "[heap]"),
        "{:?}",
        all[2].left
    );
}
