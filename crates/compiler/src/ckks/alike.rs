// SPDX-License-Identifier: Apache-2.0
//! Finds which operations of a program with levels add the same error, or errors that are not
//! independent.
//!
//! The errors of key switching and of rescaling are functions of the polynomial that is switched or rounded. Rotations
//! of x + p and of x + q, p and q public, switch the same c_1 and so add the same error. The products (x + p) y and
//! (x + q) y have the same c_2. Two polynomials are compared by their values at a random point. Encrypted messages and
//! the results of key switching are the unknowns, and every polynomial of a ciphertext is a polynomial in them.
//! Different polynomials agree at a random point of a field of 2^61 - 1 elements with a chance of the degree over 2^61.
//!
//! Different polynomials can still make errors that are correlated. Take the digits and remainders of u and v as
//! functions of the unknowns, which are ring elements that look uniform and independent (RLWE). They are uncorrelated
//! unless m u = n v X^k for whole numbers m and n, because any other combination of u and v is uniform. Then every
//! character sum of their covariance vanishes. For m u = n v the covariance is gcd(m, n)^2 / (m n) of the variance.
//! Polynomials u and v of this kind, up to a small difference, are called alike ([`Origin::like`]), and their errors
//! are added as amplitudes. Two polynomials are taken as alike if their quotient is the same at two random points,
//! where
//! - whole numbers and constants, and plaintexts that may encode to a multiple of X^k, have one value at both points;
//! - rescaling is division by its prime: the remainder is small beside a digit. In a product the remainder is
//!   multiplied, but by a uniform factor;
//! - the public part of c_0 is left out if c_0 is rounded: {u} and {u + p} may be any distance apart.
//!
//! The analysis knows nothing of plaintexts that are inputs of the program. They may be zero, so that y + x p is y, or
//! equal, or opposite. So a polynomial that depends on such a plaintext, through key switching too, counts as alike
//! with every other that is switched by the same key or rounded at the same place.
//!
//! Key switching makes new unknowns of each polynomial that it switches. Polynomials that differ by little have digits
//! that differ by little, but the key polynomials that multiply these digits are uniform. The analysis computes no
//! automorphism: it turns each unknown into another unknown. The turned unknown never meets the product of the original
//! without new unknowns beside it.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use ringmill_isa::Level;
use ringmill_isa::macros::{
    Constant, Interval, LevelNote, LevelScale, Linear, MacroInstr, MacroProgram, MacroType,
    MacroValue, Refused, Terms, Visitor,
};
use ringmill_schemes::ckks::{Origin, Params};

use crate::ckks::depth::whole_factor;
use crate::ckks::points::{At, P, hash, inverse, number, product};

/// The polynomials c_0, c_1 and c_2 of a ciphertext, or the one of a plaintext, by their values at random points.
#[derive(Clone, Copy, Debug)]
struct Polys {
    /// The sum of the constants in the public part of c_0, which automorphisms leave alone.
    constant: At,
    /// The sum of the plaintexts in the public part of c_0.
    plain: At,
    /// The polynomials c_0 (without its public part), c_1 and c_2 of the ciphertext.
    c: [At; 3],
}

impl Polys {
    const ZERO: Self = Self {
        constant: At::ZERO,
        plain: At::ZERO,
        c: [At::ZERO; 3],
    };

    fn public(&self) -> At {
        self.constant.plus(self.plain)
    }

    fn zip(&self, other: &Self, f: impl Fn(At, At) -> At) -> Self {
        let ([a, b, c], [x, y, z]) = (self.c, other.c);
        Self {
            constant: f(self.constant, other.constant),
            plain: f(self.plain, other.plain),
            c: [f(a, x), f(b, y), f(c, z)],
        }
    }

    fn map(&self, f: impl Fn(At) -> At) -> Self {
        self.zip(&Self::ZERO, |x, _| f(x))
    }

    fn times(&self, other: &Self) -> Self {
        let (a, b) = (self, other);
        let constant = a.constant.times(b.constant);
        let public = a.public().times(b.public());
        let [a0, a1, a2] = a.c;
        let [b0, b1, b2] = b.c;
        let (full_a, full_b) = (a.public().plus(a0), b.public().plus(b0));
        let middle = full_a.times(b2).plus(a1.times(b1)).plus(a2.times(full_b));
        Self {
            constant,
            plain: public.minus(constant),
            c: [
                full_a.times(full_b).minus(public),
                full_a.times(b1).plus(a1.times(full_b)),
                middle,
            ],
        }
    }
}

/// The origins of an instruction's errors. A key switch has one for each result. A rescale has three, for c_0, c_1 and
/// c_2. An encryption, an encoding and a bootstrap have one. Other instructions have none. An entry is `None` if no
/// other error can be correlated with this one.
pub type Origins = Vec<Option<Origin>>;

/// The polynomial that is switched or rounded, which causes an error, and the place (key or level)
/// of the operation that adds the error. Only errors of the same place are compared with each
/// other.
#[derive(Clone, Copy)]
struct Found {
    same: u64,
    place: u64,
    polynomial: At,
}

impl Found {
    fn new(same: impl Hash, place: impl Hash, polynomial: At) -> Self {
        Self {
            same: hash(same),
            place: hash(place),
            polynomial,
        }
    }
}

/// Returns for each instruction of a program with levels and scales the origins of the errors that
/// it adds.
///
/// # Errors
/// Fails for an operation that this analysis does not know.
pub fn origins(program: &MacroProgram, params: &Params) -> Result<Vec<Origins>, Refused> {
    let mut alike = Alike {
        program,
        params,
        polys: vec![Polys::ZERO; program.types.len()],
        vectors: HashMap::new(),
    };
    let found = program.instrs.iter().map(|i| alike.step(i));
    let found = found.collect::<Result<Vec<Vec<Option<Found>>>, Refused>>()?;
    let all = found.iter().flatten().flatten();
    let open: HashSet<u64> = all
        .filter(|found| found.polynomial.open)
        .map(|found| found.place)
        .collect();
    let of = |origin: Option<Found>| {
        let Found {
            same,
            place,
            polynomial,
        } = origin?;
        let like = match open.contains(&place) {
            true => place,
            false => hash((place, polynomial.ray())),
        };
        Some(Origin { same, like })
    };
    let mut origins: Vec<Origins> = found
        .into_iter()
        .map(|origins| origins.into_iter().map(of).collect())
        .collect();
    let mut count: HashMap<u64, u32> = HashMap::new();
    for origin in origins.iter().flatten().flatten() {
        *count.entry(origin.like).or_default() += 1;
    }
    for origin in origins.iter_mut().flatten() {
        *origin = origin.filter(|o| count.get(&o.like).is_some_and(|&n| n > 1));
    }
    Ok(origins)
}

struct Alike<'a> {
    program: &'a MacroProgram,
    params: &'a Params,
    polys: Vec<Polys>,
    /// The encoded values of each constant vector at scale 1, by the vector's index.
    vectors: HashMap<u32, At>,
}

impl Alike<'_> {
    fn polys(&self, value: Option<&MacroValue>) -> Polys {
        let known = value.and_then(|v| self.polys.get(v.0 as usize));
        known.copied().unwrap_or(Polys::ZERO)
    }

    fn at(&self, value: MacroValue) -> LevelScale {
        let ty = self.program.types.get(value.0 as usize).copied();
        let at = ty.and_then(MacroType::at);
        at.and_then(LevelNote::scaled).unwrap_or(LevelScale {
            level: Level(0),
            scale: 1.0,
        })
    }

    /// Returns the values of a constant vector's encoding at the three random points. Those at the second and third
    /// point are linear in the vector's numbers, so that multiples of one vector have one quotient. A vector that may
    /// encode to a multiple of X^k has the same value at both.
    fn vector(&mut self, data: u32) -> At {
        if let Some(&known) = self.vectors.get(&data) {
            return known;
        }
        let vector = self.program.data.get(data as usize);
        let vector = vector.map_or(&[] as &[_], Vec::as_slice);
        let bits: Vec<[u64; 2]> = (vector.iter())
            .map(|(re, im)| [re.to_bits(), im.to_bits()])
            .collect();
        // The slots of a multiple of X^k have one absolute value, and are real only if k = 0.
        let size = |&(re, im): &(f64, f64)| f64::hypot(re, im);
        let first = vector.first().copied().unwrap_or_default();
        let turned = |z: &(f64, f64)| (size(z) - size(&first)).abs() <= 1e-6 * size(&first);
        let uniform = vector.iter().all(|z| *z == first);
        let real = vector.iter().all(|z| z.1 == 0.0);
        let monomial = uniform || !real && vector.iter().all(turned);
        let sum = |point: u8| {
            vector.iter().enumerate().fold(0, |sum, (slot, &(re, im))| {
                let [x, y] = [0u8, 1].map(|part| hash((point, slot, part)) % P);
                (sum + product(number(re), x) + product(number(im), y)) % P
            })
        };
        let one = sum(1);
        let other = if monomial { one } else { sum(2) };
        let zero = vector.iter().all(|z| size(z) == 0.0);
        let same = if zero { 0 } else { hash(bits) % P };
        let found = At {
            same,
            like: [one, other],
            open: false,
        };
        self.vectors.insert(data, found);
        found
    }

    /// Finds the polynomials of an instruction's results, and returns the origins of the errors that the instruction
    /// adds.
    fn step(&mut self, instr: &MacroInstr) -> Result<Vec<Option<Found>>, Refused> {
        let (a, b) = (self.polys(instr.src.first()), self.polys(instr.src.get(1)));
        let mut origins = Vec::new();
        for (k, &d) in instr.dst.iter().enumerate() {
            let at = self.at(d);
            let mut result = OfResult {
                alike: self,
                k,
                d,
                at,
                a,
                b,
                origins: &mut origins,
            };
            let made = result.visit(instr)?;
            if let Some(polys) = self.polys.get_mut(d.0 as usize) {
                *polys = made;
            }
        }
        Ok(origins)
    }
}

/// Result number `k` of an instruction, the value `d`, with the polynomials `a` and `b` of its operands.
struct OfResult<'a, 'b> {
    alike: &'a mut Alike<'b>,
    k: usize,
    d: MacroValue,
    at: LevelScale,
    a: Polys,
    b: Polys,
    origins: &'a mut Vec<Option<Found>>,
}

impl OfResult<'_, '_> {
    /// Returns the polynomials of the instruction's first operand after an automorphism and its key
    /// switch. `key` names the kind of automorphism, and `steps` is the number of slots of its
    /// rotation. If rotations share one decomposition, the digits are turned after it: `hoisted` is
    /// then equal to `steps`, and otherwise 0.
    fn turned(&mut self, key: &str, steps: i64, hoisted: i64) -> Polys {
        let [c0, c1, _] = self.a.c;
        let [s0, s1] = switched(key, steps, hoisted, self.at, c1, self.origins);
        let turn = At::unknown((key, steps));
        let turned = |x: At| x.times(turn).with(At::odd((key, steps), x.same));
        Polys {
            constant: self.a.constant,
            plain: turned(self.a.plain),
            c: [turned(c0).plus(s0), s1, At::ZERO],
        }
    }

    /// Returns the number of slots by which the instruction rotates to get this result, from 0 to
    /// the number of slots less one.
    fn steps(&self, steps: &[i32]) -> i64 {
        let steps = steps.get(self.k).map_or(0, |&s| i64::from(s));
        steps.rem_euclid(self.alike.params.slots() as i64)
    }
}

impl Visitor for OfResult<'_, '_> {
    const PASS: &'static str = "the search for errors that are alike";
    type Out = Polys;
    type Error = Refused;

    fn input(&mut self, _: &MacroInstr, i: u32) -> Result<Polys, Refused> {
        let (d, scale) = (self.d.0 as usize, self.at.scale.to_bits());
        if let Some(MacroType::Cipher { .. }) = self.alike.program.types.get(d) {
            self.origins.push(None);
            let c = [0u8, 1].map(|part| At::unknown(("input", i, part)));
            return Ok(Polys {
                c: [c[0], c[1], At::ZERO],
                ..Polys::ZERO
            });
        }
        let plain = At {
            open: true,
            ..At::known(("plain", i, scale), number(self.at.scale))
        };
        let same = ("encoded input", i, scale);
        self.origins
            .push(Some(Found::new(same, "encoded input", plain)));
        Ok(Polys {
            plain,
            ..Polys::ZERO
        })
    }

    fn encode(&mut self, _: &MacroInstr, data: u32) -> Result<Polys, Refused> {
        let scale = self.at.scale.to_bits();
        let vector = self.alike.vector(data);
        let same = vector.same;
        let found = Found::new(("encoded", same, scale), "encoded", vector);
        self.origins.push(Some(found));
        let by = number(self.at.scale);
        let same = if same == 0 {
            0
        } else {
            hash((same, scale)) % P
        };
        Ok(Polys {
            plain: vector.scaled(by).with(same),
            ..Polys::ZERO
        })
    }

    fn add(&mut self, _: &MacroInstr) -> Result<Polys, Refused> {
        Ok(self.a.zip(&self.b, At::plus))
    }

    fn sub(&mut self, _: &MacroInstr) -> Result<Polys, Refused> {
        Ok(self.a.zip(&self.b, At::minus))
    }

    fn linear(&mut self, _: &MacroInstr, map: Linear) -> Result<Polys, Refused> {
        let times = |of: Polys, by: f64| of.map(|x| x.exactly(number(by)));
        Ok(match map.terms() {
            Terms::Slot(by) => times(self.a, by),
            Terms::Conjugate(by) => times(self.turned("conj", 0, 0), by),
            Terms::Both { slot, conjugate } => {
                let turned = times(self.turned("conj", 0, 0), conjugate);
                times(self.a, slot).zip(&turned, At::plus)
            }
        })
    }

    fn addc(&mut self, instr: &MacroInstr, constant: Constant) -> Result<Polys, Refused> {
        let Constant::Real { value, .. } = constant else {
            return Err(Refused::shape(Self::PASS, instr));
        };
        let scale = self.at.scale;
        let like = product(number(value), number(scale));
        let constant = At::known(("constant", value.to_bits(), scale.to_bits()), like);
        Ok(Polys {
            constant: self.a.constant.plus(constant),
            ..self.a
        })
    }

    fn mulc(&mut self, instr: &MacroInstr, constant: Constant) -> Result<Polys, Refused> {
        let Constant::Real { value, scale } = constant else {
            return Err(Refused::shape(Self::PASS, instr));
        };
        let scale = scale.unwrap_or(1.0);
        let whole = whole_factor(value, scale).map(number);
        let like = whole.unwrap_or_else(|| product(number(value), number(scale)));
        let factor = if whole.is_some() {
            At {
                same: like,
                like: [like; 2],
                open: false,
            }
        } else {
            At::known(("factor", value.to_bits(), scale.to_bits()), like)
        };
        Ok(self.a.map(|x| x.times(factor)))
    }

    fn mul(&mut self, _: &MacroInstr) -> Result<Polys, Refused> {
        Ok(self.a.times(&self.b))
    }

    fn square(&mut self, _: &MacroInstr) -> Result<Polys, Refused> {
        Ok(self.a.times(&self.a))
    }

    fn modswitch(&mut self, _: &MacroInstr, _: Level) -> Result<Polys, Refused> {
        Ok(self.a)
    }

    fn bounded(&mut self, _: &MacroInstr, _: Interval) -> Result<Polys, Refused> {
        Ok(self.a)
    }

    /// Gives a bootstrapped ciphertext new unknown polynomials, since it has nothing in common with
    /// any other ciphertext.
    fn bootstrap(&mut self, _: &MacroInstr, _: Level) -> Result<Polys, Refused> {
        self.origins.push(None);
        let c = [0u8, 1].map(|part| At::unknown(("bootstrapped", self.d.0, part)));
        Ok(Polys {
            c: [c[0], c[1], At::ZERO],
            ..Polys::ZERO
        })
    }

    fn relin(&mut self, _: &MacroInstr) -> Result<Polys, Refused> {
        let [c0, c1, c2] = self.a.c;
        let [s0, s1] = switched("relin", 0, 0, self.at, c2, self.origins);
        Ok(Polys {
            c: [c0.plus(s0), c1.plus(s1), At::ZERO],
            ..self.a
        })
    }

    fn rotate(&mut self, _: &MacroInstr, steps: &[i32]) -> Result<Polys, Refused> {
        let steps = self.steps(steps);
        Ok(self.turned("rotate", steps, 0))
    }

    fn hrotate(&mut self, _: &MacroInstr, steps: &[i32]) -> Result<Polys, Refused> {
        let steps = self.steps(steps);
        Ok(self.turned("rotate", steps, steps))
    }

    fn rescale(&mut self, _: &MacroInstr) -> Result<Polys, Refused> {
        let (a, [c0, c1, c2]) = (self.a, self.a.c);
        let (dropped, scale) = (self.at.level.above(1), self.at.scale.to_bits());
        // The public part is rounded with the rest of c_0, which may give different errors or the same.
        let place = |number: u8| ("rescaled", dropped, number);
        let of_value = ("rescaled", self.d.0);
        self.origins.push(Some(Found::new(of_value, place(0), c0)));
        for (number, c) in [(1u8, c1), (2, c2)] {
            let same = ("rescaled", dropped, c.same, number, scale);
            self.origins
                .push((c.same != 0).then(|| Found::new(same, place(number), c)));
        }
        let prime = self.alike.params.moduli().get(dropped.index()).copied();
        let by = inverse(prime.unwrap_or(1) % P);
        let divided = |x: At, whole: u64| x.scaled(by).with(At::odd(("rescaled", dropped), whole));
        let full = a.public().plus(c0).same;
        Ok(Polys {
            constant: divided(a.constant, 0),
            plain: divided(a.plain, 0),
            c: [
                divided(c0, full),
                divided(c1, c1.same),
                divided(c2, c2.same),
            ],
        })
    }
}

/// Returns the two polynomials that a key switch makes of `polynomial`, and adds the origin of its error. A zero
/// polynomial gives zeros and no error.
fn switched(
    key: &str,
    steps: i64,
    hoisted: i64,
    at: LevelScale,
    polynomial: At,
    origins: &mut Vec<Option<Found>>,
) -> [At; 2] {
    let exact = polynomial.same;
    if exact == 0 {
        origins.push(None);
        return [At::ZERO; 2];
    }
    let of = (key, steps, hoisted, at.level, exact);
    let same = ("switched", of, at.scale.to_bits());
    origins.push(Some(Found::new(same, ("switched", key, steps), polynomial)));
    [0u8, 1].map(|part| At {
        open: polynomial.open,
        ..At::unknown(("switched", of, part))
    })
}
