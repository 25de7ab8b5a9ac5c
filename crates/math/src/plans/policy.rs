// SPDX-License-Identifier: Apache-2.0
//! Reads from the environment how kernels for transforms are chosen.

use std::cell::Cell;
use std::sync::LazyLock;

use super::VARIABLE;
use crate::kernels::available_backends;
use crate::{Backend, MathError};

/// The way in which a kernel is chosen among its candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Timed,
    First,
    Random(u64),
}

/// The choice of kernels that the environment asks for: the best instruction set they may use, and
/// the way to choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    pub level: Backend,
    pub mode: Mode,
}

impl Policy {
    /// Returns the instruction set of those kernels, such as elementwise ones, that are not chosen
    /// by timing. It is the best allowed one. With random choices it is any up to the best, a new
    /// one at each call.
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

/// Parses a value of the environment variable [`VARIABLE`], for a processor that can run the backends
/// `available`.
///
/// # Errors
/// Fails if the value cannot be read, or names an instruction set that is not available.
pub fn parse(text: &str, available: &[Backend]) -> Result<Policy, MathError> {
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
