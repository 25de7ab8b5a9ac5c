//! `rm_polymul` against the golden transform, bit for bit, and against its cycle model, cycle for cycle.

mod bench;

use bench::{Bench, Code, Rng, place};
use ringmill_machines::polymul::{
    ArrayOp, Shape, Tables, cycles, issues, load_cycles, table_cycles, unload_cycles,
};
use ringmill_math::primes::ntt_primes;

/// Both limbs where an operation finds them, the operation, and its result where it leaves it.
fn lockstep(bench: &mut Bench, tables: &Tables, op: ArrayOp, a: &[u64], b: &[u64], set: u64) {
    let (shape, degree, plan) = (bench.shape, tables.degree(), tables.plan());
    let q = tables.modulus();
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
    // Forms of a, of b (if used) and of the result.
    let (a_eval, b_eval, out_eval, want) = match op {
        ArrayOp::Ntt => (false, None, true, forward(a)),
        ArrayOp::Intt => (true, None, false, inverse(a.to_vec())),
        ArrayOp::Mul => (true, Some(true), true, times(a, b)),
        ArrayOp::Hpm => (false, Some(true), false, inverse(times(&forward(a), b))),
        ArrayOp::Fpm => (
            false,
            Some(false),
            false,
            inverse(times(&forward(a), &forward(b))),
        ),
    };
    // A transform works on either polynomial of a set.
    let at = if b_eval.is_none() { a[0] & 1 } else { 0 };
    let stalled = bench.stalls.is_some();
    let taken = bench.load(place(set, at, a_eval), a);
    if !stalled {
        assert_eq!(taken, load_cycles(shape, degree));
    }
    if let Some(eval) = b_eval {
        bench.load(place(set, 1, eval), b);
    }
    let taken = bench.run(op, set, at);
    let name = format!("{op:?} n {} P {} {tables:?}", degree.n(), shape.units());
    assert_eq!(bench.issues, issues(shape, degree, op), "issues of {name}");
    assert_eq!(taken, cycles(shape, degree, op), "cycles of {name}");
    let (taken, got) = bench.unload(place(set, at, out_eval));
    if !stalled {
        assert_eq!(taken, unload_cycles(shape, degree));
    }
    if let Some(i) = (0..want.len()).find(|&i| got[i] != want[i]) {
        panic!("{name}: residue {i} is {}, want {}", got[i], want[i]);
    }
}

const OPS: [ArrayOp; 5] = [
    ArrayOp::Ntt,
    ArrayOp::Intt,
    ArrayOp::Mul,
    ArrayOp::Hpm,
    ArrayOp::Fpm,
];

fn load_tables(bench: &mut Bench, n: usize, bits: u32) -> Tables {
    let q = ntt_primes(bits, n.ilog2(), 1).unwrap()[0];
    let tables = Tables::new(bench.shape, n, q).unwrap();
    let (taken, code) = bench.tables(&tables);
    assert_eq!(code, Code::Ok, "{tables:?}");
    if bench.stalls.is_none() {
        assert_eq!(taken, table_cycles(tables.degree()));
    }
    tables
}

#[test]
fn four_units_every_set() {
    let mut rng = Rng::new(0x0401);
    let mut bench = Bench::new(Shape::new(4, 12, 4).unwrap());
    for (n, bits) in [(256, 16)] {
        let tables = load_tables(&mut bench, n, bits);
        let q = tables.modulus().value();
        for (i, op) in OPS.into_iter().enumerate() {
            let (a, b) = (rng.limb(n, q), rng.limb(n, q));
            lockstep(&mut bench, &tables, op, &a, &b, i as u64 & 1);
        }
    }
}
