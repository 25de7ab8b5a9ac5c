// SPDX-License-Identifier: Apache-2.0
//! A generator of random procedures with the instructions that the vector machine runs.

use ringmill_isa::mid::{Form, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, ValueId};
use ringmill_isa::{Galois, Poly};
use ringmill_math::{Prng, Ring};

pub struct Draw(Prng);

#[derive(Clone, Copy)]
struct Known {
    value: ValueId,
    ty: LimbType,
}

impl Draw {
    pub fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(Prng::from_seed_for_reproducible_tests_only(bytes))
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    pub fn residues(&mut self, q: u64, n: usize) -> Vec<u64> {
        (0..n).map(|_| self.0.next_u64() % q).collect()
    }

    fn pick(&mut self, from: &[Known], fits: impl Fn(&Known) -> bool) -> Option<Known> {
        let found: Vec<Known> = from.iter().copied().filter(fits).collect();
        (!found.is_empty()).then(|| found[self.below(found.len())])
    }

    /// Draws a procedure on limbs modulo `primes` that computes at least `length` values, with instructions of
    /// kinds that the machine runs. With `masks` it also has two limbs that a generator expands from seeds.
    pub fn procedure(
        &mut self,
        log_n: u8,
        primes: &[u64],
        length: usize,
        masks: bool,
    ) -> Procedure {
        let mut b = ProcBuilder::new("drawn", log_n, primes).unwrap();
        let ring = Ring::full(log_n);
        let mut known: Vec<Known> = Vec::new();
        for arg in 0..2 + self.below(5) as u16 {
            let ty = LimbType {
                ring,
                modulus: ModulusId(self.below(primes.len()) as u16),
                form: [Form::Coeff, Form::Eval][self.below(2)],
            };
            let role = match self.below(3) {
                0 => ParamRole::Key {
                    arg,
                    digit: 0,
                    part: 0,
                },
                _ => ParamRole::Cipher {
                    arg,
                    poly: Poly::FIRST,
                },
            };
            let value = b.param(format!("x{arg}"), ty, role).unwrap();
            known.push(Known { value, ty });
        }
        if masks {
            for (stream, seed) in [0u16, 1]
                .map(|arg| b.seed(arg).unwrap())
                .into_iter()
                .enumerate()
            {
                let ty = LimbType {
                    ring,
                    modulus: ModulusId(self.below(primes.len()) as u16),
                    form: Form::Eval,
                };
                let value = b.prng(ty, seed, stream as u64).unwrap();
                known.push(Known { value, ty });
            }
        }
        let params = known.len();
        while known.len() < params + length {
            self.instr(&mut b, &mut known, primes);
        }
        let mut made: Vec<Known> = known.split_off(params);
        for index in 0..(1 + self.below(4)).min(made.len()) as u16 {
            // The last value is always a result.
            let at = match index {
                0 => made.len() - 1,
                _ => self.below(made.len()),
            };
            let result = made.swap_remove(at);
            let name = format!("d{index}");
            b.result(result.value, name, index, Poly::FIRST).unwrap();
        }
        b.finish().unwrap()
    }

    fn instr(&mut self, b: &mut ProcBuilder, known: &mut Vec<Known>, primes: &[u64]) {
        let a = known[self.below(known.len())];
        let like = |k: &Known| k.ty == a.ty;
        let q = primes[usize::from(a.ty.modulus.0)];
        let w = self.residues(q, 1)[0];
        let evaluations = a.ty.form == Form::Eval;
        let c = self.pick(known, like).unwrap_or(a);
        let d = self.pick(known, like).unwrap_or(a);
        let value = match self.below(13) {
            0 => b.add(a.value, c.value),
            1 => b.sub(a.value, c.value),
            2 => b.neg(a.value),
            3 => b.muli(a.value, w),
            4 => b.addi(a.value, w),
            5 | 6 if evaluations => b.mul(a.value, c.value),
            7 if evaluations => b.mac(a.value, c.value, d.value),
            8 if evaluations => {
                let pairs = (0..2 + self.below(4)).filter_map(|_| {
                    let [x, y] = [(); 2].map(|()| self.pick(known, like));
                    Some((x?.value, y?.value))
                });
                b.dot(&pairs.collect::<Vec<_>>())
            }
            9 => {
                let g = 3 + 2 * self.below((1 << a.ty.ring.len().trailing_zeros()) - 2) as u32;
                b.auto(a.value, Galois(g))
            }
            10 if !evaluations => {
                let to = (usize::from(a.ty.modulus.0) + 1) % primes.len();
                b.conv(a.value, ModulusId(to as u16))
            }
            11 if !evaluations => return self.extension(b, known, primes.len()),
            _ if evaluations => b.intt(a.value),
            _ => b.ntt(a.value),
        };
        let value = value.unwrap();
        let ty = b.ty(value).unwrap();
        known.push(Known { value, ty });
    }

    /// Adds a base extension, fast or exact, from limbs modulo different primes to the other primes. The last prime is
    /// always a target. Adds nothing if no limb in coefficient form has another modulus.
    fn extension(&mut self, b: &mut ProcBuilder, known: &mut Vec<Known>, primes: usize) {
        let mut from: Vec<Known> = Vec::new();
        for modulus in 0..primes - 1 {
            let fits =
                |k: &Known| k.ty.form == Form::Coeff && usize::from(k.ty.modulus.0) == modulus;
            from.extend(self.pick(known, fits));
        }
        let taken: Vec<u16> = from.iter().map(|k| k.ty.modulus.0).collect();
        let to = (0..primes as u16).filter(|m| !taken.contains(m));
        let to: Vec<ModulusId> = to.map(ModulusId).collect();
        if from.is_empty() || to.is_empty() {
            return;
        }
        let values: Vec<ValueId> = from.iter().map(|k| k.value).collect();
        let made = match self.below(2) {
            0 => b.bext(&values, &to),
            _ => b.bextx(&values, &to, ringmill_isa::mid::Representative::Centred),
        };
        for value in made.unwrap() {
            let ty = b.ty(value).unwrap();
            known.push(Known { value, ty });
        }
    }
}
