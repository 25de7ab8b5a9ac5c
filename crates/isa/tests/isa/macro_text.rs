// SPDX-License-Identifier: Apache-2.0
//! Macro programs as text written by hand: what the text says, and what is refused with which line.

use ringmill_isa::macros::text::{parse, print};
use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram, SchemeName, stats, verify};

#[test]
fn short_texts_cannot_ask_for_much_memory() {
    let line = |n: usize| format!("  data {n} = 65536 repeat 1.0\n");
    let text = |n: usize| {
        format!(
            "macro \"m\" slots 65536\n{}end\n",
            (0..n).map(line).collect::<String>()
        )
    };
    let p = parse(&text(64)).expect("64 vectors of 2^16 slots");
    let error = parse(&text(65)).expect_err("one more");
    assert_eq!((error.line, error.column), (66, 13), "{error}");
    // The printer writes a vector in full where the parser would refuse its short form.
    let mut p = p;
    p.data.push(p.data[0].clone());
    assert_eq!(parse(&print(&p)).expect("the printed text"), p);
}

/// A program with a call and with a repeat inside a repeat.
const REPEATS: &str = r#"macro "m" slots 8
  input 0 = encrypted "x"
  output 0 = "y"
  proc 0 = "step" at "m.py":3
    in %0 : cipher 2
    in %2 : plain
    %1 = MUL %0, %2 : cipher 2 at "m.py":4
    out %1
  end
  proc 1 = "twice"
    in %0 : cipher 2
    in %1 : plain
    %2 = REPEAT %0, %1 proc 0 times 2 : cipher 2 at "m.py":7
    out %2
  end
  data 0 = 8 repeat 0.5
  %0 = INPUT input 0 : cipher 2
  %1 = ENCODE data 0 : plain
  %2 = CALL %0, %1 proc 1 : cipher 2 at "m.py":9
  %3 = REPEAT %2, %1 proc 1 times 4294967296 : cipher 2 at "m.py":10
  OUTPUT %3 output 0
end
"#;

const FAR: &str = r#"macro "m" scheme ckks slots 8
  input 0 = encrypted "x"
  output 0 = "y"
  data 0 = 8 repeat 0.5
  %0 = INPUT input 0 : distant cipher 2 level 1 scale 4.0
  %1 = LOAD %0 : cipher 2 level 1 scale 4.0 at "m.py":3
  %2 = MORPH %1 galois 9 : cipher 2 under galois 9 level 1 scale 4.0 at "m.py":4
  %3 = KSW %2 : cipher 2 level 1 scale 4.0 at "m.py":5
  %4 = SQUARE %3 : cipher 3 level 1 scale 16.0 at "m.py":6
  %5 = KSW %4 : cipher 2 level 1 scale 16.0 at "m.py":7
  %6 = ENCODE data 0 : distant plain level 1 scale 16.0
  %7 = LOAD %6 : plain level 1 scale 16.0
  %8 = ADD %5, %7 : cipher 2 level 1 scale 16.0 at "m.py":8
  OUTPUT %8 output 0 at "m.py":9
end
"#;

/// Checks that values in distant memory are loaded before use, and values under another secret switched.
#[test]
fn memory_and_secrets_are_checked() {
    let p = parse(FAR).expect("a sound text");
    verify(&p).expect("a sound program");
    assert_eq!(print(&p), FAR);
    let counts = stats::counts(&p);
    assert_eq!((counts[&MacroOp::Load], counts[&MacroOp::Ksw]), (2, 2));
    let refuse = |from: &str, to: &str| {
        assert!(FAR.contains(from), "{from}");
        let p = parse(&FAR.replace(from, to)).expect("it parses");
        verify(&p).expect_err("it does not fit").to_string()
    };
    for (from, to, says) in [
        (
            "KSW %2",
            "KSW %1",
            "m.py:5: m, instruction 3 `%3 = KSW %1 : cipher 2 level 1 scale 4.0`: %1: expected 3 polynomials, found 2",
        ),
        ("KSW %2", "KSW %0", "m.py:5: m, instruction 3"),
        (
            "KSW %4",
            "KSW %0",
            "%0: expected a ciphertext, found a ciphertext in distant memory, which LOAD brings near",
        ),
        (
            "KSW %4 : cipher 2 level 1",
            "MORPH %4 galois 9 : cipher 2 under galois 9 level 1",
            "m.py:7: m, instruction 5 `%5 = MORPH %4 galois 9 : cipher 2 under galois 9 level 1 scale 16.0`: %4: expected 2 polynomials, found 3",
        ),
        (
            "KSW %2 :",
            "MORPH %2 galois 3 :",
            "m.py:5: m, instruction 3 `%3 = MORPH %2 galois 3 : cipher 2 level 1 scale 4.0`: %2: expected a ciphertext, found a ciphertext under another secret, which KSW takes",
        ),
        (
            "galois 9",
            "galois 8",
            "expected immediate an odd Galois element above 1 and below 2N, at most 262144, found 8",
        ),
        ("galois 9", "galois 1", "found 1"),
        ("galois 9", "galois 262145", "found 262145"),
        ("galois 9", "galois 4294967295", "found 4294967295"),
        (
            "under galois 9",
            "under galois 11",
            "m.py:4: m, instruction 2 `%2 = MORPH %1 galois 9 : cipher 2 under galois 11 level 1 scale 4.0`: %2: expected a ciphertext under the secret of galois 9, found one under that of galois 11",
        ),
        (
            "MORPH %1 galois 9 : cipher 2 under galois 9",
            "MORPH %1 galois 9 : cipher 2",
            "%2: expected a ciphertext under another secret, found a ciphertext",
        ),
        (
            "under galois 9 level 1",
            "under galois 9 level 0",
            "%2: expected level 1, found 0",
        ),
        (
            "LOAD %0 : cipher 2",
            "LOAD %0 : cipher 3",
            "m.py:3: m, instruction 1 `%1 = LOAD %0 : cipher 3 level 1 scale 4.0`: %1: expected 2 polynomials, found 3",
        ),
        (
            "LOAD %0 : cipher 2",
            "LOAD %0 : plain",
            "%1: expected a ciphertext, found a plaintext",
        ),
        (
            "LOAD %6 : plain",
            "LOAD %6 : cipher 2",
            "%7: expected a plaintext, found a ciphertext",
        ),
        (
            "KSW %2 :",
            "LOAD %1 :",
            "m.py:5: m, instruction 3 `%3 = LOAD %1 : cipher 2 level 1 scale 4.0`: %1: expected a value in distant memory, found a ciphertext",
        ),
        (
            "KSW %2 :",
            "LOAD %2 :",
            "found a ciphertext under another secret, which KSW takes",
        ),
        (
            "SQUARE %3 : cipher 3 level 1 scale 16.0",
            "ADD %3, %2 : cipher 2 level 1 scale 4.0",
            "m.py:6: m, instruction 4 `%4 = ADD %3, %2 : cipher 2 level 1 scale 4.0`: %2: expected a ciphertext, found a ciphertext under another secret, which KSW takes",
        ),
        (
            "SQUARE %3",
            "SQUARE %2",
            "found a ciphertext under another secret, which KSW takes",
        ),
        (
            "SQUARE %3",
            "SQUARE %0",
            "found a ciphertext in distant memory, which LOAD brings near",
        ),
        (
            "ADD %5, %7",
            "ADD %5, %6",
            "found a plaintext in distant memory, which LOAD brings near",
        ),
        (
            "OUTPUT %8",
            "OUTPUT %2",
            "m.py:9: m, instruction 9 `OUTPUT %2 output 0`: %2: expected a ciphertext, found a ciphertext under another secret, which KSW takes",
        ),
        (
            "OUTPUT %8",
            "OUTPUT %0",
            "%0: expected a ciphertext, found a ciphertext in distant memory",
        ),
        (
            "input 0 : distant cipher 2",
            "input 0 : distant plain",
            "%0: expected a ciphertext, found a plaintext in distant memory",
        ),
        (
            "data 0 : distant plain",
            "data 0 : distant cipher 2",
            "%6: expected a plaintext, found a ciphertext in distant memory",
        ),
    ] {
        let said = refuse(from, to);
        assert!(said.contains(says), "{from} to {to}: {said}");
    }
    // A program without levels has no distant memory.
    let traced = FAR.replace(" level 1", "").replace(" scale 4.0", "");
    let traced = traced.replace(" scale 16.0", "");
    let said = verify(&parse(&traced).expect("it parses")).expect_err("unmanaged");
    assert!(
        said.to_string()
            .contains("%0: expected level of a managed program, found none"),
        "{said}"
    );
    for (from, to, says) in [
        (
            "cipher 2 under galois 9",
            "cipher 3 under galois 9",
            "2 polynomials",
        ),
        ("distant cipher 2", "distant cipher 3", "2 polynomials"),
        (
            "distant cipher 2",
            "distant cipher 2 under galois 9",
            "line 5",
        ),
        ("under galois 9", "under 9", "galois"),
        ("under galois 9", "under galois -9", "line 7"),
        ("MORPH %1 galois 9", "MORPH %1", "galois"),
        (
            "distant plain",
            "distant distant plain",
            "`cipher`, `plain` or `distant`",
        ),
    ] {
        let error = parse(&FAR.replace(from, to)).expect_err(to).to_string();
        assert!(error.contains(says), "{to}: {error}");
    }
    // A text cut short anywhere is refused.
    for (at, _) in FAR.char_indices().take(FAR.len() - 2) {
        assert!(parse(&FAR[..at]).is_err(), "{}", &FAR[..at]);
    }
}

/// Checks that a text without a scheme is of CKKS, and that the printer always names the scheme.
#[test]
fn a_program_names_its_scheme() {
    let p = parse(REPEATS).expect("a sound text");
    assert_eq!(p.scheme.as_str(), "ckks");
    verify(&p).expect("a sound program");
    let named = print(&p);
    assert!(
        named.starts_with("macro \"m\" scheme ckks slots 8\n"),
        "{named}"
    );
    let other = parse(&named.replace("scheme ckks", "scheme bgv-2")).expect("another scheme");
    assert_eq!(other.scheme, SchemeName::new("bgv-2").expect("a name"));
    assert!(print(&other).starts_with("macro \"m\" scheme bgv-2 slots 8\n"));
    let long = "a".repeat(33);
    for wrong in ["CKKS", "2bgv", "-", "b_v", "b.v", long.as_str()] {
        assert_eq!(SchemeName::new(wrong), None);
        let error = parse(&named.replace("scheme ckks", &format!("scheme {wrong}")));
        let error = error.expect_err("no name").to_string();
        assert!(
            error.contains("line 1") && error.contains("scheme"),
            "{error}"
        );
    }
}

#[test]
fn calls_that_do_not_fit_are_refused_with_their_line() {
    let refuse = |from: &str, to: &str| {
        assert!(REPEATS.contains(from), "{from}");
        let p = parse(&REPEATS.replace(from, to)).expect("it parses");
        verify(&p).expect_err("it does not fit").to_string()
    };
    for (from, to, says) in [
        (
            "times 4294967296",
            "times 0",
            "m.py:10: m, instruction 3 `%3 = REPEAT %2, %1 proc 1 times 0 : cipher 2`: expected immediate a count from 1 to 4294967296, found 0",
        ),
        (
            "times 4294967296",
            "times 1152921504606846976",
            "m.py:10: m, instruction 3 `%3 = REPEAT %2, %1 proc 1 times 1152921504606846976 : cipher 2`: expected immediate a count from 1 to 4294967296, found 1152921504606846976",
        ),
        (
            "CALL %0, %1 proc 1",
            "CALL %0, %1 proc 2",
            "m.py:9: m, instruction 2 `%2 = CALL %0, %1 proc 2 : cipher 2`: procedure number 2 is out of range: expected below 2",
        ),
        (
            "proc 0 times 2",
            "proc 1 times 2",
            "m.py:7: twice, instruction 0 `%2 = REPEAT %0, %1 proc 1 times 2 : cipher 2`: procedure 1 calls procedure 1: expected one before it, so that none calls itself, directly or through others",
        ),
        (
            "%1 = MUL %0, %2 : cipher 2",
            "%1 = CALL %0, %2 proc 1 : cipher 2",
            "m.py:4: step, instruction 0 `%1 = CALL %0, %2 proc 1 : cipher 2`: procedure 0 calls procedure 1: expected one before it, so that none calls itself, directly or through others",
        ),
        (
            "CALL %0, %1",
            "CALL %0",
            "m.py:9: m, instruction 2 `%2 = CALL %0 proc 1 : cipher 2`: expected exactly 2 operands, found 1",
        ),
        (
            "CALL %0, %1",
            "CALL %1, %0",
            "m.py:9: m, instruction 2 `%2 = CALL %1, %0 proc 1 : cipher 2`: %1: expected a ciphertext, found a plaintext",
        ),
        (
            "    out %2",
            "    out %1",
            "m.py:9: m, instruction 2 `%2 = CALL %0, %1 proc 1 : cipher 2`: %2: expected a plaintext, found a ciphertext",
        ),
        (
            "    out %1",
            "    out %1\n    out %0",
            "m.py:7: twice, instruction 0 `%2 = REPEAT %0, %1 proc 0 times 2 : cipher 2`: carried value 1 of \"step\": expected plain as its parameter, found cipher 2 as its result",
        ),
        (
            "%1 = MUL %0, %2",
            "%1 = INPUT input 0",
            "m.py:4: step, instruction 0 `%1 = INPUT input 0 : cipher 2`: INPUT in a procedure: expected no inputs and outputs there; pass values as arguments and give them back as results",
        ),
        (
            "    out %1",
            "    OUTPUT %1 output 0\n    out %1",
            "step, instruction 1 `OUTPUT %1 output 0`: OUTPUT in a procedure: expected no inputs and outputs there; pass values as arguments and give them back as results",
        ),
        (
            "    out %1",
            "    out %7",
            "m.py:3: step: %7 is used before it is defined",
        ),
    ] {
        assert_eq!(refuse(from, to), says);
    }
    for (from, to, says) in [
        (
            "times 2 ",
            "times 18446744073709551616 ",
            "line 13, column 37: expected a number in range after `times`, found `18446744073709551616`",
        ),
        (
            "proc 1 = \"twice\"",
            "proc 2 = \"twice\"",
            "line 10, column 3: expected `proc 1` (entries are numbered in order), found `proc`",
        ),
        (
            "  end\n  data",
            "  data",
            "line 15, column 3: expected `out` or `end` (results come last), found `data`",
        ),
        (
            "    out %1",
            "    in %1 : plain",
            "line 8, column 5: expected an instruction, `out` or `end` (parameters come first), found `in`",
        ),
        (
            "in %2 :",
            "in %3 :",
            "line 6, column 8: expected numbers below 3, the count of definitions, found %3",
        ),
    ] {
        assert!(REPEATS.contains(from), "{from}");
        let error = parse(&REPEATS.replace(from, to)).expect_err("ill-formed");
        assert_eq!(error.to_string(), says);
    }
}

/// Checks that the counts of nested repeats multiply and saturate at 64 bits.
#[test]
fn counts_of_nested_repeats_do_not_overflow() {
    let mut p = parse(REPEATS).expect("a sound text");
    assert_eq!(stats::counts(&p)[&MacroOp::Mul], 2 + 2 * (1 << 32));
    let repeat = |p: &mut MacroProgram| {
        let mut proc = p.procs[1].clone();
        let last = p.procs.len() as u32 - 1;
        proc.instrs[0].imm = MacroImm::Repeat {
            proc: last,
            count: 1 << 32,
        };
        p.procs.push(proc);
    };
    (0..3).for_each(|_| repeat(&mut p));
    p.instrs[2].imm = MacroImm::Proc(4);
    verify(&p).expect("a sound program");
    assert_eq!(stats::counts(&p)[&MacroOp::Mul], u64::MAX);
}

/// Checks programs with scales, with factors and with neither, and that these do not mix.
#[test]
fn notes_are_of_one_scheme() {
    let text = |note: &str, product: &str, constant: &str| {
        format!(
            "macro \"m\" scheme other slots 4\n  input 0 = encrypted \"x\"\n  output 0 = \"y\"\n  \
             %0 = INPUT input 0 : cipher 2 level 2{note}\n  %1 = SQUARE %0 : cipher 3 level 2{product}\n  \
             %2 = RELIN %1 : cipher 2 level 2{product}\n  %3 = MULC %2 {constant} : cipher 2 level 2{product}\n  \
             %4 = ADD %3, %2 : cipher 2 level 2{product}\n  %5 = RESCALE %4 : cipher 2 level 1{note}\n  \
             OUTPUT %5 output 0\nend\n"
        )
    };
    let checked = |note: &str, product: &str, constant: &str| {
        let text = text(note, product, constant);
        let p = parse(&text).expect("it parses");
        assert_eq!(print(&p), text);
        verify(&p).map_err(|e| e.fault.to_string())
    };
    let err = |text: &str| Err(text.to_owned());
    assert_eq!(checked("", "", "by integer -5"), Ok(()));
    assert_eq!(
        checked(
            " factor 3",
            " factor 9",
            "by integer 170141183460469231731687303715884105727"
        ),
        Ok(())
    );
    assert_eq!(
        checked(" scale 4.0", " scale 16.0", "by 1.5 scale 1.0"),
        Ok(())
    );
    assert_eq!(
        checked(" scale 4.0", " scale 16.0", "by integer 2"),
        err("expected immediate a constant with a scale, found no scale")
    );
    assert_eq!(
        checked(" factor 3", " factor 9", "by 2.0 scale 1.0"),
        err("expected immediate a constant without a scale, found scale 1")
    );
    assert_eq!(
        checked("", " factor 9", "by integer 2"),
        err("%1: expected neither scale nor factor, found factor 9")
    );
    assert_eq!(
        checked(" factor 3", " scale 9.0", "by integer 2"),
        err("%1: expected factor 3, found scale 9.0")
    );
    assert_eq!(
        checked(" factor 0", " factor 1", "by integer 2"),
        err("%0: expected a factor of at least 1, found factor 0")
    );
    assert_eq!(
        checked(" scale 4.0", " scale 17.0", "by 1.5 scale 1.0"),
        err("%1: expected scale 16, found 17")
    );
    let long = text("", "", "by integer 170141183460469231731687303715884105728");
    let error = parse(&long).expect_err("more than 128 bits").to_string();
    assert!(
        error.starts_with("line 7, column 27: expected an integer of 128 bits"),
        "{error}"
    );
}

/// Checks that REFACTOR takes an integer, and ciphertexts with factors alone.
#[test]
fn factors_are_multiplied_where_there_are_some() {
    let checked = |note: &str, result: &str, constant: &str| {
        let text = format!(
            "macro \"m\" scheme other slots 4\n  input 0 = encrypted \"x\"\n  output 0 = \"y\"\n  \
             %0 = INPUT input 0 : cipher 2 level 2{note}\n  %1 = REFACTOR %0 {constant} : cipher 2 {result}\n  \
             OUTPUT %1 output 0\nend\n"
        );
        let p = parse(&text).expect("it parses");
        assert_eq!(print(&p), text);
        verify(&p).map_err(|e| e.fault.to_string())
    };
    let err = |text: &str| Err(text.to_owned());
    assert_eq!(
        checked(" factor 3", "level 2 factor 8", "by integer -5"),
        Ok(())
    );
    assert_eq!(
        checked(" factor 3", "level 1 factor 8", "by integer -5"),
        err("%1: expected level 2, found 1")
    );
    assert_eq!(
        checked(" factor 3", "level 2", "by integer 2"),
        err("%1: expected factor 3, found neither scale nor factor")
    );
    assert_eq!(
        checked(" factor 3", "level 2 factor 6", "by 2.0"),
        err("expected immediate an integer, found a real constant")
    );
    assert_eq!(
        checked(" scale 4.0", "level 2 scale 8.0", "by integer 2"),
        err("%0: expected a factor, found scale 4.0")
    );
    assert_eq!(
        checked("", "level 2", "by integer 2"),
        err("%0: expected a factor, found neither scale nor factor")
    );
}
