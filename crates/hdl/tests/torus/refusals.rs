//! What is wrong is answered by its code, nothing locks up, and the next bootstrap runs.

use ringmill_hdl::Hdl;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::torus::{Code, Command, Engine, KeyBeat, Operation};

use crate::bench::{Failure, Job, Key, check_run, differs, engine, hdl, seed, small};

/// The words of a load.
fn words(job: &Job) -> Vec<u32> {
    let exponents = job.mask.iter().map(|&a| a as u32);
    (std::iter::once(job.minus_body as u32))
        .chain(job.table.iter().map(|&x| x as u32))
        .chain(exponents)
        .collect()
}

fn expect(
    engine: &mut Engine,
    what: &str,
    command: (Operation, u8),
    input: &[u32],
    last: usize,
    code: Code,
) -> Result<(), Failure> {
    let (operation, place) = command;
    let outcome = engine.command(Command { operation, place }, input, last, None)?;
    if outcome.code != code || outcome.left != 0 {
        return differs(format!("{what}: {outcome:?}, expected {code:?}"));
    }
    Ok(())
}

/// A run whose key ends with beat `last` of those sent, and after `sent` beats in any case.
fn wrong_key(
    engine: &mut Engine,
    key: &Key,
    last: u64,
    sent: u64,
    code: Code,
) -> Result<(), Failure> {
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
    let command = Command {
        operation: Operation::Run,
        place: 0,
    };
    let outcome = engine.command(command, &[], 0, Some(&mut beats))?;
    if outcome.code != code || outcome.key_taken != sent {
        return differs(format!(
            "a key of {sent} beats, {last} the last: {outcome:?}"
        ));
    }
    Ok(())
}

pub fn check_refusals(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    let shape = small(1, 2, 24);
    let mut dice = Dice::new(seed);
    let key = Key::new(shape, &mut dice)?;
    let mut engine = engine(hdl, shape)?;
    let e = &mut engine;
    let job = Job::new(shape, &mut dice);
    let good = words(&job);
    let all = good.len();
    let (load, run, unload) = (Operation::Load, Operation::Run, Operation::Unload);
    // Before anything is loaded.
    expect(e, "run", (run, 0), &[], 0, Code::NotLoaded)?;
    expect(e, "unload", (unload, 1), &[], 0, Code::NotLoaded)?;
    expect(
        e,
        "no command",
        (Operation::None, 0),
        &[],
        0,
        Code::BadCommand,
    )?;
    for operation in [load, run, unload] {
        for place in [2, 3, 130, 255] {
            expect(e, "no place", (operation, place), &[], 0, Code::BadCommand)?;
        }
    }
    // Exponents that are none: of the body, of the first and the last bit of the mask.
    let two_n = 2 * shape.degree() as u32;
    for at in [0, shape.degree() + 1, all - 1] {
        for value in [two_n, u32::MAX] {
            let mut bad = good.clone();
            bad[at] = value;
            expect(e, "exponent", (load, 0), &bad, all, Code::BadExponent)?;
            expect(e, "run", (run, 0), &[], 0, Code::NotLoaded)?;
        }
    }
    // Streams that end early, after the first word, in the table, in the mask; and that go on.
    for last in [1, 2, shape.degree(), shape.degree() + 1, all - 1] {
        expect(e, "short", (load, 0), &good[..last], last, Code::CutShort)?;
        expect(e, "run", (run, 0), &[], 0, Code::NotLoaded)?;
    }
    for more in [1, 40] {
        let mut long = good.clone();
        long.resize(all + more, 7);
        expect(e, "long", (load, 0), &long, all + more, Code::TooLong)?;
        expect(e, "run", (run, 0), &[], 0, Code::NotLoaded)?;
    }
    // A place that is loaded, and another that is not.
    expect(e, "load", (load, 0), &good, all, Code::Ok)?;
    expect(e, "run", (run, 1), &[], 0, Code::NotLoaded)?;
    check_run(e, &key, 1, false, &mut dice)?;
    // A place that was run has nothing to run.
    expect(e, "run", (run, 0), &[], 0, Code::NotLoaded)?;
    // Keys that end early, at the first beat, in a step, before the last; and that go on. The run leaves nothing behind.
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
            expect(e, "load", (load, 0), &good, all, Code::Ok)?;
            e.stall(stalls.then(|| Dice::new(dice.bits())));
            wrong_key(e, &key, last, sent, code)?;
            e.stall(None);
            expect(e, "run", (run, 0), &[], 0, Code::NotLoaded)?;
            expect(e, "unload", (unload, 0), &[], 0, Code::NotLoaded)?;
        }
    }
    check_run(e, &key, 2, true, &mut dice)?;
    Ok(())
}

#[test]
fn wrong_commands_and_streams_are_answered() {
    check_refusals(hdl(), seed()).unwrap();
}
