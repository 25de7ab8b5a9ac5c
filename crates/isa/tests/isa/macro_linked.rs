// SPDX-License-Identifier: Apache-2.0
//! Steps of bootstrapping in linked procedures written by hand, and their refusals.

use ringmill_isa::Galois;
use ringmill_isa::limits::MAX_OPERANDS;
use ringmill_isa::macros::text::{parse, print};
use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram, stats, verify, verify_with_primes};

/// A procedure with each step that BGV has, on levels 0 to 6. Factors of plaintext modulus 1 are written with an `F`.
const ALL: &str = r#"macro "linked" scheme bgv slots 8
  proc 0 = "bootstrap"
    in %0 : cipher 2 level 3 factor 1
    %1 = KEY : key level 6 factor F1
    %2 = LIFT lifted 0 : lifted level 6 factor 1
    %3 = LIFT lifted 1 : lifted level 6 factor 1
    %4 = DROP %0 to level 1 : cipher 2 level 1 factor 5
    %5 = RESCALE %4 : cipher 2 level 0 factor 3
    %6 = ENCAPSULATE %5 : cipher 2 level 0 factor 3
    %7 = RAISE %6, %1 : cipher 2 level 6 factor F1
    %8, %9 = HTURN %7 elements 3, 9 : cipher 2 level 6 factor F1, cipher 2 level 6 factor F1
    %10 = SUMROT %7 elements 3, 9, 27 low to level 6 : cipher 2 level 6 factor F1
    %11 = SUMPLAIN %8, %9, %2, %3 : cipher 2 level 6 factor F1
    %12 = SUMPLAIN %7, %2 : cipher 2 level 6 factor F1
    %13 = SUMTURN %11, %12, %10 elements 3, 9 to level 4 : cipher 2 level 4 factor F7
    %14 = COMBINE %13 integers -3, 4 to level 4 : cipher 2 level 4 factor F1
    %15 = SUMPROD %13, %14 combined 0 products 0 1 to level 3 : cipher 2 level 3 factor F3
    %16 = SUMPROD %13, %14 combined 2 products sum 1, 0 1 tail integers 1, 2, 3, -4, 5, 6 to level 3 : cipher 2 level 3 factor F3
    %17 = ADD %15, %16 : cipher 2 level 3 factor F3
    %18 = DIVIDE %17 by integer 7 : cipher 2 level 3 factor 3
    out %18
  end
end
"#;

/// A procedure with the steps that CKKS has. Scales multiply, and are divided by the primes of the levels left behind.
const CKKS: &str = r#"macro "linked" scheme ckks slots 8
  proc 0 = "bootstrap"
    in %0 : cipher 2 level 3 scale 64.0
    %1 = LIFT lifted 0 : lifted level 3 scale 706.0
    %2 = LIFT lifted 1 : lifted level 3 scale 706.0
    %3 = LIFT lifted 2 : lifted special level 3 scale 706.0
    %4 = LIFT lifted 3 : lifted special level 3 scale 706.0
    %5 = SUMPLAIN %0, %0, %1, %2 : cipher 2 level 3 scale 45184.0
    %6 = MATVEC %0, %3, %4, %3, %4 babies 3 giants 9 to level 2 : cipher 2 level 2 scale 128.0
    %7 = MODSWITCH %6 to level 0 : cipher 2 level 0 scale 128.0
    %8 = ENCAPSULATE %7 : cipher 2 level 0 scale 128.0
    %9 = MODRAISE %8 to level 6 : cipher 2 level 6 scale 1000.5
    %10 = MATVEC %0, %3 to level 3 : cipher 2 level 3 scale 45184.0
    %11 = MATVEC %0, %3, %4 giants 9 to level 3 : cipher 2 level 3 scale 45184.0
    %12 = COMBINE %9, %9 integers 5, -7, 0 to level 5 : cipher 2 level 5 scale 7.5
    %13 = SUMPROD %9, %9 combined 0 products 0 1 to level 5 : cipher 2 level 5 scale 1561.6228549141965
    %14 = SUMPROD %9 combined 1 products sum 0 integers 3, 0 to level 5 : cipher 2 level 5 scale 17.25
    out %9
  end
end
"#;

const PRIMES: [u64; 7] = [97, 193, 257, 353, 449, 577, 641];

/// Replaces `F1`, `F2`, `F3` and `F7` by factors of plaintext modulus 1 as notes hold them, from 2^60 on.
fn packed(text: &str) -> String {
    let factor = |n: u64| ((1 << 60) + n).to_string();
    [1, 2, 3, 7].into_iter().fold(text.to_owned(), |text, n| {
        text.replace(&format!("F{n}"), &factor(n))
    })
}

fn program(text: &str) -> MacroProgram {
    parse(&packed(text)).expect("it parses")
}

#[test]
fn each_step_stands_in_a_procedure_and_reads_back() {
    let p = program(ALL);
    verify(&p).expect("a sound program");
    verify_with_primes(&p, &PRIMES).expect("a sound program for these primes");
    assert_eq!(print(&p), packed(ALL));
    let ckks = program(CKKS);
    let steps = [&p, &ckks].map(|program| &program.procs[0].instrs);
    for op in MacroOp::ALL {
        let there = steps
            .iter()
            .any(|steps| steps.iter().any(|instr| instr.op == op));
        assert!(there || !op.is_linked(), "{}", op.mnemonic());
    }
    // Instructions of a procedure that is never called are not counted.
    assert!(stats::counts(&p).is_empty());
    let fewer = verify_with_primes(&p, &PRIMES[..6]).expect_err("a level too few");
    assert!(
        fewer.to_string().contains("expected level at most 5"),
        "{fewer}"
    );
    let mut more = PRIMES.to_vec();
    more.push(769);
    let lower = verify_with_primes(&p, &more).expect_err("a key below the highest level");
    assert!(
        lower.to_string().contains("%1: expected level 7, found 6"),
        "{lower}"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    for (from, to, says) in [
        (
            "KEY : key",
            "KEY : lifted",
            "%1: expected a key, found a lifted constant, which SUMPLAIN and MATVEC take",
        ),
        (
            "lifted 1 : lifted",
            "lifted 1 : key",
            "%3: expected a lifted constant, found a key, which RAISE takes",
        ),
        (
            "DROP %0",
            "DROP %1",
            "%1: expected a ciphertext, found a key, which RAISE takes",
        ),
        (
            "DROP %0 to level 1",
            "DROP %0 to level 2",
            "expected immediate a level two or more below 3, found level 2",
        ),
        (
            "DROP %0 to level 1",
            "DROP %0 to level 9",
            "expected immediate a level two or more below 3, found level 9",
        ),
        (
            "level 1 factor 5",
            "level 1 factor F2",
            "%4: expected a factor of plaintext modulus 0, found factor",
        ),
        (
            "level 1 factor 5",
            "level 1 scale 5.0",
            "%4: expected a factor, found scale 5.0",
        ),
        (
            "level 1 factor 5",
            "level 1",
            "%4: expected a factor, found neither scale nor factor",
        ),
        (
            "ENCAPSULATE %5 : cipher 2 level 0 factor 3",
            "ENCAPSULATE %5 : cipher 2 level 0 factor 2",
            "%6: expected factor 3, found factor 2",
        ),
        (
            "RAISE %6, %1",
            "RAISE %6, %5",
            "%5: expected a key, found a ciphertext",
        ),
        (
            "RAISE %6, %1",
            "RAISE %1, %1",
            "%1: expected a ciphertext, found a key",
        ),
        (
            "RAISE %6, %1 : cipher 2 level 6 factor F1",
            "RAISE %6, %1 : cipher 2 level 6 factor F2",
            "%7: expected factor",
        ),
        (
            "RAISE %6, %1 : cipher 2 level 6",
            "RAISE %6, %1 : cipher 2 level 5",
            "%7: expected level 6, found 5",
        ),
        (
            "elements 3, 9 :",
            "elements 3, 9, 27 :",
            "expected immediate one Galois element a result, found 3",
        ),
        (
            "elements 3, 9 :",
            "elements 3, 8 :",
            "expected immediate an odd Galois element",
        ),
        ("elements 3, 9, 27 low", "elements 3, 1, 27 low", "found 1"),
        (
            "low to level 6 : cipher 2 level 6",
            "low to level 9 : cipher 2 level 9",
            "expected immediate a level up to 6, found level 9",
        ),
        (
            "SUMROT %7",
            "SUMROT %1",
            "%1: expected a ciphertext, found a key",
        ),
        (
            "SUMPLAIN %7, %2",
            "SUMPLAIN %2, %7",
            "%2: expected a ciphertext, found a lifted constant",
        ),
        (
            "SUMPLAIN %7, %2",
            "SUMPLAIN %7, %8",
            "%8: expected a lifted constant, found a ciphertext",
        ),
        (
            "SUMPLAIN %8, %9, %2, %3",
            "SUMPLAIN %8, %9, %2",
            "a constant for each of them, found 3 operands",
        ),
        (
            "SUMPLAIN %7, %2",
            "SUMPLAIN %7",
            "a constant for each of them, found 1 operands",
        ),
        (
            "lifted 0 : lifted level 6",
            "lifted 0 : lifted level 5",
            "%2: expected level 6, found 5",
        ),
        (
            "%10 elements 3, 9 to",
            "%10 elements 3, 9, 27, 81 to",
            "expected immediate at most 3 Galois elements, found 4",
        ),
        (
            "SUMTURN %11, %12, %10",
            "SUMTURN %11, %12, %5",
            "%5: expected level 6, found 0",
        ),
        (
            "integers -3, 4 to",
            "integers -3 to",
            "expected immediate 2 integers, found 1",
        ),
        (
            "integers -3, 4 to level 4",
            "integers -3, 4 to level 5",
            "expected immediate a level up to 4, found level 5",
        ),
        (
            "SUMPROD %13, %14 combined 0 products 0 1",
            "SUMPROD %13, %5 combined 0 products 0 1",
            "%5: expected level 4, found 0",
        ),
        (
            "COMBINE %13 integers -3, 4 to level 4 : cipher 2 level 4 factor F1",
            "COMBINE %13 integers -3, 4 to level 4 : cipher 2 level 4 factor 1",
            "%14: expected a factor of plaintext modulus 1, found factor 1",
        ),
        (
            "products 0 1 to",
            "products 0 2 to",
            "expected immediate numbers of 2 operands, found 3 operands",
        ),
        (
            "combined 0 products 0 1 to",
            "combined 3 products 0 1 to",
            "expected immediate numbers of 2 operands, found 3 operands",
        ),
        (
            "combined 2 products sum 1",
            "combined 0 products sum 1",
            "expected immediate combinations of an operand at least, found none",
        ),
        (
            "3, -4, 5, 6 to",
            "3, -4, 5 to",
            "expected immediate 6 integers, found 5",
        ),
        (
            "DIVIDE %17 by integer 7",
            "DIVIDE %17 by 7.0",
            "expected immediate an integer, found a real constant",
        ),
        (
            "DIVIDE %17",
            "DIVIDE %0",
            "%0: expected a factor of a plaintext modulus above the messages' own, found factor 1",
        ),
        (
            "by integer 7 : cipher 2 level 3 factor 3",
            "by integer 7 : cipher 2 level 3 factor F3",
            "expected a factor of plaintext modulus 0",
        ),
        (
            "by integer 7 : cipher 2",
            "by integer 7 : cipher 3",
            "%18: expected 2 polynomials, found 3",
        ),
    ] {
        assert!(ALL.contains(from), "{from}");
        let refused = verify(&program(&ALL.replace(from, to)))
            .expect_err(from)
            .to_string();
        assert!(refused.contains(says), "{from} to {to}: {refused}");
    }
}

#[test]
fn steps_stand_in_procedures_alone_and_keys_stay_there() {
    let body = "macro \"m\" scheme bgv slots 8\n  input 0 = encrypted \"x\"\n  output 0 = \"y\"\n  \
                %0 = INPUT input 0 : cipher 2 level 3 factor 1\n  \
                %1 = DROP %0 to level 1 : cipher 2 level 1 factor 1\n  OUTPUT %1 output 0\nend\n";
    let refused = verify(&program(body))
        .expect_err("a step in a program")
        .to_string();
    assert!(refused.contains("found DROP"), "{refused}");
    let given = "macro \"m\" scheme bgv slots 8\n  proc 0 = \"p\"\n    %0 = KEY : key level 3 factor 1\n    out %0\n  end\n  \
                 proc 1 = \"q\"\n    %0 = CALL proc 0 : key level 3 factor 1\n  end\nend\n";
    let refused = verify(&program(given))
        .expect_err("a key as a result")
        .to_string();
    assert!(refused.contains("expected"), "{refused}");
}

#[test]
fn scales_multiply_and_are_divided() {
    let p = program(CKKS);
    verify(&p).expect("a sound program");
    verify_with_primes(&p, &PRIMES).expect("a sound program for these primes");
    assert_eq!(print(&p), CKKS);
    for (from, to, says) in [
        ("scale 45184.0", "scale 45185.0", "%5: expected scale 45184"),
        (
            "scale 45184.0\n    %12",
            "scale 45185.0\n    %12",
            "%11: expected scale 45184",
        ),
        (
            "%0, %3, %4, %3, %4 babies",
            "%0, %3, %4, %3 babies",
            "expected a ciphertext and 4 constants, found 4 operands",
        ),
        (
            "%0, %3, %4, %3, %4 babies",
            "%0, %3, %4, %3, %1 babies",
            "%1: expected a constant with limbs modulo the special primes",
        ),
        (
            "SUMPLAIN %0, %0, %1, %2",
            "SUMPLAIN %0, %0, %1, %3",
            "%3: expected a constant without limbs modulo the special primes",
        ),
        (
            "MATVEC %0, %3, %4, %3",
            "MATVEC %1, %3, %4, %3",
            "%1: expected a ciphertext",
        ),
        (
            "babies 3 giants 9 to level 2",
            "babies 3 giants 8 to level 2",
            "an odd Galois element",
        ),
        (
            "lifted special level 3 scale 706.0\n    %5",
            "lifted special level 2 scale 706.0\n    %5",
            "%4: expected level 3, found 2",
        ),
        (
            "lifted special level 3 scale 706.0\n    %5",
            "lifted special level 3 scale 705.0\n    %5",
            "%4: expected scale 706",
        ),
        ("babies 3 giants", "babies giants", "a Galois element"),
        (
            "scale 1561.6228549141965",
            "scale 1561.5",
            "%13: expected scale 1561.62",
        ),
        (
            "level 5 scale 17.25",
            "level 4 scale 17.25",
            "%14: expected level 5",
        ),
        ("level 5 scale 7.5", "level 5", "%12: expected scale"),
        (
            "lifted 1 : lifted level 3 scale 706.0",
            "lifted 1 : lifted level 3 scale 707.0",
            "%2: expected scale 706",
        ),
        (
            "scale 128.0\n    %7",
            "scale 129.0\n    %7",
            "%6: expected scale 128",
        ),
        (
            "cipher 2 level 6 scale 1000.5",
            "cipher 2 level 6",
            "expected scale",
        ),
        (
            "cipher 2 level 6 scale 1000.5",
            "cipher 2 level 5 scale 1000.5",
            "%9: expected level 6",
        ),
        (
            "cipher 2 level 6 scale 1000.5",
            "cipher 3 level 6 scale 1000.5",
            "%9",
        ),
        (
            "giants 9 to level 2",
            "giants 9 to level 4",
            "a level up to 3",
        ),
    ] {
        assert!(CKKS.contains(from), "{from}");
        let refused = parse(&CKKS.replace(from, to)).map_err(|e| e.to_string());
        let refused =
            refused.and_then(|p| verify_with_primes(&p, &PRIMES).map_err(|e| e.to_string()));
        let refused = refused.expect_err(from);
        assert!(refused.contains(says), "{from}: {refused}");
    }
    // A verifier without the primes takes any declared scale of a division.
    let other = program(&CKKS.replace("scale 128.0", "scale 130.0"));
    verify(&other).expect("any scale");
}

#[test]
fn texts_that_say_too_little_are_refused() {
    for (from, to, column) in [
        ("elements 3, 9 :", "elements :", "a Galois element"),
        ("low to level 6", "low", "`to`"),
        ("integers -3, 4 to", "to", "`integers`"),
        (
            "integers -3, 4 to",
            "integers 9223372036854775808 to",
            "an integer of 64 bits",
        ),
        (
            "products 0 1 to",
            "products 0 to",
            "the number of an operand",
        ),
        (
            "products sum 1",
            "products all 1",
            "the number of an operand, or `sum`",
        ),
        ("combined 0 products 0 1", "products 0 1", "`combined`"),
        ("lifted 0 :", ":", "`lifted`"),
    ] {
        assert!(ALL.contains(from), "{from}");
        let error = parse(&packed(&ALL.replace(from, to)))
            .expect_err(from)
            .to_string();
        assert!(error.contains(column), "{from}: {error}");
    }
}

#[test]
fn a_sum_of_rotations_has_one_to_all_operands() {
    for (count, sound) in [
        (0, false),
        (1, true),
        (MAX_OPERANDS, true),
        (MAX_OPERANDS + 1, false),
    ] {
        let mut p = program(ALL);
        let mut steps = p.procs[0].instrs.iter_mut();
        let sum = steps.find(|i| i.op == MacroOp::Sumrot).expect("a sum");
        let MacroImm::Turns(turns) = &mut sum.imm else {
            panic!("no elements");
        };
        turns.elements.of = vec![Galois(3); count];
        assert_eq!(verify(&p).is_ok(), sound, "{count}");
    }
}
