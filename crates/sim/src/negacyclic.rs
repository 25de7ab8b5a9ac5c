// SPDX-License-Identifier: Apache-2.0
//! A product of two polynomials on a device, without a scheme around it: what lattice cryptosystems other than ours ask for.

use std::sync::Arc;

use ringmill_device::report::MachineReport;
use ringmill_isa::Poly;
use ringmill_isa::mid::{Form, LimbType, ModulusId, ParamRole, ProcBuilder, Program, Verified};
use ringmill_limits::Watch;
use ringmill_math::{Modulus, NttPlan, Ring};

use ringmill_device::DeviceError;
use ringmill_device::bindings::{Bindings, Limb};
use ringmill_device::progress::Silent;
use ringmill_device::{Device, Request};

use crate::RunError;

/// A product, and what the machine behind the device took for it, where there is one.
#[derive(Debug)]
pub struct NegacyclicProduct {
    /// Below q, lowest coefficient first.
    pub residues: Vec<u64>,
    pub machine: Option<MachineReport>,
}

/// a b in Z_q[x] / (x^n + 1), both of n residues below q, lowest coefficient first.
///
/// ```
/// use ringmill_sim::{negacyclic_product, open};
/// let x = |k: usize| -> Vec<u64> { (0..256).map(|i| u64::from(i == k)).collect() };
/// let device = open("sim:polymul")?;
/// let product = negacyclic_product(device.as_ref(), 7681, &x(200), &x(56), &Default::default())?;
/// assert_eq!(product.residues[0], 7680); // x^256 = -1
/// assert!(product.machine.is_some_and(|report| report.cycles > 0));
/// # Ok::<(), ringmill_device::DeviceError>(())
/// ```
///
/// # Errors
/// [`RunError::Degree`] for an n that is no power of two from 8 to 2^17; [`DeviceError::Math`] for a q that is not a
/// prime below 2^61 and 1 mod 2n; [`DeviceError::LimbLength`] and [`DeviceError::Residue`] for operands that do not fit;
/// what the device refuses, as a machine without room for n or q.
pub fn negacyclic_product(
    device: &dyn Device,
    q: u64,
    a: &[u64],
    b: &[u64],
    watch: &Watch,
) -> Result<NegacyclicProduct, DeviceError> {
    let n = a.len();
    if !n.is_power_of_two() || !(3..=u32::from(Ring::MAX_LOG_N)).contains(&n.ilog2()) {
        return Err(RunError::Degree { got: n }.into());
    }
    if b.len() != n {
        return Err(DeviceError::LimbLength {
            name: "b".to_owned(),
            expected: n,
            got: b.len(),
        });
    }
    let ring = Ring::full(n.ilog2() as u8);
    // Says what is wrong with q, before the program does in words of its own.
    NttPlan::shared(Modulus::new(q)?, ring)?;
    let program = program(ring, q)?;
    let bindings = Bindings {
        limbs: vec![Limb::borrowed(a, q)?, Limb::borrowed(b, q)?],
        seeds: Vec::new(),
    };
    let request = Request {
        timing: device.clock_mhz().is_some(),
        watch: watch.clone(),
        ..Request::function_only()
    };
    let outcome = device.run(&program, &bindings, request, &Silent)?;
    let product = outcome.outputs.and_then(|limbs| limbs.into_iter().next());
    let product =
        product.ok_or_else(|| DeviceError::Malformed("a product without result".into()))?;
    Ok(NegacyclicProduct {
        residues: product.wide().into_owned(),
        machine: outcome.machine,
    })
}

/// Two limbs in, their product out, all in coefficient form.
fn program(ring: Ring, q: u64) -> Result<Verified, DeviceError> {
    let limb = LimbType {
        ring,
        modulus: ModulusId(0),
        form: Form::Coeff,
    };
    let mut procedure = ProcBuilder::new("negacyclic_product", ring.log_n, &[q])?;
    let mut operand = |name: &str, arg| {
        let role = ParamRole::Cipher { arg, poly: Poly(0) };
        let value = procedure.param(name, limb, role)?;
        procedure.ntt(value)
    };
    let (a, b) = (operand("a", 0)?, operand("b", 1)?);
    let product = procedure.mul(a, b)?;
    let product = procedure.intt(product)?;
    procedure.result(product, "product", 0, Poly(0))?;
    let procedure = Arc::new(procedure.finish()?);
    Ok(Verified::new(Program::calling(procedure, Vec::new()))?)
}

#[cfg(test)]
mod tests {
    use ringmill_hdl::polymul::Dice;
    use ringmill_machines::MachineError;
    use ringmill_machines::coprocessor::OffloadUse;

    use super::*;
    use crate::open;

    /// By the definition.
    fn schoolbook(q: u64, a: &[u64], b: &[u64]) -> Vec<u64> {
        let n = a.len();
        let mut product = vec![0; n];
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                let term = (u128::from(x) * u128::from(y) % u128::from(q)) as u64;
                let term = if i + j < n { term } else { (q - term) % q };
                product[(i + j) % n] = (product[(i + j) % n] + term) % q;
            }
        }
        product
    }

    /// Kyber's first version, NewHope, qTESLA-I; on the CPU a prime of 50 bits too.
    #[test]
    fn products_are_the_schoolbooks() {
        let mut dice = Dice::new(4);
        for (n, q) in [(256, 7681), (1024, 12289), (512, 4_205_569)] {
            let (a, b) = (dice.limb(n, q), dice.limb(n, q));
            let want = schoolbook(q, &a, &b);
            for name in ["cpu:1", "sim:polymul"] {
                let device = open(name).unwrap();
                let found =
                    negacyclic_product(device.as_ref(), q, &a, &b, &Watch::default()).unwrap();
                assert_eq!(found.residues, want, "{name}, n = {n}");
                assert_eq!(found.machine.is_some(), name == "sim:polymul");
                if let Some(report) = found.machine {
                    let offload = report.own::<OffloadUse>().unwrap();
                    assert_eq!(
                        (offload.machine_instructions, offload.host_instructions),
                        (4, 0)
                    );
                }
            }
        }
        let q = 1_125_899_906_826_241;
        let (a, b) = (dice.limb(8, q), dice.limb(8, q));
        let cpu = open("cpu:1").unwrap();
        let found = negacyclic_product(cpu.as_ref(), q, &a, &b, &Watch::default()).unwrap();
        assert_eq!(found.residues, schoolbook(q, &a, &b));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let device = open("sim:polymul").unwrap();
        let run = |q, a: usize, b: usize, value| {
            let (a, b) = (vec![value; a], vec![0; b]);
            negacyclic_product(device.as_ref(), q, &a, &b, &Watch::default()).unwrap_err()
        };
        let degree = |error: DeviceError| match error.as_own() {
            Some(RunError::Degree { got }) => Some(*got),
            _ => None,
        };
        assert_eq!(degree(run(7681, 0, 0, 0)), Some(0));
        assert_eq!(degree(run(7681, 300, 300, 0)), Some(300));
        assert!(matches!(
            run(7681, 256, 512, 0),
            DeviceError::LimbLength { .. }
        ));
        assert!(matches!(
            run(7681, 256, 256, 7681),
            DeviceError::Residue { .. }
        ));
        for q in [0, 1, 7680, 3329, 1 << 61] {
            assert!(matches!(run(q, 256, 256, 0), DeviceError::Math(_)), "{q}");
        }
        // Above the machine's 4096, and above its 32 bits.
        for (q, n) in [(65537, 8192), (1_125_899_906_826_241, 256)] {
            let refused = run(q, n, n, 0);
            assert!(refused.as_own::<MachineError>().is_some(), "{q}");
        }
    }
}
