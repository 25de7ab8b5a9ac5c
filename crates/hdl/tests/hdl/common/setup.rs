// SPDX-License-Identifier: Apache-2.0
//! The project's RTL with its tools, and the seed of random tests.

use std::path::Path;
use std::sync::OnceLock;

use ringmill_hdl::Hdl;

/// Returns the project's RTL with its tools, which the first call finds.
pub fn hdl() -> &'static Hdl {
    static HDL: OnceLock<Hdl> = OnceLock::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    HDL.get_or_init(|| Hdl::find(here).unwrap_or_else(|e| panic!("{e}")))
}

/// Returns the decimal `$RINGMILL_SEED`, or a fresh seed from the clock. Prints it, so that a failing run can be
/// repeated.
pub fn seed() -> u64 {
    let given = std::env::var("RINGMILL_SEED").ok();
    let fresh = || {
        let now = std::time::UNIX_EPOCH.elapsed();
        now.map_or(1, |since| since.as_nanos() as u64)
    };
    let seed = given.map_or_else(fresh, |text| {
        text.parse().expect("RINGMILL_SEED is a number")
    });
    println!("RINGMILL_SEED={seed}");
    seed
}
