// SPDX-License-Identifier: Apache-2.0
//! Checks of a key-switching unit with random keys and ciphertexts.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::torus::keyswitch::{Body, Switcher, SwitcherError};
use ringmill_hdl::{BuildOptions, Hdl};
use ringmill_machines::torus::keyswitch::{
    Code, Command, Digits, Generators, Shape, cycles, golden,
};

use crate::common::failure::{Check, Failure};

impl From<SwitcherError> for Failure {
    fn from(error: SwitcherError) -> Self {
        match error {
            SwitcherError::Hdl(error) => error.into(),
            error => Self::Mismatch(error.to_string()),
        }
    }
}

/// Returns a unit for `batch` ciphertexts, with large dimension N up to 40 and small dimension n up to 70.
pub fn shape(
    batch: usize,
    (cores, rounds, steps): (usize, u32, u32),
    (log_base, levels): (u32, usize),
) -> Shape {
    let generators = Generators {
        cores,
        rounds,
        steps,
    };
    let digits = Digits { log_base, levels };
    Shape::new(batch, generators, digits, (40, 70)).unwrap()
}

/// A switch with its key and ciphertexts, all random, because the unit's arithmetic does not depend on their being
/// encryptions.
pub struct Switch {
    pub command: Command,
    pub seed: [u8; 32],
    pub bodies: Vec<Body>,
    pub ciphertexts: Vec<Vec<u32>>,
}

impl Switch {
    pub fn random(digits: Digits, command: Command, dice: &mut Dice) -> Self {
        let rows = usize::from(command.large) * digits.levels;
        let bodies = (0..rows).map(|at| Body {
            body: dice.bits() as u32,
            last: at + 1 == rows,
        });
        let bodies = bodies.collect();
        let mut seed = [0; 32];
        seed.fill_with(|| dice.bits() as u8);
        // Some words are at edges of the rounding to digits.
        let step = 1u64 << (32 - digits.log_base as usize * digits.levels);
        let edges = [0, 1, step / 2, (1 << 31) - step / 2, 1 << 31, (1 << 32) - 1];
        let word = |dice: &mut Dice| match dice.below(8) {
            0 => (edges[dice.below(6) as usize] + (1 << 32) - dice.below(2)) as u32,
            _ => dice.bits() as u32,
        };
        let ciphertexts = (0..command.count)
            .map(|_| (0..=command.large).map(|_| word(dice)).collect())
            .collect();
        Self {
            command,
            seed,
            bodies,
            ciphertexts,
        }
    }

    pub fn golden(&self, digits: Digits) -> Vec<Vec<u32>> {
        let bodies: Vec<u32> = self.bodies.iter().map(|b| b.body).collect();
        let small = self.command.small.into();
        golden(digits, &self.seed, &bodies, small, &self.ciphertexts).unwrap()
    }
}

/// A switch: its large dimension N, its small dimension n, its number of ciphertexts, and whether its streams stall.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub large: u16,
    pub small: u16,
    pub count: u8,
    pub stalls: bool,
}

pub fn unit(hdl: &Hdl, shape: Shape, seed: u64) -> Result<Switcher, Failure> {
    Ok(Switcher::new(
        hdl,
        shape,
        BuildOptions::default(),
        Dice::new(seed),
    )?)
}

/// Runs a switch, checks its result and cycles, and returns the cycles. With stalls, they must not be fewer than the
/// model's.
pub fn right(unit: &mut Switcher, switch: &Switch, stalls: bool) -> Result<u64, Failure> {
    let (shape, command) = (unit.shape(), switch.command);
    unit.stall(stalls);
    let found = unit.command(command, &switch.seed, &switch.bodies, &switch.ciphertexts)?;
    let wrong = |what: String| {
        Err(Failure::Mismatch(format!(
            "{command:?} of {shape:?}: {what}"
        )))
    };
    if found.code != Code::Ok || found.left != 0 {
        return wrong(format!("{}, {} bodies left", found.code, found.left));
    }
    if found.ciphertexts(command).as_ref() != Some(&switch.golden(shape.digits())) {
        return wrong("other words than the software's".to_owned());
    }
    let model = cycles(shape, command);
    if (!stalls && found.cycles != model) || found.cycles < model {
        return wrong(format!("{} cycles, {model} in the model", found.cycles));
    }
    Ok(found.cycles)
}

/// Runs switches one after another on one unit, each of which must be right.
pub fn check(hdl: &Hdl, shape: Shape, cases: &[Case], seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let mut unit = unit(hdl, shape, dice.bits())?;
    for &case in cases {
        let command = Command {
            large: case.large,
            small: case.small,
            count: case.count,
        };
        let switch = Switch::random(shape.digits(), command, &mut dice);
        right(&mut unit, &switch, case.stalls)?;
    }
    Ok(())
}
