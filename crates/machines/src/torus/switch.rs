// SPDX-License-Identifier: Apache-2.0
//! The key switch of an engine: its stream and its cycles (`rm_torus_switch`), equal to the RTL for all stalls.

use super::Shape;
use super::keyswitch::{Clock, Command, Inputs, cycles};

/// Words of the seed, before the bodies.
pub const SEED_WORDS: u64 = 8;

/// Returns the cycles of giving a switched ciphertext into a stream that does not stall.
pub fn give_cycles(shape: Shape) -> u64 {
    shape.sizes().dim as u64 + 3
}

/// Returns the words of a switching key: the seed and a body for each row.
pub fn switch_words(shape: Shape) -> u64 {
    SEED_WORDS + (shape.degree() * shape.switch().digits().levels) as u64
}

/// Returns the unit's command for the first `places` ciphertexts.
fn command(shape: Shape, places: usize) -> Command {
    // Shapes have N up to 2^11, n up to 4096 and 128 places.
    Command {
        large: shape.degree() as u16,
        small: shape.sizes().dim as u16,
        count: places as u8,
    }
}

/// Returns the cycles from the command to its done bit for the first `places` ciphertexts, with a switching key that is
/// never late.
pub fn switch_cycles(shape: Shape, places: usize) -> u64 {
    1 + SEED_WORDS + cycles(shape.switch(), command(shape, places)) + 1
}

/// Returns these cycles for a key that stalls. In each cycle in which the next word is not on offer, `offers` returns
/// whether it comes. A word on offer stays until it is taken.
pub fn switch(shape: Shape, places: usize, mut offers: impl FnMut() -> bool) -> u64 {
    let total = switch_words(shape);
    let mut clock = Clock::new(shape.switch());
    // The command's own cycle.
    let (mut offered, mut taken, mut cycle) = (offers(), 0, 1);
    while taken < SEED_WORDS {
        offered = offered || offers();
        taken += u64::from(std::mem::take(&mut offered));
        cycle += 1;
    }
    let mut begins = Some(command(shape, places));
    while clock.shown().done.is_none() {
        let waiting = taken < total;
        offered = waiting && (offered || offers());
        let open = begins.is_none();
        let body = (open && offered).then_some(taken + 1 == total);
        if body.is_some() && clock.shown().body_ready {
            taken += 1;
            offered = false;
        }
        clock.step(Inputs {
            command: begins.take(),
            body,
            take: true,
        });
        cycle += 1;
    }
    cycle + 1
}
