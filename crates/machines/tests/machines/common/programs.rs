// SPDX-License-Identifier: Apache-2.0
//! A builder of programs that call operations on whole ciphertexts.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::{
    Call, Input, InputRole, LimbId, LimbType, Output, ParamRole, Procedure, TableModulus, Unrolled,
    Verified,
};
use ringmill_isa::{Level, Poly};
use ringmill_schemes::ckks::ops::{OpKey, ProcCache};
use ringmill_schemes::ckks::params::Params;

/// A program under construction, whose calls apply operations to whole ciphertexts.
pub struct Builder {
    cache: ProcCache,
    pub program: Unrolled,
    /// The key limbs of the program, by key, digit, polynomial of the key and modulus.
    keys: HashMap<(u16, u16, u16, u16), LimbId>,
}

/// The limbs of a ciphertext, by polynomial and modulus.
pub type Cipher = Vec<Vec<LimbId>>;

impl Builder {
    pub fn new(params: &Arc<Params>) -> Self {
        let program = Unrolled::empty(params.log_n(), TableModulus::primes(params.moduli()));
        Self {
            cache: ProcCache::new(params.clone()),
            program,
            keys: HashMap::new(),
        }
    }

    pub fn limb(&mut self, ty: LimbType) -> LimbId {
        self.program.limbs.push(ty.into());
        LimbId(self.program.limbs.len() as u64 - 1)
    }

    pub fn proc(&mut self, key: &OpKey) -> (u32, Arc<Procedure>) {
        let procedure = self.cache.get(key).unwrap();
        let found = self
            .program
            .procs
            .iter()
            .position(|p| p.name == procedure.name);
        let at = found.unwrap_or_else(|| {
            self.program.procs.push(procedure.clone());
            self.program.procs.len() - 1
        });
        (at as u32, procedure)
    }

    /// Adds a call of the operation `key` on ciphertexts with the evaluation key `which`, and returns its result.
    pub fn apply(&mut self, key: &OpKey, operands: &[&Cipher], which: u16) -> Cipher {
        let (proc, procedure) = self.proc(key);
        let mut args = Vec::new();
        let mut counters = [[0usize; 4]; 4];
        for param in &procedure.params {
            let ty = procedure.limb(param.value).unwrap();
            match param.role {
                ParamRole::Cipher { arg, poly } => {
                    let next = &mut counters[usize::from(arg)][poly.index()];
                    args.push(operands[usize::from(arg)][poly.index()][*next]);
                    *next += 1;
                }
                ParamRole::Plain { .. } | ParamRole::Exponent { .. } => {
                    unreachable!("not in these tests")
                }
                ParamRole::Key { arg, digit, part } => {
                    let which = 8 * which + arg;
                    let id = (which, digit, part, ty.modulus.0);
                    if !self.keys.contains_key(&id) {
                        let limb = self.limb(ty);
                        let role = InputRole::Key {
                            key: which.into(),
                            digit,
                            part,
                        };
                        let name = format!("k{which}.{part}.{digit}.q{}", ty.modulus.0);
                        self.program.inputs.push(Input { limb, name, role });
                        self.keys.insert(id, limb);
                    }
                    args.push(self.keys[&id]);
                }
            }
        }
        let mut result: Cipher = Vec::new();
        let mut results = Vec::new();
        for r in &procedure.results {
            let limb = self.limb(procedure.limb(r.value).unwrap());
            let poly = r.poly.index();
            result.resize(result.len().max(poly + 1), Vec::new());
            result[poly].push(limb);
            results.push(limb);
        }
        let seeds = procedure.seeds.iter().map(|_| self.seed(which)).collect();
        self.program.calls.push(Call {
            proc,
            args,
            seeds,
            results,
            loc: None,
        });
        result
    }

    pub fn seed(&mut self, which: u16) -> u32 {
        let seeds = &mut self.program.seeds;
        let at = seeds
            .iter()
            .position(|&s| s == u32::from(which))
            .unwrap_or_else(|| {
                seeds.push(which.into());
                seeds.len() - 1
            });
        at as u32
    }

    pub fn input(&mut self, params: &Params, level: Level, number: u32) -> Cipher {
        Poly::of(2)
            .map(|poly| {
                level
                    .moduli()
                    .map(|m| {
                        let modulus = ringmill_isa::mid::ModulusId(m as u16);
                        let form = ringmill_isa::mid::Form::Eval;
                        let limb = self.limb(LimbType {
                            ring: params.ring(),
                            modulus,
                            form,
                        });
                        let name = format!("x{number}.c{poly}.q{m}");
                        let role = InputRole::Cipher {
                            input: number,
                            poly,
                        };
                        self.program.inputs.push(Input { limb, name, role });
                        limb
                    })
                    .collect()
            })
            .collect()
    }

    pub fn finish(self) -> Verified {
        Verified::try_from(self.program).unwrap()
    }

    pub fn output(&mut self, cipher: &Cipher) {
        let output = self.program.outputs.iter().map(|o| o.output + 1).max();
        let output = output.unwrap_or(0);
        for (poly, limbs) in cipher.iter().enumerate() {
            for (m, &limb) in limbs.iter().enumerate() {
                let name = format!("y{output}.c{poly}.q{m}");
                self.program.outputs.push(Output {
                    limb,
                    name,
                    output,
                    poly: Poly(poly as u16),
                });
            }
        }
    }
}

/// Makes a program that squares, relinearises and rescales an input `squarings` times.
pub fn chain(params: &Arc<Params>, squarings: u32) -> Verified {
    let mut b = Builder::new(params);
    let mut level = params.max_level();
    let mut x = b.input(params, level, 0);
    for _ in 0..squarings {
        x = b.apply(&OpKey::square_relin(level, true), &[&x], 0);
        x = b.apply(&OpKey::rescale(level, 2), &[&x], 0);
        level = level.below().unwrap();
    }
    b.output(&x);
    b.finish()
}
