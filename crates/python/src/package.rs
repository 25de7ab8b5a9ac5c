// SPDX-License-Identifier: Apache-2.0
//! Tells the hardware crate where the installed package has the RTL's sources, and the tools of its extra `rtl`.

use std::path::PathBuf;

use pyo3::prelude::*;
use ringmill_hdl::Package;

/// The RTL's source files: their paths from the checkout's root, with their texts at the time of the build.
const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// Registers the package's RTL sources and tools, before a device or the command needs them.
///
/// # Errors
/// Raises Python's exception if `sys.prefix` cannot be read.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let environment: PathBuf = m.py().import("sys")?.getattr("prefix")?.extract()?;
    ringmill_hdl::install(Package {
        sources: SOURCES,
        environment,
    });
    Ok(())
}
