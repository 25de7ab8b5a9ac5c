// SPDX-License-Identifier: Apache-2.0
//! The numbers that determine a bootstrapping engine, and their checks.
#![deny(clippy::arithmetic_side_effects)]

use super::keyswitch::{self, Digits, Generators, SwitchError};
use super::{Schedule, Shape, TorusError};

/// The numbers that determine a bootstrapping engine; [`Shape::new`] checks them. Accumulators have
/// one mask polynomial (k = 1) and coefficients modulo q = 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sizes {
    /// log2 of the ring degree N, from 4 to 11.
    pub log_n: u32,
    /// The number l of digits into which the engine decomposes a coefficient. Each has `log_base`
    /// bits.
    pub levels: usize,
    pub log_base: u32,
    /// The dimension n: the number of mask words of a ciphertext before the bootstrap.
    pub dim: usize,
    /// The number m of secret bits of one step of the blind rotation, from 1 to 3.
    pub unroll: usize,
    /// The number of transform units: at least two, and a divisor of 2 l for l digits. With [`Schedule::Pairs`] it
    /// is 4 l.
    pub units: usize,
    /// log2 of the number of butterflies in a transform unit.
    pub log_lanes: u32,
    /// log2 of the number of evaluation positions of a polynomial for which the engine multiplies in a cycle.
    pub log_pos: u32,
    /// The number of ciphertexts that the engine bootstraps together, interleaved.
    pub places: usize,
    /// The number of interleaved ciphertexts that are in the transform units at the same time.
    pub group: usize,
    /// The beats of the bootstrapping key that the engine can hold, a power of two. With [`Schedule::Pairs`] and
    /// `unroll` above 1 it counts bundles, sums over a step's patterns of secret bits, each for one group of positions.
    pub key_beats: usize,
    pub switch: KeySwitch,
}

/// The key switch after the blind rotation: the digits of a mask word, and the generators of the
/// key's masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct KeySwitch {
    pub digits: Digits,
    pub generators: Generators,
}

/// Converts an error of the key-switching unit to one that names the engine's field.
fn of_the_engine(error: SwitchError) -> TorusError {
    match error {
        SwitchError::Shape {
            what,
            expected,
            got,
        } => TorusError::Shape {
            what: match what {
                "cores" => "switch.cores",
                "rounds" => "switch.rounds",
                "steps" => "switch.steps",
                "levels" => "switch.levels",
                "log_base" => "switch.log_base",
                "max_small" => "dim",
                "max_large" => "log_n",
                _ => "places",
            },
            expected,
            got,
        },
        SwitchError::Length {
            what,
            expected,
            got,
        } => TorusError::Count {
            what,
            expected,
            got,
        },
        SwitchError::Math(error) => error.into(),
    }
}

impl Shape {
    /// Checks the sizes and makes the shape of an engine with [`Schedule::Sums`].
    ///
    /// # Errors
    /// The errors of [`Self::scheduled`].
    pub fn new(sizes: Sizes) -> Result<Self, TorusError> {
        Self::scheduled(sizes, Schedule::Sums)
    }

    /// Checks the sizes and makes the shape of an engine with this schedule.
    ///
    /// # Errors
    /// [`TorusError::Shape`] with the field that is out of range; a `log_base` outside 2 to 16 comes under the field
    /// `levels`. [`TorusError::Math`] for digits of the key switch that the software does not have.
    pub fn scheduled(sizes: Sizes, schedule: Schedule) -> Result<Self, TorusError> {
        let refuse = |what, expected: String, got: u64| {
            Err(TorusError::Shape {
                what,
                expected,
                got,
            })
        };
        let s = sizes;
        if !(4..=11).contains(&s.log_n) {
            return refuse("log_n", "4 to 11".into(), s.log_n.into());
        }
        if !(1..=16).contains(&s.levels) || s.log_base < 2 || s.log_base > 16 {
            let expected = "1 to 16 levels of 2 to 16 bits".into();
            return refuse("levels", expected, s.levels as u64);
        }
        if (s.levels as u64).saturating_mul(s.log_base.into()) > 32 {
            let expected = "levels x log_base of at most 32".into();
            return refuse("log_base", expected, s.log_base.into());
        }
        if !(1..=3).contains(&s.unroll) {
            return refuse("unroll", "1 to 3".into(), s.unroll as u64);
        }
        if !(s.unroll..=4096).contains(&s.dim) {
            return refuse("dim", "the bits of a step to 4096".into(), s.dim as u64);
        }
        let pairs = s.levels.saturating_mul(4);
        match schedule {
            Schedule::Sums | Schedule::Coefficients
                if s.units < 2 || !s.levels.saturating_mul(2).is_multiple_of(s.units) =>
            {
                let expected = "at least 2 units that divide twice the levels".into();
                return refuse("units", expected, s.units as u64);
            }
            Schedule::Pairs if s.units != pairs => {
                let expected = format!("a unit for each pair (`schedule`), here {pairs}");
                return refuse("units", expected, s.units as u64);
            }
            Schedule::Pairs if s.places != 1 => {
                let expected = "1, with `schedule` = \"pairs\"".into();
                return refuse("places", expected, s.places as u64);
            }
            Schedule::Coefficients if s.unroll == 1 => {
                let expected = "2 or 3, with `schedule` = \"coefficients\"".into();
                return refuse("unroll", expected, 1);
            }
            Schedule::Sums | Schedule::Coefficients | Schedule::Pairs => {}
        }
        if s.log_lanes < 1 || s.log_lanes > s.log_n.saturating_sub(2) {
            let expected = format!("1 to log_n - 2, here {}", s.log_n.saturating_sub(2));
            return refuse("log_lanes", expected, s.log_lanes.into());
        }
        let coefficients = schedule == Schedule::Coefficients;
        if s.log_pos.saturating_add(coefficients.into()) > s.log_lanes {
            let expected = match coefficients {
                false => format!("at most log_lanes, here {}", s.log_lanes),
                // Beats in coefficient form have twice the positions.
                true => format!("below log_lanes, here {}", s.log_lanes),
            };
            return refuse("log_pos", expected, s.log_pos.into());
        }
        if !(1..=128).contains(&s.places) {
            return refuse("places", "1 to 128".into(), s.places as u64);
        }
        if !(1..=s.places.min(16)).contains(&s.group) {
            let expected = format!("1 to {}, at most `places`", s.places.min(16));
            return refuse("group", expected, s.group as u64);
        }
        let KeySwitch { digits, generators } = s.switch;
        let degree = 1usize.checked_shl(s.log_n).unwrap_or(usize::MAX);
        let shape = Self {
            sizes: s,
            switch: keyswitch::Shape::new(s.places, generators, digits, (degree, s.dim))
                .map_err(of_the_engine)?,
            schedule,
        };
        if coefficients {
            // The keys of all patterns of secret bits and their sum, for two steps of the blind rotation.
            let held = Self::two_steps(s);
            if s.key_beats != held {
                let expected = format!("{held}, two steps of patterns and their sums");
                return refuse("key_beats", expected, s.key_beats as u64);
            }
            return Ok(shape);
        }
        let held = if s.places > 1 { shape.beats(0) } else { 2 };
        if !s.key_beats.is_power_of_two() || (s.key_beats as u64) < held || s.key_beats > 1 << 16 {
            let expected = format!(
                "a power of two from {held}, the beats of a step where several ciphertexts share them, to 65536"
            );
            return refuse("key_beats", expected, s.key_beats as u64);
        }
        Ok(shape)
    }
}
