// SPDX-License-Identifier: Apache-2.0
//! A rescaling and a part of a key switch, which are built, verified, printed and parsed.

use ringmill_isa::Fault;
use ringmill_isa::Poly;
use ringmill_isa::mid::text::{parse_procedure, print_procedure};
use ringmill_isa::mid::{
    Form, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, verify_procedure,
};
use ringmill_math::{Ring, primes};

fn rescale(log_n: u8) -> Result<Procedure, Box<dyn std::error::Error>> {
    let moduli = primes::ntt_primes(30, u32::from(log_n), 4)?;
    let last = 3u16;
    let half = moduli[3] / 2;
    let mut b = ProcBuilder::new("ckks.rescale.L3", log_n, &moduli)?;
    let ty = |m: u16| LimbType {
        ring: Ring::full(log_n),
        modulus: ModulusId(m),
        form: Form::Eval,
    };
    let mut c = Vec::new();
    for m in 0..=last {
        c.push(b.param(
            format!("c0.q{m}"),
            ty(m),
            ParamRole::Cipher {
                arg: 0,
                poly: Poly(0),
            },
        )?);
    }
    let t = b.intt(c[3])?;
    let t = b.addi(t, half)?;
    for m in 0..last {
        let r = b.conv(t, ModulusId(m))?;
        let r = b.addi(r, moduli[usize::from(m)] - half % moduli[usize::from(m)])?;
        let r = b.ntt(r)?;
        let d = b.sub(c[usize::from(m)], r)?;
        let d = b.muli(d, 17)?;
        b.result(d, format!("d0.q{m}"), 0, Poly(0))?;
    }
    Ok(b.finish()?)
}

#[test]
fn rescale_builds_and_round_trips() -> Result<(), Box<dyn std::error::Error>> {
    let p = rescale(14)?;
    verify_procedure(&p)?;
    let text = print_procedure(&p);
    assert!(
        text.starts_with("proc ckks.rescale.L3 ring 2^14 moduli q0="),
        "{text}"
    );
    assert!(text.contains("%4 = INTT %3 : q3 coeff\n"), "{text}");
    let again = parse_procedure(&text)?;
    assert_eq!(p, again);
    assert_eq!(text, print_procedure(&again));
    Ok(())
}

#[test]
fn builder_names_instruction_and_moduli() -> Result<(), Box<dyn std::error::Error>> {
    let moduli = primes::ntt_primes(30, 12, 4)?;
    let mut b = ProcBuilder::new("p", 12, &moduli)?;
    let ty = |m: u16| LimbType {
        ring: Ring::full(12),
        modulus: ModulusId(m),
        form: Form::Eval,
    };
    let x = b.param(
        "x",
        ty(1),
        ParamRole::Cipher {
            arg: 0,
            poly: Poly(0),
        },
    )?;
    let y = b.param(
        "y",
        ty(3),
        ParamRole::Cipher {
            arg: 0,
            poly: Poly(0),
        },
    )?;
    let error = b.add(x, y).expect_err("moduli differ");
    assert!(matches!(*error.fault, Fault::Modulus { .. }), "{error:?}");
    let expected = format!(
        "p, instruction 0 `%2 = ADD %0, %1 : q1 eval`: %1: expected modulus q1 = {}, found q3 = {}",
        moduli[1], moduli[3]
    );
    assert_eq!(error.to_string(), expected);
    let error = b.ntt(x).expect_err("already evaluated");
    assert!(
        error
            .to_string()
            .contains("%0: expected coefficient form, found evaluation form"),
        "{error}"
    );
    assert!(b.prng(ty(0), 0, 5).is_err(), "no seed yet");
    assert_eq!(b.seed(1)?, 0);
    b.prng(ty(0), 0, 5)?;
    assert!(b.finish().is_ok());
    Ok(())
}
