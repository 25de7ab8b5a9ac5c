// SPDX-License-Identifier: Apache-2.0
//! Multiplies two polynomials on a device, without an encryption scheme, for users with other lattice cryptosystems.

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

/// The product of two polynomials, and the report of the device's machine if it has one.
#[derive(Debug)]
pub struct NegacyclicProduct {
    /// The product's coefficients as residues below q, lowest coefficient first.
    pub residues: Vec<u64>,
    pub machine: Option<MachineReport>,
}

/// Computes a b in `Z_q[x] / (x^n + 1)`, both of n residues below q, lowest coefficient first.
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
/// [`RunError::Degree`] for an n that is no power of two from 8 to 2^17. [`DeviceError::Math`] for a q that is not a
/// prime below 2^61 and 1 mod 2n. [`DeviceError::LimbLength`] and [`DeviceError::Residue`] for operands that do not
/// fit. Also the device's own errors, such as a machine without room for n or q.
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
    // Reports a bad q in plain words, before the program's verifier does so in its own.
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

/// Makes a limb program with two inputs and their product as output, all in coefficient form.
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
