// SPDX-License-Identifier: Apache-2.0
//! Builds a simulation model of an RTL module. Verilator writes C++, the compiler makes a shared object, and a cache
//! stores the object by its inputs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cache::{Key, Lock, Scratch};
use crate::header::{self, Port};
use crate::{Hdl, HdlError, Tools, Top};

const HARNESS: &str = include_str!("harness.cpp");
/// The sources of Verilator's run-time library that every model links. Models that write waves
/// (signal traces) link `RUNTIME_WAVES` as well.
const RUNTIME: [&str; 2] = ["verilated.cpp", "verilated_threads.cpp"];
const RUNTIME_WAVES: &str = "verilated_vcd_c.cpp";

/// RTL modules with many instances, which Verilator is told not to inline into their parent
/// modules. All instances then share one compiled code. A bootstrapping engine's model is so built
/// in less than half of the time, and runs as fast.
const APART: [&str; 12] = [
    "rm_butterfly",
    "rm_mod_mul",
    "rm_chacha20",
    "rm_ring_core",
    "rm_torus_butterfly",
    "rm_torus_times",
    "rm_torus_unit",
    "rm_torus_turn",
    "rm_torus_gather_turn",
    "rm_torus_ks_lane",
    "rm_vector_mul",
    "rm_vector_butterfly",
];

/// Wide signals whose words are always read and written apart. Verilator is told to split them, because it
/// writes more C++ for a wide signal than for its words: 8 MB for three unfolded ChaCha20 in place of 5.
const SPLIT: [(&str, &str); 5] = [
    ("rm_chacha_stage", "x"),
    ("rm_chacha_stage", "x_q"),
    ("rm_chacha_stage", "made"),
    ("rm_chacha_stage", "owed"),
    ("rm_chacha_stage", "owed_q"),
];

/// The C++ compiler's flags for [`Optimise::Build`]: inlining and registers, without the passes
/// that analyse a function's memory. On Verilator's long functions, these passes take a third of
/// the compile time or more and save a tenth of the simulation time. Without any optimisation,
/// calls for each access of a wide signal take most of the simulation time.
const QUICK: &[&str] = &[
    "-O1",
    "-fno-ipa-modref",
    "-fno-tree-pta",
    "-fno-tree-fre",
    "-fno-tree-dse",
    "-fno-tree-sink",
    "-fno-tree-dominator-opts",
    "-fno-dse",
];

/// The bytes of C++ above which a model is compiled in several translation units. Each unit has at most `UNIT` bytes of
/// C++, or one larger file.
const LARGE: u64 = 40 << 20;
const UNIT: u64 = 6 << 20;

/// How much the C++ compiler optimises a simulation model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Optimise {
    /// The C++ compiler builds the simulation model quickly, for small modules and tests.
    #[default]
    Build,
    /// The C++ compiler optimises the simulation model for this computer's processor, for whole machines.
    Run,
}

/// The options with which a simulation model is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BuildOptions {
    pub optimise: Optimise,
    /// Whether [`crate::Model::waves`] can write the model's signals to a file.
    pub waves: bool,
    /// Whether [`crate::Model::poke`] can write the model's memories `rm_ram_1r1w`. Other memories stay closed.
    pub open: bool,
}

impl BuildOptions {
    fn compiler_flags(self) -> &'static [&'static str] {
        match self.optimise {
            Optimise::Build => QUICK,
            Optimise::Run => &["-O3", "-march=native"],
        }
    }
}

pub(crate) fn build(hdl: &Hdl, top: &Top, options: BuildOptions) -> Result<PathBuf, HdlError> {
    top.validate()?;
    let sources = hdl.sources.closure(&top.module)?;
    let mut key = Key::new("model");
    key.texts(sources.iter().map(|s| s.1));
    key.texts(top.overrides());
    key.texts([HARNESS, &top.module, &format!("{options:?}")]);
    key.texts(APART);
    key.texts(SPLIT.iter().flat_map(|&(module, signal)| [module, signal]));
    key.text(&tool_key(&hdl.tools));
    let model_key = key.hex();
    let model = hdl.cache.join(format!("{model_key}.so"));
    if model.is_file() {
        return Ok(model);
    }
    // Other threads and processes that ask for this model wait for it instead of building it, too.
    let lock = hdl.cache.join(format!("{model_key}.lock"));
    let _lock = Lock::hold(&lock)?;
    if model.is_file() {
        return Ok(model);
    }
    let work = Scratch::new(&hdl.cache)?;
    verilate(hdl, top, options, &work.0)?;
    let header_path = work.0.join("Vtop.h");
    let header =
        std::fs::read_to_string(&header_path).map_err(HdlError::io("read", &header_path))?;
    let runtime = runtime(hdl, options)?;
    let classes = classes(&work.0)?;
    let parts = if classes.iter().map(|c| c.1).sum::<u64>() > LARGE {
        objects(hdl, options, &runtime, &work.0, &classes)?
    } else {
        Vec::new()
    };
    let here = if parts.is_empty() { &classes[..] } else { &[] };
    let shim = shim(&header::ports(&header)?, here, options);
    let shim_path = work.0.join("model.cpp");
    std::fs::write(&shim_path, shim).map_err(HdlError::io("write", &shim_path))?;
    // A compiler that links in the same step does not take the precompiled header.
    let mut command = compiler(&hdl.tools, options);
    command.arg("-include").arg(&runtime.header);
    let object = object(command, &shim_path, &top.to_string())?;
    let built = work.0.join("model.so");
    let mut command = Command::new(&hdl.tools.compiler);
    command
        .arg("-shared")
        .arg(&object)
        .args(&parts)
        .args(&runtime.objects)
        .args(["-pthread", "-Wl,-Bsymbolic", "-o"])
        .arg(&built);
    run(&mut command, "the linker", &top.to_string())?;
    std::fs::rename(&built, &model).map_err(HdlError::io("write", &model))?;
    Ok(model)
}

pub(crate) fn lint(hdl: &Hdl, top: &Top) -> Result<(), HdlError> {
    top.validate()?;
    let mut command = verilator(hdl, top)?;
    command.args(["--lint-only", "-Wall"]);
    run(&mut command, "Verilator", &top.to_string())
}

/// Writes the module tree of the elaborated design, `Vtop.tree.json`, into the folder `work`.
pub(crate) fn elaborate(hdl: &Hdl, top: &Top, work: &Path) -> Result<(), HdlError> {
    let mut command = verilator(hdl, top)?;
    command.args(["--json-only", "--prefix", "Vtop", "-Wno-lint", "-Wno-style"]);
    command.arg("--Mdir").arg(work);
    run(&mut command, "Verilator", &top.to_string())
}

/// Returns the Verilator command with the arguments that linting, building and elaboration have in common.
fn verilator(hdl: &Hdl, top: &Top) -> Result<Command, HdlError> {
    let mut command = Command::new(&hdl.tools.verilator);
    command
        .env("VERILATOR_ROOT", &hdl.tools.verilator_root)
        .args(["--quiet", "--top-module", &top.module]);
    for parameter in top.overrides() {
        command.arg(format!("-G{parameter}"));
    }
    for (path, _) in hdl.sources.closure(&top.module)? {
        command.arg(path);
    }
    Ok(command)
}

fn verilate(hdl: &Hdl, top: &Top, options: BuildOptions, work: &Path) -> Result<(), HdlError> {
    let mut command = verilator(hdl, top)?;
    command.args(["--cc", "--prefix", "Vtop", "-O3", "--assert", "--no-timing"]);
    command.args(["--x-assign", "unique", "--x-initial", "unique"]);
    // Warnings are reported by lint.
    command
        .args(["-Wno-lint", "-Wno-style", "--Mdir"])
        .arg(work);
    if options.waves {
        command.arg("--trace-vcd");
    }
    let config = work.join("apart.vlt");
    std::fs::write(&config, apart(hdl, top, options)?).map_err(HdlError::io("write", &config))?;
    command.arg(&config);
    run(&mut command, "Verilator", &top.to_string())
}

/// Returns Verilator's configuration. It prevents the inlining of the [`APART`] modules, splits the
/// [`SPLIT`] signals, and opens memories if the options ask for that.
fn apart(hdl: &Hdl, top: &Top, options: BuildOptions) -> Result<String, HdlError> {
    let sources = hdl.sources.closure(&top.module)?;
    let mut text = String::from("`verilator_config\n");
    if options.open {
        text += "public_flat_rw -module \"rm_ram_1r1w\" -var \"mem\"\n";
    }
    for (path, _) in sources {
        let Some(module) = path.file_stem().and_then(|name| name.to_str()) else {
            continue;
        };
        if APART.contains(&module) {
            text += &format!("no_inline -module \"{module}\"\n");
        }
        for (_, signal) in SPLIT.iter().filter(|split| split.0 == module) {
            text += &format!("split_var -module \"{module}\" -var \"{signal}\"\n");
        }
    }
    Ok(text)
}

/// Returns the names of the C++ files that Verilator wrote for the model's classes, each with its
/// number of bytes.
fn classes(work: &Path) -> Result<Vec<(String, u64)>, HdlError> {
    let mut classes = Vec::new();
    for entry in std::fs::read_dir(work).map_err(HdlError::io("list", work))? {
        let entry = entry.map_err(HdlError::io("list", work))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("Vtop") && name.ends_with(".cpp") {
            let meta = entry.metadata().map_err(HdlError::io("read", work))?;
            classes.push((name, meta.len()));
        }
    }
    classes.sort();
    Ok(classes)
}

/// Compiles a translation unit of a model. `command` is the compiler with its flags. Returns the path of the object,
/// which stands beside the source.
fn object(mut command: Command, source: &Path, what: &str) -> Result<PathBuf, HdlError> {
    let object = source.with_extension("o");
    command.arg("-c").arg(source).arg("-o").arg(&object);
    run(&mut command, "the C++ compiler", what)?;
    Ok(object)
}

/// A C++ translation unit of a large simulation model: some of the files of Verilator's classes,
/// which are compiled together.
struct Unit {
    text: String,
    /// Whether the translation unit's code runs only once, at the start of the simulation model.
    once: bool,
}

/// Compiles the C++ classes of a large model in several translation units, with a compiler on each processor. Returns
/// the paths of the objects.
fn objects(
    hdl: &Hdl,
    options: BuildOptions,
    runtime: &Runtime,
    work: &Path,
    classes: &[(String, u64)],
) -> Result<Vec<PathBuf>, HdlError> {
    // Code that runs once, at the start of a model, is not worth the compiler's time.
    let (once, often): (Vec<_>, Vec<_>) = classes.iter().partition(|c| c.0.contains("__Slow"));
    let mut units: Vec<Unit> = Vec::new();
    for (classes, once) in [(often, false), (once, true)] {
        let mut room = 0;
        for (name, bytes) in classes {
            if *bytes > room {
                room = UNIT;
                units.push(Unit {
                    text: String::new(),
                    once,
                });
            }
            room = room.saturating_sub(*bytes);
            if let Some(unit) = units.last_mut() {
                unit.text += &format!("#include \"{name}\"\n");
            }
        }
    }
    let compile = |at: usize| {
        let source = work.join(format!("unit{at}.cpp"));
        std::fs::write(&source, &units[at].text).map_err(HdlError::io("write", &source))?;
        let mut command = compiler(&hdl.tools, options);
        if units[at].once {
            command.arg("-O0");
        } else {
            command.arg("-include").arg(&runtime.header);
        }
        object(command, &source, &source.to_string_lossy())
    };
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            while let at = next.fetch_add(1, Ordering::Relaxed)
                && at < units.len()
            {
                done.push(compile(at));
            }
            done
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let done = workers
            .into_iter()
            .flat_map(|w| w.join().unwrap_or_default());
        done.collect()
    })
}

/// Returns the C++ translation unit of the harness, which gives access to the module's ports. It contains
/// Verilator's classes unless these are compiled in several translation units, as more than 40 MiB of C++ are.
fn shim(ports: &[Port], classes: &[(String, u64)], options: BuildOptions) -> String {
    let mut text = String::from("#include \"Vtop.h\"\n#include \"verilated.h\"\n");
    if options.open {
        text += "#define RM_OPEN\n#include \"verilated_syms.h\"\n";
    }
    if options.waves {
        text += "#define RM_TRACE\n#include \"verilated_vcd_c.h\"\n";
    }
    for (name, _) in classes {
        text += &format!("#include \"{name}\"\n");
    }
    if ports.iter().any(|p| p.input && p.name == "clk_i") {
        text += "#define RM_CLOCK\n";
    }
    text += "#define RM_PORTS(X)";
    for (index, port) in ports.iter().enumerate() {
        let (name, width, input) = (&port.name, port.width, u8::from(port.input));
        text += &format!(" X({index}, {name}, {width}, {input})");
    }
    text.push('\n');
    text += HARNESS;
    text
}

/// Returns the compiler command with the flags that the run-time library and every model have in common.
fn compiler(tools: &Tools, options: BuildOptions) -> Command {
    let include = tools.verilator_root.join("include");
    let mut command = Command::new(&tools.compiler);
    command.args([
        "-std=c++20",
        "-fPIC",
        "-fno-gnu-unique",
        "-w",
        "-DVL_TIME_CONTEXT",
    ]);
    for hook in ["FATAL", "STOP", "FINISH", "WARN"] {
        command.arg(format!("-DVL_USER_{hook}"));
    }
    command.arg(format!("-DVM_TRACE={0}", u8::from(options.waves)));
    command.arg(format!("-DVM_TRACE_VCD={0}", u8::from(options.waves)));
    command.args(options.compiler_flags());
    command
        .arg("-I")
        .arg(&include)
        .arg("-I")
        .arg(include.join("vltstd"));
    command
}

/// Verilator's compiled run-time library, which all models with the same build options share.
struct Runtime {
    /// A header that includes Verilator's headers. The compiler takes the precompiled form next to it.
    header: PathBuf,
    objects: Vec<PathBuf>,
}

/// Compiles Verilator's run-time library, once for each tool version and options.
fn runtime(hdl: &Hdl, options: BuildOptions) -> Result<Runtime, HdlError> {
    // One thread compiles while the others of this process wait for it.
    static COMPILING: Mutex<()> = Mutex::new(());
    let _guard = COMPILING.lock().unwrap_or_else(|e| e.into_inner());
    let mut key = Key::new("runtime");
    key.texts([tool_key(&hdl.tools), format!("{options:?}")]);
    let key = key.hex();
    let header = hdl.cache.join(format!("{key}.hpp"));
    let precompiled = hdl.cache.join(format!("{key}.hpp.gch"));
    if !precompiled.is_file() {
        let waves = if options.waves {
            "#include \"verilated_vcd_c.h\"\n"
        } else {
            ""
        };
        let text = format!("#include \"verilated.h\"\n{waves}");
        std::fs::write(&header, text).map_err(HdlError::io("write", &header))?;
        compile(hdl, options, &["-x", "c++-header"], &header, &precompiled)?;
    }
    let mut objects = Vec::new();
    let names = RUNTIME
        .into_iter()
        .chain(options.waves.then_some(RUNTIME_WAVES));
    for name in names {
        let object = hdl.cache.join(format!("{key}-{name}.o"));
        if !object.is_file() {
            let source = hdl.tools.verilator_root.join("include").join(name);
            compile(hdl, options, &["-c"], &source, &object)?;
        }
        objects.push(object);
    }
    Ok(Runtime { header, objects })
}

/// Compiles the file `source` to the file `made` of the cache, with `how` as further compiler flags. The result appears
/// in the cache complete or not at all.
fn compile(
    hdl: &Hdl,
    options: BuildOptions,
    how: &[&str],
    source: &Path,
    made: &Path,
) -> Result<(), HdlError> {
    let work = Scratch::new(&hdl.cache)?;
    let built = work.0.join("made");
    let mut command = compiler(&hdl.tools, options);
    command.args(how).arg(source).arg("-o").arg(&built);
    run(
        &mut command,
        "the C++ compiler",
        &source.display().to_string(),
    )?;
    std::fs::rename(&built, made).map_err(HdlError::io("write", made))
}

fn tool_key(tools: &Tools) -> String {
    format!("{} {}", tools.versions.verilator, tools.versions.compiler)
}

/// Runs a tool on a module or file, which `what` names for the error's text. If the tool fails, its output is the
/// error's message.
pub(crate) fn run(command: &mut Command, tool: &'static str, what: &str) -> Result<(), HdlError> {
    let program = PathBuf::from(command.get_program());
    let output = command.output().map_err(HdlError::io("run", program))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stderr, output.stdout].concat();
    Err(HdlError::Tool {
        tool,
        what: what.to_owned(),
        message: String::from_utf8_lossy(&text).into_owned(),
    })
}
