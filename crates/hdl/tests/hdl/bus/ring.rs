// SPDX-License-Identifier: Apache-2.0
//! Tests of the ring machine behind the shell: tables, programs and limbs go through memory, with random stalls on all
//! channels, and wrong commands, entries and limbs must be refused.

use std::sync::{Mutex, PoisonError};

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::{Tables, program_entries, size_entries, top};
use ringmill_hdl::shell::Register;
use ringmill_hdl::{BuildOptions, Hdl, Top};
use ringmill_isa::Galois;
use ringmill_isa::micro::Field;
use ringmill_machines::ring::Description;
use ringmill_machines::ring::encode::encode;
use ringmill_machines::ring::isa::{Answer, Asked, Code, Command, TableKind, config, entry, want};
use ringmill_machines::ring::isa::{command as fields, end};
use ringmill_machines::ring::micro::{LINK_QUEUE, OpWord, Opcode, Operand, Unit, Word};
use ringmill_math::RingKind;

use crate::bus::axi::{BUSY, Bus, END, READ, WRITE};
use crate::bus::{LENGTH, READ_DONE, WRITE_DONE, command, hdl, seed};

const DONE: u32 = 1;
const WANTED: u32 = 2;
/// Addresses above 4 GiB for reads, 192 bytes below the end of a page, and for writes.
const HERE: u64 = 0x5_0000_0f40;
const THERE: u64 = 0x7_0001_0000;
/// The number of 32-bit words in a beat.
const WORDS: usize = 8;
const Q: u64 = (1 << 53) + (1 << 20) - (1 << 17) + 1;

/// Returns a machine of one RPAU with 4 butterflies and 2 dyadic cores, for N = 2^6.
fn description() -> Description {
    let mut d = Description::parse(Description::STORED).unwrap();
    d.log_n = 6;
    d.rpaus = 1;
    d.cores.butterfly = 4;
    d.cores.dyadic = 2;
    d.row = 4;
    d.main.lanes = 4;
    d.keys.group = 2;
    d.keys.slots = 2;
    d.generator.residues_per_cycle = 2;
    d.ring.lanes = 4;
    d.stand_in.clear();
    for group in &mut d.memory {
        group.residues = group.residues.map(|_| 2);
    }
    d.check().unwrap();
    d
}

fn bus(hdl: &Hdl, seed: u64) -> Bus {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _guard = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let machine = top(&description(), &[Q]).unwrap();
    let top = Top {
        module: "rm_ring_axi".to_owned(),
        ..machine
    };
    let top = top.int("DataWidth", 32 * WORDS as u64);
    let model = hdl
        .model(&top, BuildOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    Bus::new(model, WORDS, 1, Dice::new(seed)).unwrap()
}

/// Returns a command's word. `byte` says which byte [`Command::Ask`] asks for; other commands have 0.
fn word(op: Command, byte: u64) -> u32 {
    (fields::OP.put(op.bits()) | fields::BYTE.put(byte)) as u32
}

/// Writes words of 64 bits to memory and returns the number of beats that they take.
fn lay(bus: &mut Bus, words: &[u64]) -> usize {
    for (at, &word) in words.iter().enumerate() {
        bus.lay(HERE, 2 * at, word as u32);
        bus.lay(HERE, 2 * at + 1, (word >> 32) as u32);
    }
    words.len().div_ceil(WORDS / 2)
}

/// Sends a command with byte 0 and returns the answer.
fn send(bus: &mut Bus, op: Command) -> Answer {
    let answer = command(bus, word(op, 0)).unwrap();
    Answer::from_bits(answer.into()).unwrap()
}

/// Returns the code with which the last command ended.
fn ended(bus: &mut Bus) -> Code {
    let code = end::CODE.get(bus.read(END).unwrap().into());
    Code::from_bits(code).unwrap()
}

/// Sends entries of tables and returns the code at the end.
fn tables(bus: &mut Bus, entries: &[[u64; 2]]) -> Code {
    let mut words = entries.as_flattened().to_vec();
    // The last entry is repeated until the last beat is full.
    while !words.len().is_multiple_of(WORDS / 2) {
        let last = *entries.last().unwrap();
        words.extend(last);
    }
    let beats = lay(bus, &words);
    assert_eq!(send(bus, Command::Tables), Answer::Taken);
    bus.transfer(READ, HERE, beats).unwrap();
    bus.wait(DONE).unwrap();
    bus.wait(READ_DONE).unwrap();
    ended(bus)
}

fn op(op: Opcode, dst: u8, a: u8) -> Word {
    Word::Op(OpWord {
        op,
        controller: 0,
        unit: Unit::Main,
        mask: 1,
        ring: RingKind::Full,
        layer: 0,
        dst,
        a,
        b: Operand::None,
        c: 0,
        imm: 0,
    })
}

fn with(word: Word, b: Operand, imm: u16) -> Word {
    match word {
        Word::Op(w) => Word::Op(OpWord { b, imm, ..w }),
        other => other,
    }
}

fn streams(words: &[Word]) -> [Vec<u64>; 4] {
    let end = [Word::End];
    std::array::from_fn(|s| {
        let words = if s == 0 { words } else { &[] };
        words.iter().chain(&end).map(encode).collect()
    })
}

/// Asks which transfer the link waits for. Returns whether it is a store, whether it is of a key, and its place.
fn asked(bus: &mut Bus) -> (bool, bool, u32) {
    let mut byte = |first: Asked, more: u64| {
        let ask = word(Command::Ask, first.bits() + more);
        u64::from(command(bus, ask).unwrap())
    };
    let what = byte(Asked::Want, 0);
    let (low, high) = (byte(Asked::Place, 0), byte(Asked::Place, 1));
    assert_eq!(want::RPAU.get(what), 0, "the RPAU");
    let is = |field: Field| field.get(what) == 1;
    (is(want::STORE), is(want::KEY), (low | high << 8) as u32)
}

/// Waits until the link asks for a limb, checks that it is the expected one (whether a key, its place), and sends it.
fn load(bus: &mut Bus, expected: (bool, u32), limb: &[u64]) {
    bus.wait(WANTED).unwrap();
    assert_eq!(asked(bus), (false, expected.0, expected.1));
    let beats = lay(bus, limb);
    bus.transfer(READ, HERE, beats).unwrap();
    bus.wait(READ_DONE).unwrap();
}

/// Computes (a b)(x^g) modulo x^N + 1 and Q by the definition, where g is `galois`.
fn product(a: &[u64], b: &[u64], galois: usize) -> Vec<u64> {
    let n = a.len();
    let q = u128::from(Q);
    let mut out = vec![0u128; n];
    let mut put = |at: usize, x: u128| {
        let x = if at / n % 2 == 1 { q - x } else { x };
        out[at % n] = (out[at % n] + x) % q;
    };
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            put((i + j) * galois, u128::from(x) * u128::from(y) % q);
        }
    }
    out.into_iter().map(|x| x as u64).collect()
}

/// Checks a program that multiplies a polynomial by a key and applies an automorphism: it loads, transforms, and stores
/// the result.
fn check(bus: &mut Bus, dice: &mut Dice) {
    let n = 1 << description().log_n;
    let wait = Word::Wait {
        queue: LINK_QUEUE as u8,
        count: 2,
    };
    let words = [
        with(op(Opcode::Load, 8, 0), Operand::None, 0x321),
        with(op(Opcode::Load, 0, 0), Operand::Key(5), 0),
        wait,
        op(Opcode::Ntt, 9, 8),
        with(op(Opcode::Mul, 10, 9), Operand::Key(5), 0),
        op(Opcode::Intt, 1, 10),
        with(op(Opcode::Autoc, 2, 1), Operand::None, 1),
        Word::Wait { queue: 0, count: 4 },
        with(op(Opcode::Store, 0, 2), Operand::None, 0xfed),
    ];
    let galois = [Galois(3), Galois(2 * n as u32 - 5)];
    let procedure = Tables {
        keys: vec![(5, 1)],
        galois: &galois,
        ..Tables::default()
    };
    let mut entries = procedure.entries(0);
    entries.extend(program_entries(&streams(&words)));
    assert_eq!(tables(bus, &entries), Code::Ok);
    assert_eq!(send(bus, Command::Run), Answer::Taken);
    assert_eq!(send(bus, Command::Run), Answer::Busy);
    assert_eq!(send(bus, Command::Tables), Answer::Busy);
    let (a, b) = (dice.limb(n, Q), dice.limb(n, Q));
    load(bus, (false, 0x321), &a);
    // The other factor is a key, in evaluation form.
    let mut key = b.clone();
    let q = ringmill_math::Modulus::new(Q).unwrap();
    let ring = ringmill_math::Ring::full(6);
    ringmill_math::NttPlan::shared(q, ring)
        .unwrap()
        .forward(&mut key)
        .unwrap();
    load(bus, (true, 5), &key);
    bus.wait(WANTED).unwrap();
    assert_eq!(asked(bus), (true, false, 0xfed));
    assert_eq!(bus.read(BUSY).unwrap(), 3);
    bus.transfer(WRITE, THERE, 2 * n / WORDS).unwrap();
    bus.wait(WRITE_DONE).unwrap();
    bus.wait(DONE).unwrap();
    assert_eq!(ended(bus), Code::Ok);
    assert_eq!(bus.read(crate::bus::EVENTS).unwrap() & LENGTH, 0);
    let word = |at| u64::from(bus.lies(THERE, at));
    let found: Vec<u64> = (0..n)
        .map(|i| word(2 * i) | word(2 * i + 1) << 32)
        .collect();
    assert_eq!(found, product(&a, &b, galois[1].0 as usize));
}

#[test]
#[ignore = "a model of its own; `make full` runs it"]
fn a_product_goes_through_memory() {
    let mut dice = Dice::new(seed());
    let mut bus = bus(&hdl(), dice.bits());
    assert_eq!(
        bus.read(Register::Machine.bits()).unwrap().to_be_bytes(),
        *b"RING"
    );
    let config = config::LOG_N.put(6)
        | config::RPAUS.put(1)
        | config::LOG_ROW.put(2)
        | config::LOG_LANES.put(1)
        | config::SHARED.put(8)
        | config::SINGLES.put(3)
        | config::NARROW.put(2)
        | config::LOG_WORDS.put(u64::from((WORDS / 2).ilog2()));
    assert_eq!(
        u64::from(bus.read(Register::Config.bits()).unwrap()),
        config
    );
    let twiddles = size_entries(&description(), &[Q], 6).unwrap();
    assert_eq!(tables(&mut bus, &twiddles), Code::Ok);
    for stalls in [true, false] {
        bus.stall(stalls);
        check(&mut bus, &mut dice);
    }
}

/// Wrong commands, table entries and limbs are refused, and the next product is right.
#[test]
#[ignore = "a model of its own; `make full` runs it"]
fn what_makes_no_sense_is_refused() {
    let mut dice = Dice::new(seed());
    let mut bus = bus(&hdl(), dice.bits());
    bus.stall(true);
    let run = word(Command::Run, 0) | 1 << 31;
    let asks = word(Command::Ask, 0) | 1 << 12;
    for wrong in [3, 7, 1 << 3, word(Command::Tables, 1), run, asks] {
        let answer = command(&mut bus, wrong).unwrap();
        assert_eq!(u64::from(answer), Answer::BadCommand.bits(), "{wrong:#x}");
    }
    assert_eq!(bus.read(BUSY).unwrap(), 0);
    // Entries of a kind, size, table, row, RPAU, prime, key slot or seed place that the machine does not have.
    let raw = |kind: u64, table: u64, row: u64, rpaus: u64, data: u64| {
        let place = entry::ADDRESS.put(row) | entry::TABLE.put(table);
        // A multiplication, because kind 16 has a bit above the field.
        let kind = entry::KIND.put(1) * kind;
        [place | kind | entry::RPAUS.put(rpaus), data]
    };
    let entry =
        |kind: TableKind, table, row, rpaus, data| raw(kind.bits(), table, row, rpaus, data);
    for wrong in [
        raw(14, 0, 0, 1, 0),
        entry(TableKind::Size, 0, 0, 0, 2),
        entry(TableKind::Size, 0, 0, 0, 7),
        entry(TableKind::Size, 0, 1, 0, 6),
        entry(TableKind::Prime, 0, 0, 1, 1),
        entry(TableKind::Constant, 1, 0, 1, 0),
        entry(TableKind::Constant, 0, 256, 1, 0),
        entry(TableKind::Constant, 0, 0, 2, 0),
        entry(TableKind::Program, 4, 0, 0, 0),
        entry(TableKind::Program, 0, 4096, 0, 0),
        entry(TableKind::FlatB, 1, 0, 1, 0),
        entry(TableKind::KeySlot, 0, 0, 1, 2),
        entry(TableKind::SeedPlace, 0, 0, 1, 64),
        raw(16, 0, 0, 1, 0),
    ] {
        let good = entry(TableKind::Constant, 0, 1, 1, 7);
        assert_eq!(
            tables(&mut bus, &[good, wrong, good, good]),
            Code::Table,
            "{wrong:x?}"
        );
        assert_eq!(tables(&mut bus, &[good]), Code::Ok);
    }
    let twiddles = size_entries(&description(), &[Q], 6).unwrap();
    assert_eq!(tables(&mut bus, &twiddles), Code::Ok);
    // Limbs that are a beat too short, a beat too long, and twice as long as they should be.
    let n = 1 << description().log_n;
    for more in [n - WORDS / 2, n + WORDS / 2, 2 * n] {
        let words = [op(Opcode::Load, 3, 0)];
        assert_eq!(
            tables(&mut bus, &program_entries(&streams(&words))),
            Code::Ok
        );
        assert_eq!(send(&mut bus, Command::Run), Answer::Taken);
        load(&mut bus, (false, 0), &vec![1; more]);
        bus.wait(DONE).unwrap();
        assert_eq!(ended(&mut bus), Code::Link);
    }
    check(&mut bus, &mut dice);
}
