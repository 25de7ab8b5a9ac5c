// SPDX-License-Identifier: Apache-2.0
//! Refusals of programs with blocks and repeats, with their places, and the cost of long programs.

use super::*;

/// Parses a program of blocks and steps given as text. Its one procedure `scale` multiplies a limb by an immediate.
fn parsed(blocks: &str, steps: &str) -> Program {
    let [q0, q1] = moduli()[..] else { panic!() };
    let text = format!(
        "program ring 2^4 moduli q0={q0} q1={q1}\n\
         proc scale\n in %0 : q0 eval = cipher 0 poly 0 \"x\"\n imm 0 = scalar q0\n\
         %1 = MULI %0, imm 0 : q0 eval\n out %1 = cipher 0 poly 0 \"y\"\nend\n\
         {blocks}\ninput $0 : q0 eval = plain 0 \"x\"\ninput $1 : q1 eval = plain 1 \"z\"\n{steps}\nend\n"
    );
    parse_program(&text).unwrap_or_else(|e| panic!("{text}{e}"))
}

const TWICE: &str =
    "block twice (q0 eval)\n call scale (@0) imm (2) dies (@0) -> (@0)\n give (@0)\nend";

#[test]
fn refusals_name_the_line() {
    let refuse = |blocks: &str, steps: &str| {
        verify_program(&parsed(blocks, steps))
            .expect_err(steps)
            .to_string()
    };
    for (steps, message) in [
        (
            "repeat 0 twice ($0) -> (@0) at \"a.py\":3",
            "a.py:3: program, instruction 0 `repeat 0 twice ($0) -> (@0) at \"a.py\":3`: repeat count: expected 1 to \
             4294967296, found 0",
        ),
        (
            "repeat 1152921504606846976 twice ($0) -> (@0)",
            "repeat count: expected 1 to 4294967296, found 1152921504606846976",
        ),
        (
            "call scale ($0) imm (2) -> (@0)\ncall scale (@0) imm (2) dies (@0) -> (@1)\ncall scale (@0) imm (2) -> (@2) at \"a.py\":9",
            "a.py:9: program, instruction 2 `call scale (@0) imm (2) -> (@2) at \"a.py\":9`: @0 is used after it died",
        ),
        (
            "call scale ($0) imm (2) -> (@0)\ncall scale (@0) imm (2) -> (@0)",
            "@0 is still alive",
        ),
        (
            "call scale (@0) imm (2) -> (@1)",
            "@0 is used before it is defined",
        ),
        (
            "call scale ($0) imm (2) -> (@7)",
            "limb number 7 is out of range",
        ),
        (
            "repeat 2 twice ($1) -> (@0)",
            "$1 for parameter 0: expected modulus q0",
        ),
        (
            "call scale ($0) imm (99999999999) -> (@0)",
            "expected immediate a residue below q0",
        ),
        (
            "call scale ($0) -> (@0)",
            "expected exactly 1 immediates, found 0",
        ),
        (
            "call scale ($0) imm (1) -> (@0)\ncall scale ($0) imm (2) dies (@0) -> (@1)",
            "what dies: expected arguments of the step, found @0",
        ),
    ] {
        let said = refuse(TWICE, steps);
        assert!(said.contains(message), "{said}");
    }
    for (block, message) in [
        (
            "block b (q0 eval)\n call scale (@0) imm (2) -> (@1)\n give (@1, @0)\nend",
            "repeated block: expected a parameter for each result",
        ),
        (
            "block b (q1 eval, q0 eval)\n call scale (@1) imm (2) -> (@2)\n give (@2)\nend",
            "carried limb 0, given for the next turn: expected modulus q1",
        ),
    ] {
        let args = if block.contains("q1") { "$1, $0" } else { "$0" };
        let results = if block.contains("q1") { "@0" } else { "@0, @1" };
        let said = refuse(block, &format!("repeat 2 b ({args}) -> ({results})"));
        assert!(said.contains(message), "{said}");
    }
}

/// Checks that values of another kind, modulus or dimension are refused, with the line of the step.
#[test]
fn values_of_other_kinds_are_typed() {
    let [q0, q1] = moduli()[..] else { panic!() };
    let program = |dimension: &str, step: &str| {
        let text = format!(
            "program ring 2^4 moduli q0={q0} q1={q1}\n\
             proc same\n in %0 : q0 eval = cipher 0 poly 0 \"x\"\n %1 = NEG %0 : q0 eval\n\
             out %1 = cipher 0 poly 0 \"y\"\nend\n\
             block pass (lwe 3 q1, exponent)\n give (@0)\nend\n\
             input $0 : q0 eval = cipher 0 poly 0 \"x\"\n\
             input $1 : lwe {dimension} q1 = cipher 1 poly 0 \"v\"\n\
             input $2 : lwe 3 q0 = cipher 2 poly 0 \"w\"\n\
             input $3 : exponent = plain 0 \"a\"\n\
             {step}\noutput $3 = cipher 0 poly 0 \"b\"\nend\n"
        );
        parse_program(&text).unwrap_or_else(|e| panic!("{text}{e}"))
    };
    let good = program("3", "repeat 4 pass ($1, $3) -> (@0)");
    verify_program(&good).unwrap();
    assert_eq!(parse_program(&print_program(&good)).unwrap(), good);
    let unrolled = Unrolled::of(&Verified::new(good.clone()).unwrap(), 0).unwrap();
    verify_unrolled(&unrolled).unwrap();
    let verified = Verified::new(good.clone()).unwrap();
    let vector = verified.head().input_of(|ty| ty.limb().is_none());
    let vector = vector.unwrap();
    assert_eq!((vector.0, vector.1.kind()), ("v", "an LWE vector"));

    for (dimension, step, message) in [
        (
            "3",
            "run pass ($0, $3) -> (@0) at \"a.py\":3",
            "a.py:3: program, instruction 0 `run pass ($0, $3) -> (@0) at \"a.py\":3`: $0 for parameter 0: expected an LWE \
             vector, found a limb",
        ),
        (
            "3",
            "call same ($1) -> (@0) at \"a.py\":4",
            "$1 for parameter %0 \"x\": expected a limb, found an LWE vector",
        ),
        (
            "3",
            "run pass ($1, $1) -> (@0)",
            "$1 for parameter 1: expected a public exponent, found an LWE vector",
        ),
        (
            "3",
            "run pass ($2, $3) -> (@0)",
            "$2 for parameter 0: expected modulus q1",
        ),
        (
            "4",
            "run pass ($1, $3) -> (@0)",
            "expected an LWE vector of dimension 3, found one of 4",
        ),
        (
            "0",
            "",
            "dimension of an LWE vector: expected 1 to 262144, found 0 of $1",
        ),
        ("262145", "", "expected 1 to 262144, found 262145 of $1"),
    ] {
        let said = verify_program(&program(dimension, step)).unwrap_err();
        assert!(said.to_string().contains(message), "{said}");
    }
    let mut bad = good.clone();
    bad.inputs[2].ty = ValueType::Lwe(LweType {
        dimension: LweDimension(3),
        modulus: ModulusId(2),
    });
    let fault = *verify_program(&bad).unwrap_err().fault;
    assert!(matches!(
        fault,
        Fault::Range {
            what: "modulus number",
            ..
        }
    ));
    let text = print_program(&good);
    for damaged in ["lwe q1", "lwe 3", "lwe -1 q1", "lwe 4294967296 q1"] {
        let damaged = text.replace("input $1 : lwe 3 q1", &format!("input $1 : {damaged}"));
        assert!(parse_program(&damaged).is_err(), "{damaged}");
    }
}

/// Checks that HCF is taken as the last step of a program alone, and without limbs. Steps behind it are refused, and so
/// is HCF in a block or in a procedure.
#[test]
fn nothing_follows_a_halt() {
    let good = parsed(TWICE, "repeat 2 twice ($0) -> (@0)\nHCF at \"a.py\":4");
    verify_program(&good).unwrap();
    assert!(good.halts() && Verified::new(good.clone()).unwrap().head().halts);
    assert_eq!(parse_program(&print_program(&good)).unwrap(), good);
    assert_eq!(stats::program_counts(&good)[&Op::Hcf], 1);
    assert_eq!(
        Unrolled::of(&Verified::new(good.clone()).unwrap(), 9)
            .unwrap()
            .calls
            .len(),
        2
    );
    let refused = |blocks: &str, steps: &str, says: &str| {
        let said = verify_program(&parsed(blocks, steps)).expect_err(steps);
        assert!(said.to_string().contains(says), "{said}");
    };
    refused(
        TWICE,
        "HCF at \"a.py\":4\nrun twice ($0) -> (@0)",
        "a.py:4: program, instruction 0 `HCF at \"a.py\":4`: HCF: expected the last step of a program, found a step behind it",
    );
    refused(TWICE, "HCF\nHCF\nHCF", "found 2 steps behind it");
    let in_block = TWICE.replace(" give", " HCF\n give");
    refused(
        &in_block,
        "run twice ($0) -> (@0)",
        "twice, instruction 1 `HCF`: HCF: expected the last step",
    );
    let text = print_program(&good);
    for (from, to) in [
        ("HCF", "HC"),
        ("HCF", "HCF (@0)"),
        ("HCF at", "HCF -> () at"),
        ("HCF", "HCF HCF"),
    ] {
        assert!(parse_program(&text.replace(from, to)).is_err(), "{to}");
    }
    let mut given = good.clone();
    given.steps[1].dies.push(LocalId(0));
    let fault = *verify_program(&given).unwrap_err().fault;
    assert!(
        matches!(
            fault,
            Fault::Count {
                what: "limbs that die",
                ..
            }
        ),
        "{fault}"
    );
    let inside = text.replace("  out %1", "  HCF\n  out %1");
    let said = verify_program(&parse_program(&inside).unwrap()).unwrap_err();
    let says = "scale, instruction 1 `HCF`: HCF: expected the last step of a program, found an instruction of a procedure";
    assert!(said.to_string().contains(says), "{said}");
}

#[test]
fn blocks_do_not_run_themselves() {
    let mut program = parsed(TWICE, "repeat 2 twice ($0) -> (@0)");
    program.blocks[0].steps[0].action = Action::Run { block: 0 };
    program.blocks[0].steps[0].immediates.clear();
    let fault = *verify_program(&program).unwrap_err().fault;
    assert_eq!(
        fault,
        Fault::Recursion {
            what: "block",
            caller: 0,
            callee: 0
        }
    );
}

/// Verifies and counts a program of 2^64 calls without walking it, and walks its first calls in two numbers.
#[test]
fn a_long_program_costs_what_it_says_and_not_what_it_runs() {
    let outer = format!(
        "{TWICE}\nblock many (q0 eval)\n repeat 4294967296 twice (@0) dies (@0) -> (@0)\n give (@0)\nend"
    );
    let program = parsed(
        &outer,
        "repeat 4294967296 many ($0) -> (@0)\noutput @0 = cipher 0 poly 0 \"y\"",
    );
    assert_eq!(stats::call_counts(&program), [u64::MAX]);
    assert!(Unrolled::of(&Verified::new(program.clone()).unwrap(), 1 << 20).is_err());
    let mut walk = Walk::new(&program).unwrap();
    for _ in 0..100_000 {
        assert!(walk.next_call().unwrap().is_some());
    }
    assert!(walk.numbers() <= 2);
}
