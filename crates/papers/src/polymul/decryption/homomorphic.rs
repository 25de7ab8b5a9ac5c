// SPDX-License-Identifier: Apache-2.0
//! The BFV product of two ciphertexts (BEHZ) modulo six primes of 30 bits at n = 4096, split between machine and host.
//! Its auxiliary primes have 61 bits, so their part stays with the host.

use std::collections::BTreeMap;

use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Limb, Request};
use ringmill_hdl::polymul::Dice;
use ringmill_isa::mid::{Program, Verified};
use ringmill_schemes::bfv::{BfvError, OpKey, Params, PlainModulus, ProcCache};
use ringmill_sim::open;

use super::Study;
use super::sample::T;
use crate::error::PaperError;
use crate::scope::{Record, fields};

const LOG_N: u8 = 12;
const BITS: u32 = 30;
const PRIMES: usize = 6;
/// The seed of the operands. Any residues do, since every residue of the RTL is compared with the CPU's.
const SEED: u64 = 2;

pub fn figures(study: Study<'_>) -> Result<Record, PaperError> {
    let t = PlainModulus::new(T).map_err(BfvError::from)?;
    // A modulus of 180 bits is insecure at this degree. It is the set of the other work, taken for its arithmetic.
    let params = Params::builder(LOG_N, t)
        .prime_bits(&[BITS; PRIMES], &[BITS])
        .allow_insecure_parameters_for_tests_only()
        .build()?;
    let level = params.max_level();
    let procedure = ProcCache::new(params).get(&OpKey::mul(level))?;
    let program = Verified::new(Program::calling(procedure, Vec::new()))?;
    let head = program.program();
    let mut dice = Dice::new(SEED);
    let operands = head.inputs.iter().map(|input| {
        let modulus = input.ty.limb().map(|ty| usize::from(ty.modulus.0));
        let modulus = modulus.and_then(|at| head.moduli.get(at)?.prime());
        let q = modulus.ok_or_else(|| {
            PaperError::Internal(format!("{} is no limb modulo a prime", input.name))
        })?;
        Ok((q, dice.limb(1 << LOG_N, q)))
    });
    let operands = operands.collect::<Result<Vec<_>, PaperError>>()?;
    let limbs = operands.iter().map(|(q, limb)| Limb::borrowed(limb, *q));
    let bindings = Bindings {
        limbs: limbs.collect::<Result<_, _>>()?,
        seeds: Vec::new(),
    };
    let device = open(match study.hdl {
        Some(_) => "rtl:polymul",
        None => "sim:polymul",
    })?;
    let outcome = device.run(&program, &bindings, Request::both(), &Silent)?;
    let missing = || PaperError::Internal("a run without its report".to_owned());
    let report = outcome.machine.ok_or_else(missing)?;
    Ok(study.named(fields(&BTreeMap::from([("run", report)]))?))
}
