// SPDX-License-Identifier: Apache-2.0
//! Multiplies two polynomials on a device, for Python users with other lattice cryptosystems.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use ringmill_device::DeviceError as Fault;
use ringmill_sim::{NegacyclicProduct, RunError, negacyclic_product, open};

use crate::errors::{DataError, DeviceError, ParameterError, raise};
use crate::watch::interruptible;

/// The product's residues, and the cycles and seconds of the device's machine, if it has one.
type Product<'py> = (Bound<'py, PyArray1<i64>>, Option<(u64, f64)>);

/// Computes a b in `Z_q[x] / (x^n + 1)` on a device, for coefficients that are residues below q.
#[pyfunction]
#[pyo3(name = "negacyclic_product")]
fn product<'py>(
    py: Python<'py>,
    a: PyReadonlyArray1<'py, u64>,
    b: PyReadonlyArray1<'py, u64>,
    q: u64,
    device: &str,
) -> PyResult<Product<'py>> {
    let (a, b) = (a.as_array().to_vec(), b.as_array().to_vec());
    let device = open(device).map_err(raise::<DeviceError, _>)?;
    let found = interruptible(py, move |watch| {
        negacyclic_product(device.as_ref(), q, &a, &b, watch)
    })?;
    let NegacyclicProduct { residues, machine } = found.map_err(refused)?;
    // The residues are below q, which is below 2^61.
    let residues: Vec<i64> = residues.into_iter().map(|x| x as i64).collect();
    let taken = machine.map(|report| (report.cycles, report.seconds));
    Ok((residues.into_pyarray(py), taken))
}

fn refused(fault: Fault) -> PyErr {
    match fault {
        Fault::Math(_) | Fault::Verify(_) => raise::<ParameterError, _>(fault),
        Fault::LimbLength { .. } | Fault::Residue { .. } => raise::<DataError, _>(fault),
        fault if matches!(fault.as_own(), Some(RunError::Degree { .. })) => {
            raise::<DataError, _>(fault)
        }
        fault => raise::<DeviceError, _>(fault),
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(product, m)?)
}
