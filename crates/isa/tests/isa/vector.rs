// SPDX-License-Identifier: Apache-2.0
//! The micro level of `vector`: words and text round-trip, and illegal programs are refused with line and reason.

#![allow(clippy::unwrap_used)] // tests

use proptest::prelude::*;
use ringmill_isa::vector::{
    Allowed, Chunk, Immediate, Instr, MASKS, Mask, MicroOp, MicroProgram, Place, Register, Shape,
    decode, encode, parse, print, read, verify,
};

const PRIMES: [u64; 2] = [2_147_352_577, 2_148_794_369];

fn shape() -> Shape {
    Shape {
        log_n: 8,
        log_radix: 4,
        log_lanes: 5,
        chunks: 64,
        registers: 16,
        distant: 1000,
    }
}

fn friendly() -> Vec<u64> {
    let found = (1u64 << 31..1 << 32).step_by(1 << 17).map(|x| x + 1);
    let found = found.filter(|&q| ringmill_math::primes::is_prime(q));
    found.take(2).collect()
}

/// Returns two masks of eight chunks each.
fn masks() -> Vec<Mask> {
    let mask = |seed, stream, modulus| Mask {
        seed,
        stream,
        modulus,
    };
    vec![mask(0, 12, 1), mask(3, u64::MAX, 0)]
}

/// Returns a program in which every chunk is held, and whose first instructions write all registers and the
/// accumulator. So `instrs` are legal in any order.
fn program(instrs: Vec<Instr>) -> MicroProgram {
    let fill = (0..16).map(|t| Instr {
        d: Place::Register(Register(t)),
        a: Place::Chunk(Chunk(0)),
        ..Instr::new(MicroOp::Mov)
    });
    let first = Instr {
        d: Place::Accumulator,
        a: Place::Register(Register(0)),
        n: 1,
        ..Instr::new(MicroOp::Muli)
    };
    MicroProgram {
        shape: shape(),
        moduli: friendly(),
        masks: masks(),
        holds: (0..64).map(Chunk).collect(),
        instrs: fill.chain([first]).chain(instrs).collect(),
    }
}

fn place(allowed: Allowed, pick: u16) -> Place {
    let mut kinds = Vec::new();
    if allowed.chunk {
        kinds.push(Place::Chunk(Chunk(pick % 64)));
    }
    if allowed.register {
        kinds.push(Place::Register(Register((pick % 16) as u8)));
    }
    if allowed.accumulator {
        kinds.push(Place::Accumulator);
    }
    match kinds.len() {
        0 => Place::None,
        n => kinds[usize::from(pick / 64) % n],
    }
}

fn instr((op, d, a, b, n): (usize, u16, u16, u16, u32)) -> Instr {
    let op = MicroOp::ALL[op % (MicroOp::ALL.len() - 1)]; // not HCF, which is last
    let info = op.info();
    let mut made = Instr {
        op,
        d: place(info.d, d),
        a: place(info.a, a),
        b: place(info.b, b),
        modulus: if info.modulus { d % 2 } else { 0 },
        n: match info.n {
            Immediate::None => 0,
            Immediate::Distant if op == MicroOp::Load && n % 2 == 1 => MASKS + n % 16,
            Immediate::Distant => n % 1000,
            Immediate::Scalar => n >> 1,
            Immediate::Galois => (n % 512) | 1,
        },
    };
    if op == MicroOp::Morph {
        // Both limbs have eight chunks, and are not the same.
        made.a = Place::Chunk(Chunk(a % 8));
        made.d = Place::Chunk(Chunk(8 + d % 7 * 8));
    }
    made
}

fn instrs() -> impl Strategy<Value = Vec<Instr>> {
    let one = (
        any::<usize>(),
        any::<u16>(),
        any::<u16>(),
        any::<u16>(),
        any::<u32>(),
    );
    prop::collection::vec(one.prop_map(instr), 0..40)
}

proptest! {
    #[test]
    fn programs_round_trip(instrs in instrs()) {
        let program = program(instrs);
        verify(&program).unwrap();
        let text = print(&program);
        prop_assert_eq!(parse(&text).unwrap(), program.clone());
        for instr in &program.instrs {
            prop_assert_eq!(decode(encode(instr)).unwrap(), *instr);
        }
    }

    /// Checks that a text with one altered byte is refused, or says the same as before.
    #[test]
    fn an_altered_text_is_refused(instrs in instrs(), at in any::<usize>(), with in any::<u8>()) {
        let program = program(instrs);
        let text = print(&program);
        let mut bytes = text.clone().into_bytes();
        let at = at % bytes.len();
        bytes[at] = with % 96 + 32;
        let altered = String::from_utf8(bytes).unwrap();
        if let Ok(read) = parse(&altered) {
            prop_assert_eq!(print(&read), text);
        }
    }

    #[test]
    fn a_text_cut_short_is_refused(instrs in instrs(), keep in any::<usize>()) {
        let text = print(&program(instrs));
        let text = text.trim_end();
        let cut = &text[..keep % text.len()];
        prop_assert!(parse(cut).is_err());
    }

    #[test]
    fn any_word_and_any_text_is_answered(word in any::<u128>(), text in "\\PC{0,200}") {
        if let Ok(instr) = decode(word) {
            prop_assert_eq!(encode(&instr), word);
        }
        let _ = parse(&text);
        let _ = parse(&format!("vector ring 2^8 radix 2^4 lanes 2^5 chunks 8 registers 16 distant 9\n{text}"));
    }
}

/// Checks at which instruction illegal programs are refused, and with which words.
#[test]
fn what_cannot_be_is_refused() {
    let chunk = |c| Place::Chunk(Chunk(c));
    let register = |t| Place::Register(Register(t));
    let mov = Instr {
        d: register(1),
        a: chunk(3),
        ..Instr::new(MicroOp::Mov)
    };
    let muli = Instr {
        d: Place::Accumulator,
        a: register(1),
        n: 5,
        ..Instr::new(MicroOp::Muli)
    };
    let bare = |instrs: Vec<Instr>| MicroProgram {
        instrs,
        ..program(Vec::new())
    };
    let refused = |program: &MicroProgram, number: usize, said: &str| {
        let error = verify(program).unwrap_err();
        assert_eq!(error.number, number, "{error}");
        assert!(error.to_string().contains(said), "{error}");
    };
    verify(&bare(vec![mov, muli])).unwrap();
    refused(&bare(vec![muli]), 1, "t1 is read before it is written");
    let acci = Instr {
        d: chunk(0),
        ..Instr::new(MicroOp::Acci)
    };
    refused(
        &bare(vec![mov, acci]),
        2,
        "acc is read before it is written",
    );
    let far = Instr {
        a: chunk(64),
        ..mov
    };
    refused(
        &bare(vec![mov, far]),
        2,
        "chunk 64 is outside: expected below 64",
    );
    let beyond = Instr {
        d: register(16),
        ..mov
    };
    refused(&bare(vec![beyond]), 1, "register 16 is outside");
    let load = Instr {
        d: chunk(0),
        n: 1000,
        ..Instr::new(MicroOp::Load)
    };
    refused(&bare(vec![load]), 1, "distant chunk 1000 is outside");
    let mask = |n| Instr {
        n: MASKS + n,
        ..load
    };
    verify(&bare(vec![mask(15)])).unwrap();
    refused(
        &bare(vec![mask(16)]),
        1,
        "chunk of a mask 16 is outside: expected below 16",
    );
    let back = Instr {
        a: chunk(0),
        n: MASKS,
        ..Instr::new(MicroOp::Store)
    };
    refused(&bare(vec![back]), 1, "distant chunk 2147483648 is outside");
    let mut foreign = bare(vec![mask(0)]);
    foreign.masks[0].modulus = 2;
    refused(&foreign, 0, "a mask's modulus 2 is outside");
    let mut wide = bare(Vec::new());
    wide.shape.distant = MASKS + 1;
    refused(&wide, 0, "number of chunks of distant memory");
    let third = Instr { modulus: 2, ..muli };
    refused(&bare(vec![mov, third]), 2, "modulus 2 is outside");
    let large = Instr {
        n: u32::MAX,
        ..muli
    };
    refused(
        &bare(vec![mov, large]),
        2,
        "n is 4294967295: expected below",
    );
    let even = Instr {
        d: chunk(8),
        a: chunk(0),
        n: 4,
        ..Instr::new(MicroOp::Morph)
    };
    refused(&bare(vec![even]), 1, "odd and below 512");
    let same = Instr {
        d: chunk(0),
        n: 3,
        ..even
    };
    refused(&bare(vec![same]), 1, "of another limb");
    let wrong = Instr {
        d: Place::Accumulator,
        ..mov
    };
    refused(
        &bare(vec![wrong]),
        1,
        "operand `d` is acc: expected a chunk or a register",
    );
    let halt = Instr::new(MicroOp::Hcf);
    refused(&bare(vec![halt, mov]), 2, "after HCF");
    let mut empty = bare(vec![mov]);
    empty.holds.clear();
    refused(&empty, 1, "r3 is read before it is written");
    for (q, said) in [
        (PRIMES[0] - 2, "not Montgomery-friendly"),
        (65_537, "not Montgomery-friendly"), // 1 mod 2^16 only
        ((1 << 61) - 1, "not Montgomery-friendly"),
    ] {
        let mut unfriendly = bare(vec![mov]);
        unfriendly.moduli[0] = q;
        refused(&unfriendly, 0, said);
    }
    let mut deep = bare(Vec::new());
    deep.shape.log_n = 9;
    refused(&deep, 0, "above the radix's and at most twice it");
}

/// Checks that a file is refused with the line of the fault, where blank lines count.
#[test]
fn a_file_is_refused_with_its_line() {
    let mov = Instr {
        d: Place::Register(Register(1)),
        a: Place::Chunk(Chunk(3)),
        ..Instr::new(MicroOp::Mov)
    };
    let acci = Instr {
        d: Place::Chunk(Chunk(0)),
        ..Instr::new(MicroOp::Acci)
    };
    let bare = |instrs: Vec<Instr>| MicroProgram {
        instrs,
        ..program(Vec::new())
    };
    assert_eq!(read(&print(&bare(vec![mov]))).unwrap(), bare(vec![mov]));
    let text = print(&bare(vec![mov, acci]));
    let line = 1 + text
        .lines()
        .position(|line| line.starts_with("ACCI"))
        .unwrap();
    let said = read(&text).unwrap_err().to_string();
    assert!(
        said.starts_with(&format!("line {line}: `ACCI")) && said.contains("acc is read before"),
        "{said}"
    );
    let spaced = text.replace("ACCI", "\n\nACCI");
    let said = read(&spaced).unwrap_err().to_string();
    assert!(said.starts_with(&format!("line {}:", line + 2)), "{said}");
    let unfriendly = text.replace("moduli 2", "moduli 4");
    assert!(read(&unfriendly).is_err());
    let mut head = program(Vec::new());
    head.moduli[0] = 65_537;
    let said = read(&print(&head)).unwrap_err().to_string();
    assert!(
        said.starts_with("line 1:") && said.contains("Montgomery-friendly"),
        "{said}"
    );
}

#[test]
fn altered_ends_say_what_they_lack() {
    let text = print(&program(Vec::new()));
    let lines: Vec<&str> = text.lines().collect();
    let without = [&lines[..6], &lines[7..]].concat().join("\n");
    let said = parse(&without).unwrap_err().to_string();
    assert!(
        said.contains("number of instructions") && said.contains("line 22"),
        "{said}"
    );
    for (of, other) in [
        ("n1\n", "n2\n"),
        ("seed 3", "seed 4"),
        ("stream 12", "stream 13"),
        ("12 i1", "12 i0"),
    ] {
        let said = parse(&text.replace(of, other)).unwrap_err().to_string();
        assert!(said.contains("sum of all that is before it"), "{said}");
    }
    let far = text.replace("end ", "LOAD r0, $2147483648\nend ");
    let said = parse(&far).unwrap_err().to_string();
    assert!(said.contains("an address below 2^31"), "{said}");
    let other = text.replace("n1\n", "n2\n");
    let said = parse(&other).unwrap_err().to_string();
    assert!(said.contains("sum of all that is before it"), "{said}");
    let said = parse("vector ring 3^8").unwrap_err().to_string();
    assert!(
        said.contains("line 1") && said.contains("power of 2"),
        "{said}"
    );
}

/// Checks that illegal, cut and altered files are refused with line and reason.
#[test]
fn bad_files_are_refused_with_line_and_reason() {
    let chunk = |c| Place::Chunk(Chunk(c));
    let mov = Instr {
        d: Place::Register(Register(1)),
        a: chunk(3),
        ..Instr::new(MicroOp::Mov)
    };
    let load = |n| Instr {
        d: chunk(0),
        n,
        ..Instr::new(MicroOp::Load)
    };
    let register = Instr {
        d: chunk(0),
        a: Place::Register(Register(5)),
        ..mov
    };
    let bare = |instrs: Vec<Instr>| MicroProgram {
        instrs,
        ..program(Vec::new())
    };
    // The instructions begin on line 6.
    for (bad, said) in [
        (load(1000), "distant chunk 1000 is outside"),
        (load(u32::MAX), "chunk of a mask 2147483647 is outside"),
        (
            Instr {
                a: chunk(64),
                ..mov
            },
            "chunk 64 is outside",
        ),
        (register, "t5 is read before it is written"),
    ] {
        let text = print(&bare(vec![mov, bad]));
        let found = read(&text).unwrap_err().to_string();
        assert!(
            found.starts_with("line 7:") && found.contains(said),
            "{found}"
        );
    }
    let whole = print(&bare(vec![mov, load(1)]));
    assert!(read(&whole).is_ok());
    let without_end = whole.rsplit_once("end").unwrap().0;
    let found = read(without_end).unwrap_err().to_string();
    assert!(
        found.starts_with("line 8,") && found.contains("`end`"),
        "{found}"
    );
    let without_one = whole.replace("LOAD r0, $1\n", "");
    let found = read(&without_one).unwrap_err().to_string();
    assert!(
        found.starts_with("line 7:") && found.contains("altered or cut short"),
        "{found}"
    );
    let altered = whole.replace("LOAD r0, $1\n", "LOAD r0, $2\n");
    let found = read(&altered).unwrap_err().to_string();
    assert!(
        found.starts_with("line 8:") && found.contains("altered or cut short"),
        "{found}"
    );
}
