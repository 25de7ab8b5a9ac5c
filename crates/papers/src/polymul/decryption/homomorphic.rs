// SPDX-License-Identifier: Apache-2.0
//! BFV's product of two ciphertexts (BEHZ) modulo six primes of 30 bits at n = 4096: what of it the machine takes, and what
//! stays with the host, since its auxiliary primes have 61 bits.

use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Limb, Request};
use ringmill_hdl::polymul::Dice;
use ringmill_isa::mid::{Program, Verified};
use ringmill_machines::coprocessor::OffloadUse;
use ringmill_schemes::bfv::{BfvError, OpKey, Params, PlainModulus, ProcCache};
use ringmill_sim::open;

use super::Study;
use super::sample::T;
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str =
    "Beyond decryption: BFV's product of ciphertexts, six primes of 30 bits, n = 4096";
const LOG_N: u8 = 12;
const BITS: u32 = 30;
const PRIMES: usize = 6;
/// Of the operands: any residues do, and every one that the RTL makes is compared with the CPU's.
const SEED: u64 = 2;

pub fn rows(study: Study<'_>) -> Result<Vec<Row>, PaperError> {
    let t = PlainModulus::new(T).map_err(BfvError::from)?;
    // 180 bits are more than this degree is secure with: it is the other work's set, for its arithmetic.
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
    let offload = report.own::<OffloadUse>().ok_or_else(missing)?;
    let times = offload.measured.as_ref().ok_or_else(missing)?;

    let case = format!("n = {}, K = {PRIMES} x {BITS}", 1 << LOG_N);
    let row = |metric: &str, unit, ours| Row::new(TABLE, case.as_str(), metric, unit, None, ours);
    let counted =
        |metric: &str, unit, ours: f64| study.of_cycles(row(metric, unit, study.counted(ours)));
    let measured = |metric: &str, unit, ours: f64| row(metric, unit, Ours::Is(ours, How::Measured));
    Ok(vec![
        counted(
            "instructions on the machine",
            "",
            offload.machine_instructions as f64,
        ),
        counted(
            "instructions on the host",
            "",
            offload.host_instructions as f64,
        ),
        counted("machine", "cycles", report.cycles as f64),
        counted("machine", "us", 1e6 * times.machine_seconds),
        counted("link", "us", 1e6 * times.link_seconds),
        measured("our host's part", "us", 1e6 * times.host_seconds),
        measured(
            "our host, link and machine",
            "us",
            1e6 * times.offloaded_seconds,
        ),
        measured("our host alone", "us", 1e6 * times.alone_seconds),
        measured("speed-up with I/O", "", times.speedup),
    ])
}
