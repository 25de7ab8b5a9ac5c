// SPDX-License-Identifier: Apache-2.0
//! The text of an explanation names levels, lines, keys and advice.

use ringmill_compiler::ckks::Options;

use super::{explained, mixed, squares};
use crate::run::twenty_bits;

#[test]
fn the_text_names_levels_lines_keys_and_advice() {
    let text = explained(mixed(), &twenty_bits()).to_string();
    for said in [
        "the program needs 3 of 3; 3 products in sequence",
        "level   3 to 2   SQUARE    product  random.py:3",
        "level   1 to 0   MULC      constant  random.py:8",
        "dnum 4: 4 ciphertext primes, 1 special",
        "2 keys, by 1, 3",
        "relinearisations                       2  random.py:3, random.py:7",
        "random.py:8: leave out this product with a constant",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

#[test]
fn equal_steps_in_a_row_are_one_line() {
    let text = explained(squares(6, "ckks"), &Options::default()).to_string();
    assert!(
        text.contains("level   6 to 0   SQUARE    product, 6 times  random.py:3"),
        "{text}"
    );
}
