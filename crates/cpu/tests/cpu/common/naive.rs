// SPDX-License-Identifier: Apache-2.0
//! Executes limb programs by the definition of each instruction: with sums over all coefficients, 128-bit arithmetic
//! (whole integers for base extensions), and no code of the kernels except seed expansion.

use std::collections::HashMap;

use num_bigint::BigInt;
use ringmill_isa::Galois;
use ringmill_isa::mid::{
    Form, Imm, Instr, LimbType, Op, Procedure, Representative, Unrolled, ValueId,
};
use ringmill_math::{Modulus, Ring, RingKind, expand_uniform};

pub type Limb = Vec<u64>;

fn mul(a: u64, b: u64, q: u128) -> u64 {
    (u128::from(a) * u128::from(b) % q) as u64
}

fn add(a: u64, b: u64, q: u128) -> u64 {
    ((u128::from(a) + u128::from(b)) % q) as u64
}

/// Returns a - b mod q.
fn sub(a: u64, b: u64, q: u128) -> u64 {
    ((u128::from(a) + q - u128::from(b)) % q) as u64
}

fn pow(mut b: u64, mut e: u64, q: u128) -> u64 {
    let mut r = 1;
    while e > 0 {
        if e & 1 == 1 {
            r = mul(r, b, q);
        }
        b = mul(b, b, q);
        e >>= 1;
    }
    r
}

fn inv(a: u64, q: u128) -> u64 {
    pow(a, (q - 2) as u64, q)
}

/// Returns the smallest primitive 2^(log_n + 1)-th root of unity mod q, out of all such roots.
fn psi(log_n: u32, q: u128) -> u64 {
    let order = 2u64 << log_n;
    let root = (2..)
        .map(|x| pow(x, (q - 1) as u64 / order, q))
        .find(|&y| u128::from(pow(y, order / 2, q)) == q - 1)
        .unwrap();
    (0..order / 2)
        .map(|k| pow(root, 2 * k + 1, q))
        .min()
        .unwrap()
}

/// Returns the evaluation points of a ring, in the order of its evaluation form.
fn points(ring: Ring, q: u128) -> Vec<u64> {
    let full = ring.full_log_n();
    let psi = psi(full, q);
    let point = |i: usize| pow(psi, 2 * ((i as u64).reverse_bits() >> (64 - full)) + 1, q);
    let n = ring.len();
    match ring.kind {
        RingKind::Full | RingKind::HalfPlus => (0..n).map(point).collect(),
        RingKind::HalfMinus => (n..2 * n).map(point).collect(),
        RingKind::Part(number) => panic!("no program has part {number}"),
    }
}

fn ntt(ring: Ring, q: u128, a: &[u64]) -> Limb {
    let at = |x: u64| a.iter().rev().fold(0, |sum, &c| add(mul(sum, x, q), c, q));
    points(ring, q).into_iter().map(at).collect()
}

fn intt(ring: Ring, q: u128, a: &[u64]) -> Limb {
    let points: Vec<u64> = points(ring, q).into_iter().map(|x| inv(x, q)).collect();
    let n_inv = inv(ring.len() as u64, q);
    (0..ring.len())
        .map(|j| {
            let sum = a.iter().zip(&points).fold(0, |sum, (&v, &x)| {
                add(sum, mul(v, pow(x, j as u64, q), q), q)
            });
            mul(sum, n_inv, q)
        })
        .collect()
}

fn auto_coeff(Galois(g): Galois, q: u128, a: &[u64]) -> Limb {
    let n = a.len();
    let mut out = vec![0; n];
    for (i, &c) in a.iter().enumerate() {
        let e = i * g as usize % (2 * n);
        out[e % n] = if e < n { c } else { sub(0, c, q) };
    }
    out
}

fn split(ring: Ring, q: u128, a: &[u64]) -> (Limb, Limb) {
    let half = a.len() / 2;
    let zeta = pow(psi(ring.full_log_n(), q), half as u64, q);
    let t: Limb = a[half..].iter().map(|&h| mul(h, zeta, q)).collect();
    let plus = a.iter().zip(&t).map(|(&l, &t)| add(l, t, q)).collect();
    let minus = a.iter().zip(&t).map(|(&l, &t)| sub(l, t, q)).collect();
    (plus, minus)
}

fn join(ring: Ring, q: u128, p: &[u64], m: &[u64]) -> Limb {
    let zeta = pow(psi(ring.full_log_n(), q), p.len() as u64, q);
    let half = inv(2, q);
    let low = p.iter().zip(m).map(|(&p, &m)| mul(add(p, m, q), half, q));
    let high = p
        .iter()
        .zip(m)
        .map(|(&p, &m)| mul(sub(p, m, q), mul(half, inv(zeta, q), q), q));
    low.chain(high).collect()
}

fn residue(x: &BigInt, p: &BigInt) -> u64 {
    u64::try_from(((x % p) + p) % p).unwrap()
}

struct Frame<'p> {
    proc: &'p Procedure,
    values: HashMap<u32, Limb>,
    slots: HashMap<u32, Limb>,
    seeds: Vec<[u8; 32]>,
}

impl Frame<'_> {
    fn ty(&self, v: u32) -> LimbType {
        self.proc.limb(ValueId(v)).unwrap()
    }

    fn q(&self, v: u32) -> u128 {
        self.proc.moduli[usize::from(self.ty(v).modulus.0)].value()
    }

    /// Computes a base extension in whole integers, for all targets `dst`. For each coefficient, `represents` receives
    /// its index, the sum of the scaled residues times Q / q_i, and Q, the product of the source moduli q_i. It
    /// returns the integer to reduce.
    fn extension(
        &self,
        src: &[u32],
        dst: &[u32],
        represents: impl Fn(usize, BigInt, &BigInt) -> BigInt,
    ) -> Vec<Limb> {
        let args: Vec<&Limb> = src.iter().map(|v| &self.values[v]).collect();
        let moduli: Vec<BigInt> = src.iter().map(|&v| self.q(v).into()).collect();
        let product: BigInt = moduli.iter().product();
        let terms: Vec<(BigInt, BigInt)> = moduli
            .iter()
            .map(|q| {
                let punctured = &product / q;
                let inverse = (&punctured % q).modinv(q).unwrap();
                (punctured, inverse)
            })
            .collect();
        let integers: Vec<BigInt> = (0..self.ty(dst[0]).ring.len())
            .map(|c| {
                let term = |i: usize| &terms[i].1 * args[i][c] % &moduli[i] * &terms[i].0;
                represents(c, (0..args.len()).map(term).sum(), &product)
            })
            .collect();
        let limb = |&d: &u32| {
            let p = BigInt::from(self.q(d));
            integers.iter().map(|x| residue(x, &p)).collect()
        };
        dst.iter().map(limb).collect()
    }

    fn run(&mut self, instr: &Instr) {
        let src: Vec<u32> = instr.src.iter().map(|v| v.0).collect();
        let args: Vec<Limb> = src.iter().map(|v| self.values[v].clone()).collect();
        let dst: Vec<u32> = instr.dst.iter().map(|v| v.0).collect();
        let q = dst.first().map_or(0, |&d| self.q(d));
        let ring = dst.first().map(|&d| self.ty(d).ring);
        let each =
            |f: &dyn Fn(usize) -> u64| vec![(0..ring.unwrap().len()).map(f).collect::<Limb>()];
        let results = match (instr.op, instr.imm) {
            (Op::Add, _) => each(&|i| add(args[0][i], args[1][i], q)),
            (Op::Sub, _) => each(&|i| sub(args[0][i], args[1][i], q)),
            (Op::Neg, _) => each(&|i| sub(0, args[0][i], q)),
            (Op::Mul, _) => each(&|i| mul(args[0][i], args[1][i], q)),
            (Op::Mac, _) => each(&|i| add(args[0][i], mul(args[1][i], args[2][i], q), q)),
            (Op::Muli, Imm::Scalar(w)) => each(&|i| mul(args[0][i], w, q)),
            (Op::Addi, Imm::Scalar(w)) => each(&|i| add(args[0][i], w, q)),
            (Op::Ntt, _) => vec![ntt(ring.unwrap(), q, &args[0])],
            (Op::Intt, _) => vec![intt(ring.unwrap(), q, &args[0])],
            (Op::Auto, Imm::Galois(g)) => match self.ty(dst[0]).form {
                Form::Coeff => vec![auto_coeff(g, q, &args[0])],
                Form::Eval => {
                    let ring = ring.unwrap();
                    vec![ntt(ring, q, &auto_coeff(g, q, &intt(ring, q, &args[0])))]
                }
            },
            (Op::Autoh, Imm::Galois(g)) => {
                let (half_p, half_m) = (self.ty(dst[0]).ring, self.ty(dst[1]).ring);
                let full = half_p.parent();
                let whole = join(
                    full,
                    q,
                    &intt(half_p, q, &args[0]),
                    &intt(half_m, q, &args[1]),
                );
                let (p, m) = split(full, q, &auto_coeff(g, q, &whole));
                vec![ntt(half_p, q, &p), ntt(half_m, q, &m)]
            }
            (Op::Conv, _) => each(&|i| (u128::from(args[0][i]) % q) as u64),
            (Op::Bext, _) => self.extension(&src, &dst, |_, sum, _| sum),
            (Op::Bextx, Imm::Representative(Representative::NonNegative)) => {
                self.extension(&src, &dst, |_, sum, product| sum % product)
            }
            (Op::Bextx, Imm::Representative(Representative::Centred)) => {
                self.extension(&src, &dst, |_, sum, product| {
                    let x = sum % product;
                    if &x * 2 > *product { x - product } else { x }
                })
            }
            (Op::Bextr, _) => {
                let (r, x) = src.split_last().unwrap();
                let m = BigInt::from(self.q(*r));
                self.extension(x, &dst, |c, sum, product| {
                    let redundant = BigInt::from(args[x.len()][c]);
                    let inverse = (product % &m).modinv(&m).unwrap();
                    let alpha = residue(&((&sum - redundant) * inverse), &m);
                    sum - product * alpha
                })
            }
            (Op::Dot, _) => each(&|i| {
                args.chunks(2)
                    .fold(0, |sum, pair| add(sum, mul(pair[0][i], pair[1][i], q), q))
            }),
            (Op::Split, _) => {
                let (p, m) = split(self.ty(src[0]).ring, q, &args[0]);
                vec![p, m]
            }
            (Op::Join, _) => vec![join(ring.unwrap(), q, &args[0], &args[1])],
            (Op::Prng, Imm::Stream { seed, stream }) => {
                let ring = ring.unwrap();
                let mut full = vec![0; ring.parent().len()];
                expand_uniform(
                    &self.seeds[usize::from(seed)],
                    stream,
                    Modulus::new(q as u64).unwrap(),
                    &mut full,
                );
                vec![match ring.kind {
                    RingKind::Full => full,
                    RingKind::HalfPlus => full[..ring.len()].to_vec(),
                    RingKind::HalfMinus => full[ring.len()..].to_vec(),
                    RingKind::Part(number) => panic!("no program has part {number}"),
                }]
            }
            (Op::Load, Imm::Slot(slot)) => vec![self.slots[&slot].clone()],
            (Op::Store, Imm::Slot(slot)) => {
                self.slots.insert(slot, args[0].clone());
                Vec::new()
            }
            other => panic!("not an instruction: {other:?}"),
        };
        self.values.extend(dst.into_iter().zip(results));
    }
}

/// Returns the outputs of a program on these inputs and seeds, all in the program's order.
pub fn interpret(program: &Unrolled, inputs: &[Limb], seeds: &[[u8; 32]]) -> Vec<Limb> {
    let mut limbs: HashMap<u64, Limb> = program
        .inputs
        .iter()
        .zip(inputs)
        .map(|(i, data)| (i.limb.0, data.clone()))
        .collect();
    for call in &program.calls {
        let proc = &program.procs[call.proc as usize];
        let values = proc
            .params
            .iter()
            .zip(&call.args)
            .map(|(p, l)| (p.value.0, limbs[&l.0].clone()))
            .collect();
        let seeds = call.seeds.iter().map(|&s| seeds[s as usize]).collect();
        let mut frame = Frame {
            proc,
            values,
            slots: HashMap::new(),
            seeds,
        };
        for instr in &proc.instrs {
            frame.run(instr);
        }
        for (r, l) in proc.results.iter().zip(&call.results) {
            limbs.insert(l.0, frame.values[&r.value.0].clone());
        }
    }
    program
        .outputs
        .iter()
        .map(|o| limbs[&o.limb.0].clone())
        .collect()
}
