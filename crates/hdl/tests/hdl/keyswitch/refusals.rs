// SPDX-License-Identifier: Apache-2.0
//! Tests of what a key-switching unit refuses: it answers with a code, does not lock up, and does the next switch
//! right.

use ringmill_hdl::Hdl;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::torus::keyswitch::{Body, Switcher};
use ringmill_machines::torus::keyswitch::{Code, Command, Shape};

use crate::common::failure::{Check, Failure};
use crate::common::setup::{hdl, seed};
use crate::keyswitch::bench::{Switch, right, shape, unit};

const COMMAND: Command = Command {
    large: 6,
    small: 35,
    count: 2,
};

fn answers(unit: &mut Switcher, switch: &Switch, bodies: &[Body], code: Code) -> Check {
    let command = switch.command;
    let found = unit.command(command, &switch.seed, bodies, &switch.ciphertexts)?;
    if found.code == code && found.left == 0 && found.words.is_empty() {
        return Ok(());
    }
    Err(Failure::Mismatch(format!(
        "{command:?} with {} bodies: {} and not {code}, {} bodies left, {} words",
        bodies.len(),
        found.code,
        found.left,
        found.words.len()
    )))
}

pub fn check_refusals(hdl: &Hdl, shape: Shape, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let mut unit = unit(hdl, shape, dice.bits())?;
    let digits = shape.digits();
    let most = shape.batch() as u8;
    // Sizes that are zero or too large.
    for (large, small, count) in [
        (0, 9, 1),
        (6, 0, 1),
        (6, 9, 0),
        (41, 9, 1),
        (6, 71, 1),
        (6, 9, most + 1),
        (u16::MAX, 9, 1),
        (6, u16::MAX, 1),
        (6, 9, u8::MAX),
    ] {
        let command = Command {
            large,
            small,
            count,
        };
        let mut switch = Switch::random(digits, COMMAND, &mut dice);
        switch.command = command;
        switch.ciphertexts = vec![vec![0; usize::from(large) + 1]];
        answers(&mut unit, &switch, &[], Code::TooLarge)?;
    }
    let switch = Switch::random(digits, COMMAND, &mut dice);
    right(&mut unit, &switch, false)?;
    // Streams of bodies that end with the first one, in the middle or just before the last, and streams that are too
    // long.
    let rows = switch.bodies.len();
    for stalls in [false, true] {
        for (bodies, code) in [
            (1, Code::CutShort),
            (rows / 2, Code::CutShort),
            (rows - 1, Code::CutShort),
            (rows + 1, Code::TooLong),
            (rows + 400, Code::TooLong),
        ] {
            let mut stream: Vec<Body> =
                switch.bodies.iter().cycle().take(bodies).copied().collect();
            for (at, body) in stream.iter_mut().enumerate() {
                body.last = at + 1 == bodies;
            }
            unit.stall(stalls);
            answers(&mut unit, &switch, &stream, code)?;
            right(&mut unit, &switch, stalls)?;
        }
    }
    Ok(())
}

#[test]
fn wrong_commands_and_bodies_are_refused() {
    check_refusals(hdl(), shape(3, (2, 4, 2), (2, 8)), seed()).unwrap();
}

#[test]
#[ignore = "other units; `make full` runs it"]
fn wrong_commands_and_bodies_are_refused_by_every_unit() {
    for (batch, generators, digits) in [(2, (1, 2, 2), (4, 3)), (2, (1, 20, 1), (1, 15))] {
        check_refusals(hdl(), shape(batch, generators, digits), seed()).unwrap();
    }
}
