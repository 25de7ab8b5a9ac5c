// SPDX-License-Identifier: Apache-2.0
//! Tests the instructions of the torus extension, in the interpreter and on the CPU, against their definitions in
//! 128-bit integers.

use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_device::interpret;
use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Limb};
use ringmill_isa::Poly;
use ringmill_isa::mid::{
    Form, LimbType, LweDimension, LweTableType, LweType, ModulusId, ParamRole, ProcBuilder,
    Procedure, Program, TableModulus, ValueId, ValueType, Verified,
};
use ringmill_math::{Prng, Ring, primes};

const LOG_N: u8 = 5;
const N: usize = 1 << LOG_N;
/// The number of moduli in the table: primes of 40 and 30 bits, 2^32, 2^64 and a plain modulus.
const MODULI: usize = 5;

fn moduli() -> Vec<TableModulus> {
    let prime = |bits| primes::ntt_primes(bits, LOG_N.into(), 1).unwrap()[0];
    vec![
        TableModulus::Prime(prime(40)),
        TableModulus::Prime(prime(30)),
        TableModulus::PowerOfTwo(32),
        TableModulus::PowerOfTwo(64),
        TableModulus::Plain(1_000_003),
    ]
}

struct Dice(Prng);

impl Dice {
    /// Returns `len` random residues, one in five of them an edge: 0, 1, q - 1 or next to q / 2.
    fn residues(&mut self, q: TableModulus, len: usize) -> Vec<u64> {
        let top = q.top();
        let edges = [0, 1, top, top / 2, top / 2 + 1];
        let any = |prng: &mut Prng| match prng.next_u64() % 5 {
            0 => edges[prng.next_u64() as usize % edges.len()],
            _ => (u128::from(prng.next_u64()) % q.value()) as u64,
        };
        (0..len).map(|_| any(&mut self.0)).collect()
    }
}

fn reduced(x: i128, q: TableModulus) -> u64 {
    x.rem_euclid(q.value() as i128) as u64
}

/// Returns the integer in [-q/2, q/2) that is congruent to x.
fn centred(x: u64, q: TableModulus) -> i128 {
    let (x, q) = (i128::from(x), q.value() as i128);
    if 2 * x >= q { x - q } else { x }
}

/// Returns (x^e - 1) a modulo x^N + 1.
fn rotdiff(a: &[u64], e: usize, q: TableModulus) -> Vec<u64> {
    let mut out: Vec<i128> = a.iter().map(|&x| -i128::from(x)).collect();
    for (i, &x) in a.iter().enumerate() {
        let at = (i + e) % (2 * N);
        out[at % N] += if at < N {
            i128::from(x)
        } else {
            -i128::from(x)
        };
    }
    out.into_iter().map(|x| reduced(x, q)).collect()
}

/// Returns the signed digits of x, the most significant first. They are computed from the lowest on, each in [-base/2,
/// base/2), with the carry added to the next digit.
fn digits(x: u64, q: TableModulus, log_base: u32, levels: usize) -> Vec<i128> {
    let bits = 128 - (q.value() - 1).leading_zeros();
    let place = 1i128 << (bits - levels as u32 * log_base);
    let mut rest = (2 * centred(x, q) + place).div_euclid(2 * place);
    let base = 1i128 << log_base;
    let mut low_first: Vec<i128> = (0..levels)
        .map(|_| {
            let digit = (rest + base / 2).rem_euclid(base) - base / 2;
            rest = (rest - digit) / base;
            digit
        })
        .collect();
    // The carry out of the first digit is a multiple of q modulo a power of two, and is dropped. Modulo a prime nothing
    // wraps, and it stays in the first digit.
    if matches!(q, TableModulus::Prime(_)) {
        *low_first.last_mut().unwrap() += rest * base;
    }
    low_first.reverse();
    low_first
}

fn limb(modulus: usize, form: Form) -> ValueType {
    ValueType::Limb(LimbType {
        ring: Ring::full(LOG_N),
        modulus: ModulusId(modulus as u16),
        form,
    })
}

fn vector(dimension: usize, modulus: usize) -> LweType {
    LweType {
        dimension: LweDimension(dimension as u32),
        modulus: ModulusId(modulus as u16),
    }
}

/// Returns a procedure with these parameters whose results are the values that `code` returns.
fn procedure(
    params: &[ValueType],
    code: impl Fn(&mut ProcBuilder, &[ValueId]) -> Vec<ValueId>,
) -> Procedure {
    let mut b = ProcBuilder::new("p", LOG_N, &moduli()).unwrap();
    let params = params.iter().enumerate().map(|(n, &ty)| {
        let role = ParamRole::Plain { arg: n as u16 };
        b.param(format!("x{n}"), ty, role).unwrap()
    });
    let params: Vec<_> = params.collect();
    for (n, v) in code(&mut b, &params).into_iter().enumerate() {
        b.result(v, format!("y{n}"), n as u16, Poly(0)).unwrap();
    }
    b.finish().unwrap()
}

/// Checks that the interpreter, and the CPU with and without fusion, compute the expected results from `args`.
fn check(procedure: Procedure, args: &[Vec<u64>], expected: &[Vec<u64>]) {
    let given: Vec<&[u64]> = args.iter().map(Vec::as_slice).collect();
    let seeds: &[[u8; 32]] = &[];
    let interpreted = interpret::run(&procedure, &given, seeds).unwrap();
    assert_eq!(interpreted, expected, "{procedure:?}");
    let table = procedure.moduli.clone();
    let types: Vec<_> = procedure.param_types().collect();
    let program = Program::calling(Arc::new(procedure), Vec::new());
    let program = Verified::new(program).unwrap();
    let limbs = given.iter().zip(types).map(|(&x, ty)| {
        let exponents = TableModulus::PowerOfTwo(LOG_N + 1);
        let q = ty
            .modulus()
            .map_or(exponents, |id| table[usize::from(id.0)]);
        Limb::borrowed(x, q).unwrap()
    });
    let bindings = Bindings {
        limbs: limbs.collect(),
        seeds: Vec::new(),
    };
    let cpu = || Cpu::new(1).unwrap();
    for cpu in [cpu(), cpu().without_fusion()] {
        let (out, _) = cpu.execute(&program, &bindings, &Silent, None).unwrap();
        let out: Vec<Vec<u64>> = out.iter().map(|limb| limb.wide().into_owned()).collect();
        assert_eq!(out, expected);
    }
}

fn dice() -> Dice {
    Dice(Prng::from_seed_for_reproducible_tests_only([21; 32]))
}

#[test]
fn rotations() {
    let mut dice = dice();
    for modulus in 0..MODULI {
        let q = moduli()[modulus];
        let a = dice.residues(q, N);
        for exponents in [
            vec![0],
            vec![1],
            vec![2 * N - 1],
            vec![N],
            vec![7, N + 3, 2 * N - 1],
        ] {
            let sum = exponents.iter().sum::<usize>() % (2 * N);
            let expected = rotdiff(&a, sum, q);
            let mut params = vec![ValueType::Exponent; exponents.len()];
            params.push(limb(modulus, Form::Coeff));
            let mut args: Vec<Vec<u64>> = exponents.iter().map(|&e| vec![e as u64]).collect();
            args.push(a.clone());
            let plain = procedure(&params, |b, p| {
                let (a, e) = p.split_last().unwrap();
                vec![b.rotdiff(e, *a).unwrap()]
            });
            check(plain, &args, std::slice::from_ref(&expected));
            if q.prime().is_none() {
                continue;
            }
            let there_and_back = procedure(&params, |b, p| {
                let (a, e) = p.split_last().unwrap();
                let a = b.ntt(*a).unwrap();
                let turned = b.rotdiff(e, a).unwrap();
                vec![b.intt(turned).unwrap()]
            });
            check(there_and_back, &args, &[expected]);
        }
    }
}

#[test]
fn digits_of_polynomials() {
    let mut dice = dice();
    for modulus in [0, 1, 2, 3] {
        let q = moduli()[modulus];
        for (log_base, levels) in [(7, 3), (1, 9), (10, 1), (3, 8), (15, 2)] {
            for to in [0, 1, 4] {
                let a = dice.residues(q, N);
                let p = procedure(&[limb(modulus, Form::Coeff)], |b, x| {
                    let to = ModulusId(to as u16);
                    b.decomp(x[0], log_base, levels, to).unwrap()
                });
                let all: Vec<_> = (a.iter())
                    .map(|&x| digits(x, q, log_base.into(), levels))
                    .collect();
                let expected: Vec<Vec<u64>> = (0..levels)
                    .map(|j| all.iter().map(|d| reduced(d[j], moduli()[to])).collect())
                    .collect();
                check(p, &[a], &expected);
            }
        }
    }
}

#[test]
fn extracted_and_switched() {
    let mut dice = dice();
    for modulus in [0, 1, 2, 3] {
        let q = moduli()[modulus];
        for (log_base, levels, masks) in [(4, 3, 1), (1, 8, 2), (14, 2, 1)] {
            let width = 7;
            let polys: Vec<Vec<u64>> = (0..=masks).map(|_| dice.residues(q, N)).collect();
            let dimension = masks * N;
            let rows = dice.residues(q, dimension * levels * (width + 1));
            let key = ValueType::LweTable(LweTableType {
                row: vector(width, modulus),
                rows: (dimension * levels) as u32,
            });
            let mut params = vec![limb(modulus, Form::Coeff); masks + 1];
            params.push(key);
            let p = procedure(&params, |b, p| {
                let x = b.extract(&p[..masks], p[masks]).unwrap();
                let y = b.lweks(x, p[masks + 1], log_base).unwrap();
                let twice = b.add(y, y).unwrap();
                let negative = b.neg(twice).unwrap();
                vec![x, y, b.muli(negative, 5).unwrap()]
            });
            let mut x: Vec<u64> = Vec::new();
            for mask in &polys[..masks] {
                x.push(mask[0]);
                let tail = mask[1..].iter().rev();
                x.extend(tail.map(|&c| reduced(-i128::from(c), q)));
            }
            let mut y = vec![0i128; width + 1];
            y[width] = polys[masks][0].into();
            for (i, &c) in x.iter().enumerate() {
                for (j, d) in digits(c, q, log_base.into(), levels)
                    .into_iter()
                    .enumerate()
                {
                    let row = &rows[(i * levels + j) * (width + 1)..][..width + 1];
                    for (y, &k) in y.iter_mut().zip(row) {
                        *y = (*y - d * i128::from(k)).rem_euclid(q.value() as i128);
                    }
                }
            }
            x.push(polys[masks][0]);
            let y: Vec<u64> = y.into_iter().map(|y| reduced(y, q)).collect();
            let z = y.iter().map(|&y| reduced(-10 * i128::from(y), q)).collect();
            let mut args = polys;
            args.push(rows);
            check(p, &args, &[x, y, z]);
        }
    }
}
