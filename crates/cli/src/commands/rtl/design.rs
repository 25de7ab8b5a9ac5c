// SPDX-License-Identifier: Apache-2.0
//! Finds the machine or module that a `ringmill rtl` command names.

use std::path::Path;

use ringmill_hdl::device::{Described, Designs};
use ringmill_hdl::{Sources, Top};
use ringmill_machines::polymul::Description;
use ringmill_machines::{Kind, MachineError, Parse, Registry};
use toml::{Table, Value};

use crate::args::rtl::DesignArgs;
use crate::error::CliError;
use crate::inputs;

/// The most bytes of a machine description file that is read.
const LARGEST: u64 = 1 << 20;
/// Letters by which papers name sizes of their machines, with the keys of our descriptions that `--set` takes for them.
const LETTERS: [(&str, &str); 1] = [("p", "units")];

/// Returns the names of the machines that have a folder of RTL.
pub fn machines() -> Vec<&'static str> {
    let (machines, designs) = (Registry::standard(), Designs::standard());
    let foldered = |kind: &&Kind| {
        let design = designs.of(kind.name);
        design.is_some_and(|design| design.folder.is_some())
    };
    let kinds = machines.kinds().iter().filter(foldered);
    kinds.flat_map(Kind::names).collect()
}

/// A machine or a module of the hardware description, with its parameters.
pub struct Design {
    /// The name of the machine or of the module.
    pub name: String,
    pub top: Top,
    /// The description of a polynomial multiplier, the only machine for which `ringmill rtl` makes table streams and
    /// lockstep simulations. `None` for other designs.
    pub machine: Option<Description>,
}

/// Returns the design that the command's arguments name, with its parameters set.
///
/// # Errors
/// Fails if no machine or module has the name, or if a value of `--set` is refused.
pub fn find(sources: &Sources, args: &DesignArgs) -> Result<Design, CliError> {
    let name = args.design.as_str();
    let set = args
        .set
        .iter()
        .map(|text| pair(text))
        .collect::<Result<Vec<_>, _>>()?;
    if name.ends_with(".toml") {
        let text = inputs::read_text(Path::new(name), LARGEST)?;
        return machine(&text, &set);
    }
    let machines = Registry::standard();
    if machines.names().any(|known| known == name) {
        return machine(machines.description(name)?, &set);
    }
    if !sources.modules().any(|module| module == name) {
        return Err(CliError::Usage(format!(
            "there is no RTL of `{name}`; machines: {}; modules: {}",
            self::machines().join(", "),
            sources.modules().collect::<Vec<_>>().join(", ")
        )));
    }
    let mut top = Top::new(name);
    for (key, value) in set {
        top = sources.set(top, key, value)?;
    }
    Ok(Design {
        name: name.to_owned(),
        top,
        machine: None,
    })
}

/// Returns the text of the description file that describes this polynomial multiplier.
///
/// # Errors
/// Fails if the description cannot be written as TOML.
pub fn text(machine: &Description) -> Result<String, CliError> {
    toml::to_string(machine).map_err(|e| CliError::Usage(e.to_string()))
}

/// Parses an option `key=value` to its key and value.
fn pair(text: &str) -> Result<(&str, &str), CliError> {
    let halves = text.split_once('=');
    halves.filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
        CliError::Usage(format!(
            "--set takes KEY=VALUE, as `units=8`; `{text}` is none"
        ))
    })
}

/// Returns the machine described by `text` after some keys of the description are set to other values. The changed
/// description is checked as a whole.
fn machine(text: &str, set: &[(&str, &str)]) -> Result<Design, CliError> {
    let syntax = |e: toml::de::Error| MachineError::Syntax(e.to_string());
    let mut table: Table = toml::from_str(text).map_err(syntax)?;
    for (key, value) in set {
        replace(&mut table, key, value)?;
    }
    let edited = toml::to_string(&table).map_err(|e| CliError::Usage(e.to_string()))?;
    let machines = Registry::standard();
    let kind = machines.kind_of(&edited)?;
    let design = Designs::standard().of(kind.name).copied();
    let Some(folder) = design.and_then(|design| design.folder) else {
        return Err(CliError::Usage(elsewhere(kind, &machines, &edited)?));
    };
    let Described {
        name,
        top,
        multiplier,
    } = (folder.describe)(&edited)?;
    Ok(Design {
        name,
        top,
        machine: multiplier,
    })
}

/// Returns a sentence that names the command which works on the RTL of a machine that `ringmill rtl` cannot configure.
fn elsewhere(kind: &Kind, machines: &Registry, text: &str) -> Result<String, CliError> {
    let name = kind.name;
    let unbuilt = Designs::standard().check(&machines.opened(text)?);
    let unbuilt = unbuilt.err().flatten();
    let unbuilt = unbuilt.map_or(String::new(), |why| {
        format!("; this description has no such device: {why}")
    });
    Ok(match kind.parse {
        Parse::Card(_) => format!(
            "a {name} has no RTL of its own, its machines have: name one of {}; programs run on the RTL of all of them on a device, \
             `rtl:` and the name or file of the {name}",
            self::machines().join(", ")
        ),
        Parse::Whole(_) | Parse::Coprocessor(_) => format!(
            "the RTL of a machine of kind {name} is made for the primes of a program, which its description does not say: name a \
             module, as `rm_{name}`, with --set for its parameters (`ringmill rtl list` prints both), or run a program on the device \
             `rtl:` and the machine's name or file{unbuilt}"
        ),
    })
}

/// Sets an existing key of a machine's description to a value. Only keys with a text or a number can be set. A name
/// with a dot is that of a key in an inner table: `link.gbit_per_second` is the key `gbit_per_second` of the table
/// `link`.
fn replace(table: &mut Table, key: &str, value: &str) -> Result<(), CliError> {
    let letter = LETTERS.iter().find(|(letter, _)| *letter == key);
    let path = letter.map_or(key, |(_, name)| name);
    let known = keys(table, "").join(", ");
    let unknown = || {
        CliError::Usage(format!(
            "the description has no key `{key}`; it has {known}"
        ))
    };
    let (at, last) = path.rsplit_once('.').unwrap_or(("", path));
    let mut within = table;
    for part in at.split('.').filter(|part| !part.is_empty()) {
        let inner = within.get_mut(part).and_then(Value::as_table_mut);
        within = inner.ok_or_else(unknown)?;
    }
    let old = within.get(last).ok_or_else(unknown)?;
    let new = match old {
        Value::String(_) => Some(Value::String(value.to_owned())),
        Value::Integer(_) => value.parse().ok().map(Value::Integer),
        Value::Float(_) => value.parse().ok().map(Value::Float),
        _ => return Err(unknown()),
    };
    let new = new.ok_or_else(|| {
        CliError::Usage(format!(
            "`{key}` is now {old}; `{value}` is no {}",
            old.type_str()
        ))
    })?;
    within.insert(last.to_owned(), new);
    Ok(())
}

/// Returns every key of a description. Keys of inner tables stand behind the table's name and a dot.
fn keys(table: &Table, before: &str) -> Vec<String> {
    let keys = table.iter().flat_map(|(key, value)| match value {
        Value::Table(inner) => keys(inner, &format!("{before}{key}.")),
        _ => vec![format!("{before}{key}")],
    });
    keys.collect()
}
