// SPDX-License-Identifier: Apache-2.0
//! Recognises a procedure that is one turn of a blind rotation. A turn adds to each limb a sum of products of the key
//! and digits, turned by exponents.
//!
//! The matcher follows the data flow from the results backwards:
//!
//! | if limbs are multiplied by X^e - 1 | if products are |
//! | --- | --- |
//! | `ROTDIFF` of each limb | |
//! | `DECOMP` and `NTT` of the difference, for each modulus | `DECOMP` and `NTT` of each limb |
//! | `DOT` of all digits and as many limbs of a key | the same for each pattern, `ROTDIFF` of it, and `ADD` |
//! | `INTT`, and `BEXTX` from several moduli or to another one | the same |
//! | `ADD` to the limb | the same |
//!
//! A caller that stores the key in its own form runs such a procedure as one step.

use ringmill_device::plan::{How, Job, Step, Steps, WordJob};
use ringmill_math::basext::Representative;
use ringmill_math::torus::{Coefficients, Gadget, Lift};
use ringmill_math::{Modulus, Ring};

/// A limb procedure that is one turn of a blind rotation. Its fields name parameters of the procedure by their numbers.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Turn {
    pub ring: Ring,
    /// The digits into which the turn, a step of the blind rotation, decomposes a limb.
    pub gadget: Gadget,
    /// The moduli of the turn's products, and the conversion of sums of products from them to the ciphertext modulus.
    pub lift: Lift,
    /// The parameters that are limbs of the accumulator. Result i of the turn, a step of the blind rotation, is the sum
    /// of limb i and its increment.
    pub limbs: Vec<usize>,
    /// Whether the turn multiplies limbs by X^e - 1 before it decomposes them, where e is the sum of its exponents.
    /// Otherwise it multiplies the products, pattern by pattern.
    pub before: bool,
    /// For each pattern of secret bits the parameters that are its exponents. The turn multiplies limbs or products by
    /// X^e - 1, where e is the sum of the exponents.
    pub patterns: Vec<Vec<usize>>,
    /// The parameters that are limbs of the key: by pattern, row (limb, then digit), column of the gadget ciphertext,
    /// and modulus.
    pub keys: Vec<usize>,
}

impl Turn {
    /// Returns the turn (step of a blind rotation) that a procedure computes, or `None` if it computes anything else.
    /// `steps` was compiled without fusion ([`ringmill_device::plan::Fusion::None`]).
    pub fn of(steps: &Steps) -> Option<Self> {
        Matched::of(steps)?.turn()
    }

    /// Returns the number of rows of a gadget ciphertext: the digits of all limbs.
    pub fn rows(&self) -> usize {
        self.limbs.len() * self.gadget.levels()
    }
}

/// The state of the matcher that decides whether a procedure is a turn, a step of a blind rotation. It has the
/// procedure's steps, and the properties of its first product, which all other products must share.
struct Matched<'s> {
    steps: &'s Steps,
    /// For each value of the procedure the number of the step that computes it, or `None` for a
    /// parameter.
    maker: Vec<Option<usize>>,
    /// For each value of the procedure the number of the parameter that it is, or `None` for a
    /// computed value.
    param: Vec<Option<usize>>,
    /// For each modulus of the products, the values that are transformed digits, row by row.
    digits: Vec<Vec<u32>>,
    gadget: Option<Gadget>,
    ring: Option<Ring>,
    lanes: Vec<Modulus>,
    /// The exponents of X^e - 1, by which limbs are multiplied before their decomposition; e is their sum. The inner
    /// option is `None` if limbs are not multiplied. The outer option is `None` until the matcher has met the first
    /// limb.
    before: Option<Option<Vec<usize>>>,
    patterns: Vec<Vec<usize>>,
}

/// The increment of one result of a turn, modulo one prime of the products. For each pattern of secret bits it has the
/// exponents and the key limbs, row by row.
type Sums = Vec<(Vec<usize>, Vec<usize>)>;

impl<'s> Matched<'s> {
    fn of(steps: &'s Steps) -> Option<Self> {
        let mut maker = vec![None; steps.values];
        for (i, step) in steps.steps.iter().enumerate() {
            for made in &step.dst {
                *maker.get_mut(made.value as usize)? = Some(i);
            }
        }
        let mut param = vec![None; steps.values];
        for (number, &value) in steps.params.iter().enumerate() {
            *param.get_mut(value as usize)? = Some(number);
        }
        Some(Self {
            steps,
            maker,
            param,
            digits: Vec::new(),
            gadget: None,
            ring: None,
            lanes: Vec::new(),
            before: None,
            patterns: Vec::new(),
        })
    }

    /// Returns the step that makes a value, and the value's number among the step's results.
    fn made(&self, value: u32) -> Option<(&'s Step, usize)> {
        let step = self.steps.steps.get((*self.maker.get(value as usize)?)?)?;
        let at = step.dst.iter().position(|made| made.value == value)?;
        Some((step, at))
    }

    fn number(&self, value: u32) -> Option<usize> {
        *self.param.get(value as usize)?
    }

    fn numbers(&self, values: &[u32]) -> Option<Vec<usize>> {
        values.iter().map(|&v| self.number(v)).collect()
    }

    fn turn(&mut self) -> Option<Turn> {
        let mut limbs = Vec::new();
        let mut grown = Vec::new();
        let mut lifted = Vec::new();
        for &result in &self.steps.results {
            let (add, _) = self.made(result)?;
            let (Job::Add(_) | Job::Word(_, WordJob::Add), &[limb, by]) = (&add.job, &*add.src)
            else {
                return None;
            };
            limbs.push(self.number(limb)?);
            let (step, _) = self.made(by)?;
            let lanes = match &step.job {
                Job::Bext(extension) => {
                    let nearest = matches!(extension.how, How::Exact(Representative::Centred));
                    if !nearest || step.dst.len() != 1 {
                        return None;
                    }
                    step.src.to_vec()
                }
                _ => vec![by],
            };
            lifted.push(matches!(step.job, Job::Bext(_)));
            grown.push(lanes);
        }
        let lanes = grown.first()?.len();
        let lift = *lifted.first()?;
        if lifted.iter().any(|&l| l != lift) || grown.iter().any(|each| each.len() != lanes) {
            return None;
        }
        // The sums of products, by the column of the gadget ciphertext and by modulus.
        let mut sums: Vec<Vec<Sums>> = Vec::with_capacity(grown.len());
        for each in &grown {
            let each = each.iter().enumerate();
            sums.push(
                each.map(|(lane, &v)| self.sums(lane, v, &limbs))
                    .collect::<Option<_>>()?,
            );
        }
        let gadget = self.gadget?;
        let lift = match (lift, self.lanes.as_slice()) {
            (false, &[q]) if gadget.coefficients() == Coefficients::Prime(q) => Lift::Native,
            (true, &[p]) => Lift::One(p),
            (true, &[p0, p1]) => Lift::Two([p0, p1]),
            _ => return None,
        };
        let rows = limbs.len() * gadget.levels();
        let mut keys = Vec::new();
        for pattern in 0..self.patterns.len() {
            for row in 0..rows {
                for column in &sums {
                    for lane in column {
                        keys.push(*lane.get(pattern)?.1.get(row)?);
                    }
                }
            }
        }
        let before = self.before.take()?;
        Some(Turn {
            ring: self.ring?,
            gadget,
            lift,
            limbs,
            before: before.is_some(),
            patterns: match before {
                Some(exponents) => vec![exponents],
                None => std::mem::take(&mut self.patterns),
            },
            keys,
        })
    }

    /// Takes apart the inverse transform that computes a value. Returns its operand as a sum of one term for each
    /// pattern of secret bits, or `None` if the procedure has another form.
    fn sums(&mut self, lane: usize, value: u32, limbs: &[usize]) -> Option<Sums> {
        let (step, _) = self.made(value)?;
        let (&Job::Intt(p, ring), &[sum]) = (&step.job, &*step.src) else {
            return None;
        };
        if *self.ring.get_or_insert(ring) != ring {
            return None;
        }
        if self.lanes.len() == lane {
            self.lanes.push(p);
        }
        if self.lanes.get(lane) != Some(&p) {
            return None;
        }
        // The first pattern is the innermost term.
        let (mut terms, mut rest) = (Vec::new(), sum);
        loop {
            let (step, _) = self.made(rest)?;
            let (Job::Add(_), &[sum, last]) = (&step.job, &*step.src) else {
                terms.push(rest);
                break;
            };
            terms.push(last);
            rest = sum;
        }
        terms.reverse();
        let terms: Vec<_> = terms
            .into_iter()
            .map(|term| self.term(lane, term, limbs))
            .collect::<Option<_>>()?;
        let patterns = terms.iter().map(|(exponents, _)| exponents.clone());
        let patterns: Vec<_> = patterns.collect();
        if self.patterns.is_empty() {
            self.patterns.clone_from(&patterns);
        }
        let turned = self.before.as_ref()?.is_some();
        // Limbs that are turned before have one product, which is not turned. All products of other limbs are turned.
        let whole = match turned {
            true => patterns.len() == 1 && patterns.iter().all(Vec::is_empty),
            false => patterns.iter().all(|pattern| !pattern.is_empty()),
        };
        (whole && self.patterns == patterns).then_some(terms)
    }

    /// Returns the exponents of the term of one pattern of secret bits, and its key limbs. A term that is not turned
    /// has no exponents.
    fn term(
        &mut self,
        lane: usize,
        value: u32,
        limbs: &[usize],
    ) -> Option<(Vec<usize>, Vec<usize>)> {
        let (step, _) = self.made(value)?;
        let (exponents, product) = match (&step.job, &*step.src) {
            (Job::RotateDifferenceEval(..), [exponents @ .., product]) => {
                (self.numbers(exponents)?, self.made(*product)?.0)
            }
            _ => (Vec::new(), step),
        };
        if !matches!(product.job, Job::Dot(_)) {
            return None;
        }
        let digits: Vec<u32> = product.src.iter().step_by(2).copied().collect();
        let keys = product.src.iter().skip(1).step_by(2);
        let keys = keys.map(|&v| self.number(v)).collect::<Option<_>>()?;
        if self.digits.len() == lane {
            self.check_digits(&digits, limbs)?;
            self.digits.push(digits);
        } else if self.digits.get(lane) != Some(&digits) {
            return None;
        }
        Some((exponents, keys))
    }

    /// Checks that the values `digits` are the transforms of all digits of all limbs. Returns `None` if not.
    fn check_digits(&mut self, digits: &[u32], limbs: &[usize]) -> Option<()> {
        let mut rows = digits.iter();
        for &limb in limbs {
            let mut level = 0;
            loop {
                let (transform, _) = self.made(*rows.next()?)?;
                let (&Job::Ntt { q, from, w: 0, .. }, &[digit]) = (&transform.job, &*transform.src)
                else {
                    return None;
                };
                let (step, at) = self.made(digit)?;
                let (&Job::Decompose(gadget, p), &[of]) = (&step.job, &*step.src) else {
                    return None;
                };
                if from != q || p != q || at != level {
                    return None;
                }
                if *self.gadget.get_or_insert(gadget) != gadget {
                    return None;
                }
                self.check_turned(of, limb)?;
                level += 1;
                if level == gadget.levels() {
                    break;
                }
            }
        }
        rows.next().is_none().then_some(())
    }

    /// Checks that a value is the limb itself, or the limb times X^e - 1 with the same exponents as all other limbs.
    /// Returns `None` if not.
    fn check_turned(&mut self, value: u32, limb: usize) -> Option<()> {
        let turned = match self.number(value) {
            Some(number) => (number == limb).then_some(None)?,
            None => {
                let (step, _) = self.made(value)?;
                let (Job::RotateDifference(_), [exponents @ .., of]) = (&step.job, &*step.src)
                else {
                    return None;
                };
                let exponents = self.numbers(exponents)?;
                (self.number(*of) == Some(limb)).then_some(Some(exponents))?
            }
        };
        let same = *self.before.get_or_insert_with(|| turned.clone()) == turned;
        same.then_some(())
    }
}
