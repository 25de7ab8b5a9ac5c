// SPDX-License-Identifier: Apache-2.0
//! Tests of the transform unit against the passes of the correctness simulator, for every instruction, ring degree and
//! shortcut, with a modulus of its own for each item. The twiddle factory and its seeds are compared with powers of
//! roots.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Hdl, HdlError, Top};
use ringmill_isa::vector::{MicroOp, Shape};
use ringmill_machines::vector::Passes;
use ringmill_machines::vector::layout::Layout;
use ringmill_math::modmul::MontgomeryFriendly32;
use ringmill_math::{Modulus, NttPlan, Ring};

use crate::common::failure::{Check, ensure};
use crate::common::setup::{hdl, seed};
use crate::vector::arith::{MUL, residue, side};
use crate::vector::ranks::{Item, Of, Parts, Ranks, Side};

/// The stages of a butterfly, `butterfly_stages` of `rm_vector_pkg`.
const BUTTERFLY: usize = MUL + 1;

fn stages(log_radix: usize) -> usize {
    2 * MUL + log_radix * BUTTERFLY
}

/// The inputs of a unit for a line. Factors are in Montgomery form, times R.
struct Factors {
    before: Vec<u64>,
    within: Vec<u64>,
    behind: Vec<u64>,
    half: u64,
    skip: usize,
}

/// A modulus and a ring degree, with what computes the passes.
struct Field {
    q: Modulus,
    multiplier: MontgomeryFriendly32,
    passes: Passes,
    shape: Shape,
    psi: u64,
}

impl Field {
    fn new(q: u64, log_radix: u8, log_n: u8) -> Self {
        let q = Modulus::new(q).expect("prime");
        let shape = Shape {
            log_n,
            log_radix,
            log_lanes: log_radix,
            chunks: 0,
            registers: 4,
            distant: 0,
        };
        let plan = NttPlan::shared(q, Ring::full(log_n)).expect("1 modulo 2 N");
        Self {
            q,
            multiplier: MontgomeryFriendly32::new(q).expect("1 modulo 2^17"),
            passes: Passes::new(q, shape).expect("1 modulo 2 N"),
            shape,
            psi: plan.psi(),
        }
    }

    /// Computes psi^e times R mod q for a primitive 2 N-th root psi of unity and any e.
    fn form(&self, e: i64) -> u64 {
        let order = 2i64 << self.shape.log_n;
        let e = e.rem_euclid(order) as u64;
        self.multiplier.to_form(self.q.pow(self.psi, e))
    }

    /// Returns the factors of an instruction for a line, or for as many shorter lines as fit. `line` is the number of
    /// the column or row.
    fn factors(&self, op: MicroOp, line: i64) -> Factors {
        let (rows, columns) = (
            1i64 << self.shape.log_radix,
            1i64 << self.shape.log_columns(),
        );
        let (length, root, half) = match op {
            MicroOp::Ntt1 => (rows, 2 * columns, 0),
            MicroOp::Ntt2 => (columns, 2 * rows, 0),
            MicroOp::Intt1 => (columns, -2 * rows, 1),
            _ => (rows, -2 * columns, 1),
        };
        let skip = (rows / length).ilog2() as usize;
        // The factors of positions i = 1 and up: psi^(`step` i), where i counts within a line of `length`.
        let each = |step: i64| (1..rows).map(|i| self.form(i % length * step)).collect();
        let (before, behind) = match op {
            MicroOp::Ntt1 => (each(columns), each(2 * line)),
            MicroOp::Ntt2 => (each(1), each(0)),
            MicroOp::Intt1 => (each(0), each(-2 * line - 1)),
            _ => (each(0), each(-columns)),
        };
        let ranks = 0..usize::from(self.shape.log_radix);
        let within = ranks.flat_map(|rank| {
            let factors = (rows >> (rank + 1)) - 1;
            let step = match rank < skip {
                true => 0,
                false => root << (rank - skip),
            };
            (1..=factors).map(move |j| self.form(j * step))
        });
        Factors {
            within: within.collect(),
            before,
            behind,
            half,
            skip,
        }
    }

    /// Computes the simulator's pass of a line, or of as many lines of `length` as fit.
    fn passed(&self, op: MicroOp, column: usize, line: &[u64], length: usize) -> Vec<u64> {
        let mut line = line.to_vec();
        for part in line.chunks_mut(length) {
            self.passes.line(op, column, part).expect("prime");
        }
        line
    }
}

/// Returns three primes that are 1 modulo 2^17.
fn primes() -> Vec<u64> {
    let of = |bits, count| ringmill_math::primes::ntt_primes(bits, 16, count);
    [of(32, 2), of(28, 1)]
        .into_iter()
        .flat_map(|found| found.expect("there are such primes"))
        .collect()
}

/// Builds the unit, and says for each input which rank reads it.
fn unit(hdl: &Hdl, log_radix: u8) -> Result<Ranks, HdlError> {
    let radix = 1usize << log_radix;
    let ranks = usize::from(log_radix);
    let top = Top::new("rm_vector_ntt").int("LogRadix", log_radix.into());
    let model = hdl.model(&top, BuildOptions::default())?;
    let behind = MUL + ranks * BUTTERFLY;
    let words = |name, count, of| Side {
        count,
        ..side(name, of)
    };
    let control = |name, width, at| Side {
        name,
        width,
        count: 1,
        of: Of::Parts(at),
    };
    let firsts: Vec<usize> = (0..ranks).map(|s| MUL + s * BUTTERFLY).collect();
    let seconds: Vec<usize> = firsts.iter().map(|first| first + 1).collect();
    let with_order: Vec<usize> = firsts.iter().copied().chain([behind]).collect();
    let within = Parts::of(&seconds, |s| (radix >> (s + 1)) - 1);
    let skip_width = u32::from(log_radix).ilog2() + 1;
    let sides = [
        side("q_i", Of::Every),
        words("before_i", radix - 1, Of::Rank(0)),
        words("behind_i", radix - 1, Of::Rank(behind)),
        words("line_i", radix, Of::Rank(0)),
        control("half_i", 1, Parts::of(&firsts, |_| 1)),
        control("skip_i", skip_width, Parts::of(&with_order, |_| 1)),
        control("within_i", 32, within),
    ];
    Ranks::new(model, stages(ranks), &sides, &[("line_o", 32)])
}

/// Returns an instruction's item for a line, or for as many shorter lines as fit, with the result of the simulator's
/// pass.
fn item(of: &Field, op: MicroOp, column: usize, line: Vec<u64>) -> Item {
    let factors = of.factors(op, column as i64);
    let turned = of.passed(op, column, &line, line.len() >> factors.skip);
    let ranks = usize::from(of.shape.log_radix);
    Item {
        sides: vec![
            vec![of.q.value()],
            factors.before,
            factors.behind,
            line,
            vec![factors.half; ranks],
            vec![factors.skip as u64; ranks + 1],
            factors.within,
        ],
        outputs: vec![turned],
    }
}

/// Checks `lines` random lines of the four instructions, of ring degrees 2^`rings`, in random order.
fn check_unit(hdl: &Hdl, log_radix: u8, rings: &[u8], lines: usize, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let mut unit = unit(hdl, log_radix)?;
    let of: Vec<Field> = rings
        .iter()
        .flat_map(|&log_n| {
            primes()
                .into_iter()
                .map(move |q| Field::new(q, log_radix, log_n))
        })
        .collect();
    let ops = [MicroOp::Ntt1, MicroOp::Ntt2, MicroOp::Intt1, MicroOp::Intt2];
    let items: Vec<Item> = (0..lines)
        .map(|_| {
            let of = &of[dice.below(of.len() as u64) as usize];
            let op = ops[dice.below(4) as usize];
            let column = dice.below(1 << of.shape.log_columns()) as usize;
            let q = of.q.value();
            let line = (0..1 << log_radix).map(|_| residue(q, &mut dice)).collect();
            item(of, op, column, line)
        })
        .collect();
    unit.run(&items, &mut dice)
}

/// Checks the unit of radix 4 with both of its ring degrees.
pub fn check_radix_four(hdl: &Hdl, seed: u64) -> Check {
    check_unit(hdl, 2, &[3, 4], 200, seed)
}

/// Checks the unit of radix 16 with every ring degree that it takes, and so with every shortcut.
pub fn check_radix_sixteen(hdl: &Hdl, seed: u64) -> Check {
    check_unit(hdl, 4, &[5, 6, 7, 8], 160, seed)
}

#[test]
fn transform_unit_of_radix_four() {
    check_radix_four(hdl(), seed()).unwrap();
}

#[test]
#[ignore = "a larger unit; `make full` runs it"]
fn transform_unit_of_radix_sixteen() {
    check_radix_sixteen(hdl(), seed()).unwrap();
}

/// Checks the twiddle factory with powers of random residues.
pub fn check_factory(hdl: &Hdl, log_radix: usize, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let radix = 1u64 << log_radix;
    let top = Top::new("rm_vector_factory").int("LogRadix", log_radix as u64);
    let model = hdl.model(&top, BuildOptions::default())?;
    let sides = [side("q_i", Of::Every), side("seed_i", Of::Rank(0))];
    let mut factory = Ranks::new(model, MUL * log_radix, &sides, &[("power_o", 32)])?;
    let items: Vec<Item> = (0..100)
        .map(|_| {
            let primes = primes();
            let q = Modulus::new(primes[dice.below(3) as usize]).expect("prime");
            let of = MontgomeryFriendly32::new(q).expect("1 modulo 2^17");
            let w = residue(q.value(), &mut dice);
            let powers = (1..radix).map(|e| of.to_form(q.pow(w, e))).collect();
            Item {
                sides: vec![vec![q.value()], vec![of.to_form(w)]],
                outputs: vec![powers],
            }
        })
        .collect();
    factory.run(&items, &mut dice)
}

pub fn check_seeds(hdl: &Hdl, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let model = hdl.model(
        &Top::new("rm_vector_seed").int("LogHigh", 3),
        BuildOptions::default(),
    )?;
    let number = |name, width| Side {
        width,
        ..side(name, Of::Rank(0))
    };
    let every = Side {
        of: Of::Parts(Parts::of(&[1, 2, 3, 4], |_| 1)),
        ..side("q_i", Of::Every)
    };
    let sides = [every, number("set_i", 2), number("column_i", 5)];
    let mut seeds = Ranks::new(model, 1 + MUL, &sides, &[("seed_o", 32)])?;
    let sets: Vec<(Field, i64)> = [(0, 2), (0, -2), (1, 2), (2, -2)]
        .into_iter()
        .map(|(prime, step)| (Field::new(primes()[prime], 5, 10), step))
        .collect();
    // The tables are written before the first item.
    seeds.model.restart(1)?;
    let names = [
        "load_i",
        "load_high_i",
        "load_set_i",
        "load_index_i",
        "load_word_i",
    ];
    let [load, high, set, index, word] = names.map(|name| seeds.model.input(name));
    let [load, high, set, index, word] = [load?, high?, set?, index?, word?];
    for (number, (of, step)) in (0..).zip(&sets) {
        for (upper, count, each) in [(0, 4, *step), (1, 8, 4 * step)] {
            for at in 0..count {
                let values = [
                    (load, 1),
                    (high, upper),
                    (set, number),
                    (index, at),
                    (word, of.form(at as i64 * each)),
                ];
                for (port, value) in values {
                    seeds.model.set(port, value)?;
                }
                seeds.model.step(1)?;
            }
        }
    }
    seeds.model.set(load, 0)?;
    let items: Vec<Item> = (0..200)
        .map(|_| {
            let number = dice.below(4);
            let (of, step) = &sets[number as usize];
            let column = dice.below(32);
            Item {
                sides: vec![vec![of.q.value(); 4], vec![number], vec![column]],
                outputs: vec![vec![of.form(column as i64 * step)]],
            }
        })
        .collect();
    seeds.go(&items, &mut dice)
}

pub fn check_twiddles(hdl: &Hdl, seed: u64) -> Check {
    check_factory(hdl, 4, seed)?;
    check_seeds(hdl, seed)
}

#[test]
#[ignore = "two more models; `make full` runs it"]
fn twiddle_factory_and_seeds() {
    check_twiddles(hdl(), seed()).unwrap();
}

/// Unit and factory of the paper's radix 256 have as many multipliers as descriptions count.
#[test]
#[ignore = "elaborates a unit of radix 256; `make full` runs it"]
fn multipliers_of_the_paper() {
    let count = |top: &Top| hdl().instances(top).unwrap()["rm_vector_mul"];
    let unit = ringmill_machines::vector::unit_multipliers(8);
    let top = Top::new("rm_vector_ntt").int("LogRadix", 8);
    assert_eq!(count(&top), unit.iter().sum::<u64>());
    assert_eq!(
        (
            unit,
            count(&Top::new("rm_vector_factory").int("LogRadix", 8))
        ),
        ([769, 255, 255], 254)
    );
}

/// Small units and factories have as many multipliers as descriptions count.
#[test]
#[ignore = "elaborates more units; `make full` runs it"]
fn multipliers_of_small_units() {
    for log_radix in [2, 3] {
        let of = |module: &str| {
            let top = Top::new(module).int("LogRadix", log_radix.into());
            hdl().instances(&top).unwrap()["rm_vector_mul"]
        };
        let unit = ringmill_machines::vector::unit_multipliers(log_radix);
        assert_eq!(of("rm_vector_ntt"), unit.iter().sum::<u64>());
        assert_eq!(of("rm_vector_factory"), (1 << log_radix) - 2);
    }
}

/// Checks both passes of a forward transform of a square limb, whose values must be those of the CPU. Its columns go
/// through the unit one after another without a gap, then its rows with stalls.
fn check_whole(hdl: &Hdl, log_radix: u8, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let rows = 1usize << log_radix;
    let of = Field::new(primes()[0], log_radix, 2 * log_radix);
    let (q, ring) = (of.q.value(), Ring::full(2 * log_radix));
    let limb = dice.limb(rows * rows, q);
    let mut matrix = limb.clone();
    let mut items = Vec::new();
    for column in 0..rows {
        let line = (0..rows).map(|row| matrix[row * rows + column]).collect();
        items.push(item(&of, MicroOp::Ntt1, column, line));
        for (row, &word) in items[column].outputs[0].iter().enumerate() {
            matrix[row * rows + column] = word;
        }
    }
    for line in matrix.chunks_mut(rows) {
        let pass = item(&of, MicroOp::Ntt2, 0, line.to_vec());
        line.copy_from_slice(&pass.outputs[0]);
        items.push(pass);
    }
    let mut values = limb;
    NttPlan::shared(of.q, ring)
        .expect("1 modulo 2 N")
        .forward(&mut values)
        .expect("a limb of its length");
    let layout = Layout::new(of.shape);
    for (position, &value) in values.iter().enumerate() {
        let ours = matrix[layout.of_evaluation(position)];
        ensure!(ours == value, "position {position}: {ours}, not {value}");
    }
    let mut unit = unit(hdl, log_radix)?;
    let begin = std::time::Instant::now();
    unit.run(&items, &mut dice)?;
    println!(
        "{} points: {:?}, loading of factors included",
        rows * rows,
        begin.elapsed()
    );
    Ok(())
}

#[test]
fn whole_transform_at_small_size() {
    check_whole(hdl(), 2, seed()).unwrap();
}

/// A transform of 65536 points is right at radix 256.
#[test]
#[ignore = "builds a unit of radix 256; `make full` runs it"]
fn whole_transform_at_full_size() {
    check_whole(hdl(), 8, seed()).unwrap();
}
