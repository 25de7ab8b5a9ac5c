// SPDX-License-Identifier: Apache-2.0
//! Computes the area of a module in standard cells, with Yosys and a liberty file (a library of cells).

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
/// A memory with at least this many words is counted in bits and not in cells, because a chip uses
/// a memory macro for it. A smaller memory is counted in cells.
pub const MEMORY_WORDS: u64 = 64;
/// The environment variable with the path of the liberty file to use, instead of a file that an
/// installer placed.
pub const LIBERTY_VARIABLE: &str = "RINGMILL_LIBERTY";
/// The path at which a Debian package installs the liberty file that is used if no other is found.
const SYSTEM: &str = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";
/// The most bytes of a liberty file. The file is read as a whole.
const LARGEST: u64 = 256 << 20;

/// A standard-cell library, read from a liberty file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Library {
    pub name: String,
    /// The name of the operating conditions for which the library is characterised.
    pub corner: String,
    /// The supply voltage of the operating conditions, in volts.
    pub voltage: Option<f64>,
    /// The temperature of the operating conditions, in degrees Celsius.
    pub temperature: Option<f64>,
    /// The area of the library's smallest NAND gate of two inputs, in the library's unit of area
    /// (um^2 by convention).
    pub nand2: f64,
    /// The package and version that the liberty file comes from, or the file's name.
    pub source: String,
    /// The SHA-256 hash of the liberty file, since the area depends on every cell in it.
    pub hash: String,
}

/// The standard-cell area of a module, with the module, the cell library and the tool versions that
/// it belongs to. The area is counted before placement, without wires and clock tree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Area {
    pub top: Top,
    /// The sum of the areas of the module's cells, in the library's unit of area (um^2 by convention).
    pub area: f64,
    /// The area in gate equivalents: `area` divided by the area of the library's smallest NAND gate
    /// of two inputs.
    pub gates: f64,
    /// The bits of the module's memories of at least [`MEMORY_WORDS`] words, which `area` does not contain.
    pub memory_bits: u64,
    /// The number of the module's cells, by type.
    pub cells: BTreeMap<String, u64>,
    /// The slowest path of the module. It is `None` if OpenSTA is not installed or the module has
    /// no path between registers.
    pub path: Option<CellPath>,
    pub library: Library,
    pub versions: Versions,
}

/// The slowest path of a module, as if a register stood at every port. The timing analyser OpenSTA finds it. The path's
/// delay is that of its cells; wires and memories have none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CellPath {
    /// The delay of the path from one clock edge to the next in nanoseconds, with the set-up time.
    pub ns: f64,
    pub from: String,
    pub to: String,
}

/// The options of the Python script that computes a module's area. The script gets the module's
/// sources and parameters beside them.
#[derive(Serialize)]
struct Options<'a> {
    liberty: &'a Path,
    memory_words: u64,
    sta: Option<&'a Path>,
}

/// The answer of the Python script that computes a module's area with Yosys: the cell library, and
/// the module's area, cells, memory and slowest path.
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

/// Returns the path of the liberty file. It is the one that `$RINGMILL_LIBERTY` names, that of `make hdl-tools` in
/// the virtual environment, or that of an installed Debian package.
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

/// Returns the source of a cell library as text: the line that its installer wrote into a file beside the liberty file,
/// or the liberty file's name.
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
