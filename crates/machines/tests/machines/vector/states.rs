// SPDX-License-Identifier: Apache-2.0
//! States of the vector machine that are kept and resumed.

use ringmill_isa::vector::{Chunk, Instr, MicroOp, Place, Register, Shape};
use ringmill_machines::internals::{COUNTINGS, States};
use ringmill_machines::vector::{Clockwork, Description};
use ringmill_math::Prng;

const PLACES: u16 = 8;
const CHUNKS: u16 = 4;

fn machine() -> (Description, Shape) {
    let mut d = Description::read(Description::PAPER).unwrap();
    (d.log_radix, d.log_lanes, d.queue) = (3, 4, 16);
    let chunks = u32::from(PLACES * CHUNKS);
    let shape = Shape {
        chunks,
        ..d.shape(6)
    };
    (d, shape)
}

fn program(prng: &mut Prng, count: usize) -> Vec<Instr> {
    let mut below = |limit: u16| {
        let mut bytes = [0; 4];
        prng.fill_bytes(&mut bytes);
        (u32::from_le_bytes(bytes) % u32::from(limit)) as u16
    };
    let mut made = Vec::new();
    while made.len() < count {
        let mut chunk = || Place::Chunk(Chunk(below(PLACES * CHUNKS)));
        let (d, a) = (chunk(), chunk());
        let register = Place::Register(Register(below(4) as u8));
        let of = |op, d, a| Instr {
            d,
            a,
            ..Instr::new(op)
        };
        made.push(match below(8) {
            0 => of(MicroOp::Mov, register, a),
            1 => of(MicroOp::Mov, d, register),
            2 => of(MicroOp::Muli, Place::Accumulator, a),
            3 => of(MicroOp::Ntt1, d, d),
            4 => of(MicroOp::Ntt2, d, a),
            5 => Instr {
                n: below(64).into(),
                ..of(MicroOp::Load, d, Place::None)
            },
            6 => Instr {
                n: below(64).into(),
                ..of(MicroOp::Store, Place::None, a)
            },
            _ => {
                let first = |place: u16| Place::Chunk(Chunk(place % PLACES * CHUNKS));
                let to = below(PLACES);
                Instr {
                    n: 3,
                    ..of(MicroOp::Morph, first(to), first(to + 1))
                }
            }
        });
    }
    made
}

fn renamed(instr: &Instr, place: impl Fn(u16) -> u16) -> Instr {
    let of = |at: Place| match at {
        Place::Chunk(Chunk(c)) => Place::Chunk(Chunk(place(c / CHUNKS) * CHUNKS + c % CHUNKS)),
        other => other,
    };
    Instr {
        d: of(instr.d),
        a: of(instr.a),
        ..*instr
    }
}

/// Checks that a state which is kept and resumed goes on as its machine, even with other numbers for the buffer's
/// places. States that differ in those numbers alone are one state.
#[test]
fn a_state_goes_on_as_its_machine() {
    let (d, shape) = machine();
    let mut prng = Prng::from_seed_for_reproducible_tests_only([3; 32]);
    let mut states = States::default();
    let mut last = 0;
    for _ in 0..200 {
        let before = program(&mut prng, 40);
        let after = program(&mut prng, 40);
        let other = |place: u16| (5 * place + 3) % PLACES;
        let start = || COUNTINGS.map(|c| Clockwork::new(&d, shape, c));
        let (mut plain, mut moved) = (start(), start());
        for instr in &before {
            let there = renamed(instr, other);
            for (plain, moved) in plain.iter_mut().zip(&mut moved) {
                let sent = plain.step(instr).unwrap();
                assert_eq!(moved.step(&there).unwrap(), sent);
            }
        }
        let (noted, same) = (states.note(&plain), states.note(&moved));
        assert_eq!(noted.number, same.number);
        last = last.max(noted.number);
        let places = noted.places.iter().map(|&p| u32::from(other(p as u16)));
        assert_eq!(same.places, places.collect::<Vec<_>>());
        let mut awake = states.awake(&same, PLACES.into()).unwrap();
        for instr in &after {
            let there = renamed(instr, other);
            for (plain, awake) in plain.iter_mut().zip(&mut awake) {
                let (was, since) = (plain.now(), awake.now());
                let sent = plain.step(instr).unwrap();
                assert_eq!(awake.step(&there).unwrap() - since, sent - was);
            }
        }
        for (a, b) in plain.iter_mut().zip(&mut awake) {
            let (was, since) = (a.now(), b.now());
            assert_eq!(a.drain() - was, b.drain() - since);
        }
    }
    // States are numbered from 0 on, so there are over 100.
    assert!(last >= 100);
}
