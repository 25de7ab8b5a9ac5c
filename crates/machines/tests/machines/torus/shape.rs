// SPDX-License-Identifier: Apache-2.0
//! Numbers that follow from an engine's parameters, computed by hand for the 128-bit set.

use ringmill_machines::torus::{Schedule, Shape, Sizes};

use super::{BASE_2, full};

#[test]
fn the_key_has_a_gadget_ciphertext_for_each_pattern() {
    // A gadget ciphertext has six rows of two polynomials of 1,024 words.
    let words = |gadgets: u64| gadgets * 6 * 2 * 1024;
    let single = full(1, 1, 2, 14, BASE_2);
    assert_eq!(single.schedule(), Schedule::Sums);
    assert_eq!((single.steps(), single.gadgets()), (630, 630));
    assert_eq!(single.key_bytes(), words(630) * 52 / 8);
    assert_eq!(single.key_total(), 630 * 256);
    // Steps of three bits have seven patterns each, as coefficients of 32 bits.
    let triple = full(3, 1, 2, 20, BASE_2);
    assert_eq!(triple.schedule(), Schedule::Coefficients);
    assert_eq!((triple.steps(), triple.gadgets()), (210, 7 * 210));
    assert_eq!(triple.key_bytes(), words(7 * 210) * 4);
    assert_eq!(triple.key_total(), 7 * 210 * 128);
    // A last step of one bit has one pattern.
    let uneven = Shape::cheapest(Sizes {
        dim: 631,
        ..triple.sizes()
    })
    .unwrap();
    assert_eq!((uneven.steps(), uneven.gadgets()), (211, 7 * 210 + 1));
    assert_eq!((uneven.bits(209), uneven.bits(210)), (3, 1));
}

#[test]
fn passes_take_their_rows_and_wait_for_the_rotations_between_them() {
    // Nine passes go over two polynomials of 16 half rows. The last rows follow, and 19 cycles until they are written.
    let full = full(1, 1, 2, 14, BASE_2);
    assert_eq!((full.slots(), full.half_rows()), (2, 16));
    assert_eq!(full.transform_cycles(), 9 * 32 + 32 + 19);
    // One polynomial is too short for rotations by 2, 4 and 8 rows, which take 15 cycles more.
    let short = Shape::cheapest(Sizes {
        units: 6,
        ..full.sizes()
    })
    .unwrap();
    let passes = 3 * 16 + 2 * (17 + 19 + 23);
    assert_eq!(short.transform_cycles(), passes + 16 + 19);
}
