// SPDX-License-Identifier: Apache-2.0
//! Tests the ring machine's cycles against the formulas of docs/machines/ring.md, computed by hand, and the figures of
//! the Medha paper's Table 2.

use std::sync::Arc;

use ringmill_device::report::MachineReport;
use ringmill_isa::mid::{Procedure, Program, Verified};
use ringmill_machines::fpga::lazy_mul_latency;
use ringmill_machines::ring::RingUse;
use ringmill_machines::ring::board::Board;
use ringmill_machines::ring::micro::{OpWord, Opcode, Operand, Unit};
use ringmill_machines::ring::{Description, timing};
use ringmill_machines::{Machine, SimOptions};
use ringmill_math::RingKind;
use ringmill_schemes::ckks::params::Params;
use ringmill_schemes::ckks::{Level, OpKey, ProcCache};

fn word(op: Opcode, unit: Unit) -> OpWord {
    OpWord {
        op,
        controller: 0,
        unit,
        mask: 1,
        ring: RingKind::Full,
        layer: 0,
        dst: 9,
        a: 8,
        b: Operand::None,
        c: 0,
        imm: 0,
    }
}

fn cycles(text: &str, w: OpWord) -> u64 {
    let d = Description::parse(text).unwrap();
    timing::duration(&d, &d.slot_groups(), 14, &w).total
}

/// The latencies in cycles are issue 1, address 2, read 2, port 1 and network 2 each way, core 12 + 1, and write 1. N
/// is 2^14, and a row has 32 coefficients.
#[test]
fn every_word_takes_the_cycles_of_its_formula() {
    let medha = |w| cycles(Description::MEDHA, w);
    let main = |op| word(op, Unit::Main);
    let dyadic = |op| word(op, Unit::Dyadic);
    // 14 passes of 512 steps without waits between them, since the pipeline of 22 cycles is shorter than 512 / 2.
    assert_eq!(medha(main(Opcode::Ntt)), 3 + 14 * 512 + 22);
    assert_eq!(medha(main(Opcode::Intt)), 7193);
    // Each row of a result is written one step after the rows of its operands are read.
    assert_eq!(medha(main(Opcode::Split)), 3 + 1024 + 1 + 22);
    assert_eq!(medha(main(Opcode::Join)), 1050);
    assert_eq!(medha(main(Opcode::Auto)), 3 + 512 + 22 + 2);
    assert_eq!(medha(main(Opcode::Autoh)), 3 + 1024 + 22 + 2);
    for op in [
        Opcode::Copy,
        Opcode::Add,
        Opcode::Addi,
        Opcode::Muli,
        Opcode::Red,
    ] {
        assert_eq!(medha(main(op)), 3 + 512 + 22, "{op:?}");
        // Row buffers take the place of the network, and a turn of the port takes up to 7 cycles: 2 + 2 x (1 + 1 + 7) +
        // 13 + 1.
        assert_eq!(medha(dyadic(op)), 3 + 4096 + 34, "{op:?}");
    }
    let keyed = OpWord {
        b: Operand::Key(0),
        ..main(Opcode::Mul)
    };
    assert_eq!(medha(keyed), 3 + 512 + 22 + 1);
    let generated = OpWord {
        b: Operand::Generator,
        ..dyadic(Opcode::Mac)
    };
    assert_eq!(medha(generated), 3 + 4096 + 34 + 84 + 9);
    // `PRNG` has no operand, and the same latency.
    assert_eq!(
        medha(word(Opcode::Prng, Unit::Dyadic)),
        3 + 4096 + 34 + 84 + 9
    );
    // Two operands in slots of one port take two reads a row; one operand twice takes one.
    let shared = OpWord {
        a: 0,
        b: Operand::Slot(1),
        ..main(Opcode::Mul)
    };
    assert_eq!(medha(shared), 3 + 1024 + 22);
    for b in [0, 8] {
        let b = Operand::Slot(b);
        assert_eq!(medha(OpWord { b, ..shared }), 537);
    }
    // `ring-stored` has passes of two stages, on two cores one behind the other.
    let stored = |w| cycles(Description::STORED, w);
    assert_eq!(stored(main(Opcode::Ntt)), 3 + 7 * 512 + 22 + 13);
    assert_eq!(stored(main(Opcode::Split)), 1050);
    assert_eq!(stored(main(Opcode::Mac)), 537);
    assert_eq!(stored(shared), 1049);
}

/// The generator of an RPAU makes one limb at a time, for a word of either unit.
#[test]
fn words_of_both_units_take_turns_of_the_generator() {
    let d = Description::parse(Description::STORED).unwrap();
    let product = |unit, slot| OpWord {
        b: Operand::Generator,
        dst: slot,
        a: slot,
        ..word(Opcode::Mul, unit)
    };
    let units = [Unit::Main, Unit::Dyadic];
    for (first, second) in [(units[0], units[1]), (units[1], units[0])] {
        let mut board = Board::new(&d, 14);
        let end = board.start(&d, &product(first, 8), 0).total;
        let other = product(second, 9);
        assert!(!board.can_start(&other, end - 1) && board.can_start(&other, end));
        // Another RPAU has a generator of its own. A word that needs no generator starts beside this one.
        let elsewhere = OpWord { mask: 2, ..other };
        let alone = OpWord {
            b: Operand::None,
            ..other
        };
        assert!(board.can_start(&elsewhere, 1) && board.can_start(&alone, 1));
    }
}

/// RPM 11 and 12 share ports of eight residues a cycle.
#[test]
fn narrow_slots_are_slow_and_take_no_rows() {
    let d = Description::parse(Description::MEDHA).unwrap();
    let of = |w| timing::duration(&d, &d.slot_groups(), 14, &w);
    let main = |op| word(op, Unit::Main);
    let from = |a, w| OpWord { a, ..w };
    let with = |s, w| OpWord {
        b: Operand::Slot(s),
        ..w
    };
    assert_eq!(of(with(11, main(Opcode::Mul))).total, 3 + 2048 + 22);
    assert_eq!(
        of(from(11, with(12, main(Opcode::Mul)))).total,
        3 + 4096 + 22
    );
    let dyadic = word(Opcode::Mac, Unit::Dyadic);
    assert_eq!(of(from(11, with(12, dyadic))).total, 3 + 4096 + 34);
    let into = |dst, w| OpWord { dst, ..w };
    // The last of a row's four parts is written three cycles after the first.
    assert_eq!(of(into(11, main(Opcode::Copy))).total, 3 + 2048 + 22 + 3);
    assert_eq!(of(into(11, main(Opcode::Auto))).total, 3 + 2048 + 24 + 3);
    // Words with two results read and write each row at the rate of its slot. The second result's row comes after the
    // first one's.
    let pair = |dst, c, a, b, op| {
        let w = with(b, from(a, into(dst, main(op))));
        of(OpWord { c, ..w }).total
    };
    for (dst, c, a, b, split, halves) in [
        (0, 8, 1, 9, 1024 + 1, 1024),
        (0, 8, 11, 9, 2048 + 1, 4096),
        (0, 8, 11, 12, 4096 + 1, 4096),
        (0, 8, 12, 12, 2048 + 1, 4096),
        (0, 11, 1, 9, 2048 + 1 + 3, 4096 + 3),
        (11, 0, 1, 9, 2048 + 3, 4096),
        (11, 12, 1, 9, 4096 + 4 + 3, 4096 + 3),
    ] {
        assert_eq!(pair(dst, c, a, b, Opcode::Split), 3 + split + 22);
        assert_eq!(pair(dst, c, a, b, Opcode::Autoh), 3 + halves + 24);
    }
    // In the first pass a row of neighbouring coefficients takes four cycles. A row of coefficients at a distance takes
    // one cycle for each residue.
    let inverse = of(from(11, main(Opcode::Intt)));
    assert_eq!(
        (inverse.total, inverse.source),
        (7193 + 3 * 512, 3 + 2048 + 2)
    );
    assert_eq!(of(from(11, main(Opcode::Ntt))).total, 7193 + 31 * 512);
    assert_eq!(of(from(11, main(Opcode::Auto))).total, 3 + 2048 + 24);
    assert_eq!(of(from(11, main(Opcode::Bcast))).total, 520 + 3 * 512);
}

/// Ten RPAUs lie on four dies, along a ring that goes up and down again. By die they are 0 1 9 | 2 8 | 3 7 | 4 5 6.
#[test]
fn words_that_travel_count_hops_and_borders() {
    let d = Description::parse(Description::MEDHA).unwrap();
    let dies: Vec<_> = (0..10).map(|r| d.die(r)).collect();
    assert_eq!(dies, [0, 0, 1, 2, 3, 3, 3, 2, 1, 0]);
    let of = |text, w| {
        let d = Description::parse(text).unwrap();
        timing::duration(&d, &d.slot_groups(), 14, &w)
    };
    let send = |text, mask| {
        let bcast = word(Opcode::Bcast, Unit::Main);
        of(
            text,
            OpWord {
                mask,
                c: 3,
                ..bcast
            },
        )
        .total
    };
    // Broadcasts from RPAU 3 go to RPAUs 3, 4 and 2. The last is nine hops away, over five borders.
    assert_eq!(send(Description::MEDHA, 1 << 3), 3 + 512 + 5);
    assert_eq!(send(Description::MEDHA, 1 << 4), 520 + 2 + 2);
    assert_eq!(send(Description::MEDHA, 1 << 4 | 1 << 2), 520 + 18 + 10);
    // This ring adds a constant before the way. On arrival it reduces the residue and adds another constant.
    assert_eq!(send(Description::STORED, 1 << 4), 524 + 1 + 3 + 1);
    // A limb takes 125 us at 200 MHz on the link, and goes along the ring from or to RPAU 0. The board learns of the
    // end of a transfer `dispatch` cycles later than of the ends of other words.
    let at = |r: u16, op| OpWord {
        mask: 1 << r,
        ..word(op, Unit::Main)
    };
    let link = |r, op| of(Description::MEDHA, at(r, op));
    assert_eq!(link(0, Opcode::Load).total, 4 + 3 + 25_000 + 2);
    assert_eq!(link(4, Opcode::Load).total, 25_009 + 4 * 2 + 3 * 2);
    // The source and the ring are free when the limb is in the link's buffer. The buffer delays the limb by a memory
    // and a register.
    for (text, constant) in [(Description::MEDHA, 0), (Description::STORED, 1)] {
        let store = of(text, at(9, Opcode::Store));
        let first = 3 + 2 + 1 + constant + 2;
        let sent = 4 + first + 4 + 25_000 + 1;
        assert_eq!((store.total, store.source), (sent, first + 512));
    }
}

/// The descriptions' multiplier latency is that of the RTL for every prime of Set-1 and Set-2. Set-1's primes are among
/// those of Set-2, so one bitstream runs both.
#[test]
fn one_multiplier_serves_the_primes_of_both_sets() {
    let set = |name| Params::named(name).unwrap().moduli().to_vec();
    let (small, large) = (set("set1"), set("set2"));
    assert_eq!(small, large[..8]);
    for &q in &large {
        assert_eq!(q % (1 << 16), 1);
        for text in [Description::MEDHA, Description::STORED] {
            let d = Description::parse(text).unwrap();
            assert_eq!(lazy_mul_latency(q), Some(d.pipeline.multiplier), "{q}");
        }
    }
    // Not next to a power of two.
    assert_eq!(lazy_mul_latency((1 << 53) + (1 << 40) + 1), None);
}

/// Between the passes of a short transform the pipeline must drain. A limb of 2^6 coefficients has two rows of 32.
#[test]
fn short_transforms_count_the_wait_between_passes() {
    let d = Description::parse(Description::MEDHA).unwrap();
    assert_eq!(timing::transform(&d, 6), 3 + 6 * 2 + 5 * (22 - 1) + 22);
    assert_eq!(timing::transform(&d, 10), 3 + 10 * 32 + 9 * (22 - 16) + 22);
    assert_eq!(timing::transform(&d, 11), 3 + 11 * 64 + 22);
    let d = Description::parse(Description::STORED).unwrap();
    assert_eq!(timing::transform(&d, 10), 3 + 5 * 32 + 4 * (35 - 8) + 35);
    assert_eq!(timing::transform(&d, 13), 3 + 7 * 256 + 35);
}

/// An automorphism takes one pass because the coefficients of a result's row come from different memory columns. In
/// evaluation form this holds for rows of neighbours, in coefficient form for rows of coefficients at equal distances.
#[test]
fn automorphisms_have_no_bank_conflicts() {
    let (n, b) = (10u32, 4u32);
    let (degree, row) = (1usize << n, 1usize << b);
    let reverse = |x: usize| x.reverse_bits() >> (usize::BITS - n);
    let column = |x: usize| (0..n.div_ceil(b)).fold(0, |c, i| c ^ x >> (i * b)) & (row - 1);
    for g in (1..2 * degree).step_by(2) {
        let eval = |i: usize| reverse((((2 * reverse(i) + 1) * g) % (2 * degree)) >> 1);
        let coeff = |i: usize| i * g % degree;
        for r in 0..degree / row {
            let mut columns = [0u64; 2];
            for k in 0..row {
                columns[0] |= 1 << column(eval(r * row + k));
                columns[1] |= 1 << column(coeff(k * (degree / row) + r));
            }
            assert_eq!(columns, [(1 << row) - 1; 2], "g = {g}, row {r}");
        }
    }
}

#[test]
fn both_machines_have_36_multipliers_per_rpau() {
    for text in [Description::MEDHA, Description::STORED] {
        assert_eq!(Description::parse(text).unwrap().multipliers_per_rpau(), 36);
    }
}

/// Makes a program that calls the procedure once.
fn program(procedure: Arc<Procedure>) -> Verified {
    Verified::new(Program::calling(procedure, Vec::new())).unwrap()
}

fn simulate(machine: &str, set: &str, key: impl Fn(Level) -> OpKey) -> MachineReport {
    let params = Params::named(set).unwrap();
    let key = key(params.max_level());
    let procedure = ProcCache::new(params).get(&key).unwrap();
    let machine = ringmill_machines::Registry::standard()
        .open(machine)
        .unwrap();
    machine
        .simulate(&program(procedure), SimOptions::default())
        .unwrap()
}

fn add(level: Level) -> OpKey {
    OpKey::add(level, 2, 2)
}

fn mul_relin(level: Level) -> OpKey {
    OpKey::mul_relin(level, true)
}

fn rescale(level: Level) -> OpKey {
    OpKey::rescale(level, 2)
}

/// No operation of `ring` takes more cycles than Table 2 of the Medha paper prints.
#[test]
fn medha_reaches_table_2() {
    for (set, key, paper) in [
        ("set1", add as fn(Level) -> OpKey, 1_152),
        ("set1", mul_relin, 99_448),
        ("set1", rescale, 34_430),
        ("set2", add, 2_865),
        ("set2", mul_relin, 274_885),
        ("set2", rescale, 75_464),
    ] {
        let report = simulate("ring", set, key);
        println!(
            "ring {set} {:?}: {} of {paper}",
            report.procedures.keys().next(),
            report.cycles
        );
        assert!(
            report.cycles <= paper,
            "{set}: {} cycles, the paper has {paper}",
            report.cycles
        );
        assert_eq!(report.own::<RingUse>().unwrap().multipliers_per_rpau, 36);
        assert_eq!(report.own::<RingUse>().unwrap().spills.bytes, 0);
    }
}

#[test]
fn stored_twiddles_bring_multiplication_below_48000() {
    for (set, key, most) in [
        ("set1", add as fn(Level) -> OpKey, 1_152),
        ("set1", mul_relin, 48_000),
        ("set1", rescale, 13_000),
        ("set2", add, 2_865),
        ("set2", mul_relin, 155_000),
        ("set2", rescale, 30_000),
    ] {
        let report = simulate("ring-stored", set, key);
        println!(
            "ring-stored {set} {:?}: {}",
            report.procedures.keys().next(),
            report.cycles
        );
        assert!(report.cycles <= most, "{set}: {} cycles", report.cycles);
        assert_eq!(report.own::<RingUse>().unwrap().multipliers_per_rpau, 36);
    }
}

/// The stand-ins take two transforms out of the special prime's chain, and add two broadcasts and additions to it.
#[test]
fn stand_ins_shorten_the_special_primes_chain() {
    let mut d = Description::parse(Description::STORED).unwrap();
    d.stand_in.clear();
    let alone = ringmill_machines::ring::RingMachine::new(d).unwrap();
    let params = Params::named("set1").unwrap();
    let key = mul_relin(params.max_level());
    let program = program(ProcCache::new(params).get(&key).unwrap());
    let alone = alone.simulate(&program, SimOptions::default()).unwrap();
    let shared = simulate("ring-stored", "set1", mul_relin);
    println!("{} alone, {} shared", alone.cycles, shared.cycles);
    assert!(shared.cycles + 3_000 <= alone.cycles);
    // The twiddles of the stand-ins' second prime come over the link: 24 tables with 682 + 2 words for each of three
    // rings.
    let twiddles = 2 * 8 * 24 * 3 * 684;
    let shared = shared.link.program_bytes;
    let words = shared.abs_diff(twiddles + alone.link.program_bytes);
    assert!(words < 4096, "{shared} bytes");
}

/// No schedule takes fewer cycles than the transforms of its floor (docs/machines/ring.md, "Figures"). These are a
/// chain of 11 transforms on `ring`, and 9 on the main cores of one RPAU of `ring-stored`.
#[test]
fn no_schedule_is_below_the_floor() {
    for (name, text, chain) in [
        ("ring", Description::MEDHA, 11),
        ("ring-stored", Description::STORED, 9),
    ] {
        let d = Description::parse(text).unwrap();
        let report = simulate(name, "set1", mul_relin);
        let transforms = chain * timing::transform(&d, 14);
        assert!(report.cycles > transforms, "{}", report.cycles);
    }
}

#[test]
fn reports_account_for_link_memory_and_units() {
    let report = simulate("ring", "set1", mul_relin);
    let limb = 8u64 << 14;
    assert_eq!(report.link.bytes_in, 4 * 7 * limb);
    assert_eq!(report.link.bytes_out, 2 * 7 * limb);
    assert!((report.link.seconds_in - 28.0 * 125e-6).abs() < 1e-12);
    assert_eq!(report.link.key_bytes, 0);
    let memory = &report.own::<RingUse>().unwrap().memory;
    assert_eq!(memory.key_limbs, 7);
    assert_eq!(memory.peak_slots.len(), 10);
    let fit = |p: &u8| usize::from(*p) <= memory.slots;
    assert!(memory.peak_slots.iter().all(fit));
    let named: Vec<_> = report.memories.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(named, ["polynomial memory", "key memory"]);
    for memory in &report.memories {
        assert_eq!(memory.count, 10);
        assert!((1..=memory.available_bytes).contains(&memory.used_bytes));
    }
    assert!(
        report
            .utilisation
            .iter()
            .all(|u| (0.0..=1.0).contains(&u.utilisation))
    );
    assert_eq!(
        report.instructions_by_kind.values().sum::<u64>(),
        report.instructions
    );
    assert_eq!(
        report.procedures.values().map(|p| p.cycles).sum::<u64>(),
        report.cycles
    );
}
