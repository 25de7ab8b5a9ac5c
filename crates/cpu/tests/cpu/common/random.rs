// SPDX-License-Identifier: Apache-2.0
//! Draws random limb programs with most instructions, three procedures and calls that depend on one another.

use std::sync::Arc;

use ringmill_isa::mid::*;
use ringmill_isa::{Galois, Poly};
use ringmill_math::{Prng, Ring, primes};

pub struct Case {
    pub program: Unrolled,
    pub inputs: Vec<Vec<u64>>,
    pub seeds: Vec<[u8; 32]>,
}

pub struct Dice(Prng);

impl Dice {
    pub fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(Prng::from_seed_for_reproducible_tests_only(bytes))
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        if from.is_empty() {
            None
        } else {
            Some(from[self.below(from.len())])
        }
    }

    pub fn residues(&mut self, q: impl Into<TableModulus>, n: usize) -> Vec<u64> {
        let q = q.into().value();
        let residue = |x: u64| (u128::from(x) % q) as u64;
        (0..n).map(|_| residue(self.0.next_u64())).collect()
    }

    /// Draws a type of limb for the ring degree 2^log_n: a modulus, and for a prime also a full or half ring
    /// and a form.
    fn ty(&mut self, log_n: u8, moduli: &[TableModulus]) -> LimbType {
        let full = Ring::full(log_n);
        let modulus = self.below(moduli.len());
        if moduli[modulus].prime().is_none() {
            return LimbType {
                ring: full,
                modulus: ModulusId(modulus as u16),
                form: Form::Coeff,
            };
        }
        let ring = [full, full, full.halves().0, full.halves().1][self.below(4)];
        let form = [Form::Coeff, Form::Eval][self.below(2)];
        LimbType {
            ring,
            modulus: ModulusId(modulus as u16),
            form,
        }
    }
}

/// Returns primes of 30, 45, 54 and 60 bits that are 1 mod 2N, for N = 2^log_n.
pub fn moduli(log_n: u8) -> Vec<u64> {
    let prime = |bits| primes::ntt_primes(bits, u32::from(log_n), 1).unwrap();
    [30, 45, 54, 60].map(prime).concat()
}

/// Returns [`moduli`], then twice a modulus without a transform and a power of two.
pub fn all_kinds(log_n: u8) -> Vec<TableModulus> {
    let mut table = TableModulus::primes(&moduli(log_n));
    table.extend([
        TableModulus::Plain((1 << 61) - 1),
        TableModulus::PowerOfTwo(64),
        TableModulus::Plain(30_031),
        TableModulus::PowerOfTwo(8),
    ]);
    table
}

fn coprime(mut a: u128, mut b: u128) -> bool {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// Draws a procedure of about `size` instructions.
pub fn procedure(
    dice: &mut Dice,
    name: String,
    log_n: u8,
    moduli: &[TableModulus],
    size: usize,
) -> Procedure {
    let mut b = ProcBuilder::new(name, log_n, moduli).unwrap();
    let mut values = Vec::new();
    for i in 0..4 + dice.below(8) {
        let ty = dice.ty(log_n, moduli);
        values.push(
            b.param(
                format!("p{i}"),
                ty,
                ParamRole::Cipher {
                    arg: i as u16,
                    poly: Poly(0),
                },
            )
            .unwrap(),
        );
    }
    let seed = b.seed(9).unwrap();
    let mut stream = 0;
    let mut stored = Vec::new();
    for _ in 0..size {
        let a = dice.pick(&values).unwrap();
        let ty = b.ty(a).unwrap();
        let q = moduli[usize::from(ty.modulus.0)];
        let like: Vec<ValueId> = values
            .iter()
            .copied()
            .filter(|&v| b.ty(v).unwrap() == ty)
            .collect();
        let (x, y) = (dice.pick(&like).unwrap(), dice.pick(&like).unwrap());
        let full = ty.ring == Ring::full(log_n);
        let galois = (dice.below(1 << log_n) * 2 + 1) as u32;
        let other = ModulusId(dice.below(moduli.len()) as u16);
        let value = |m: ModulusId| moduli[usize::from(m.0)].value();
        let rooted = moduli[usize::from(ty.modulus.0)].prime().is_some();
        let other_fits = full || moduli[usize::from(other.0)].prime().is_some();
        match (dice.below(18), ty.form) {
            (0, _) => values.push(b.add(a, x).unwrap()),
            (1, _) => values.push(b.sub(a, x).unwrap()),
            (2, _) => values.push(b.neg(a).unwrap()),
            (3, Form::Eval) => values.push(b.mul(a, x).unwrap()),
            (4, Form::Eval) => values.push(b.mac(a, x, y).unwrap()),
            (5, _) => values.push(b.muli(a, dice.residues(q, 1)[0]).unwrap()),
            (6, _) => values.push(b.addi(a, dice.residues(q, 1)[0]).unwrap()),
            (7 | 8, Form::Coeff) if rooted => values.push(b.ntt(a).unwrap()),
            (7 | 8, Form::Eval) => values.push(b.intt(a).unwrap()),
            (9, _) if full => values.push(b.auto(a, Galois(galois)).unwrap()),
            (9, Form::Eval) => {
                let (plus, minus) = Ring::full(log_n).halves();
                let of = |ring| {
                    let fits = |v: &ValueId| b.ty(*v).unwrap() == LimbType { ring, ..ty };
                    values.iter().copied().filter(fits).collect::<Vec<_>>()
                };
                if let (Some(p), Some(m)) = (dice.pick(&of(plus)), dice.pick(&of(minus))) {
                    let (p, m) = b.autoh(p, m, Galois(galois)).unwrap();
                    values.extend([p, m]);
                }
            }
            (10, Form::Coeff) if other != ty.modulus && other_fits => {
                values.push(b.conv(a, other).unwrap())
            }
            (which @ (11 | 16 | 17), Form::Coeff) if value(ty.modulus) >> 61 == 0 => {
                let mut from: Vec<ValueId> = vec![a];
                for &v in &values {
                    let t = b.ty(v).unwrap();
                    let new = value(t.modulus) >> 61 == 0
                        && from
                            .iter()
                            .all(|&f| coprime(value(b.ty(f).unwrap().modulus), value(t.modulus)));
                    if new && t.ring == ty.ring && t.form == Form::Coeff && from.len() < 4 {
                        from.push(v);
                    }
                }
                let taken: Vec<ModulusId> =
                    from.iter().map(|&f| b.ty(f).unwrap().modulus).collect();
                let to: Vec<ModulusId> = (0..moduli.len() as u16)
                    .map(ModulusId)
                    .filter(|m| which != 11 || !taken.contains(m))
                    .filter(|m| full || moduli[usize::from(m.0)].prime().is_some())
                    .collect();
                match (which, from.as_slice()) {
                    (11, _) if !to.is_empty() => values.extend(b.bext(&from, &to).unwrap()),
                    (16, _) => {
                        let which = [Representative::NonNegative, Representative::Centred];
                        let which = which[dice.below(2)];
                        values.extend(b.bextx(&from, &to, which).unwrap());
                    }
                    (17, [x @ .., r]) if !x.is_empty() => {
                        values.extend(b.bextr(x, *r, &to).unwrap());
                    }
                    _ => {}
                }
            }
            (12, Form::Eval) => {
                let pairs: Vec<_> = (0..1 + dice.below(40))
                    .map(|_| (dice.pick(&like).unwrap(), dice.pick(&like).unwrap()))
                    .collect();
                values.push(b.dot(&pairs).unwrap());
            }
            (13, Form::Coeff) if full && rooted => {
                let (p, m) = b.split(a).unwrap();
                values.extend([p, m, b.join(p, m).unwrap()]);
            }
            (14, Form::Eval) => {
                values.push(b.prng(ty, seed, stream).unwrap());
                stream += 1;
            }
            (15, _) => {
                let slot = dice.below(3) as u32;
                b.store(a, slot).unwrap();
                stored.retain(|(s, _)| *s != slot);
                stored.push((slot, ty));
                let (slot, ty) = dice.pick(&stored).unwrap();
                values.push(b.load(ty, slot).unwrap());
            }
            _ => {}
        }
    }
    let count = 1 + dice.below(6);
    for i in 0..count {
        // Mostly one of the last values; sometimes any value, even a parameter.
        let from = if dice.below(8) == 0 {
            0
        } else {
            values.len().saturating_sub(8)
        };
        let v = values[from + dice.below(values.len() - from)];
        b.result(v, format!("r{i}"), i as u16, Poly(0)).unwrap();
    }
    b.finish().unwrap()
}

/// Draws a program of three procedures and `calls` calls, with inputs and seeds.
pub fn case(seed: u64, log_n: u8, calls: usize) -> Case {
    let mut dice = Dice::new(seed);
    let moduli = all_kinds(log_n);
    let procs: Vec<Arc<Procedure>> = (0..3)
        .map(|i| Arc::new(procedure(&mut dice, format!("proc{i}"), log_n, &moduli, 40)))
        .collect();
    let mut program = Unrolled {
        procs,
        seeds: vec![0, 1],
        ..Unrolled::empty(log_n, moduli.clone())
    };
    let mut inputs = Vec::new();
    for _ in 0..calls {
        let number = dice.below(program.procs.len());
        let proc = program.procs[number].clone();
        let mut args = Vec::new();
        for param in &proc.params {
            let ty = proc.limb(param.value).unwrap();
            let fitting: Vec<u32> = (0..program.limbs.len() as u32)
                .filter(|&l| program.limbs[l as usize].limb() == Some(ty))
                .collect();
            let limb = match dice.pick(&fitting) {
                Some(limb) => limb,
                None => {
                    let limb = program.limbs.len() as u32;
                    let name = format!("in{limb}");
                    let role = InputRole::Cipher {
                        input: limb,
                        poly: Poly(0),
                    };
                    program.inputs.push(Input {
                        limb: LimbId(limb.into()),
                        name,
                        role,
                    });
                    program.limbs.push(ty.into());
                    inputs.push(dice.residues(moduli[usize::from(ty.modulus.0)], ty.ring.len()));
                    limb
                }
            };
            args.push(LimbId(limb.into()));
        }
        let results: Vec<LimbId> = proc
            .results
            .iter()
            .map(|r| {
                program.limbs.push(proc.types[r.value.0 as usize]);
                LimbId(program.limbs.len() as u64 - 1)
            })
            .collect();
        let seeds = proc.seeds.iter().map(|_| dice.below(2) as u32).collect();
        program.calls.push(Call {
            proc: number as u32,
            args,
            seeds,
            results,
            loc: None,
        });
    }
    let made: Vec<LimbId> = program
        .calls
        .iter()
        .flat_map(|c| c.results.clone())
        .collect();
    for (i, limb) in made.into_iter().enumerate() {
        if dice.below(3) > 0 || i == 0 {
            let output = program.outputs.len() as u32;
            program.outputs.push(Output {
                limb,
                name: format!("out{output}"),
                output,
                poly: Poly(0),
            });
        }
    }
    Case {
        program,
        inputs,
        seeds: vec![[1; 32], [2; 32]],
    }
}
