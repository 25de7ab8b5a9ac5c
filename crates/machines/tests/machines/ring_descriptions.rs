// SPDX-License-Identifier: Apache-2.0
//! Tests which descriptions and instruction words of the ring machine are refused, and that words survive encoding and
//! decoding.

use proptest::prelude::*;
use ringmill_machines::ring::Description;
use ringmill_machines::ring::encode::{decode, encode};
use ringmill_machines::ring::micro::{OpWord, Opcode, Operand, Unit, Word};
use ringmill_machines::{MachineError, Parse, Registry};
use ringmill_math::RingKind;

#[test]
fn nonsense_descriptions_are_refused() {
    let edit = |from: &str, to: &str| {
        assert!(Description::MEDHA.contains(from), "{from}");
        Description::MEDHA.replacen(from, to, 1)
    };
    for (from, to, field) in [
        ("clock_mhz = 200.0", "clock_mhz = nan", "clock_mhz"),
        ("clock_mhz = 200.0", "clock_mhz = -1.0", "clock_mhz"),
        ("log_n = 14", "log_n = 200", "log_n"),
        ("rpaus = 10", "rpaus = 0", "rpaus"),
        ("rpaus = 10", "rpaus = 17", "rpaus"),
        ("controllers = 2", "controllers = 3", "controllers"),
        ("word_bits = 60", "word_bits = 0", "word_bits"),
        ("butterfly = 16", "butterfly = 12", "cores.butterfly"),
        ("butterfly = 16", "butterfly = 1048576", "cores.butterfly"),
        ("generator = 16", "generator = 3", "cores.generator"),
        ("dyadic = 4", "dyadic = 33", "cores.dyadic"),
        ("lanes = 32", "lanes = 33", "main.lanes"),
        ("row = 32", "row = 16", "row"),
        ("stages = 1", "stages = 3", "main.stages"),
        ("group = 8", "group = 5", "keys.group"),
        ("stripes = 9", "stripes = 3", "keys.stripes"),
        ("dies = 4", "dies = 0", "ring.dies"),
        ("network = 2", "network = 257", "pipeline.network"),
        ("residues = 8", "residues = 64", "memory.residues"),
        ("words = 4096", "words = 0", "tables.words"),
        ("multiplier = 12", "multiplier = 0", "pipeline.multiplier"),
        ("hop = 2", "hop = 100000", "ring.hop"),
        (
            "residues_per_cycle = 4",
            "residues_per_cycle = 0",
            "generator.residues_per_cycle",
        ),
        ("slots = 18", "slots = 1000", "keys.slots"),
        (
            "us_per_limb = 125.0",
            "us_per_limb = inf",
            "link.us_per_limb",
        ),
        ("slots = 8", "slots = 0", "memory.slots"),
        ("slots = 8", "slots = 30", "memory.slots (sum)"),
        ("name = \"ring\"", "name = \"\"", "name"),
    ] {
        match Registry::standard().load(&edit(from, to)) {
            Err(MachineError::Field { field: found, .. }) => assert_eq!(found, field),
            Err(other) => panic!("{to}: {other}"),
            Ok(_) => panic!("{to} was taken"),
        }
    }
    for text in [
        "",
        "rpaus = 1",
        &edit("log_n = 14", "log_n = -1"),
        &edit("hop = 2", "hop = 2\nhops = 3"),
        "\u{0}",
    ] {
        assert!(
            matches!(
                Registry::standard().load(text),
                Err(MachineError::Syntax(_))
            ),
            "{text}"
        );
    }
    assert!(matches!(
        Registry::standard().open("rings"),
        Err(MachineError::Unknown { .. })
    ));
}

#[test]
fn every_kind_has_its_row() {
    let machines = Registry::standard();
    for kind in machines.kinds() {
        for &(name, text) in kind.shipped {
            assert_eq!(machines.kind_of(text).unwrap().name, kind.name);
            let opened = machines.open(name).unwrap();
            assert_eq!(opened.name(), name);
            // A co-processor by itself is put on a card of its own.
            let behind_a_link = matches!(kind.parse, Parse::Coprocessor(_));
            assert_eq!(
                opened.kind(),
                if behind_a_link { "card" } else { kind.name }
            );
        }
    }
    let kind = machines.kind_of("kind = \"toaster\"");
    let kind = kind.unwrap_err().to_string();
    assert!(
        kind.contains(
            "\"ring\" or \"polymul\" or \"basext\" or \"torus\" or \"vector\" or \"card\""
        ),
        "{kind}"
    );
}

fn any_word() -> impl Strategy<Value = Word> {
    let b = prop_oneof![
        Just(Operand::None),
        (0u8..32).prop_map(Operand::Slot),
        (0u8..128).prop_map(Operand::Key),
        Just(Operand::Generator)
    ];
    let rings = [RingKind::Full, RingKind::HalfPlus, RingKind::HalfMinus];
    let op = (
        0..Opcode::ALL.len(),
        0u8..2,
        any::<bool>(),
        any::<u16>(),
        0usize..3,
        0u8..8,
    );
    let slots = (0u8..32, 0u8..32, b, 0u8..32, 0u16..4096);
    let op = (op, slots).prop_map(
        move |((op, controller, dyadic, mask, ring, layer), (dst, a, b, c, imm))| {
            let unit = if dyadic { Unit::Dyadic } else { Unit::Main };
            let ring = rings[ring];
            Word::Op(OpWord {
                op: Opcode::ALL[op],
                controller,
                unit,
                mask,
                ring,
                layer,
                dst,
                a,
                b,
                c,
                imm,
            })
        },
    );
    let wait = (0u8..5, any::<u32>()).prop_map(|(queue, count)| Word::Wait { queue, count });
    prop_oneof![8 => op, 1 => wait, 1 => Just(Word::End)]
}

/// The number of a part of the ring stands in a field that the word does not use otherwise. No other word names a part,
/// and no number below 4 is that of a part.
#[test]
fn words_name_parts_of_split_rings() {
    let word = |op, b| OpWord {
        op,
        controller: 1,
        unit: Unit::Main,
        mask: 0x2aa,
        ring: RingKind::Part(6),
        layer: 1,
        dst: 3,
        a: 31,
        b,
        c: 17,
        imm: 0,
    };
    let reads = |op: Opcode, b| match b {
        Operand::None => matches!(op, Opcode::Ntt | Opcode::Intt | Opcode::Auto | Opcode::Prng),
        Operand::Generator => matches!(op, Opcode::Mul | Opcode::Mac),
        Operand::Slot(_) | Operand::Key(_) => false,
    };
    for op in Opcode::ALL {
        for b in [
            Operand::None,
            Operand::Slot(9),
            Operand::Key(90),
            Operand::Generator,
        ] {
            let pair = matches!(op, Opcode::Split | Opcode::Join);
            let w = word(op, b);
            let bits = encode(&Word::Op(w));
            let known = pair || reads(op, b);
            assert_eq!(decode(bits) == Some(Word::Op(w)), known, "{op:?} {b:?}");
            assert!(known || decode(bits).is_none(), "{op:?} {b:?}");
        }
    }
    // The number is in bits 23-17 of a transform and in bits 11-0 of a split. The field of the ring says that the word
    // names a part.
    let ntt = encode(&Word::Op(word(Opcode::Ntt, Operand::None)));
    assert_eq!((ntt >> 39 & 3, ntt >> 17 & 127, ntt & 0xfff), (3, 6, 0));
    let split = encode(&Word::Op(word(Opcode::Split, Operand::Slot(9))));
    assert_eq!(
        (split >> 39 & 3, split >> 17 & 127, split & 0xfff),
        (3, 9, 6)
    );
    for number in 0..4 {
        assert_eq!(decode(ntt & !(127 << 17) | number << 17), None);
        assert_eq!(decode(split & !0xfff | number), None);
    }
    assert_eq!(decode(split | 0x100), None);
    assert_eq!(decode(split | 1), None);
    let text = decode(ntt).unwrap().to_string();
    assert!(text.contains(" part 6 "), "{text}");
}

proptest! {
    #[test]
    fn words_round_trip(word in any_word()) {
        prop_assert_eq!(decode(encode(&word)), Some(word));
    }

    #[test]
    fn any_bits_decode_to_themselves_or_not_at_all(bits in any::<u64>()) {
        if let Some(word) = decode(bits) {
            prop_assert_eq!(encode(&word), bits);
        }
    }
}
