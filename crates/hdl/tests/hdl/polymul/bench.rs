// SPDX-License-Identifier: Apache-2.0
//! Polynomial multipliers under test, and random numbers for them.

use std::ops::{Deref, DerefMut};
use std::time::{SystemTime, UNIX_EPOCH};

use ringmill_hdl::polymul::{Multiplier, Place};
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_machines::polymul::Shape;

pub use ringmill_hdl::polymul::Dice as Rng;

/// Returns a generator of random numbers from the hexadecimal `$RINGMILL_SEED`, or from the clock. Prints its seed, so
/// that a failure can be repeated.
pub fn fresh() -> Rng {
    let given = std::env::var("RINGMILL_SEED").ok();
    let given = given.map(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap());
    let seed = given.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        now.as_nanos() as u64
    });
    println!("seed {seed:#x}");
    Rng::new(seed)
}

pub fn hdl() -> Hdl {
    Hdl::find(std::path::Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
}

pub fn place(set: usize, buf: usize, eval: bool) -> Place {
    Place { set, buf, eval }
}

/// A multiplier on a built model of the RTL.
pub struct Bench(Multiplier);

impl Bench {
    pub fn new(shape: Shape) -> Self {
        Self::of(&hdl(), shape, Optimise::Run)
    }

    /// Builds a multiplier of the RTL in `hdl`, which may be a faulty copy. Panics if it does not build.
    pub fn of(hdl: &Hdl, shape: Shape, optimise: Optimise) -> Self {
        let options = BuildOptions {
            optimise,
            waves: false,
            open: false,
        };
        Self(Multiplier::new(hdl, shape, options).unwrap())
    }
}

impl Deref for Bench {
    type Target = Multiplier;

    fn deref(&self) -> &Multiplier {
        &self.0
    }
}

impl DerefMut for Bench {
    fn deref_mut(&mut self) -> &mut Multiplier {
        &mut self.0
    }
}
