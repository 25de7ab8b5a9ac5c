//! The paper's order of a step: a unit for each pair of polynomials.

use ringmill_hdl::polymul::Dice;
use ringmill_machines::torus::{Schedule, Shape, Sizes, TorusError};

use crate::bench::{Key, check, check_run, hdl, quick, seed};

/// Eight units of two butterflies; few bundles held, so that the key waits for room.
fn small(unroll: usize, dim: usize, change: impl Fn(&mut Sizes)) -> Result<Shape, TorusError> {
    let mut sizes = Sizes {
        log_n: 6,
        levels: 2,
        log_base: 7,
        dim,
        unroll,
        units: 8,
        log_lanes: 1,
        log_pos: 0,
        places: 1,
        group: 1,
        key_beats: 32,
    };
    change(&mut sizes);
    Shape::scheduled(sizes, Schedule::Pairs)
}

#[test]
fn one_bit_a_step() {
    check(hdl(), small(1, 24, |_| {}).unwrap(), seed()).unwrap();
}

/// Bundles, with a last step of one bit.
#[test]
fn bundled_keys() {
    let shape = small(3, 25, |s| (s.levels, s.units) = (1, 4));
    check(hdl(), shape.unwrap(), seed()).unwrap();
}

#[test]
#[ignore = "other engines; `make full` runs it"]
fn engines_of_other_sizes() {
    for (unroll, dim, change) in [
        (2, 24, (7, 3, 7, 12, 2, 1, 128)),
        (2, 9, (4, 1, 16, 4, 1, 1, 2)),
        (3, 9, (11, 2, 10, 8, 4, 2, 64)),
        (1, 7, (7, 8, 4, 32, 3, 2, 16)),
    ] {
        let shape = small(unroll, dim, |s| {
            (
                s.log_n,
                s.levels,
                s.log_base,
                s.units,
                s.log_lanes,
                s.log_pos,
                s.key_beats,
            ) = change;
        });
        check(hdl(), shape.unwrap(), seed()).unwrap();
    }
}

/// The paper's engine at its full size: twelve units of eight butterflies, 48 product multipliers.
#[test]
#[ignore = "a million cycles of 144 multipliers; `make full` runs it"]
fn the_128_bit_set() {
    for unroll in 1..=3 {
        let shape = small(unroll, 630, |s| {
            (s.log_n, s.levels, s.units) = (10, 3, 12);
            (s.log_lanes, s.log_pos, s.key_beats) = (3, 2, 512);
        });
        let shape = shape.unwrap();
        let mut dice = Dice::new(seed());
        let key = Key::new(shape, &mut dice).unwrap();
        let cycles = check_run(&mut quick(shape), &key, 1, false, &mut dice).unwrap();
        println!("m = {unroll}: {cycles} cycles");
    }
}
