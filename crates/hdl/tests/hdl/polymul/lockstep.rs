// SPDX-License-Identifier: Apache-2.0
//! Checks that run every operation in lockstep with the software model.

use std::sync::Arc;

use ringmill_hdl::polymul::lockstep;
use ringmill_machines::polymul::{ArrayOp, Tables, table_cycles};
use ringmill_math::primes::ntt_primes;

use crate::polymul::bench::{Bench, Rng};

/// Loads the tables of the largest NTT prime of `bits` bits for degree `n`, and returns them.
pub fn load_tables(bench: &mut Bench, n: usize, bits: u32) -> Arc<Tables> {
    let q = ntt_primes(bits, n.ilog2(), 1).unwrap()[0];
    let tables = Arc::new(Tables::new(bench.shape(), n, q).unwrap());
    let taken = bench.load_tables(&tables).unwrap();
    assert!(bench.driver().stalls() || taken == table_cycles(tables.degree()));
    tables
}

/// Runs every operation on random limbs, and on limbs for which carries and corrections are extreme.
pub fn every_operation(bench: &mut Bench, rng: &mut Rng, tables: &Tables) {
    let (n, q) = (tables.degree().n(), tables.modulus().value());
    let single = |at: usize, value: u64| {
        let mut limb = vec![0; n];
        limb[at] = value;
        limb
    };
    let cases = [
        (rng.limb(n, q), rng.limb(n, q)),
        (vec![q - 1; n], vec![q - 1; n]),
        (single(n - 1, q - 1), single(1, 1)),
    ];
    for op in ArrayOp::ALL {
        for (i, (a, b)) in cases.iter().enumerate() {
            lockstep(bench, op, a, b, i & 1).unwrap();
        }
    }
}
