// SPDX-License-Identifier: Apache-2.0
//! The extension module behind the Python package `ringmill`. It converts between Python and the Rust crates, and has
//! no logic of its own.

use pyo3::prelude::*;
use ringmill_math::LineAllocator;

mod bootstrapping;
mod circuit;
mod command;
mod compare;
mod data;
mod errors;
mod files;
mod keys;
mod limbs;
mod package;
mod page;
mod params;
mod program;
mod progress;
mod ready;
mod runtime;
mod scheme;
mod seal;
mod watch;

/// The allocator of the extension module, which starts limbs at cache lines.
#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

/// The extension module `_ringmill`: the classes and functions in Rust behind the `ringmill` package.
#[pymodule]
fn _ringmill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(m)?;
    package::register(m)?;
    data::register(m)?;
    files::register(m)?;
    params::register(m)?;
    bootstrapping::register(m)?;
    program::register(m)?;
    keys::register(m)?;
    runtime::register(m)?;
    circuit::register(m)?;
    command::register(m)?;
    limbs::register(m)?;
    page::register(m)?;
    seal::register(m)?;
    watch::register(m)?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))
}
