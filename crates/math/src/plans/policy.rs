// SPDX-License-Identifier: Apache-2.0
//! What the environment says about choices.

use std::cell::Cell;
use std::sync::LazyLock;

use super::VARIABLE;
use crate::kernels::available_backends;
use crate::{Backend, MathError};

/// How a kernel is chosen among candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Timed,
    First,
    Random(u64),
}

/// The best level that may be used, and how kernels are chosen below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Policy {
    pub level: Backend,
    pub mode: Mode,
}

impl Policy {
    /// The level that kernels without a choice of their own run on; with random choices a random one up to it, another
    /// each time.
    #[inline]
    pub fn level(&self) -> Backend {
        match self.mode {
            Mode::Random(seed) => drawn(seed, self.level),
            _ => self.level,
        }
    }
}

#[cold]
fn drawn(seed: u64, most: Backend) -> Backend {
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(0) };
    }
    let state = (STATE.get() ^ seed)
        .wrapping_mul(0x5851_f42d_4c95_7f2d)
        .wrapping_add(0x1405_7b7e_f767_814f);
    STATE.set(state ^ seed);
    let levels = Backend::ALL.iter().filter(|&&level| level <= most).count();
    Backend::ALL[(state >> 33) as usize % levels.max(1)]
}

static POLICY: LazyLock<(Policy, Option<MathError>)> = LazyLock::new(|| {
    let text = std::env::var_os(VARIABLE).unwrap_or_default();
    match parse(&text.to_string_lossy(), &available_backends()) {
        Ok(policy) => (policy, None),
        Err(error) => (default(&available_backends()), Some(error)),
    }
});

pub(super) fn policy() -> Result<Policy, MathError> {
    match &*POLICY {
        (policy, None) => Ok(*policy),
        (_, Some(error)) => Err(error.clone()),
    }
}

pub(super) fn policy_or_default() -> &'static Policy {
    &POLICY.0
}

fn default(available: &[Backend]) -> Policy {
    Policy {
        level: available.last().copied().unwrap_or(Backend::Scalar),
        mode: Mode::Timed,
    }
}

fn parse(text: &str, available: &[Backend]) -> Result<Policy, MathError> {
    let refused = || MathError::OutOfRange {
        what: VARIABLE,
        expected: "a level (scalar, avx2, avx512, avx512ifma), a way to choose (timed, first, random:SEED), or both with a comma between",
        got: format!("{text:?}"),
    };
    let (mut level, mut mode) = (None, None);
    for word in text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
    {
        let found = match word.split_once(':') {
            None if word == "timed" => mode.replace(Mode::Timed).is_none(),
            None if word == "first" => mode.replace(Mode::First).is_none(),
            None => {
                let named = Backend::ALL.into_iter().find(|level| level.name() == word);
                let named = named.ok_or_else(refused)?;
                if !available.contains(&named) {
                    return Err(MathError::BackendUnavailable {
                        missing: named,
                        available: available.to_vec(),
                    });
                }
                level.replace(named).is_none()
            }
            Some(("random", seed)) => {
                let seed = seed.parse().map_err(|_| refused())?;
                mode.replace(Mode::Random(seed)).is_none()
            }
            Some(_) => false,
        };
        if !found {
            return Err(refused());
        }
    }
    let default = default(available);
    Ok(Policy {
        level: level.unwrap_or(default.level),
        mode: mode.unwrap_or(default.mode),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [Backend; 2] = [Backend::Scalar, Backend::Avx2];

    #[test]
    fn a_level_and_a_way_to_choose_in_either_order() {
        let policy = |level, mode| Ok(Policy { level, mode });
        for (text, expected) in [
            ("", policy(Backend::Avx2, Mode::Timed)),
            ("first", policy(Backend::Avx2, Mode::First)),
            ("scalar", policy(Backend::Scalar, Mode::Timed)),
            (
                " random:7 , scalar",
                policy(Backend::Scalar, Mode::Random(7)),
            ),
            ("avx2,timed", policy(Backend::Avx2, Mode::Timed)),
            (
                "avx512",
                Err(MathError::BackendUnavailable {
                    missing: Backend::Avx512,
                    available: TWO.to_vec(),
                }),
            ),
        ] {
            assert_eq!(parse(text, &TWO), expected, "{text}");
        }
    }

    #[test]
    fn a_level_that_the_processor_lacks_is_refused_with_those_that_it_has() {
        let error = parse("first,avx512", &TWO).unwrap_err().to_string();
        for said in [VARIABLE, "no avx512 kernels", "but scalar, avx2;"] {
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn what_says_nothing_is_refused_by_the_name_of_the_variable() {
        for text in [
            "fast",
            "random",
            "random:",
            "random:-1",
            "first,timed",
            "avx2,scalar",
            "level:avx2",
        ] {
            let error = parse(text, &TWO).unwrap_err().to_string();
            assert!(error.contains(VARIABLE), "{error}");
        }
    }
}
