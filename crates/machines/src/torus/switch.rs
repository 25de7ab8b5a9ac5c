// SPDX-License-Identifier: Apache-2.0
//! The key switch of a bootstrapping engine (`rm_torus_switch`): its key stream and its cycles, equal to the RTL's for
//! all stalls.

use super::Shape;
use super::keyswitch::{Clock, Command, Inputs, cycles};

/// The number of 32-bit words of the masks' seed, which come before the bodies in the key stream.
pub const SEED_WORDS: u64 = 8;

/// Returns the cycles in which the engine outputs one ciphertext after its key switch, if the
/// output stream does not stall.
pub fn give_cycles(shape: Shape) -> u64 {
    shape.sizes().dim as u64 + 3
}

/// Returns the number of 32-bit words of a switching key: the seed, and a body for each row.
pub fn switch_words(shape: Shape) -> u64 {
    SEED_WORDS + (shape.degree() * shape.switch().digits().levels) as u64
}

/// Returns the command with which the key-switching unit switches the first `places` ciphertexts of the engine.
fn command(shape: Shape, places: usize) -> Command {
    // Shapes have N up to 2^11, n up to 4096 and 128 places.
    Command {
        large: shape.degree() as u16,
        small: shape.sizes().dim as u16,
        count: places as u8,
    }
}

/// Returns the cycles of the key switch of the first `places` ciphertexts, from the command to its done bit, if the key
/// is never late.
pub fn switch_cycles(shape: Shape, places: usize) -> u64 {
    1 + SEED_WORDS + cycles(shape.switch(), command(shape, places)) + 1
}

/// Returns the cycles of the key switch of the first `places` ciphertexts if the key may be late. In each cycle in
/// which no word is on offer, `offers` returns whether the next one arrives. A word on offer stays until it is taken.
pub fn switch(shape: Shape, places: usize, mut offers: impl FnMut() -> bool) -> u64 {
    let total = switch_words(shape);
    let mut clock = Clock::new(shape.switch());
    // The command takes the first cycle.
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
