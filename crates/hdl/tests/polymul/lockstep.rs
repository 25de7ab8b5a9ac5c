//! One operation on the RTL and in the golden model: residues, issue of each cycle, cycles.

use ringmill_machines::polymul::{
    ArrayOp, Tables, cycles, issues, load_cycles, table_cycles, unload_cycles,
};
use ringmill_math::primes::ntt_primes;

use crate::bench::{Bench, Code, Rng, place};

pub const OPS: [ArrayOp; 5] = [
    ArrayOp::Ntt,
    ArrayOp::Intt,
    ArrayOp::Mul,
    ArrayOp::Hpm,
    ArrayOp::Fpm,
];

/// The forms in which an operation takes its first and, if any, second limb, and gives its result.
pub fn forms(op: ArrayOp) -> (bool, Option<bool>, bool) {
    match op {
        ArrayOp::Ntt => (false, None, true),
        ArrayOp::Intt => (true, None, false),
        ArrayOp::Mul => (true, Some(true), true),
        ArrayOp::Hpm => (false, Some(true), false),
        ArrayOp::Fpm => (false, Some(false), false),
    }
}

/// What an operation should give.
pub fn golden(tables: &Tables, op: ArrayOp, a: &[u64], b: &[u64]) -> Vec<u64> {
    let (plan, q) = (tables.plan(), tables.modulus());
    let forward = |limb: &[u64]| {
        let mut limb = limb.to_vec();
        plan.forward(&mut limb).unwrap();
        limb
    };
    let inverse = |mut limb: Vec<u64>| {
        plan.inverse(&mut limb).unwrap();
        limb
    };
    let times = |a: &[u64], b: &[u64]| -> Vec<u64> {
        a.iter().zip(b).map(|(&x, &y)| q.mul(x, y)).collect()
    };
    match op {
        ArrayOp::Ntt => forward(a),
        ArrayOp::Intt => inverse(a.to_vec()),
        ArrayOp::Mul => times(a, b),
        ArrayOp::Hpm => inverse(times(&forward(a), b)),
        ArrayOp::Fpm => inverse(times(&forward(a), &forward(b))),
    }
}

/// Loads, runs and unloads on `set`; cycles of streams are compared where they do not stall.
pub fn lockstep(bench: &mut Bench, tables: &Tables, op: ArrayOp, a: &[u64], b: &[u64], set: u64) {
    let (shape, degree) = (bench.shape, tables.degree());
    let (a_eval, b_eval, out_eval) = forms(op);
    // A transform works on either polynomial of a set.
    let at = if b_eval.is_none() { set ^ 1 } else { 0 };
    let stalled = bench.stalls.is_some();
    let taken = bench.load(place(set, at, a_eval), a);
    assert!(stalled || taken == load_cycles(shape, degree), "load");
    if let Some(eval) = b_eval {
        bench.load(place(set, 1, eval), b);
    }
    let taken = bench.run(op, set, at);
    let name = format!("{op:?} P {} {tables:?}", shape.units());
    assert_eq!(bench.issues, issues(shape, degree, op), "issues of {name}");
    assert_eq!(taken, cycles(shape, degree, op), "cycles of {name}");
    let (taken, got) = bench.unload(place(set, at, out_eval));
    assert!(stalled || taken == unload_cycles(shape, degree), "unload");
    let want = golden(tables, op, a, b);
    assert_eq!(got.len(), want.len(), "{name}");
    if let Some(i) = (0..want.len()).find(|&i| got[i] != want[i]) {
        panic!("{name}: residue {i} is {}, want {}", got[i], want[i]);
    }
}

/// Loads the tables of the largest prime of `bits` bits.
pub fn load_tables(bench: &mut Bench, n: usize, bits: u32) -> Tables {
    let q = ntt_primes(bits, n.ilog2(), 1).unwrap()[0];
    let tables = Tables::new(bench.shape, n, q).unwrap();
    let (taken, code) = bench.tables(&tables);
    assert_eq!(code, Code::Ok, "{tables:?}");
    assert!(bench.stalls.is_some() || taken == table_cycles(tables.degree()));
    tables
}

/// Every operation, on random limbs and on those where carries and corrections are extreme.
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
    for op in OPS {
        for (i, (a, b)) in cases.iter().enumerate() {
            lockstep(bench, tables, op, a, b, i as u64 & 1);
        }
    }
}
