// SPDX-License-Identifier: Apache-2.0
//! The analysis of errors finds which polynomials are the same or alike. Key switches and rescales of programs that are
//! made by hand show it.

use ringmill_compiler::internals::origins;
use ringmill_isa::Level;
use ringmill_isa::macros::{
    LevelNote, MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue, Note, SchemeName,
};
use ringmill_schemes::ckks::Origin;

use crate::run::small_params;

/// A program under construction whose values have the scale 1, and level 3, or 2 after a rescale.
struct Made(MacroProgram);

impl Made {
    fn new() -> Self {
        let scheme = SchemeName::new("ckks").unwrap();
        Self(MacroProgram::new("alike".to_owned(), scheme, 8))
    }

    fn instr(&mut self, op: MacroOp, src: &[MacroValue], imm: MacroImm) -> MacroValue {
        let value = MacroValue(self.0.types.len() as u32);
        let level = Level(if op == MacroOp::Rescale { 2 } else { 3 });
        let note = Note::Scale(1.0);
        let at = Some(LevelNote { level, note });
        self.0.types.push(match op {
            MacroOp::Encode => MacroType::Plain { at },
            _ => MacroType::Cipher { size: 2, at },
        });
        self.0.instrs.push(MacroInstr {
            op,
            dst: vec![value],
            src: src.to_vec(),
            imm,
            loc: None,
        });
        value
    }

    fn input(&mut self, number: u32) -> MacroValue {
        self.instr(MacroOp::Input, &[], MacroImm::Input(number))
    }

    fn op(&mut self, op: MacroOp, src: &[MacroValue]) -> MacroValue {
        self.instr(op, src, MacroImm::None)
    }

    fn times(&mut self, x: MacroValue, value: f64) -> MacroValue {
        let scale = None;
        self.instr(MacroOp::Mulc, &[x], MacroImm::Constant { value, scale })
    }

    fn sum(&mut self, x: MacroValue, y: MacroValue) -> MacroValue {
        self.op(MacroOp::Add, &[x, y])
    }

    /// Rotates the values by one slot. Returns the origins of the errors of these key switches, each of which switches
    /// the second polynomial of a value.
    fn seconds<const K: usize>(mut self, values: [MacroValue; K]) -> [Option<Origin>; K] {
        let turned = |v| self.instr(MacroOp::Rotate, &[v], MacroImm::Steps(vec![1]));
        let turned = values.map(turned);
        self.of(turned, 0)
    }

    /// Returns origin number `number` of each instruction that made one of the values.
    fn of<const K: usize>(&self, values: [MacroValue; K], number: usize) -> [Option<Origin>; K] {
        let found = origins(&self.0, &small_params()).unwrap();
        values.map(|v| found[v.0 as usize][number])
    }
}

/// Asserts that two errors are alike, and that they are the same exactly if `same`.
fn alike(a: Option<Origin>, b: Option<Origin>, same: bool) {
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!((a.like == b.like, a.same == b.same), (true, same));
}

fn differ(a: Option<Origin>, b: Option<Origin>) {
    let like = a.zip(b).is_some_and(|(a, b)| a.like == b.like);
    assert!(!like);
}

#[test]
fn doubles_are_fractions_of_the_field() {
    let tiny = f64::MIN_POSITIVE / 4.0;
    for (first, second, product, same) in [
        (3.0, 1.0, 3.0, true),
        (-1.0, -1.0, 1.0, true),
        (0.375, 8.0, 3.0, false),
        (tiny, 4.0, f64::MIN_POSITIVE, false),
    ] {
        // The three values are (first x + y) second, product x + second y, and 0.75 product x + second y.
        let mut made = Made::new();
        let (x, y) = (made.input(0), made.input(1));
        let of_first = made.times(x, first);
        let sum = made.sum(of_first, y);
        let a = made.times(sum, second);
        let (of_product, of_second) = (made.times(x, product), made.times(y, second));
        let b = made.sum(of_product, of_second);
        let of_other = made.times(x, 0.75 * product);
        let other = made.sum(of_other, of_second);
        let [a, b, other] = made.seconds([a, b, other]);
        alike(a, b, same);
        differ(a, other);
    }
    // A division by a prime undoes a product with it, up to a remainder.
    let prime = small_params().moduli()[3] as f64;
    let mut made = Made::new();
    let (x, y) = (made.input(0), made.input(1));
    let many = made.times(x, prime);
    let divided = made.op(MacroOp::Rescale, &[many]);
    let (a, b) = (made.sum(divided, y), made.sum(x, y));
    let [a, b] = made.seconds([a, b]);
    alike(a, b, false);
}

#[test]
fn products_that_differ_by_what_is_public_have_one_third_polynomial() {
    let mut made = Made::new();
    made.0
        .data
        .push((0..8).map(|i| (f64::from(i), 0.5)).collect());
    let (x, y) = (made.input(0), made.input(1));
    let p = made.instr(MacroOp::Encode, &[], MacroImm::Data(0));
    let moved = made.sum(x, p);
    let (a, b) = (
        made.op(MacroOp::Mul, &[x, y]),
        made.op(MacroOp::Mul, &[moved, y]),
    );
    let thrice = made.sum(a, a);
    let thrice = made.sum(thrice, a);
    // (x + p) y = x y + p y.
    let py = made.op(MacroOp::Mul, &[y, p]);
    let expanded = made.sum(a, py);
    let rounded = [a, b, thrice, expanded].map(|v| made.op(MacroOp::Rescale, &[v]));
    let inputs = [x, y, moved].map(|v| made.op(MacroOp::Rescale, &[v]));
    let switched = [a, b, thrice, expanded].map(|v| made.op(MacroOp::Relin, &[v]));

    let [of_a, of_b, of_thrice, of_expanded] = made.of(switched, 0);
    alike(of_a, of_b, true);
    alike(of_b, of_expanded, true);
    // Three times a product is alike to the product.
    alike(of_a, of_thrice, false);
    let [of_a, of_b, of_thrice, of_expanded] = made.of(rounded, 1);
    differ(of_a, of_b);
    alike(of_b, of_expanded, true);
    alike(of_a, of_thrice, false);
    let [of_a, of_b, _, of_expanded] = made.of(rounded, 0);
    differ(of_a, of_b);
    // A public part is rounded with the first polynomial, so the roundings may differ.
    alike(of_b, of_expanded, false);
    let [of_x, of_y, of_moved] = made.of(inputs, 1);
    differ(of_x, of_y);
    alike(of_x, of_moved, true);
}

#[test]
fn what_is_made_of_the_opposite_is_the_opposite() {
    let mut made = Made::new();
    let (x, y) = (made.input(0), made.input(1));
    let opposite = made.op(MacroOp::Neg, &[x]);
    for op in [MacroOp::Rescale, MacroOp::Conj] {
        let mut made = Made(made.0.clone());
        let (positive, negative) = (made.op(op, &[x]), made.op(op, &[opposite]));
        let nothing = made.sum(positive, negative);
        let (with, without) = (made.sum(y, nothing), y);
        let other = made.sum(y, positive);
        let [with, without, other] = made.seconds([with, without, other]);
        match op {
            MacroOp::Rescale => alike(with, without, true),
            // A key switch of -x gives other unknowns than one of x.
            _ => differ(with, without),
        }
        differ(other, without);
    }
    // Two operations on one polynomial give two different ones.
    let (rounded, turned) = (
        made.op(MacroOp::Rescale, &[x]),
        made.op(MacroOp::Conj, &[x]),
    );
    let [rounded, turned] = made.seconds([rounded, turned]);
    differ(rounded, turned);
}
