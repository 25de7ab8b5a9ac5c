// SPDX-License-Identifier: Apache-2.0
//! Tests of machines behind the shell, the module that connects them to AXI, as a host and a memory see them. Channels
//! stall at random, results must be those of the golden models, and wrong accesses and commands must be refused.

mod axi;
pub mod basext;
mod core;
pub mod faults;
mod ring;
pub mod torus;
pub mod vector;

use axi::{ANSWER, BUSY, Bus, COMMAND, CYCLES, ENABLE, END, EVENTS, OKAY, READ, SLVERR, WRITE};
use std::sync::{Mutex, PoisonError};

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::shell::{Register, answer as answers, busy, event};
use ringmill_hdl::{BuildOptions, Family, Hdl, HdlError, Top};
use ringmill_machines::polymul::isa::{Code, Opcode, Unit, command as fields, config};
use ringmill_machines::polymul::{ArrayOp, Shape, Tables, golden};

const ARRAY_DONE: u32 = 1 << Unit::Array as u32;
const LOAD_DONE: u32 = 1 << Unit::Load as u32;
const UNLOAD_DONE: u32 = 1 << Unit::Unload as u32;
const READ_DONE: u32 = event::READ_DONE.put(1) as u32;
const WRITE_DONE: u32 = event::WRITE_DONE.put(1) as u32;
const READ_ERROR: u32 = event::READ_ERROR.put(1) as u32;
const WRITE_ERROR: u32 = event::WRITE_ERROR.put(1) as u32;
const LENGTH: u32 = event::LENGTH.put(1) as u32;
/// An address above 4 GiB, three beats below the end of a page of 4 KiB.
const HERE: u64 = 0x5_0000_0fd0;

fn shape() -> Shape {
    Shape::new(4, 9, 4).expect("a shape that there is")
}

fn seed() -> u64 {
    let given = std::env::var("RINGMILL_SEED").ok();
    let seed = given.and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        std::time::UNIX_EPOCH
            .elapsed()
            .map_or(1, |since| since.as_nanos() as u64)
    });
    println!("RINGMILL_SEED={seed}");
    seed
}

fn hdl() -> Hdl {
    Hdl::find(std::path::Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the polynomial multiplier behind its shell on a bus. Threads build one after another, so that only the first
/// builds the model.
fn bus(hdl: &Hdl, seed: u64) -> Bus {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _guard = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let top = Top::new("rm_polymul_axi")
        .int("Units", shape().units() as u64)
        .int("MaxLogN", shape().max_log_n().into())
        .int("Beat", shape().beat() as u64);
    let model = hdl
        .model(&top, BuildOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    Bus::new(model, shape().beat(), 1, Dice::new(seed)).unwrap()
}

fn number(op: Opcode) -> u32 {
    fields::OP.put(op.bits()) as u32
}

fn at(set: u32, buf: u32, eval: bool) -> u32 {
    let place = fields::SET.put(set.into()) | fields::BUFFER.put(buf.into());
    (place | fields::EVAL.put(eval.into())) as u32
}

fn tables_of(log_n: u32) -> u32 {
    number(Opcode::Tables) | fields::LOG_N.put(log_n.into()) as u32
}

/// Sends a command and returns the code of the answer.
fn command(bus: &mut Bus, word: u32) -> Result<u32, HdlError> {
    bus.write(COMMAND, word)?;
    for _ in 0..100 {
        let answer = bus.read(ANSWER)?;
        if answers::ANSWERED.get(answer.into()) == 1 {
            return Ok(answers::CODE.get(answer.into()) as u32);
        }
    }
    panic!("command {word:#x} has no answer");
}

/// Writes words to memory, sends a command and reads the words into the machine. Returns the code with which the load
/// ended.
fn send(bus: &mut Bus, word: u32, address: u64, words: &[u32]) -> Result<u32, HdlError> {
    for (i, &word) in words.iter().enumerate() {
        bus.memory.insert(address + 4 * i as u64, word);
    }
    assert_eq!(command(bus, word)?, 0);
    bus.transfer(READ, address, words.len() / shape().beat())?;
    bus.wait(LOAD_DONE)?;
    bus.wait(READ_DONE)?;
    bus.read(END)
}

fn tables(bus: &mut Bus, n: usize, q: u64) -> Result<Tables, HdlError> {
    let tables = Tables::new(shape(), n, q).unwrap();
    let word = tables_of(n.ilog2());
    assert_eq!(send(bus, word, HERE, &tables.words(shape()))?, 0);
    Ok(tables)
}

fn load(bus: &mut Bus, place: u32, address: u64, limb: &[u64]) -> Result<(), HdlError> {
    let words: Vec<u32> = limb.iter().map(|&x| x as u32).collect();
    assert_eq!(send(bus, number(Opcode::Load) | place, address, &words)?, 0);
    Ok(())
}

fn unload(bus: &mut Bus, place: u32, address: u64, n: usize) -> Result<Vec<u64>, HdlError> {
    assert_eq!(command(bus, number(Opcode::Unload) | place)?, 0);
    bus.transfer(WRITE, address, n / shape().beat())?;
    bus.wait(WRITE_DONE)?;
    assert_eq!(bus.wait(UNLOAD_DONE | LENGTH | WRITE_ERROR)?, UNLOAD_DONE);
    Ok((0..n as u64)
        .map(|i| bus.word(address + 4 * i).into())
        .collect())
}

/// Every operation at two degrees gives the golden model's results, with random stalls on all ten channels and without
/// any.
fn operations_give_what_the_golden_model_gives(hdl: &Hdl) {
    let mut dice = Dice::new(seed());
    let mut bus = bus(hdl, dice.bits());
    for (stalls, n, q) in [
        (true, 256, 7681),
        (false, 512, 12289),
        (true, 512, 4_294_957_057),
    ] {
        bus.stall(stalls);
        let tables = tables(&mut bus, n, q).unwrap();
        let operations = [
            ArrayOp::Ntt,
            ArrayOp::Intt,
            ArrayOp::Mul,
            ArrayOp::Hpm,
            ArrayOp::Fpm,
            ArrayOp::Add,
            ArrayOp::Sub,
        ];
        for (number_of, op) in operations.into_iter().enumerate() {
            let set = (number_of % 2) as u32;
            let (a, b) = (dice.limb(n, q), dice.limb(n, q));
            // A new address each time, at a random beat of a page.
            let mut somewhere = || 0x9_0000_0000 + dice.below(4096) * 16;
            let forms = op.forms();
            load(&mut bus, at(set, 0, forms.a), somewhere(), &a).unwrap();
            if let Some(eval) = forms.b {
                load(&mut bus, at(set, 1, eval), somewhere(), &b).unwrap();
            }
            assert_eq!(
                command(&mut bus, number(op.opcode()) | at(set, 0, false)).unwrap(),
                0
            );
            bus.wait(ARRAY_DONE).unwrap();
            let (to, place) = (somewhere(), at(set, 0, forms.out));
            let before = (bus.word(to - 4), bus.word(to + 4 * n as u64));
            let got = unload(&mut bus, place, to, n).unwrap();
            assert_eq!(
                got,
                golden(&tables, op, &a, &b).unwrap(),
                "{op:?}, n = {n}, q = {q}"
            );
            let after = (bus.word(to - 4), bus.word(to + 4 * n as u64));
            assert_eq!(after, before, "a write beyond its ends");
        }
    }
    assert!(bus.bursts > 100, "{}", bus.bursts);
}

/// The array works on one set while memory is read into the other and written from it.
fn transfers_go_beside_each_other_and_the_array(hdl: &Hdl) {
    let mut dice = Dice::new(seed());
    let mut bus = bus(hdl, dice.bits());
    bus.stall(true);
    let (n, q) = (512, 12289);
    let tables = tables(&mut bus, n, q).unwrap();
    let [a, b, c, d] = [0; 4].map(|_| dice.limb(n, q));
    load(&mut bus, at(0, 0, false), 0x1000, &a).unwrap();
    load(&mut bus, at(0, 1, false), 0x3000, &b).unwrap();
    load(&mut bus, at(1, 0, false), 0x5000, &c).unwrap();
    assert_eq!(
        command(&mut bus, number(Opcode::Fpm) | at(0, 0, false)).unwrap(),
        0
    );
    assert_eq!(
        command(&mut bus, number(Opcode::Unload) | at(1, 0, false)).unwrap(),
        0
    );
    bus.transfer(WRITE, 0x7000, n / 4).unwrap();
    for (i, &x) in d.iter().enumerate() {
        bus.memory.insert(0x9000 + 4 * i as u64, x as u32);
    }
    assert_eq!(
        command(&mut bus, number(Opcode::Load) | at(1, 1, false)).unwrap(),
        0
    );
    bus.transfer(READ, 0x9000, n / 4).unwrap();
    // All three units are busy, and so are a read and a write.
    assert_eq!(bus.read(BUSY).unwrap(), 0b11_0000_0111);
    for event in [WRITE_DONE, READ_DONE, LOAD_DONE, UNLOAD_DONE, ARRAY_DONE] {
        bus.wait(event).unwrap();
    }
    assert_eq!(bus.read(BUSY).unwrap(), 0);
    let words = |bus: &Bus, from: u64| -> Vec<u64> {
        (0..n as u64)
            .map(|i| bus.word(from + 4 * i).into())
            .collect()
    };
    assert_eq!(words(&bus, 0x7000), c);
    let product = unload(&mut bus, at(0, 0, false), 0xb000, n).unwrap();
    assert_eq!(product, golden(&tables, ArrayOp::Fpm, &a, &b).unwrap());
    assert_eq!(unload(&mut bus, at(1, 1, false), 0xd000, n).unwrap(), d);
}

fn an_interrupt_stands_until_its_event_is_cleared(hdl: &Hdl) {
    let mut bus = bus(hdl, 1);
    bus.stall(true);
    tables(&mut bus, 256, 7681).unwrap();
    bus.write(ENABLE, READ_DONE).unwrap();
    assert_eq!(bus.read(ENABLE).unwrap(), READ_DONE);
    assert_eq!(command(&mut bus, number(Opcode::Load)).unwrap(), 0);
    assert!(!bus.interrupt().unwrap());
    bus.transfer(READ, 0x4000, 64).unwrap();
    let mut cycles = 0;
    while !bus.interrupt().unwrap() {
        bus.tick().unwrap();
        cycles += 1;
        assert!(cycles < 10_000);
    }
    bus.write(EVENTS, LOAD_DONE).unwrap();
    assert!(bus.interrupt().unwrap(), "another event was cleared");
    bus.write(ENABLE, WRITE_DONE).unwrap();
    bus.tick().unwrap();
    assert!(!bus.interrupt().unwrap(), "its event is not enabled");
    bus.write(ENABLE, READ_DONE).unwrap();
    bus.tick().unwrap();
    assert!(bus.interrupt().unwrap());
    bus.write(EVENTS, READ_DONE).unwrap();
    bus.tick().unwrap();
    assert!(!bus.interrupt().unwrap());
    assert_eq!(bus.read(EVENTS).unwrap(), 0);
}

fn registers_say_what_stands_here_and_count_cycles(hdl: &Hdl) {
    let mut bus = bus(hdl, 2);
    assert_eq!(bus.read(Register::Id.bits()).unwrap(), 0x524d_0001);
    assert_eq!(
        bus.read(Register::Machine.bits()).unwrap().to_be_bytes(),
        *b"POLY"
    );
    let config = config::MAX_LOG_N.put(9) | config::UNITS.put(4) | config::BEAT.put(4);
    assert_eq!(
        u64::from(bus.read(Register::Config.bits()).unwrap()),
        config
    );
    let mut count = || {
        let low = bus.read(CYCLES).unwrap();
        let now = bus.model.cycle();
        (
            u64::from(bus.read(CYCLES + 4).unwrap()) << 32 | u64::from(low),
            now,
        )
    };
    let ((first, then), (second, now)) = (count(), count());
    assert_eq!(second - first, now - then);
    assert!(first < then && then < first + 10, "{first} {then}");
}

fn what_makes_no_sense_is_refused(hdl: &Hdl) {
    let mut bus = bus(hdl, 3);
    bus.stall(true);
    // Refused are addresses without a register or between registers, writes of read-only registers, a read of a
    // write-only one, as well as writes of part of a word, and undefined events.
    for register in [0x0c, 0x30, 0x5c, 0x60, 0x800, 0xffc, 0x01, 0x42] {
        assert_eq!(bus.try_read(register).unwrap().1, SLVERR, "{register:#x}");
        assert_eq!(bus.try_write(register, 0).unwrap(), SLVERR, "{register:#x}");
    }
    for register in [0x00, 0x04, 0x08, ANSWER, BUSY, END, CYCLES, CYCLES + 4] {
        assert_eq!(bus.try_write(register, 0).unwrap(), SLVERR, "{register:#x}");
    }
    assert_eq!(bus.try_read(COMMAND).unwrap().1, SLVERR);
    assert_eq!(bus.write_bytes(ENABLE, 1, 0x7).unwrap(), SLVERR);
    assert_eq!(bus.try_write(ENABLE, 1 << 13).unwrap(), SLVERR);
    assert_eq!(bus.read(ENABLE).unwrap(), 0);

    // A write of half a word at the same time as a read, which it must not disturb; then writes that follow one another
    // at once.
    for round in 0..20 {
        let half = (ENABLE, 1, 0x3);
        assert_eq!(
            bus.write_beside_read(half, 0x04).unwrap(),
            (SLVERR, 0x504f_4c59)
        );
        let whole = (ENABLE, round, 0xf);
        assert_eq!(
            bus.write_beside_read(whole, 0x00).unwrap(),
            (OKAY, 0x524d_0001)
        );
        assert_eq!(bus.read(ENABLE).unwrap(), round);
        bus.write_at_once(&[(WRITE, 16 * round), (WRITE + 4, !round), (ENABLE, 0)])
            .unwrap();
        assert_eq!(bus.read(WRITE).unwrap(), 16 * round);
        assert_eq!(bus.read(WRITE + 4).unwrap(), !round);
        assert_eq!(bus.read(ENABLE).unwrap(), 0);
    }

    // Transfers that the shell refuses.
    bus.write(READ, 0x1008).unwrap();
    assert_eq!(bus.try_write(READ + 8, 4).unwrap(), SLVERR, "within a beat");
    bus.write(READ, 0x1000).unwrap();
    for beats in [0, 1 << 24, u32::MAX] {
        assert_eq!(
            bus.try_write(READ + 8, beats).unwrap(),
            SLVERR,
            "{beats} beats"
        );
    }
    assert_eq!(bus.read(BUSY).unwrap(), 0);

    // Refused commands: a load without tables, undefined bits, an undefined operation, and a degree that the machine
    // does not support.
    assert_eq!(
        command(&mut bus, number(Opcode::Load)).unwrap(),
        Code::NoTables as u32
    );
    for word in [1 << 13, 1 << 31] {
        assert_eq!(
            command(&mut bus, word).unwrap(),
            Code::BadOp as u32,
            "{word:#x}"
        );
    }
    assert_eq!(
        command(&mut bus, 15).unwrap(),
        Code::BadOp as u32,
        "no such command"
    );
    assert_eq!(
        command(&mut bus, tables_of(13)).unwrap(),
        Code::Unsupported as u32
    );

    // A second read while one is under way.
    tables(&mut bus, 256, 7681).unwrap();
    bus.transfer(READ, 0x1000, 64).unwrap();
    assert_eq!(bus.try_write(READ + 8, 64).unwrap(), SLVERR);
    assert_eq!(u64::from(bus.read(BUSY).unwrap()), busy::READ.put(1));
    assert_eq!(
        bus.read(EVENTS).unwrap() & READ_DONE,
        0,
        "nothing takes its words"
    );
    assert_eq!(command(&mut bus, number(Opcode::Load)).unwrap(), 0);
    bus.wait(READ_DONE).unwrap();
}

fn errors_of_memory_and_wrong_lengths_are_events(hdl: &Hdl) {
    let mut dice = Dice::new(seed());
    let mut bus = bus(hdl, dice.bits());
    bus.stall(true);
    let (n, q) = (256, 7681);
    tables(&mut bus, n, q).unwrap();
    let a = dice.limb(n, q);
    load(&mut bus, 0, 0x2000, &a).unwrap();
    assert_eq!(bus.read(EVENTS).unwrap(), 0);

    // Memory answers the last beats of a read, and the last burst of a write, with an error.
    bus.fenced = 0x23f0..u64::MAX;
    assert_eq!(
        send(
            &mut bus,
            number(Opcode::Load) | at(0, 1, false),
            0x2000,
            &[0; 256]
        )
        .unwrap(),
        0
    );
    assert_eq!(bus.wait(READ_ERROR).unwrap(), READ_ERROR);
    assert_eq!(command(&mut bus, number(Opcode::Unload)).unwrap(), 0);
    bus.transfer(WRITE, 0x2000, 64).unwrap();
    assert_eq!(
        bus.wait(WRITE_DONE | WRITE_ERROR).unwrap() & WRITE_ERROR,
        WRITE_ERROR
    );
    bus.wait(UNLOAD_DONE).unwrap();
    bus.fenced = 0..0;
    load(&mut bus, 0, 0x2000, &a).unwrap();
    bus.write(EVENTS, 0x1fff).unwrap();

    // A stream of 64 beats is written to a stretch of 80 beats: the rest of the stretch stays as it is.
    assert_eq!(command(&mut bus, number(Opcode::Unload)).unwrap(), 0);
    bus.transfer(WRITE, 0x8000, 80).unwrap();
    bus.wait(WRITE_DONE).unwrap();
    assert_eq!(bus.wait(LENGTH | WRITE_ERROR).unwrap(), LENGTH);
    let word = |bus: &Bus, i: u64| u64::from(bus.word(0x8000 + 4 * i));
    assert!((0..256).all(|i| word(&bus, i) == a[i as usize]));
    assert!(!bus.memory.contains_key(&(0x8000 + 4 * 256)));
    bus.wait(UNLOAD_DONE).unwrap();

    // Into a stretch of many more bursts, whose addresses come late: no empty beat goes before its address.
    bus.late = true;
    assert_eq!(command(&mut bus, number(Opcode::Unload)).unwrap(), 0);
    bus.transfer(WRITE, 0xc000, 320).unwrap();
    bus.wait(WRITE_DONE).unwrap();
    assert_eq!(bus.wait(LENGTH | WRITE_ERROR).unwrap(), LENGTH);
    assert!((0..256).all(|i| u64::from(bus.word(0xc000 + 4 * i)) == a[i as usize]));
    assert!(!bus.memory.contains_key(&(0xc000 + 4 * 256)));
    bus.wait(UNLOAD_DONE).unwrap();
    bus.late = false;

    // Into one of 40: what is left waits for the next.
    assert_eq!(command(&mut bus, number(Opcode::Unload)).unwrap(), 0);
    bus.transfer(WRITE, 0xa000, 40).unwrap();
    bus.wait(WRITE_DONE).unwrap();
    assert_eq!(bus.wait(LENGTH).unwrap(), LENGTH);
    bus.transfer(WRITE, 0xa000 + 40 * 16, 24).unwrap();
    bus.wait(WRITE_DONE).unwrap();
    assert_eq!(bus.read(EVENTS).unwrap(), UNLOAD_DONE);
    assert!((0..256).all(|i| u64::from(bus.word(0xa000 + 4 * i)) == a[i as usize]));

    // A load whose stream never comes, which an abort ends.
    assert_eq!(command(&mut bus, number(Opcode::Load)).unwrap(), 0);
    assert_eq!(command(&mut bus, number(Opcode::Abort)).unwrap(), 0);
    bus.wait(LOAD_DONE).unwrap();
    assert_eq!(bus.read(END).unwrap(), Code::Aborted as u32);

    // A write of a single beat that no unit sends.
    assert_eq!(bus.try_write(WRITE + 8, 1).unwrap(), OKAY);
    assert_eq!(u64::from(bus.read(BUSY).unwrap()), busy::WRITE.put(1));
}

/// Every check, to be run on the RTL as it is and with faults in it.
const CHECKS: [fn(&Hdl); 6] = [
    operations_give_what_the_golden_model_gives,
    transfers_go_beside_each_other_and_the_array,
    an_interrupt_stands_until_its_event_is_cleared,
    registers_say_what_stands_here_and_count_cycles,
    what_makes_no_sense_is_refused,
    errors_of_memory_and_wrong_lengths_are_events,
];

#[test]
fn operations() {
    CHECKS[0](&hdl());
}

#[test]
fn transfers() {
    CHECKS[1](&hdl());
}

#[test]
fn interrupts() {
    CHECKS[2](&hdl());
}

#[test]
fn registers() {
    CHECKS[3](&hdl());
}

#[test]
fn refusals() {
    CHECKS[4](&hdl());
}

#[test]
fn errors() {
    CHECKS[5](&hdl());
}

#[test]
#[ignore = "one by one; `make full` runs it"]
fn every_module_lints() {
    let hdl = hdl();
    let room = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl/bus");
    let files = std::fs::read_dir(room)
        .unwrap()
        .map(|file| file.unwrap().path());
    let modules: Vec<String> = files
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    assert!(modules.len() >= 6);
    for module in modules {
        hdl.lint(&Top::new(module))
            .unwrap_or_else(|e| panic!("{e}"));
    }
}

/// The shell and its parts synthesise without latches or unknown cells, and their longest paths are within the bar of
/// docs/rtl.md.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn the_shell_synthesises_within_the_bar() {
    let modules = ["rm_shell", "rm_beat_words", "rm_word_beats", "rm_beat_join"];
    let mut tops = modules.map(Top::new).to_vec();
    tops.push(Top::new("rm_shell").int("Counts", 2));
    for top in tops {
        let made = hdl().synthesise(&top).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(made.resources.other, [].into(), "{top}");
        let paths = hdl().levels(&top, Family::Xc7).unwrap().paths;
        assert!(paths.within_bar(), "{top}: {paths:?}");
    }
}
