// SPDX-License-Identifier: Apache-2.0
//! Expansions of composite instructions against big-integer arithmetic. Their primitives run on one coefficient.

use std::collections::HashMap;

use ringmill_isa::Poly;
use ringmill_isa::mid::stats::{procedure_counts, program_counts};
use ringmill_isa::mid::{
    Action, Block, Form, Imm, LimbType, ModulusId, Op, ParamRole, ProcBuilder, Procedure, Program,
    Step, ValueId, expand_composites, verify_procedure,
};
use ringmill_math::{Ring, primes};

const LOG_N: u8 = 8;

fn ty(modulus: u16, form: Form) -> LimbType {
    LimbType {
        ring: Ring::full(LOG_N),
        modulus: ModulusId(modulus),
        form,
    }
}

/// Runs primitives that work position by position, on one position of every limb.
fn run(p: &Procedure, inputs: &[u64]) -> HashMap<ValueId, u64> {
    let mut at: HashMap<_, _> = p
        .params
        .iter()
        .map(|p| p.value)
        .zip(inputs.iter().copied())
        .collect();
    for i in &p.instrs {
        let q = p.moduli[usize::from(p.limb(i.dst[0]).unwrap().modulus.0)].value();
        let s: Vec<u128> = i.src.iter().map(|v| u128::from(at[v])).collect();
        let d = match (i.op, i.imm) {
            (Op::Add, _) => (s[0] + s[1]) % q,
            (Op::Mul, _) => s[0] * s[1] % q,
            (Op::Mac, _) => (s[0] + s[1] * s[2]) % q,
            (Op::Muli, Imm::Scalar(w)) => s[0] * u128::from(w) % q,
            (Op::Conv, _) => s[0] % q,
            other => panic!("not a primitive of an expansion: {other:?}"),
        };
        at.insert(i.dst[0], d as u64);
    }
    at
}

#[test]
fn bext_expands_to_its_definition() -> Result<(), Box<dyn std::error::Error>> {
    for k in 1..=3u16 {
        let moduli = primes::ntt_primes(30, u32::from(LOG_N), 6)?;
        let mut b = ProcBuilder::new("bext", LOG_N, &moduli)?;
        let x: Vec<_> = (0..k)
            .map(|m| {
                b.param(
                    "x",
                    ty(m, Form::Coeff),
                    ParamRole::Cipher {
                        arg: 0,
                        poly: Poly(0),
                    },
                )
            })
            .collect::<Result<_, _>>()?;
        // The first target is the modulus of an operand.
        let targets = [ModulusId(0), ModulusId(4), ModulusId(5)];
        let y = b.bext(&x, &targets)?;
        for (&v, m) in y.iter().zip(0..) {
            b.result(v, format!("y{m}"), 0, Poly(0))?;
        }
        let p = b.finish()?;
        let primitive = expand_composites(&p, |_| false)?;
        verify_procedure(&primitive)?;
        assert!(primitive.instrs.iter().all(|i| !i.op.is_composite()));
        assert_eq!(expand_composites(&p, |_| true)?, p);
        let inputs: Vec<u64> = moduli
            .iter()
            .take(usize::from(k))
            .map(|q| q - 12345)
            .collect();
        let values = run(&primitive, &inputs);
        // The definition in plain integers: Q < 2^90, each term below Q.
        let big: u128 = moduli
            .iter()
            .take(usize::from(k))
            .map(|&q| u128::from(q))
            .product();
        let mut sum = 0u128;
        for (i, &q) in moduli.iter().take(usize::from(k)).enumerate() {
            let q = u128::from(q);
            let hat = big / q;
            let inverse = pow(hat, q - 2, q); // Fermat
            sum += u128::from(inputs[i]) * inverse % q * hat;
        }
        for (&v, id) in y.iter().zip(targets) {
            let p_j = u128::from(moduli[usize::from(id.0)]);
            assert_eq!(
                u128::from(values[&v]),
                sum % p_j,
                "k = {k}, modulus q{}",
                id.0
            );
        }
    }
    Ok(())
}

fn pow(base: u128, mut e: u128, q: u128) -> u128 {
    let (mut base, mut result) = (base % q, 1);
    while e > 0 {
        if e & 1 == 1 {
            result = result * base % q;
        }
        base = base * base % q;
        e >>= 1;
    }
    result
}

fn dot_procedure(pairs: usize) -> Result<Procedure, Box<dyn std::error::Error>> {
    let moduli = primes::ntt_primes(30, u32::from(LOG_N), 1)?;
    let mut b = ProcBuilder::new("dot", LOG_N, &moduli)?;
    let mut operands = Vec::new();
    for i in 0..2 * pairs {
        let role = ParamRole::Cipher {
            arg: (i % 2) as u16,
            poly: Poly((i / 2) as u16),
        };
        operands.push(b.param(format!("x{i}"), ty(0, Form::Eval), role)?);
    }
    let pairs: Vec<_> = operands
        .as_chunks::<2>()
        .0
        .iter()
        .map(|&[a, b]| (a, b))
        .collect();
    let d = b.dot(&pairs)?;
    b.result(d, "d", 0, Poly(0))?;
    Ok(b.finish()?)
}

#[test]
fn dot_expands_to_mul_and_mac() -> Result<(), Box<dyn std::error::Error>> {
    for pairs in 1..=4 {
        let p = dot_procedure(pairs)?;
        let primitive = expand_composites(&p, |op| op == Op::Bext)?;
        verify_procedure(&primitive)?;
        let counts = procedure_counts(&primitive);
        assert_eq!(counts.get(&Op::Mul), Some(&1));
        assert_eq!(counts.get(&Op::Mac).copied().unwrap_or(0), pairs as u64 - 1);
        let q = p.moduli[0].value();
        let inputs: Vec<u64> = (0..2 * pairs as u64)
            .map(|i| p.moduli[0].top() - 7 * i * i)
            .collect();
        let expected = inputs
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[a, b]| u128::from(a) * u128::from(b))
            .sum::<u128>()
            % q;
        assert_eq!(
            u128::from(run(&primitive, &inputs)[&p.results[0].value]),
            expected
        );
    }
    Ok(())
}

#[test]
fn program_counts_are_calls_times_counts() -> Result<(), Box<dyn std::error::Error>> {
    let p = dot_procedure(2)?;
    let step = |action| Step {
        action,
        args: vec![],
        seeds: vec![],
        immediates: vec![],
        dies: vec![],
        results: vec![],
        loc: None,
    };
    let block = |name: &str, action| Block {
        name: name.into(),
        params: vec![],
        steps: vec![step(action), step(Action::Call { proc: 0 })],
        results: vec![],
    };
    let repeat = |block, count| Action::Repeat { block, count };
    let program = Program {
        log_n: LOG_N,
        moduli: p.moduli.clone(),
        procs: vec![p.into()],
        blocks: vec![
            block("inner", Action::Call { proc: 0 }),
            block("outer", repeat(0, 1 << 31)),
        ],
        inputs: vec![],
        seeds: vec![],
        steps: vec![step(repeat(1, 10)), step(Action::Run { block: 0 })],
        outputs: vec![],
    };
    assert_eq!(
        program_counts(&program).into_iter().collect::<Vec<_>>(),
        [(Op::Dot, 10 * ((1 << 32) + 1) + 2)]
    );
    Ok(())
}
