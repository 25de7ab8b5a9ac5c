// SPDX-License-Identifier: Apache-2.0
//! Tests exact base extensions at their edges against whole integers: in the interpreter and on the CPU with one thread
//! and two, as instructions and as expansions into plain instructions.

use std::sync::Arc;

use crate::common::random::Dice;
use num_bigint::BigInt;
use ringmill_cpu::Cpu;
use ringmill_device::interpret;
use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Limb};
use ringmill_isa::Poly;
use ringmill_isa::mid::*;
use ringmill_math::{Ring, primes};

const LOG_N: u8 = 10;

/// A base extension: its source moduli, a redundant modulus and its target moduli, as indices into a table of moduli.
struct Shape {
    table: Vec<TableModulus>,
    sources: Vec<u16>,
    redundant: u16,
    targets: Vec<u16>,
}

impl Shape {
    fn new(sources: &[TableModulus], redundant: TableModulus, targets: &[TableModulus]) -> Self {
        let mut table: Vec<TableModulus> = Vec::new();
        let mut place = |m: &TableModulus| {
            let at = table.iter().position(|q| q == m).unwrap_or_else(|| {
                table.push(*m);
                table.len() - 1
            });
            at as u16
        };
        let sources = sources.iter().map(&mut place).collect();
        let redundant = place(&redundant);
        let targets = targets.iter().map(&mut place).collect();
        Self {
            table,
            sources,
            redundant,
            targets,
        }
    }

    /// Makes the extension from l primes of `bits` bits to the first k of eight target moduli of every kind.
    fn of_primes(l: usize, k: usize, bits: u32, redundant: TableModulus) -> Self {
        let list = primes::ntt_primes(bits, LOG_N.into(), l + 2).unwrap();
        let list = TableModulus::primes(&list);
        let kinds = [
            list[l],
            TableModulus::PowerOfTwo(64),
            TableModulus::Plain(65_537),
            list[0],
            TableModulus::PowerOfTwo(61),
            TableModulus::Plain((1 << 61) - 2),
            TableModulus::PowerOfTwo(1),
            TableModulus::Plain(3),
        ];
        Self::new(&list[..l], redundant, &kinds[..k])
    }

    fn value(&self, at: u16) -> BigInt {
        self.table[usize::from(at)].value().into()
    }

    fn product(&self) -> BigInt {
        self.sources.iter().map(|&s| self.value(s)).product()
    }

    /// Returns a procedure with four extensions of x: that of the nonnegative and that of the centred integer, then two
    /// by redundant residues, first of the nonnegative and then of the centred integer.
    fn procedure(&self) -> Procedure {
        let mut b = ProcBuilder::new("exact", LOG_N, &self.table).unwrap();
        let param = |b: &mut ProcBuilder, modulus: u16, poly: u16| {
            let ty = LimbType {
                ring: Ring::full(LOG_N),
                modulus: ModulusId(modulus),
                form: Form::Coeff,
            };
            b.param(
                "x",
                ty,
                ParamRole::Cipher {
                    arg: 0,
                    poly: Poly(poly),
                },
            )
            .unwrap()
        };
        let sources = self.sources.iter().map(|&s| param(&mut b, s, 0));
        let x: Vec<ValueId> = sources.collect();
        let r = [1, 2].map(|poly| param(&mut b, self.redundant, poly));
        let to: Vec<ModulusId> = self.targets.iter().copied().map(ModulusId).collect();
        let results = [
            b.bextx(&x, &to, Representative::NonNegative).unwrap(),
            b.bextx(&x, &to, Representative::Centred).unwrap(),
            b.bextr(&x, r[0], &to).unwrap(),
            b.bextr(&x, r[1], &to).unwrap(),
        ];
        for (index, limbs) in (0..).zip(results) {
            for v in limbs {
                b.result(v, "y", index, Poly(0)).unwrap();
            }
        }
        b.finish().unwrap()
    }

    /// Returns N integers below Q. First come neighbours, at distances up to the number of sources, of 0, Q / 2,
    /// multiples of Q / 2^k and the first eight source moduli. Random integers follow.
    fn coefficients(&self, dice: &mut Dice) -> Vec<BigInt> {
        let (q, l) = (self.product(), self.sources.len());
        let n = 1usize << LOG_N;
        let mut centres = vec![BigInt::from(0), &q / 2];
        for k in (1..=10).chain([48, 49, 50, 51, 52, 60]) {
            centres.extend([1, 3].map(|m| (&q * m) >> k));
        }
        centres.extend(self.sources.iter().take(8).map(|&s| self.value(s)));
        let steps = if l <= 8 {
            (0..=l).collect()
        } else {
            vec![0, 1, 2, l]
        };
        let mut list: Vec<BigInt> = Vec::new();
        for centre in centres {
            for &step in &steps {
                list.push((&centre + step) % &q);
                list.push((&centre - step + &q) % &q);
            }
        }
        assert!(list.len() <= n, "{}", list.len());
        while list.len() < n {
            let words = dice.residues(TableModulus::PowerOfTwo(64), l + 1);
            let random = words.iter().fold(BigInt::from(0), |x, &w| (x << 64) + w);
            list.push(random % &q);
        }
        list
    }

    fn check(&self, coefficients: &[BigInt]) {
        let q = self.product();
        let centred = |x: &BigInt| if x * 2 > q { x - &q } else { x.clone() };
        let limb = |m: u16, of: &dyn Fn(&BigInt) -> BigInt| -> Vec<u64> {
            let m = self.value(m);
            let residue = |x: &BigInt| u64::try_from(((of(x) % &m) + &m) % &m).unwrap();
            coefficients.iter().map(residue).collect()
        };
        let whole = |x: &BigInt| x.clone();
        let mut inputs: Vec<Vec<u64>> = self.sources.iter().map(|&s| limb(s, &whole)).collect();
        inputs.extend([limb(self.redundant, &whole), limb(self.redundant, &centred)]);
        let of: [&dyn Fn(&BigInt) -> BigInt; 4] = [&whole, &centred, &whole, &centred];
        let expected: Vec<Vec<u64>> = of
            .iter()
            .flat_map(|of| self.targets.iter().map(|&t| limb(t, of)))
            .collect();

        let what = format!("{:?} to {:?}", self.sources, self.targets);
        let procedure = self.procedure();
        let expanded = expand_composites(&procedure, |_| false).unwrap();
        assert!(expanded.instrs.iter().all(|i| !i.op.is_composite()));
        let args: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
        for procedure in [procedure, expanded] {
            let interpreted = interpret::run(&procedure, &args, &[]).unwrap();
            assert!(interpreted == expected, "{what} interpreted");
            let program = Program::calling(Arc::new(procedure), Vec::new());
            let program = Verified::new(program).unwrap();
            for threads in [1, 2] {
                let cpu = Cpu::new(threads).unwrap();
                let limbs = program.inputs.iter().zip(&inputs).map(|(input, limb)| {
                    let ty = input.ty.limb().unwrap();
                    Limb::borrowed(limb, program.moduli[usize::from(ty.modulus.0)]).unwrap()
                });
                let bindings = Bindings {
                    limbs: limbs.collect(),
                    seeds: vec![],
                };
                let (outputs, _) = cpu.execute(&program, &bindings, &Silent, None).unwrap();
                let same = outputs.iter().zip(&expected).all(|(a, b)| a == b);
                assert!(same && outputs.len() == expected.len(), "{what}, {threads}");
            }
        }
    }
}

#[test]
fn every_edge_of_bases_of_primes() {
    let mut dice = Dice::new(1);
    let redundant = [TableModulus::Plain(67), TableModulus::PowerOfTwo(8)];
    for (i, l) in (1..=8).enumerate() {
        let bits = [30, 36, 45, 52, 53, 59, 60, 61][i];
        let shape = Shape::of_primes(l, 8 - i, bits, redundant[i % 2]);
        let coefficients = shape.coefficients(&mut dice);
        shape.check(&coefficients);
    }
    for (k, bits) in (1..=8).zip([61, 60, 59, 53, 52, 45, 36, 30]) {
        let shape = Shape::of_primes(4, k, bits, redundant[k % 2]);
        let coefficients = shape.coefficients(&mut dice);
        shape.check(&coefficients);
    }
}

#[test]
fn sixty_four_moduli() {
    let mut dice = Dice::new(2);
    for (k, bits) in [(3, 61), (8, 30), (2, 54)] {
        let shape = Shape::of_primes(64, k, bits, TableModulus::Plain(67));
        let coefficients = shape.coefficients(&mut dice);
        shape.check(&coefficients);
    }
}

/// Sources and redundant moduli of every kind extend exactly, also if Q is even and Q / 2 is a tie.
#[test]
fn bases_of_every_kind() {
    let mut dice = Dice::new(3);
    let prime = TableModulus::Prime(primes::ntt_primes(60, LOG_N.into(), 1).unwrap()[0]);
    let sources = [
        TableModulus::PowerOfTwo(60),
        TableModulus::Plain(25),
        prime,
        TableModulus::Plain(3),
        TableModulus::Plain((1 << 61) - 1),
    ];
    let targets = [
        TableModulus::PowerOfTwo(64),
        TableModulus::Plain(25),
        TableModulus::PowerOfTwo(63),
        TableModulus::Plain(30),
    ];
    let shape = Shape::new(&sources, TableModulus::Plain(7), &targets);
    let coefficients = shape.coefficients(&mut dice);
    shape.check(&coefficients);
    // All integers of [0, Q), each several times.
    let sources = [
        TableModulus::Plain(16),
        TableModulus::Plain(3),
        TableModulus::Plain(7),
    ];
    let shape = Shape::new(&sources, TableModulus::Plain(5), &targets);
    let all = (0..1 << LOG_N).map(|x| BigInt::from(x % 336));
    shape.check(&all.collect::<Vec<_>>());
    // A single source modulus, and among these the smallest.
    for only in [TableModulus::PowerOfTwo(1), prime, TableModulus::Plain(3)] {
        let shape = Shape::new(&[only], TableModulus::Plain(11), &targets);
        let q = shape.product();
        let all = (0..1 << LOG_N).map(|x| BigInt::from(x) % &q);
        shape.check(&all.collect::<Vec<_>>());
    }
}
