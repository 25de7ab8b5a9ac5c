// SPDX-License-Identifier: Apache-2.0
//! Tests of what the bootstrapping engine refuses: it answers with a code, does not lock up, and runs the next
//! bootstrap.

use ringmill_hdl::Hdl;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::torus::{
    Code, Command, Engine, KeyBeat, Operation, Outcome, Streams, Words, switching_key,
};
use ringmill_machines::torus::{Shape, switch_words};

use crate::common::failure::{Check, Failure};
use crate::common::setup::{hdl, seed};
use crate::torus::bench::{Job, Key, check_run, differs, engine, small, tiny};

/// Returns the words of a load: the exponent of the negated body, the test polynomial, and the exponents of the mask.
fn words(job: &Job) -> Vec<u32> {
    let exponents = job.mask.iter().map(|&a| a as u32);
    (std::iter::once(job.minus_body as u32))
        .chain(job.table.iter().map(|&x| x as u32))
        .chain(exponents)
        .collect()
}

/// Sends a command with the words of a load as input, and checks the code at the end. `what` is for the message.
fn expect(
    engine: &mut Engine,
    what: &str,
    command: (Operation, u8),
    input: Words<'_>,
    code: Code,
) -> Check {
    let streams = Streams {
        input,
        ..Streams::default()
    };
    let outcome = tell(engine, command, streams)?;
    if outcome.code != code || outcome.left != 0 {
        return differs(format!("{what}: {outcome:?}, expected {code:?}"));
    }
    Ok(())
}

fn tell(
    engine: &mut Engine,
    (operation, place): (Operation, u8),
    streams: Streams<'_>,
) -> Result<Outcome, Failure> {
    Ok(engine.command(Command { operation, place }, streams)?)
}

/// Starts a run with `sent` beats of a key, of which beat `last` is marked as the last.
fn run_with(
    engine: &mut Engine,
    key: &Key,
    place: u8,
    (last, sent): (u64, u64),
) -> Result<Outcome, Failure> {
    let (stream, total) = (key.stream(), engine.shape().key_total());
    let mut buffer = vec![0; engine.shape().beat_words()];
    let mut beats = |at: u64| {
        (at < sent).then(|| {
            stream.beat(at.min(total - 1), &mut buffer);
            KeyBeat {
                words: buffer.clone(),
                last: at == last,
            }
        })
    };
    let streams = Streams {
        key: Some(&mut beats),
        ..Streams::default()
    };
    tell(engine, (Operation::Run, place), streams)
}

/// Starts a switch with a key of `sent` words, the last one marked.
fn switch_with(engine: &mut Engine, key: &Key, place: u8, sent: usize) -> Result<Outcome, Failure> {
    let mut words = switching_key(&key.seed, &key.bodies);
    words.resize(sent, 0x5a5a_5a5a);
    let streams = Streams {
        switching_key: Words::all(&words),
        ..Streams::default()
    };
    tell(engine, (Operation::Switch, place), streams)
}

fn wrong_key(engine: &mut Engine, key: &Key, beats: (u64, u64), code: Code) -> Check {
    let outcome = run_with(engine, key, 0, beats)?;
    if outcome.code != code || outcome.key_taken != beats.1 {
        let (last, sent) = beats;
        return differs(format!(
            "a key of {sent} beats, {last} the last: {outcome:?}"
        ));
    }
    Ok(())
}

fn wrong_switch(engine: &mut Engine, key: &Key, (place, sent): (u8, usize), code: Code) -> Check {
    let outcome = switch_with(engine, key, place, sent)?;
    if outcome.code != code || outcome.left != 0 {
        return differs(format!("a switching key of {sent} words: {outcome:?}"));
    }
    Ok(())
}

/// Returns the engine of the tests with one bit a step, so that its model is built only once.
fn shape() -> Shape {
    small(1, 3, 24)
}

/// Checks the refusals of an engine whose model is built quickly.
pub fn check_tiny_refusals(hdl: &Hdl, seed: u64) -> Check {
    check_refusals(hdl, tiny(3, 24), seed)
}

pub fn check_refusals(hdl: &Hdl, shape: Shape, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let key = Key::new(shape, &mut dice)?;
    let mut engine = engine(hdl, shape)?;
    let e = &mut engine;
    let job = Job::new(shape, &mut dice);
    let good = words(&job);
    let all = good.len();
    let (none, good_load) = (Words::default(), Words::all(&good));
    let (load, run, unload) = (Operation::Load, Operation::Run, Operation::Unload);
    let (switch, give) = (Operation::Switch, Operation::Give);
    // Commands before anything was loaded.
    for (operation, place) in [(run, 0), (unload, 1), (switch, 0), (give, 2)] {
        expect(e, "nothing", (operation, place), none, Code::NotLoaded)?;
    }
    let no_command = (Operation::None, 0);
    expect(e, "no command", no_command, none, Code::BadCommand)?;
    for operation in [load, run, unload, switch, give] {
        for place in [3, 4, 130, 255] {
            expect(e, "no place", (operation, place), none, Code::BadCommand)?;
        }
    }
    // Exponents of 2 N and above: of the body, and of the mask's first and last bit.
    let two_n = 2 * shape.degree() as u32;
    for at in [0, shape.degree() + 1, all - 1] {
        for value in [two_n, u32::MAX] {
            let mut bad = good.clone();
            bad[at] = value;
            let bad = Words::all(&bad);
            expect(e, "exponent", (load, 0), bad, Code::BadExponent)?;
            expect(e, "run", (run, 0), none, Code::NotLoaded)?;
        }
    }
    // Loads that end early: after the first word, in the table, or in the mask; and loads that are too long.
    for last in [1, 2, shape.degree(), shape.degree() + 1, all - 1] {
        let short = Words::all(&good[..last]);
        expect(e, "short", (load, 0), short, Code::CutShort)?;
        expect(e, "run", (run, 0), none, Code::NotLoaded)?;
    }
    for more in [1, 40] {
        let mut long = good.clone();
        long.resize(all + more, 7);
        let long = Words::all(&long);
        expect(e, "long", (load, 0), long, Code::TooLong)?;
        expect(e, "run", (run, 0), none, Code::NotLoaded)?;
    }
    // A run of two places of which only one is loaded.
    expect(e, "load", (load, 0), good_load, Code::Ok)?;
    expect(e, "run", (run, 1), none, Code::NotLoaded)?;
    check_run(e, &key, 1, false, &mut dice)?;
    // A place that was run is not loaded any more, and the other places have no results.
    expect(e, "run", (run, 0), none, Code::NotLoaded)?;
    for operation in [switch, unload, give] {
        expect(e, "other places", (operation, 1), none, Code::NotLoaded)?;
    }
    // Switching keys that end early: in the seed, just after it, in the bodies, or before the last one; and keys that
    // are too long. They keep the extracted ciphertext, and drop the switched one.
    let whole = switch_words(shape) as usize;
    for (sent, code) in [
        (1, Code::KeyShort),
        (8, Code::KeyShort),
        (9, Code::KeyShort),
        (77, Code::KeyShort),
        (whole - 1, Code::KeyShort),
        (whole + 1, Code::KeyLong),
        (whole + 300, Code::KeyLong),
    ] {
        for stalls in [false, true] {
            e.stall(stalls.then(|| Dice::new(dice.bits())));
            wrong_switch(e, &key, (0, sent), code)?;
            e.stall(None);
            expect(e, "give", (give, 0), none, Code::NotLoaded)?;
        }
    }
    wrong_switch(e, &key, (0, whole), Code::Ok)?;
    expect(e, "give", (give, 0), none, Code::Ok)?;
    expect(e, "unload", (unload, 0), none, Code::Ok)?;
    // Bootstrapping keys that end early: with the first beat, within a step, or before the last beat; and keys that are
    // too long. Such a run leaves neither input nor result.
    let total = shape.key_total();
    for (last, sent, code) in [
        (0, 1, Code::KeyShort),
        (77, 78, Code::KeyShort),
        (total - 2, total - 1, Code::KeyShort),
        (total, total + 1, Code::KeyLong),
        (total + 90, total + 91, Code::KeyLong),
    ] {
        for stalls in [false, true] {
            e.stall(None);
            expect(e, "load", (load, 0), good_load, Code::Ok)?;
            e.stall(stalls.then(|| Dice::new(dice.bits())));
            wrong_key(e, &key, (last, sent), code)?;
            e.stall(None);
            for operation in [run, unload, switch, give] {
                expect(e, "nothing", (operation, 0), none, Code::NotLoaded)?;
            }
        }
    }
    check_run(e, &key, 2, true, &mut dice)?;
    Ok(())
}

/// The state of each place: whether it is loaded, has an extracted ciphertext, has a switched one.
#[derive(Default)]
struct Held {
    loaded: [bool; 3],
    made: [bool; 3],
    switched: [bool; 3],
}

/// Sends a random command with streams that are right, too short or too long, and checks the code at the end.
fn random_command(engine: &mut Engine, key: &Key, held: &mut Held, dice: &mut Dice) -> Check {
    let shape = engine.shape();
    let operations = [
        Operation::Load,
        Operation::Run,
        Operation::Switch,
        Operation::Unload,
        Operation::Give,
        Operation::None,
    ];
    // Loads, runs and switches are frequent, so that there is something to run and to give.
    let operation = operations[[0, 0, 0, 1, 1, 2, 2, 3, 4, 5][dice.below(10) as usize]];
    let place = match dice.below(12) {
        0 => 3 + dice.below(253) as u8,
        _ => dice.below(3) as u8,
    };
    let upto = usize::from(place).min(2);
    let all = |flags: [bool; 3]| flags[..=upto].iter().all(|&flag| flag);
    let expected = |ready: bool| match (operation, place > 2) {
        (Operation::None, _) | (_, true) => Some(Code::BadCommand),
        _ if !ready => Some(Code::NotLoaded),
        _ => None,
    };
    // Draws the length of a stream whose right length is `right`, and returns it with the code that it must give.
    let length = |right: usize, dice: &mut Dice, short, long| match dice.below(4) {
        0 => (1 + dice.below(right as u64 - 1) as usize, short),
        1 => (right + 1 + dice.below(60) as usize, long),
        _ => (right, Code::Ok),
    };
    engine.stall(dice.chance(2).then(|| Dice::new(dice.bits())));
    let command = (operation, place);
    let (outcome, code) = match operation {
        Operation::Load => {
            let mut words = words(&Job::new(shape, dice));
            let right = words.len();
            let (sent, mut code) = length(right, dice, Code::CutShort, Code::TooLong);
            words.resize(sent, dice.bits() as u32);
            if code == Code::Ok && dice.chance(4) {
                words[right - 1] = 2 * shape.degree() as u32 + dice.below(1000) as u32;
                code = Code::BadExponent;
            }
            let refused = expected(true);
            if refused.is_none() {
                held.loaded[upto] = code == Code::Ok;
            }
            let input = match refused {
                Some(_) => Words::default(),
                None => Words::all(&words),
            };
            let streams = Streams {
                input,
                ..Streams::default()
            };
            (tell(engine, command, streams)?, refused.unwrap_or(code))
        }
        Operation::Run => {
            let refused = expected(all(held.loaded));
            let right = shape.key_total() as usize;
            // Whole runs take the longest, so that most runs are short.
            let (sent, code) = match dice.below(4) {
                0 => (right, Code::Ok),
                1 => (right + 1 + dice.below(60) as usize, Code::KeyLong),
                _ => (1 + dice.below(right as u64 / 4) as usize, Code::KeyShort),
            };
            if refused.is_none() {
                held.loaded[..=upto].fill(false);
                held.switched[..=upto].fill(false);
                held.made[..=upto].fill(code == Code::Ok);
            }
            let sent = if refused.is_some() { 0 } else { sent as u64 };
            let beats = (sent.wrapping_sub(1), sent);
            (
                run_with(engine, key, place, beats)?,
                refused.unwrap_or(code),
            )
        }
        Operation::Switch => {
            let refused = expected(all(held.made));
            let right = switch_words(shape) as usize;
            let (sent, code) = length(right, dice, Code::KeyShort, Code::KeyLong);
            if refused.is_none() {
                held.switched[..=upto].fill(code == Code::Ok);
            }
            let sent = if refused.is_some() { 0 } else { sent };
            (
                switch_with(engine, key, place, sent)?,
                refused.unwrap_or(code),
            )
        }
        Operation::Unload | Operation::Give | Operation::None => {
            let flags = match operation {
                Operation::Give => held.switched,
                _ => held.made,
            };
            let refused = expected(flags[upto]);
            let outcome = tell(engine, command, Streams::default())?;
            let code = refused.unwrap_or(Code::Ok);
            let words = match (operation, code) {
                (Operation::Unload, Code::Ok) => shape.degree() + 1,
                (Operation::Give, Code::Ok) => shape.sizes().dim + 1,
                _ => 0,
            };
            if outcome.words.len() != words {
                return differs(format!("{command:?} gives {outcome:?}"));
            }
            (outcome, code)
        }
    };
    if outcome.code != code || outcome.left != 0 {
        return differs(format!(
            "{command:?}: {:?} with {} words left, expected {code:?}",
            outcome.code, outcome.left
        ));
    }
    Ok(())
}

#[test]
fn wrong_commands_and_streams_are_answered() {
    check_refusals(hdl(), shape(), seed()).unwrap();
}

/// Sends random commands with right and wrong streams, each of which must be answered rightly. A bootstrap after each
/// round of them must be right.
fn hostile(rounds: usize, commands: usize) {
    let mut dice = Dice::new(seed());
    let key = Key::new(shape(), &mut dice).unwrap();
    let mut engine = engine(hdl(), shape()).unwrap();
    let mut held = Held::default();
    for _ in 0..rounds {
        for _ in 0..commands {
            random_command(&mut engine, &key, &mut held, &mut dice).unwrap();
        }
        check_run(&mut engine, &key, 2, true, &mut dice).unwrap();
        // The state that the bootstrap left behind.
        for place in 0..2 {
            (held.loaded[place], held.made[place], held.switched[place]) = (false, true, true);
        }
    }
}

#[test]
fn random_commands_are_answered() {
    hostile(2, 100);
}

#[test]
#[ignore = "thousands of commands; `make full` runs it"]
fn thousands_of_random_commands_are_answered() {
    hostile(20, 200);
}
