// SPDX-License-Identifier: Apache-2.0
//! Python's view of bootstrapping sets: parameters for BGV or CKKS, and the bootstrap as a procedure.

use std::any::Any;
use std::sync::Arc;

use pyo3::prelude::*;
use ringmill_compiler::bgv::bootstrapping_for;
use ringmill_isa::Target;
use ringmill_math::slots::linear::Shape;
use ringmill_schemes::bgv::bootstrap::{
    BootstrapError, Bootstrapping as Setup, Maps, Procedure, Set,
};
use ringmill_schemes::bgv::{Bgv, ExactParams, Params as BgvParams, PrimePower};
use ringmill_schemes::ckks::{Ckks, bootstrap as ckks};

use crate::errors::{DeviceError, ParameterError, raise};
use crate::params::Params;
use crate::watch::interruptible;

/// A parameter set that bootstraps, and its bootstrap as a procedure. `ringmill.bootstrapping` makes it.
#[pyclass(frozen, module = "ringmill")]
#[derive(Clone)]
pub struct Bootstrapping {
    inner: Of,
}

/// The bootstrap of a scheme.
#[derive(Clone)]
enum Of {
    Bgv(Arc<Procedure>),
    Ckks(Arc<ckks::Procedure>),
}

impl Bootstrapping {
    /// Returns the bootstrap's procedure, as the type that the scheme's compiler takes.
    pub fn inner(&self) -> &dyn Any {
        match &self.inner {
            Of::Bgv(procedure) => procedure,
            Of::Ckks(procedure) => procedure,
        }
    }

    fn of_integers(&self) -> PyResult<&Arc<Procedure>> {
        match &self.inner {
            Of::Bgv(procedure) => Ok(procedure),
            Of::Ckks(_) => Err(ParameterError::new_err(
                "the set is of the scheme ckks, and this is about whole numbers modulo p^r; use a set of bgv",
            )),
        }
    }
}

/// Compiles the bootstrap of a BGV parameter set. If there is a target machine, the set is adapted to it, and
/// evaluation keys have the form that it takes.
fn made(
    setup: Result<Setup, BootstrapError>,
    target: Option<&Target>,
) -> Result<Bootstrapping, BootstrapError> {
    let setup = match target {
        Some(target) => bootstrapping_for(setup?, target)?,
        None => setup?,
    };
    let maps = Maps::new(&setup, Shape::default())?;
    let seeded = target.is_none_or(|target| target.expands_seeds);
    let procedure = Procedure::new(setup, maps, seeded)?;
    Ok(Bootstrapping {
        inner: Of::Bgv(Arc::new(procedure)),
    })
}

fn targeted(target: Option<&str>) -> PyResult<Option<Target>> {
    let target = target.map(ringmill_sim::target).transpose();
    target.map_err(raise::<DeviceError, _>)
}

/// Makes the named parameter set for bootstrapping, and compiles its bootstrap.
#[pyfunction]
fn named_bootstrapping(
    py: Python<'_>,
    name: String,
    target: Option<&str>,
) -> PyResult<Bootstrapping> {
    let target = targeted(target)?;
    if let Some(set) = ckks::Set::named(&name) {
        if target.is_some() {
            return Err(ParameterError::new_err(format!(
                "no machine runs bootstraps of the set {name:?}; leave target= out"
            )));
        }
        let made = interruptible(py, move |_| ckks::Procedure::of_set(set))?;
        let inner = Of::Ckks(Arc::new(made.map_err(raise::<ParameterError, _>)?));
        return Ok(Bootstrapping { inner });
    }
    let Some(set) = Set::named(&name) else {
        let ckks = ckks::Set::ALL.into_iter().map(|(name, _)| name);
        let bgv = Set::ALL.into_iter().map(|set| set.name);
        let known = bgv.chain(ckks).collect::<Vec<_>>().join(", ");
        return Err(ParameterError::new_err(format!(
            "there is no set that bootstraps named {name:?}; expected one of {known}, or log_n= and the other sizes"
        )));
    };
    let setup = interruptible(py, move |_| made(set.bootstrapping(), target.as_ref()))?;
    setup.map_err(raise::<ParameterError, _>)
}

/// Makes a parameter set for bootstrapping from its sizes, and compiles its bootstrap. The sizes are p, r and e of the
/// plaintext moduli p^r and p^e, the numbers of ciphertext and special primes, and the weight of the sparse secret.
#[pyfunction]
fn own_bootstrapping(
    py: Python<'_>,
    log_n: u8,
    power: (u64, u32, u32),
    primes: (usize, usize),
    weight: u32,
    insecure: bool,
    target: Option<&str>,
) -> PyResult<Bootstrapping> {
    let target = targeted(target)?;
    let setup = move |(p, r, e): (u64, u32, u32)| -> Result<Setup, BootstrapError> {
        let t = PrimePower::new(p, r)?.modulus()?;
        let further = e
            .checked_sub(r)
            .and_then(|further| u8::try_from(further).ok());
        let (cipher, special) = primes;
        let mut builder = BgvParams::builder(log_n, t)
            .friendly_primes(cipher, special)?
            .further_plain_moduli(further.unwrap_or(0));
        if insecure {
            builder = builder.allow_insecure_parameters_for_tests_only();
        }
        Setup::new(builder.build()?, weight)
    };
    let setup = interruptible(py, move |_| made(setup(power), target.as_ref()))?;
    setup.map_err(raise::<ParameterError, _>)
}

#[pymethods]
impl Bootstrapping {
    #[getter]
    fn params(&self) -> Params {
        match &self.inner {
            Of::Bgv(procedure) => Params::of::<Bgv>(procedure.params()),
            Of::Ckks(procedure) => Params::of::<Ckks>(procedure.params()),
        }
    }

    /// The length of the longest vector that programs with this set can have: in BGV, one row of slots.
    #[getter]
    fn slots(&self) -> usize {
        match &self.inner {
            Of::Bgv(procedure) => procedure.setup().structure().columns(),
            Of::Ckks(procedure) => procedure.params().slots(),
        }
    }

    /// The prime p and the exponent r of the plaintext modulus p^r.
    #[getter]
    fn power(&self) -> PyResult<(u64, u32)> {
        let power = self.of_integers()?.params().prime_power();
        let power = power.map_err(raise::<ParameterError, _>)?;
        Ok((power.prime(), power.exponent()))
    }

    /// The level at which a ciphertext must be to be bootstrapped, and the level of the result.
    #[getter]
    fn levels(&self) -> (u32, u32) {
        match &self.inner {
            Of::Bgv(procedure) => (procedure.start().0, procedure.end().0.0),
            Of::Ckks(procedure) => (procedure.start().0, procedure.end().0),
        }
    }

    /// The least noise budget in bits that a ciphertext has after a bootstrap.
    #[getter]
    fn budget(&self) -> PyResult<u32> {
        let procedure = self.of_integers()?;
        let (level, noise) = procedure.end();
        let params = procedure.params();
        let model = ringmill_schemes::bgv::NoiseModel::new(params);
        Ok(model.modulo(params.plain_modulus()).budget(noise, level))
    }

    /// A bound on the error that a bootstrap of real numbers up to 1 adds to a slot, or 0 for whole numbers.
    #[getter]
    fn error(&self) -> f64 {
        match &self.inner {
            Of::Bgv(_) => 0.0,
            Of::Ckks(procedure) => procedure.error(),
        }
    }

    fn __repr__(&self) -> String {
        match &self.inner {
            Of::Bgv(procedure) => format!("<ringmill bootstrapping: {}>", procedure.setup()),
            Of::Ckks(procedure) => format!("<ringmill bootstrapping: {}>", procedure.setup()),
        }
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Bootstrapping>()?;
    m.add_function(wrap_pyfunction!(named_bootstrapping, m)?)?;
    m.add_function(wrap_pyfunction!(own_bootstrapping, m)?)
}
