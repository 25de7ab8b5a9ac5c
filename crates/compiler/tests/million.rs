// SPDX-License-Identifier: Apache-2.0
//! A program of a million macro instructions compiles within 2 GiB of memory, traced with a repeat and without.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::time::Instant;

use ringmill_compiler::builder::{Slot, TraceBuilder, TraceError, Traced};
use ringmill_compiler::ckks::Options;
use ringmill_compiler::compile;
use ringmill_isa::macros::{MacroProgram, Visibility};
use ringmill_schemes::ckks::Params;

const SLOTS: u32 = 4096;
/// The instructions that [`block`] traces, without the encodings of vectors.
const BLOCK: usize = 10;
/// The most bytes of memory that tracing and compiling may take.
const MEMORY: u64 = 2 << 30;

/// Traces one block on a running value and a total. Sums, differences, a rotation and a negation change the running
/// value. Its product with one of a few constant vectors, or with an input, is added to the total.
fn block(
    t: &mut TraceBuilder,
    inputs: &[Traced],
    vectors: &[Vec<Slot>],
    [mut run, total]: [Traced; 2],
    number: usize,
) -> Result<[Traced; 2], TraceError> {
    let input = |k: usize| inputs[(number + k) % inputs.len()];
    for k in 0..3 {
        run = t.add(run, input(k), None)?;
        run = t.sub(run, input(k + 1), None)?;
    }
    run = t.rotate(run, 1 << (number % 8), None)?;
    run = t.neg(run, None)?;
    // The vector is passed anew each time, as the front end does with an array in a loop.
    let factor = match number % 8 {
        7 => input(0),
        n => t.vector(vectors[n].clone(), None)?,
    };
    let product = t.mul(run, factor, None)?;
    Ok([run, t.add(total, product, None)?])
}

/// Returns a program of `inside` times `times` blocks. If `looped`, a repeat of `times` iterations runs `inside` blocks
/// each.
fn program(inside: usize, times: usize, looped: bool) -> Result<MacroProgram, TraceError> {
    let mut t = TraceBuilder::new("million", SLOTS)?;
    let inputs: Vec<Traced> = (0..4)
        .map(|n| t.input(&format!("x{n}"), Visibility::Encrypted, None))
        .collect::<Result<_, _>>()?;
    let vector = |n: u32| {
        (0..SLOTS)
            .map(|i| (f64::from((i * n) % 17) / 16.0 - 0.5, 0.0))
            .collect()
    };
    let vectors: Vec<Vec<Slot>> = (1..8).map(vector).collect();
    let first = t.vector(vectors[0].clone(), None)?;
    let zero = t.mul(inputs[0], first, None)?;
    let mut carried = [inputs[0], zero];
    if looped {
        let params = t.begin_body("blocks", 2, None)?;
        let mut inner = [params[0], params[1]];
        for number in 0..inside {
            inner = block(&mut t, &inputs, &vectors, inner, number)?;
        }
        let body = t.end(&inner, None)?;
        let results = t.repeat(times as u64, &body, &carried, None)?;
        carried = [results[0], results[1]];
    } else {
        for number in 0..times * inside {
            carried = block(&mut t, &inputs, &vectors, carried, number % inside)?;
        }
    }
    t.output("run", carried[0], None)?;
    t.output("total", carried[1], None)?;
    Ok(t.finish())
}

/// Returns the largest memory of the process since [`forget_peak`], in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim()
        .trim_end_matches("kB")
        .trim()
        .parse::<u64>()
        .unwrap()
        << 10
}

fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").unwrap();
}

#[test]
#[ignore = "a minute and 2 GiB; `make full` runs it"]
fn a_million_instructions_compile_in_two_gibibytes() {
    let params = Params::builder(13)
        .prime_bits(&[60, 45, 45], &[60])
        .build()
        .unwrap();
    let options = Options {
        input_bound: 1e-7,
        ..Options::given(params)
    };
    let mut calls = Vec::new();
    for looped in [true, false] {
        forget_peak();
        let begin = Instant::now();
        let source = program(100, 1000, looped).unwrap();
        let traced = begin.elapsed();
        assert!(looped || source.instrs.len() > 1000 * 100 * BLOCK);
        let begin = Instant::now();
        let compiled = compile(source, &options).unwrap();
        let (took, peak) = (begin.elapsed(), peak());
        println!(
            "looped {looped}: traced in {traced:.1?}, compiled in {took:.1?}, {} managed instructions, {} calls, {} MiB",
            compiled.managed.instrs.len(),
            compiled.program.steps.len(),
            peak >> 20
        );
        assert!(peak < MEMORY, "{} MiB", peak >> 20);
        calls.push(compiled.program.steps.len());
    }
    assert!(calls[0] > 900_000 && calls[0] == calls[1], "{calls:?}");
}
