// SPDX-License-Identifier: Apache-2.0
//! Random well-typed mid programs, grown from lists of choices so that failures shrink well.
#![allow(dead_code, clippy::unwrap_used)] // each test file uses its own part

use std::sync::{Arc, OnceLock};

use proptest::prelude::*;
use ringmill_isa::mid::{
    Call, Form, Input, InputRole, LimbId, LimbType, LweDimension, LweTableType, LweType, ModulusId,
    Op, Output, ParamRole, ProcBuilder, Procedure, Representative, TableModulus, Unrolled, ValueId,
    ValueType,
};
use ringmill_isa::source::SourceLoc;
use ringmill_isa::{Galois, Poly};
use ringmill_math::{Ring, primes};

pub const LOG_N: u8 = 5;
/// Number of primes in the table; they are its first entries.
pub const PRIMES: u16 = 4;
/// Number of all entries of the table.
pub const MODULI: u16 = PRIMES + 4;

/// Returns the table of moduli: primes, then plain moduli and powers of two.
pub fn moduli() -> &'static [TableModulus] {
    static TABLE: OnceLock<Vec<TableModulus>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let primes = primes::ntt_primes(30, u32::from(LOG_N), usize::from(PRIMES)).unwrap();
        let mut table = TableModulus::primes(&primes);
        table.extend([
            TableModulus::Plain(65_537),
            TableModulus::Plain(6),
            TableModulus::PowerOfTwo(64),
            TableModulus::PowerOfTwo(5),
        ]);
        table
    })
}

fn is_prime(modulus: ModulusId) -> bool {
    modulus.0 < PRIMES
}

/// Numbers that one generated step is made from.
pub type Choice = (u16, u16, u16, u64);

pub fn choices(most: usize) -> impl Strategy<Value = Vec<Choice>> {
    prop::collection::vec(any::<Choice>(), 0..most)
}

fn limb_type(pick: u16) -> LimbType {
    let full = Ring::full(LOG_N);
    let modulus = ModulusId(pick / 2 % MODULI);
    if !is_prime(modulus) {
        return LimbType {
            ring: full,
            modulus,
            form: Form::Coeff,
        };
    }
    let ring = [full, full, full.halves().0, full.halves().1][usize::from(pick / 16 % 4)];
    let form = if pick.is_multiple_of(2) {
        Form::Eval
    } else {
        Form::Coeff
    };
    LimbType {
        ring,
        modulus,
        form,
    }
}

/// Grows a procedure, to which each choice adds the instruction it picks, if operands for it exist.
pub fn procedure(name: &str, params: u16, choices: &[Choice]) -> Procedure {
    let mut b = ProcBuilder::new(name, LOG_N, moduli()).unwrap();
    let mut values = Vec::new();
    for i in 0..=params {
        let role = match i % 3 {
            0 => ParamRole::Cipher {
                arg: 0,
                poly: Poly(i),
            },
            1 => ParamRole::Plain { arg: i },
            _ => ParamRole::Key {
                arg: 3,
                digit: i,
                part: i % 2,
            },
        };
        let pick = choices.get(usize::from(i)).map_or(i, |c| c.1);
        values.push(
            b.param(format!("c{i} \"\\\n\u{e9}"), limb_type(pick), role)
                .unwrap(),
        );
    }
    let mut others = Others::params(&mut b);
    let seeds = [b.seed(7).unwrap(), b.seed(2).unwrap()];
    let mut slots: Vec<(u32, LimbType)> = Vec::new();
    for &choice in choices {
        step(&mut b, &mut values, &mut others, &seeds, &mut slots, choice);
    }
    b.result(*others.vectors.last().unwrap(), "vector", 5, Poly(1))
        .unwrap();
    for (i, &v) in (0..).zip(values.iter().rev().take(5)) {
        b.result(v, format!("d{i}"), i, Poly(0)).unwrap();
    }
    b.finish().unwrap()
}

/// Values that are not limbs.
struct Others {
    exponents: [ValueId; 2],
    vectors: Vec<ValueId>,
    /// Table that switches the first vector to dimension 3 by digits of base 16.
    table: ValueId,
}

impl Others {
    fn params(b: &mut ProcBuilder) -> Self {
        let vector = |dimension| LweType {
            dimension: LweDimension(dimension),
            modulus: ModulusId(1),
        };
        let row = vector(3);
        let table = ValueType::LweTable(LweTableType { row, rows: 10 });
        let exponent = |index| ParamRole::Exponent { arg: 1, index };
        let key = ParamRole::Key {
            arg: 4,
            digit: 0,
            part: 0,
        };
        let cipher = ParamRole::Cipher {
            arg: 1,
            poly: Poly(0),
        };
        Self {
            exponents: [0, 1].map(|i| {
                let ty = ValueType::Exponent;
                b.param(format!("e{i}"), ty, exponent(i)).unwrap()
            }),
            vectors: vec![b.param("x", vector(5), cipher).unwrap()],
            table: b.param("k", table, key).unwrap(),
        }
    }
}

fn step(
    b: &mut ProcBuilder,
    values: &mut Vec<ValueId>,
    others: &mut Others,
    seeds: &[u16],
    slots: &mut Vec<(u32, LimbType)>,
    (op, first, second, number): Choice,
) {
    let find = |start: u16, fits: &dyn Fn(LimbType) -> bool| {
        let n = values.len();
        (0..n)
            .map(|i| values[(usize::from(start) + i) % n])
            .find(|&v| fits(b.ty(v).unwrap()))
    };
    let full = Ring::full(LOG_N);
    let (plus, minus) = full.halves();
    let any = find(first, &|_| true).unwrap();
    let any_ty = b.ty(any).unwrap();
    let like_any = find(second, &|ty| ty == any_ty).unwrap();
    let value = |m: ModulusId| moduli()[usize::from(m.0)].value();
    let residue = (u128::from(number) % value(any_ty.modulus)) as u64;
    // The full ring takes every modulus, and a half ring primes alone.
    let target = |ring: Ring, pick: u16| {
        let among = if ring == full { MODULI } else { PRIMES };
        ModulusId(pick % among)
    };
    let targets = |ring: Ring| {
        let (first, second) = (target(ring, second), target(ring, second.wrapping_add(1)));
        if first == second {
            vec![first]
        } else {
            vec![first, second]
        }
    };
    let gcd = |mut a: u128, mut b: u128| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    // A base: coefficient limbs of moduli below 2^61 without common factors, on one ring.
    let base = |most: usize| {
        let n = values.len();
        let mut base: Vec<(ValueId, LimbType)> = Vec::new();
        for i in 0..n {
            let v = values[(usize::from(first) + i) % n];
            let ty = b.ty(v).unwrap();
            let fits = ty.form == Form::Coeff
                && value(ty.modulus) >> 61 == 0
                && base.iter().all(|(_, other)| {
                    other.ring == ty.ring && gcd(value(other.modulus), value(ty.modulus)) == 1
                });
            if fits && base.len() < most {
                base.push((v, ty));
            }
        }
        base
    };
    let galois = (number as u32 % (1 << LOG_N)) * 2 + 1;
    let eval = find(first, &|ty| ty.form == Form::Eval);
    let coeff = find(first, &|ty| ty.form == Form::Coeff);
    let rooted = find(first, &|ty| ty.form == Form::Coeff && is_prime(ty.modulus));
    let with = |ring: Ring, form: Form| {
        find(first, &move |ty| {
            ty.ring == ring && ty.form == form && is_prime(ty.modulus)
        })
    };
    let partner = |a: ValueId, ring: Ring| {
        let ty = LimbType {
            ring,
            ..b.ty(a).unwrap()
        };
        find(second, &move |other| other == ty)
    };
    let whole = |ty: LimbType| ty.ring == full && ty.form == Form::Coeff;
    let vector = others.vectors[usize::from(first) % others.vectors.len()];
    let on_vectors = number.is_multiple_of(3);
    let made: Vec<ValueId> = match Op::ALL[usize::from(op) % Op::COUNT] {
        Op::Add if on_vectors => {
            others.vectors.push(b.add(vector, vector).unwrap());
            vec![]
        }
        Op::Neg if on_vectors => {
            others.vectors.push(b.neg(vector).unwrap());
            vec![]
        }
        Op::Rotdiff => find(first, &|ty| ty.ring == full)
            .map(|a| {
                let exponents = &others.exponents[..1 + usize::from(second % 2)];
                b.rotdiff(exponents, a).unwrap()
            })
            .into_iter()
            .collect(),
        Op::Decomp => {
            // Digits are taken of residues modulo 2^64 or a prime.
            let digits = find(first, &|ty| {
                whole(ty) && (is_prime(ty.modulus) || value(ty.modulus) >> 64 == 1)
            });
            let to = ModulusId(second % PRIMES);
            let levels = 1 + usize::from(second % 3);
            digits.map_or(vec![], |a| b.decomp(a, 7, levels, to).unwrap())
        }
        Op::Extract => {
            if let Some(a) = find(first, &whole) {
                let masks = vec![a; 1 + usize::from(second % 2)];
                others.vectors.push(b.extract(&masks, a).unwrap());
            }
            vec![]
        }
        Op::Lweks => {
            let switched = b.lweks(others.vectors[0], others.table, 4).unwrap();
            others.vectors.push(switched);
            vec![]
        }
        Op::Add => vec![b.add(any, like_any).unwrap()],
        Op::Sub => vec![b.sub(any, like_any).unwrap()],
        Op::Neg => vec![b.neg(any).unwrap()],
        Op::Muli => vec![b.muli(any, residue).unwrap()],
        Op::Addi => vec![b.addi(any, residue).unwrap()],
        Op::Mul => eval.map(|a| b.mul(a, a).unwrap()).into_iter().collect(),
        Op::Mac => eval.map(|a| b.mac(a, a, a).unwrap()).into_iter().collect(),
        Op::Dot => {
            let pairs = |a| vec![(a, a); usize::from(second % 3) + 1];
            eval.map(|a| b.dot(&pairs(a)).unwrap())
                .into_iter()
                .collect()
        }
        Op::Ntt => rooted.map(|a| b.ntt(a).unwrap()).into_iter().collect(),
        Op::Intt => eval.map(|a| b.intt(a).unwrap()).into_iter().collect(),
        Op::Auto => find(first, &|ty| ty.ring == full)
            .map(|a| b.auto(a, Galois(galois)).unwrap())
            .into_iter()
            .collect(),
        Op::Autoh => match with(plus, Form::Eval).and_then(|p| Some((p, partner(p, minus)?))) {
            Some((p, m)) => <[_; 2]>::from(b.autoh(p, m, Galois(galois)).unwrap()).to_vec(),
            None => vec![],
        },
        Op::Conv => coeff
            .map(|a| b.conv(a, target(b.ty(a).unwrap().ring, second)).unwrap())
            .into_iter()
            .collect(),
        op @ (Op::Bext | Op::Bextx) => {
            let base = base(1 + usize::from(second % 4));
            let x: Vec<ValueId> = base.iter().map(|(v, _)| *v).collect();
            let which = [Representative::NonNegative, Representative::Centred];
            match base.first() {
                Some((_, ty)) if op == Op::Bext => b.bext(&x, &targets(ty.ring)).unwrap(),
                Some((_, ty)) => {
                    let which = which[usize::from(number.is_multiple_of(2))];
                    b.bextx(&x, &targets(ty.ring), which).unwrap()
                }
                None => vec![],
            }
        }
        Op::Bextr => {
            let base = base(2 + usize::from(second % 3));
            let x: Vec<ValueId> = base.iter().skip(1).map(|(v, _)| *v).collect();
            match base.first() {
                Some(&(r, ty)) if !x.is_empty() && value(ty.modulus) > x.len() as u128 => {
                    b.bextr(&x, r, &targets(ty.ring)).unwrap()
                }
                _ => vec![],
            }
        }
        Op::Split => match with(full, Form::Coeff) {
            Some(a) => <[_; 2]>::from(b.split(a).unwrap()).to_vec(),
            None => vec![],
        },
        Op::Join => match with(plus, Form::Coeff).and_then(|p| Some((p, partner(p, minus)?))) {
            Some((p, m)) => vec![b.join(p, m).unwrap()],
            None => vec![],
        },
        Op::Prng => {
            let ty = limb_type(first);
            let ty = LimbType {
                form: Form::Eval,
                modulus: ModulusId(ty.modulus.0 % PRIMES),
                ..ty
            };
            vec![
                b.prng(ty, seeds[usize::from(second) % seeds.len()], number)
                    .unwrap(),
            ]
        }
        Op::Store => {
            b.store(any, u32::from(second)).unwrap();
            slots.retain(|&(slot, _)| slot != u32::from(second));
            slots.push((u32::from(second), any_ty));
            vec![]
        }
        Op::Load => match slots.get(usize::from(second) % slots.len().max(1)) {
            Some(&(slot, ty)) => vec![b.load(ty, slot).unwrap()],
            None => vec![],
        },
        // HCF stands in programs alone.
        Op::Hcf => vec![],
    };
    values.extend(made);
}

/// Grows a program, to which each choice adds a call. Arguments are existing limbs or new inputs.
pub fn program(procs: Vec<Procedure>, calls: &[Choice]) -> Unrolled {
    let mut program = Unrolled {
        procs: procs.into_iter().map(Arc::new).collect(),
        seeds: vec![9, 4, 0],
        ..Unrolled::empty(LOG_N, moduli().to_vec())
    };
    let file: Arc<str> = "model \"a\".py".into();
    for &(pick, first, fresh, line) in calls {
        let proc = usize::from(pick) % program.procs.len();
        let p = Arc::clone(&program.procs[proc]);
        let mut args = Vec::new();
        for param in &p.params {
            let ty = p.types[param.value.0 as usize];
            let known =
                (0..program.limbs.len()).map(|i| (i + usize::from(first)) % program.limbs.len());
            let known = known
                .clone()
                .find(|&i| fresh.is_multiple_of(2) && program.limbs[i] == ty);
            args.push(match known {
                Some(i) => LimbId(i as u64),
                None => input(&mut program, ty, param.role),
            });
        }
        let results = p.results.iter().map(|r| {
            program.limbs.push(p.types[r.value.0 as usize]);
            LimbId(program.limbs.len() as u64 - 1)
        });
        let results = results.collect();
        let seeds = p.seeds.iter().map(|&arg| u32::from(arg) % 3).collect();
        let loc = (!line.is_multiple_of(3)).then(|| SourceLoc {
            file: file.clone(),
            line: line as u32,
        });
        program.calls.push(Call {
            proc: proc as u32,
            args,
            seeds,
            results,
            loc,
        });
    }
    for (n, limb) in (0..).zip(
        program
            .calls
            .last()
            .map(|c| c.results.clone())
            .unwrap_or_default(),
    ) {
        program.outputs.push(Output {
            limb,
            name: format!("y{n}"),
            output: n,
            poly: Poly(1),
        });
    }
    program
}

fn input(program: &mut Unrolled, ty: ValueType, role: ParamRole) -> LimbId {
    let limb = LimbId(program.limbs.len() as u64);
    program.limbs.push(ty);
    let number = program.inputs.len() as u32;
    let role = match role {
        ParamRole::Cipher { poly, .. } => InputRole::Cipher {
            input: number,
            poly,
        },
        ParamRole::Plain { .. } => InputRole::Plain { input: number },
        ParamRole::Key { digit, part, .. } => InputRole::Key {
            key: number,
            digit,
            part,
        },
        ParamRole::Exponent { index, .. } => InputRole::Exponent {
            input: number,
            index: index.into(),
        },
    };
    program.inputs.push(Input {
        limb,
        name: format!("x{number}"),
        role,
    });
    limb
}

prop_compose! {
    pub fn any_procedure()(params in 0u16..6, steps in choices(40)) -> Procedure {
        procedure("a.b-c_1", params, &steps)
    }
}

prop_compose! {
    pub fn any_unrolled()(
        procs in prop::collection::vec((0u16..4, choices(12)), 1..4),
        calls in choices(6),
    ) -> Unrolled {
        let named = |(n, (params, steps)): (usize, (u16, Vec<Choice>))| procedure(&format!("p{n}"), params, &steps);
        program(procs.into_iter().enumerate().map(named).collect(), &calls)
    }
}
