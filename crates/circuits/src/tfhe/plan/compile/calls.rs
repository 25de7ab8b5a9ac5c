// SPDX-License-Identifier: Apache-2.0
//! Compiles calls of those procedures of a bootstrap that are not turns of the blind rotation, step by step.

use std::collections::HashMap;

use ringmill_device::plan::{Job, Step, Steps};
use ringmill_math::torus::Coefficients;

use super::{Bound, Compiler, Source, other};
use crate::tfhe::TfheError;
use crate::tfhe::plan::{Act, Line, Place};

impl Compiler<'_> {
    /// Compiles a call of a limb procedure: adds one line to the plan for each step of the
    /// procedure. Returns the memory places of the results.
    pub(super) fn call(
        &mut self,
        steps: &Steps,
        sources: &[Source],
    ) -> Result<Vec<Place>, TfheError> {
        let params = steps.params.iter().copied();
        let mut values: HashMap<u32, Source> = params.zip(sources.iter().cloned()).collect();
        let made = steps.steps.iter().flat_map(|step| &step.dst);
        let made: HashMap<u32, usize> = made.map(|made| (made.value, made.words)).collect();
        let mut results = Vec::with_capacity(steps.results.len());
        for value in &steps.results {
            let words = made.get(value).copied();
            let place = self.place(words.ok_or_else(|| other("a result that it is given"))?);
            let before = values.insert(*value, Source::Place(place.clone()));
            if before.is_some() {
                return Err(other("a result that it gives twice"));
            }
            results.push(place);
        }
        for step in &steps.steps {
            for made in &step.dst {
                let between = || Source::Place(self.place(made.words));
                values.entry(made.value).or_insert_with(between);
            }
            let line = self.line(step, &values)?;
            self.plan.lines.push(line);
        }
        Ok(results)
    }

    fn line(&self, step: &Step, values: &HashMap<u32, Source>) -> Result<Line, TfheError> {
        let place = |value: &u32| match values.get(value) {
            Some(Source::Place(place)) => Ok(place.clone()),
            Some(Source::Inputs { .. }) | None => Err(other("a step on what is no limb")),
        };
        let [made] = &*step.dst else {
            return Err(other(format!(
                "{} with several results",
                step.op.mnemonic()
            )));
        };
        let to = place(&made.value)?;
        let sum = |q, act| match &*step.src {
            [a, b] => Ok(Line::Sum {
                q,
                act,
                a: place(a)?,
                b: place(b)?,
                to: to.clone(),
            }),
            _ => Err(other("a sum of not two limbs")),
        };
        match (&step.job, &*step.src) {
            (&Job::Add(q), _) => sum(Coefficients::Prime(q), Act::Add),
            (&Job::Sub(q), _) => sum(Coefficients::Prime(q), Act::Sub),
            (&Job::Word(q, job), _) if let Some(act) = Act::of(job) => {
                sum(Coefficients::Word(q), act)
            }
            (&Job::RotateDifference(q), [exponents @ .., a]) => {
                let mut numbers = Vec::with_capacity(exponents.len());
                for e in exponents {
                    let Some(&Source::Inputs { first, .. }) = values.get(e) else {
                        return Err(other("a turn by what is no exponent"));
                    };
                    let Bound::Exponent(number) = self.bound(first)? else {
                        return Err(other("a turn by what is no exponent"));
                    };
                    numbers.push(number);
                }
                Ok(Line::RotateDifference {
                    q,
                    exponents: numbers,
                    a: place(a)?,
                    to,
                })
            }
            (&Job::Extract(q), [masks @ .., body]) => Ok(Line::Extract {
                q,
                masks: masks.iter().map(place).collect::<Result<_, _>>()?,
                body: place(body)?,
                to,
            }),
            (&Job::LweSwitch(gadget), [of, key])
                if gadget == *self.params.key_switch_gadget()
                    && self.is_switch(values.get(key)) =>
            {
                Ok(Line::Switch {
                    gadget,
                    of: place(of)?,
                    to,
                })
            }
            _ => Err(other(format!("{} on its own", step.op.mnemonic()))),
        }
    }

    fn is_switch(&self, source: Option<&Source>) -> bool {
        match source {
            Some(&Source::Inputs { first, .. }) => self.bound(first).ok() == Some(Bound::Switch),
            Some(Source::Place(_)) | None => false,
        }
    }
}
