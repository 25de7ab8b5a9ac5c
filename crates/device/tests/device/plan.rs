// SPDX-License-Identifier: Apache-2.0
//! Tests which steps of a procedure are fused, and which must not be.

use ringmill_device::plan::{Fusion, Job, Steps};
use ringmill_isa::mid::{Form, LimbType, ModulusId, ParamRole, ProcBuilder, ValueId};
use ringmill_isa::{Galois, Poly};
use ringmill_math::{Ring, primes};

const LOG_N: u8 = 4;

/// A procedure under construction over two moduli.
struct Build(ProcBuilder, u16);

impl Build {
    fn new() -> Self {
        let moduli = primes::ntt_primes(54, u32::from(LOG_N), 2).unwrap();
        Self(ProcBuilder::new("test", LOG_N, &moduli).unwrap(), 0)
    }

    fn param(&mut self, modulus: u16, form: Form) -> ValueId {
        let ty = LimbType {
            ring: Ring::full(LOG_N),
            modulus: ModulusId(modulus),
            form,
        };
        self.1 += 1;
        let role = ParamRole::Cipher {
            arg: self.1,
            poly: Poly(0),
        };
        self.0.param(format!("p{}", self.1), ty, role).unwrap()
    }

    fn evals<const K: usize>(&mut self) -> [ValueId; K] {
        std::array::from_fn(|_| self.param(0, Form::Eval))
    }

    /// Adds K values that are no parameters, but transforms of parameters. The fused steps then begin with K
    /// transforms.
    fn made<const K: usize>(&mut self) -> [ValueId; K] {
        std::array::from_fn(|_| {
            let x = self.param(0, Form::Coeff);
            self.0.ntt(x).unwrap()
        })
    }

    /// Returns the names of the fused steps of the procedure with these results, in order, without the transforms of
    /// [`Build::made`], of which there must be `transforms`.
    fn fused_after(self, transforms: usize, results: &[ValueId]) -> Vec<&'static str> {
        let mut names = self.fused(results);
        let made = names.iter().filter(|&&name| name == "ntt").count();
        assert_eq!(made, transforms);
        names.retain(|&name| name != "ntt");
        names
    }

    /// Returns the names of the fused steps of the procedure with these results, in order.
    fn fused(mut self, results: &[ValueId]) -> Vec<&'static str> {
        for (i, &v) in results.iter().enumerate() {
            self.0
                .result(v, format!("r{i}"), i as u16, Poly(0))
                .unwrap();
        }
        let procedure = self.0.finish().unwrap();
        let written = Steps::of(&procedure, Fusion::None).unwrap();
        assert_eq!(written.steps.len(), procedure.instrs.len());
        let fused = Fusion::For {
            cache_bytes: 2 << 20,
        };
        let plan = Steps::of(&procedure, fused).unwrap();
        plan.steps.iter().map(|step| name(&step.job)).collect()
    }
}

fn name(job: &Job) -> &'static str {
    match job {
        Job::Add(_) => "add",
        Job::Sub(_) => "sub",
        Job::Mul(_) => "mul",
        Job::Muli(..) => "muli",
        Job::Conv(_, _, 0) => "conv",
        Job::Conv(..) => "conv + constant",
        Job::Ntt { q, from, .. } if from == q => "ntt",
        Job::Ntt { w: 0, .. } => "ntt of conv",
        Job::Ntt { .. } => "ntt of conv + constant",
        Job::Dot(_) => "dot",
        Job::DotPair { .. } => "pair",
        Job::MatVec { .. } => "matrix",
        Job::Tensor(_) => "tensor",
        Job::SubScale(..) => "difference",
        Job::Difference { w: 0, .. } => "difference from conv",
        Job::Difference { .. } => "difference from conv + constant",
        Job::Pass(_) => "pass",
        _ => "other",
    }
}

#[test]
fn the_end_of_a_division_is_one_step() {
    let mut b = Build::new();
    let rest = b.param(1, Form::Coeff);
    let [kept, addend] = b.evals();
    let x = b.0.conv(rest, ModulusId(0)).unwrap();
    let x = b.0.addi(x, 5).unwrap();
    let x = b.0.ntt(x).unwrap();
    let x = b.0.sub(kept, x).unwrap();
    let x = b.0.muli(x, 7).unwrap();
    let x = b.0.add(addend, x).unwrap();
    assert_eq!(b.fused(&[x]), ["difference from conv + constant"]);
}

#[test]
fn what_is_transformed_for_two_ends_is_transformed_once() {
    let mut b = Build::new();
    let rest = b.param(1, Form::Coeff);
    let kept = b.evals::<2>();
    let x = b.0.conv(rest, ModulusId(0)).unwrap();
    let x = b.0.ntt(x).unwrap();
    let [y, z] = kept.map(|a| {
        let x = b.0.sub(a, x).unwrap();
        b.0.muli(x, 7).unwrap()
    });
    assert_eq!(
        b.fused(&[y, z]),
        ["ntt of conv", "difference", "difference"]
    );
}

#[test]
fn what_is_read_twice_stays() {
    let mut b = Build::new();
    let rest = b.param(1, Form::Coeff);
    let x = b.0.conv(rest, ModulusId(0)).unwrap();
    let (y, z) = (b.0.addi(x, 5).unwrap(), b.0.ntt(x).unwrap());
    assert_eq!(b.fused(&[y, z]), ["conv", "other", "ntt"]);

    let mut b = Build::new();
    let [p, q] = b.made();
    let difference = b.0.sub(p, q).unwrap();
    let scaled = b.0.muli(difference, 7).unwrap();
    // A result counts as a reader too.
    assert_eq!(b.fused_after(2, &[scaled, difference]), ["sub", "muli"]);
}

#[test]
fn sums_with_the_same_first_factors_are_a_pair() {
    let mut b = Build::new();
    let [d, e] = b.made();
    let [k, l, m, n] = b.evals();
    let x = b.0.dot(&[(d, k), (e, l)]).unwrap();
    let y = b.0.dot(&[(d, m), (e, n)]).unwrap();
    assert_eq!(b.fused_after(2, &[x, y]), ["pair"]);

    // The second sum reads the first, so the two cannot be one step.
    let mut b = Build::new();
    let [d, e] = b.made();
    let [k, l, m] = b.evals();
    let x = b.0.dot(&[(d, k), (e, l)]).unwrap();
    let y = b.0.dot(&[(d, m), (e, x)]).unwrap();
    assert_eq!(b.fused_after(2, &[x, y]), ["dot", "dot"]);
}

#[test]
fn a_pair_reads_first_factors_under_one_automorphism() {
    let pair = |by: [u32; 2], read: bool| {
        let mut b = Build::new();
        let made: [ValueId; 2] = b.made();
        let [k, l, m, n] = b.evals();
        let [d, e] = [0, 1].map(|i| b.0.auto(made[i], Galois(by[i])).unwrap());
        let x = b.0.dot(&[(d, k), (e, l)]).unwrap();
        let y = b.0.dot(&[(d, m), (e, n)]).unwrap();
        match read {
            true => b.fused_after(2, &[x, y, d]),
            false => b.fused_after(2, &[x, y]),
        }
    };
    assert_eq!(pair([5, 5], false), ["pair"]);
    // Two automorphisms, or a turned factor that is read elsewhere.
    assert_eq!(pair([5, 25], false), ["other", "other", "pair"]);
    assert_eq!(pair([5, 5], true), ["other", "other", "pair"]);
}

#[test]
fn sums_with_two_lists_of_second_factors_are_a_matrix() {
    let mut b = Build::new();
    let [a0, a1, b0, b1] = b.made();
    let rows: [[ValueId; 2]; 3] = std::array::from_fn(|_| b.evals());
    let mut sums = Vec::new();
    for [d, e] in rows {
        for [x, y] in [[a0, a1], [b0, b1]] {
            sums.push(b.0.dot(&[(d, x), (e, y)]).unwrap());
        }
    }
    assert_eq!(b.fused_after(4, &sums), ["matrix"]);

    // A row that one list alone has leaves pairs of sums.
    let mut b = Build::new();
    let [a0, a1, b0, b1] = b.made();
    let [d, e, f, g] = b.evals();
    let x = b.0.dot(&[(d, a0), (e, a1)]).unwrap();
    let y = b.0.dot(&[(d, b0), (e, b1)]).unwrap();
    let z = b.0.dot(&[(f, a0), (g, a1)]).unwrap();
    assert_eq!(b.fused_after(4, &[x, y, z]), ["pair", "dot"]);

    // A sum that is read before the last one cannot wait for it.
    let mut b = Build::new();
    let [a0, a1, b0, b1] = b.made();
    let [d, e, f, g] = b.evals();
    let x = b.0.dot(&[(d, a0), (e, a1)]).unwrap();
    let y = b.0.dot(&[(d, b0), (e, b1)]).unwrap();
    let read = b.0.intt(x).unwrap();
    let read = b.0.ntt(read).unwrap();
    let z = b.0.dot(&[(f, a0), (g, a1)]).unwrap();
    let w = b.0.dot(&[(f, b0), (g, b1)]).unwrap();
    let v = b.0.add(read, w).unwrap();
    let names = b.fused_after(5, &[y, z, v]);
    assert!(!names.contains(&"matrix"), "{names:?}");
}

#[test]
fn products_of_two_pairs_are_a_tensor() {
    let mut b = Build::new();
    let [a0, a1, b0, b1] = b.evals();
    let high = b.0.mul(a1, b1).unwrap();
    let low = b.0.mul(b0, a0).unwrap();
    let middle = b.0.dot(&[(a0, b1), (b0, a1)]).unwrap();
    assert_eq!(b.fused(&[low, middle, high]), ["tensor"]);

    let mut b = Build::new();
    let [a0, a1] = b.evals();
    let (low, high) = (b.0.mul(a0, a0).unwrap(), b.0.mul(a1, a1).unwrap());
    let middle = b.0.dot(&[(a0, a1), (a0, a1)]).unwrap();
    assert_eq!(b.fused(&[low, middle, high]), ["tensor"]);

    // These products are not those of a tensor product.
    let mut b = Build::new();
    let [a0, a1, b0, b1] = b.made();
    let (low, high) = (b.0.mul(a0, b1).unwrap(), b.0.mul(a1, b0).unwrap());
    let middle = b.0.dot(&[(a0, b1), (a1, b0)]).unwrap();
    assert_eq!(
        b.fused_after(4, &[low, middle, high]),
        ["mul", "dot", "mul"]
    );
}

#[test]
fn steps_come_when_they_are_wanted_or_not_at_all() {
    let mut b = Build::new();
    let [p, q] = b.made();
    let late = b.0.mul(p, q).unwrap();
    b.0.neg(p).unwrap();
    let early = b.0.sub(p, q).unwrap();
    assert_eq!(b.fused_after(2, &[early, late]), ["sub", "mul"]);
}

#[test]
fn elementwise_steps_on_parameters_that_share_one_are_a_pass() {
    let mut b = Build::new();
    let [p, q, r] = b.evals();
    let sum = b.0.add(p, q).unwrap();
    let scaled = b.0.muli(sum, 7).unwrap();
    let product = b.0.mul(r, q).unwrap();
    assert_eq!(b.fused(&[scaled, product]), ["pass"]);

    // Neither a single step nor steps modulo different primes form a pass.
    let mut b = Build::new();
    let [p, q] = b.evals();
    let (r, s) = (b.param(1, Form::Eval), b.param(1, Form::Eval));
    let (x, y) = (b.0.mul(p, q).unwrap(), b.0.mul(r, s).unwrap());
    assert_eq!(b.fused(&[x, y]), ["mul", "mul"]);
}
