// SPDX-License-Identifier: Apache-2.0
//! Multipliers under test.

use std::ops::{Deref, DerefMut};
use std::time::{SystemTime, UNIX_EPOCH};

use ringmill_hdl::polymul::{Multiplier, Place};
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_machines::polymul::Shape;

pub use ringmill_hdl::polymul::Dice as Rng;

/// From `$RINGMILL_SEED`, or a new seed each run; printed, so that a failure can be repeated.
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

/// A multiplier that is built or the test fails.
pub struct Bench(Multiplier);

impl Bench {
    pub fn new(shape: Shape) -> Self {
        Self::of(&hdl(), shape, Optimise::Run)
    }

    /// Of other sources, perhaps.
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
