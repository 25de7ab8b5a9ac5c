// SPDX-License-Identifier: Apache-2.0
//! Programs with procedures and repeats at the edges of what is allowed, and their refusals.

use num_complex::Complex64;
use ringmill_isa::macros::{
    MacroImm, MacroInstr, MacroOp, MacroProc, MacroProgram, MacroType, MacroValue, SchemeName,
    Visibility, text, verify,
};
use ringmill_limits::{Halt, Limits, Watch};
use ringmill_schemes::ckks::Ckks;
use ringmill_schemes::ckks::file::InsecureParams;

use crate::random::{SLOTS, line};
use crate::run::small_params;
use ringmill_compiler::arrays::{Arrays, Lengths, Returned};
use ringmill_compiler::builder::{MAX_NESTING, TraceBuilder, TraceError, Traced};
use ringmill_compiler::ckks::Options;
use ringmill_compiler::ckks::reference::{EvaluateError, evaluate};
use ringmill_compiler::inline::{InlineError, MAX_WRITTEN_OUT};
use ringmill_compiler::saved;
use ringmill_compiler::{CompileError, compile};

/// Returns a program of nested repeats around a sum, the outermost of `counts[0]` iterations, the next of `counts[1]`,
/// and so on.
fn nested(counts: &[u64]) -> MacroProgram {
    let mut t = TraceBuilder::new("nested", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    fn around(t: &mut TraceBuilder, counts: &[u64], number: u32, x: Traced) -> Traced {
        let Some((&count, within)) = counts.split_first() else {
            let turned = t.rotate(x, 1, line(number)).unwrap();
            return t.add(x, turned, line(number)).unwrap();
        };
        let params = t.begin_body("body", 1, line(number)).unwrap();
        let result = around(t, within, number + 1, params[0]);
        let body = t.end(&[result], line(number)).unwrap();
        t.repeat(count, &body, &[x], line(number)).unwrap()[0]
    }
    let y = around(&mut t, counts, 2, x);
    t.output("y", y, line(99)).unwrap();
    t.finish()
}

#[test]
fn programs_that_come_to_too_much_are_refused_with_the_line_of_the_repeat() {
    // An input, an output and a repeat's result count once. Each iteration counts its argument, its rotation and its
    // sum.
    for (counts, number, values) in [
        (&[1 << 32][..], 2, 3 + 3 * (1 << 32)),
        (&[1000, 1000][..], 2, 3 + 1000 * (2 + 3 * 1000)),
        (
            &[3, 1 << 30, 2][..],
            3,
            3 + 3 * (2 + (1 << 30) * (2 + 3 * 2)),
        ),
        (
            &[2, 3, 1 << 20][..],
            4,
            3 + 2 * (2 + 3 * (2 + 3 * (1 << 20))),
        ),
        (&[1 << 32, 1 << 32, 1 << 32][..], 4, u64::MAX),
    ] {
        let program = nested(counts);
        verify(&program).unwrap();
        let error = compile(program.clone(), &Options::default()).unwrap_err();
        assert_eq!(error.loc(), line(number).as_ref(), "{error}");
        let says = format!("has {values} values");
        let text = error.to_string();
        assert!(
            text.contains(&says) && text.contains(&MAX_WRITTEN_OUT.to_string()),
            "{text}"
        );
        let zeros = vec![vec![Complex64::ZERO; SLOTS as usize]];
        let refused = evaluate(&program, &zeros).unwrap_err();
        assert!(matches!(
            refused,
            EvaluateError::WrittenOut(InlineError::TooLong { .. })
        ));
    }
    // A program that is short enough evaluates.
    let inputs = vec![vec![Complex64::ONE; SLOTS as usize]];
    let got = evaluate(&nested(&[2, 3, 2]), &inputs).unwrap();
    assert_eq!(got[0][0].re, f64::from(1 << 12));
}

#[test]
fn a_body_that_does_nothing_is_not_repeated_for_ever() {
    let mut program = nested(&[1 << 32]);
    program.procs[0].instrs.clear();
    program.procs[0].types.truncate(1);
    program.procs[0].results = vec![MacroValue(0)];
    verify(&program).unwrap();
    let error = compile(program, &Options::default()).unwrap_err();
    assert!(
        matches!(error, CompileError::WrittenOut(InlineError::TooLong { .. })),
        "{error}"
    );
}

#[test]
fn memory_is_asked_for_before_it_is_taken() {
    let options = Options {
        watch: Watch::new(Limits { memory: 1 << 20 }),
        ..Options::default()
    };
    let error = compile(nested(&[100, 100]), &options).unwrap_err();
    assert!(
        matches!(error, CompileError::Halt(Halt::OverLimit { .. })),
        "{error}"
    );
}

/// Compiles 100,000 procedures that each call the one before, for which a recursive pass would need too large a stack.
#[test]
fn calls_may_be_nested_deeply() {
    let depth = 100_000u32;
    let cipher = MacroType::Cipher { size: 2, at: None };
    let one = |op, imm| MacroInstr {
        op,
        dst: vec![MacroValue(1)],
        src: vec![MacroValue(0)],
        imm,
        loc: None,
    };
    let mut program = nested(&[1]);
    let proc = |n: u32| MacroProc {
        name: "chain".to_owned(),
        params: vec![MacroValue(0)],
        instrs: vec![match n.checked_sub(1) {
            Some(before) => one(MacroOp::Call, MacroImm::Proc(before)),
            None => one(MacroOp::Rotate, MacroImm::Steps(vec![1])),
        }],
        types: vec![cipher; 2],
        results: vec![MacroValue(1)],
        loc: None,
    };
    program.procs = (0..depth).map(proc).collect();
    program.instrs[1] = one(MacroOp::Call, MacroImm::Proc(depth - 1));
    let compiled = compile(program, &Options::given(small_params())).unwrap();
    let rotations = compiled
        .managed
        .instrs
        .iter()
        .filter(|i| i.op == MacroOp::Rotate);
    assert_eq!(rotations.count(), 1);
}

#[test]
fn ill_formed_calls_are_errors_in_the_clear() {
    let inputs = vec![vec![Complex64::ONE; SLOTS as usize]];
    type Change = fn(&mut MacroProgram);
    let changes: [Change; 7] = [
        |p| p.instrs[1].imm = MacroImm::Proc(7),
        |p| p.procs[0].instrs[0].imm = MacroImm::Proc(0),
        |p| p.instrs[1].imm = MacroImm::Repeat { proc: 0, count: 0 },
        |p| p.instrs[1].src.clear(),
        |p| p.instrs[1].dst.push(MacroValue(0)),
        |p| p.procs[0].results[0] = MacroValue(u32::MAX),
        |p| p.procs[0].types.clear(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut program = nested(&[3]);
        change(&mut program);
        let error = evaluate(&program, &inputs).unwrap_err();
        let ill_formed = matches!(
            error,
            EvaluateError::WrittenOut(InlineError::IllFormed { .. })
        );
        assert!(ill_formed, "{number}: {error}");
        assert!(
            matches!(
                compile(program, &Options::default()),
                Err(CompileError::Verify(_))
            ),
            "{number}"
        );
    }
}

/// Checks that CKKS takes integer constants that a double holds, and refuses the others with their line.
#[test]
fn integer_constants_are_exact() {
    let program = |integer: i128| {
        let mut program = nested(&[1]);
        program.procs[0].instrs[0] = MacroInstr {
            op: MacroOp::Mulc,
            dst: vec![MacroValue(1)],
            src: vec![MacroValue(0)],
            imm: MacroImm::Integer(integer),
            loc: line(8),
        };
        let again = text::parse(&text::print(&program)).unwrap();
        assert_eq!(again, program);
        program
    };
    let ones = vec![vec![Complex64::ONE; SLOTS as usize]];
    let compiled = compile(program(-3), &Options::given(small_params())).unwrap();
    for stage in [&compiled.source, &compiled.managed] {
        assert_eq!(evaluate(stage, &ones).unwrap()[0][0].re, -2.0);
    }
    let odd = 12_345_678_901_234_567_891;
    let error = compile(program(odd), &Options::given(small_params())).unwrap_err();
    assert_eq!(error.loc(), line(8).as_ref());
    let text = error.to_string();
    assert!(text.contains("the integer 12345678901234567891"), "{text}");
}

#[test]
fn a_program_of_another_scheme_is_refused() {
    let mut program = nested(&[2]);
    program.scheme = SchemeName::new("bgv").unwrap();
    let error = compile(program, &Options::given(small_params())).unwrap_err();
    assert!(matches!(error, CompileError::OtherScheme { .. }));
    let text = error.to_string();
    assert!(
        text.contains("scheme bgv") && text.contains("for ckks"),
        "{text}"
    );
}

#[test]
fn saved_programs_keep_their_repeats() {
    let options = Options::given(small_params());
    let compiled = compile(nested(&[2, 2]), &options).unwrap();
    assert_eq!(compiled.source.procs.len(), 2);
    let arrays = Arrays {
        returned: Some(Returned::Tuple),
        lengths: Lengths::default(),
    };
    let text = saved::print(&compiled, &options, &arrays);
    assert_eq!(saved::arrays(&text, &compiled.source), Ok(arrays));
    let (program, recipe) = saved::parse::<Ckks>(&text, InsecureParams::AllowForTestsOnly)
        .unwrap()
        .unwrap();
    assert_eq!(program, compiled.source);
    let (again, _) = recipe.compile(program, &options.watch).unwrap();
    assert_eq!(again.program, compiled.program);
}

#[test]
fn a_name_that_no_file_keeps_is_refused() {
    let long = "n".repeat(257);
    assert!(TraceBuilder::new(&long, SLOTS).is_err());
    let mut t = TraceBuilder::new(&long[1..], SLOTS).unwrap();
    let x = t.input(&long[1..], Visibility::Encrypted, None).unwrap();
    let refused = [
        t.input(&long, Visibility::Plain, line(7)).map(drop),
        t.output(&long, x, line(7)),
        t.begin_body(&long, 1, line(7)).map(drop),
    ];
    for error in refused.map(Result::unwrap_err) {
        assert!(matches!(error, TraceError::Name { length: 257, .. }));
        assert_eq!(error.loc(), line(7).as_ref());
    }
    t.output(&long[1..], x, None).unwrap();
    let program = t.finish();
    let text = text::print(&program);
    assert_eq!(text::parse(&text).unwrap(), program);
}

#[test]
fn misuse_while_tracing_names_the_line() {
    let at = || line(7);
    type Misuse = fn(&mut TraceBuilder, Traced, Traced) -> Result<(), TraceError>;
    let encrypted = [Visibility::Encrypted];
    let misuses: [(&str, Misuse); 13] = [
        ("an input of the program", |t, _, _| {
            t.begin_body("b", 1, None)?;
            t.input("z", Visibility::Encrypted, line(7)).map(drop)
        }),
        ("an output of the program", |t, _, _| {
            let p = t.begin_body("b", 1, None)?;
            t.output("z", p[0], line(7))
        }),
        ("pass it as an argument", |t, x, _| {
            t.begin_procedure("p", &[Visibility::Encrypted], None)?;
            t.neg(x, line(7)).map(drop)
        }),
        ("pass it as an argument", |t, _, w| {
            // The value is also refused in the body of a repeat inside the procedure.
            let p = t.begin_procedure("p", &[Visibility::Encrypted], None)?;
            t.begin_body("b", 1, None)?;
            t.mul(p[0], w, line(7)).map(drop)
        }),
        ("has ended", |t, x, _| {
            let p = t.begin_body("b", 1, None)?;
            let inner = t.neg(p[0], None)?;
            t.end(&[inner], None)?;
            t.add(x, inner, line(7)).map(drop)
        }),
        ("nested more than", |t, _, _| {
            for _ in 0..MAX_NESTING {
                t.begin_body("b", 1, None)?;
            }
            t.begin_body("b", 1, line(7)).map(drop)
        }),
        ("result 0 is a plain vector", |t, _, w| {
            t.begin_body("b", 1, None)?;
            t.end(&[w], line(7)).map(drop)
        }),
        ("at least one encrypted value", |t, _, _| {
            t.begin_body("b", 1, None)?;
            t.end(&[], line(7)).map(drop)
        }),
        ("no procedure or repeat was begun", |t, x, _| {
            t.end(&[x], line(7)).map(drop)
        }),
        ("carries 2 values and its body gives back 1", |t, x, _| {
            let p = t.begin_body("b", 2, None)?;
            let body = t.end(&[p[0]], None)?;
            t.repeat(2, &body, &[x, x], line(7)).map(drop)
        }),
        ("2^32 times, not 0", |t, x, _| {
            let p = t.begin_body("b", 1, None)?;
            let body = t.end(&[p[0]], None)?;
            t.repeat(0, &body, &[x], line(7)).map(drop)
        }),
        ("takes 1 arguments, and 2 are given", |t, x, _| {
            let p = t.begin_procedure("p", &[Visibility::Encrypted], None)?;
            let procedure = t.end(&[p[0]], None)?;
            t.call(&procedure, &[x, x], line(7)).map(drop)
        }),
        (
            "argument 0: expected an encrypted vector, found a plain vector",
            |t, _, w| {
                let p = t.begin_procedure("p", &[Visibility::Encrypted], None)?;
                let procedure = t.end(&[p[0]], None)?;
                t.call(&procedure, &[w], line(7)).map(drop)
            },
        ),
    ];
    for (says, misuse) in misuses {
        let mut t = TraceBuilder::new("misuse", SLOTS).unwrap();
        let x = t.input("x", encrypted[0], line(1)).unwrap();
        let w = t.input("w", Visibility::Plain, line(2)).unwrap();
        let error = misuse(&mut t, x, w).unwrap_err();
        assert!(error.to_string().contains(says), "{says}: {error}");
        assert!(error.to_string().starts_with("random.py:7: "), "{error}");
        assert_eq!(error.loc(), at().as_ref());
    }
    let mut t = TraceBuilder::new("many", SLOTS).unwrap();
    let many = t.begin_body("b", 5000, at()).unwrap_err();
    assert!(matches!(many, TraceError::TooMany { .. }), "{many}");
    // An abandoned body leaves nothing in the program.
    let x = t.input("x", encrypted[0], line(1)).unwrap();
    t.begin_body("b", 1, None).unwrap();
    t.abandon();
    t.output("y", x, None).unwrap();
    assert!(t.finish().procs.is_empty());
}
