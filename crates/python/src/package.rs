// SPDX-License-Identifier: Apache-2.0
//! What the installed package has of the hardware: the RTL's sources, and where its extra `rtl` puts the tools.

use std::path::PathBuf;

use pyo3::prelude::*;
use ringmill_hdl::Package;

/// Names from the checkout's root, with the texts of when the package was built.
const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// Tells the devices and the command, before any of them is asked for.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let environment: PathBuf = m.py().import("sys")?.getattr("prefix")?.extract()?;
    ringmill_hdl::install(Package {
        sources: SOURCES,
        environment,
    });
    Ok(())
}
