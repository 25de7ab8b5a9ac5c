// SPDX-License-Identifier: Apache-2.0
//! Computes the area of a module in standard cells, by Yosys and a liberty file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::python::{self, Script};
use crate::{Hdl, HdlError, Top, Versions};

const SCRIPT: Script = Script {
    tool: "Yosys",
    text: include_str!("../scripts/area.py"),
    parts: &[("sta.py", include_str!("../scripts/sta.py"))],
};
/// Memories of at least this number of words are counted in bits: silicon uses memory macros for them.
pub const MEMORY_WORDS: u64 = 64;
/// Names a liberty file to use.
pub const LIBERTY_VARIABLE: &str = "RINGMILL_LIBERTY";
/// The path of the default library in Debian's package.
const SYSTEM: &str = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";
/// The most bytes of a liberty file, which is read whole.
const LARGEST: u64 = 256 << 20;

/// A standard-cell library.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Library {
    pub name: String,
    /// Operating conditions by name.
    pub corner: String,
    /// Volts.
    pub voltage: Option<f64>,
    /// Degrees Celsius.
    pub temperature: Option<f64>,
    /// The area of the library's smallest NAND gate of two inputs, in its unit (um^2 by convention).
    pub nand2: f64,
    /// The package of the file with its version, or the file's name.
    pub source: String,
    /// SHA-256 of the file, as the figure depends on every cell in it.
    pub hash: String,
}

/// The standard-cell area of a module, with the module, the library and the tools. It is taken before placement: no
/// wires, no clock tree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Area {
    pub top: Top,
    /// The sum of the cells' areas, um^2.
    pub area: f64,
    /// The area in NAND gates of two inputs.
    pub gates: f64,
    /// Bits of memories of [`MEMORY_WORDS`] words and more, which the area leaves out.
    pub memory_bits: u64,
    /// Cells by type.
    pub cells: BTreeMap<String, u64>,
    /// The slowest path, if OpenSTA is installed and there is a path.
    pub path: Option<CellPath>,
    pub library: Library,
    pub versions: Versions,
}

/// The slowest path, with a register at every port, by OpenSTA. Cells only, no wires; memories are left out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CellPath {
    /// Nanoseconds from one clock edge to the next, set-up time included.
    pub ns: f64,
    pub from: String,
    pub to: String,
}

/// The options of the script, beside the top.
#[derive(Serialize)]
struct Options<'a> {
    liberty: &'a Path,
    memory_words: u64,
    sta: Option<&'a Path>,
}

/// The script's answer.
#[derive(Serialize, Deserialize)]
struct Answer {
    library: String,
    corner: String,
    voltage: Option<f64>,
    temperature: Option<f64>,
    nand2: f64,
    area: f64,
    cells: BTreeMap<String, u64>,
    memory_bits: u64,
    path: Option<CellPath>,
}

/// Returns the path of the liberty file: the one that `$RINGMILL_LIBERTY` names, that of `make hdl-tools` in the
/// virtual environment, or that of an installed Debian package.
pub(crate) fn liberty(venv: &Path) -> Result<PathBuf, HdlError> {
    if let Some(named) = std::env::var_os(LIBERTY_VARIABLE) {
        return Ok(PathBuf::from(named));
    }
    let own = venv.join("share/liberty/osu018_stdcells.lib");
    let found = [own, PathBuf::from(SYSTEM)]
        .into_iter()
        .find(|p| p.is_file());
    found.ok_or_else(|| HdlError::LibertyMissing {
        venv: venv.to_owned(),
    })
}

pub(crate) fn area(hdl: &Hdl, top: &Top) -> Result<Area, HdlError> {
    let liberty = liberty(&hdl.tools.venv)?;
    let size = std::fs::metadata(&liberty)
        .map_err(HdlError::io("read", &liberty))?
        .len();
    if size > LARGEST {
        return Err(HdlError::SourceTooLarge {
            path: liberty,
            got: size,
            limit: LARGEST,
        });
    }
    let liberty = std::fs::canonicalize(&liberty).map_err(HdlError::io("resolve", &liberty))?;
    let text = std::fs::read(&liberty).map_err(HdlError::io("read", &liberty))?;
    let digest = Sha256::digest(&text);
    let hash: String = digest.iter().map(|b| format!("{b:02x}")).collect();
    let versions = hdl.tools.versions.clone();
    let options = Options {
        liberty: &liberty,
        memory_words: MEMORY_WORDS,
        sta: hdl.tools.sta.as_deref(),
    };
    let sta = versions.opensta.as_deref().unwrap_or_default();
    let used = [&versions.pyosys, &hash, sta];
    let found: Answer = python::ask_once(hdl, &SCRIPT, top, &options, &used)?;
    Ok(Area {
        top: top.clone(),
        area: found.area,
        gates: found.area / found.nand2,
        memory_bits: found.memory_bits,
        cells: found.cells,
        path: found.path,
        library: Library {
            name: found.library,
            corner: found.corner,
            voltage: found.voltage,
            temperature: found.temperature,
            nand2: found.nand2,
            source: source(&liberty),
            hash,
        },
        versions,
    })
}

/// Returns the line that the installer left beside the file, or the file's name.
fn source(liberty: &Path) -> String {
    let note = liberty.with_extension("source");
    match std::fs::read_to_string(note) {
        Ok(line) if line.len() < 200 => line.trim().to_owned(),
        _ => liberty
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    }
}
