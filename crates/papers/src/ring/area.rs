// SPDX-License-Identifier: Apache-2.0
//! Table 3 of the Medha paper, module by module. Our logic comes from the synthesis of the machine `ring-stored`,
//! elaborated for the primes of both parameter sets. Memories and multipliers of our two machines come from their
//! descriptions.

use ringmill_hdl::parts::Part;
use ringmill_hdl::ring::parts::{Does, Machine, Parts, machine, those};
use ringmill_hdl::{Family, Top};
use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE};
use ringmill_schemes::ckks::Params;

use super::machine::needed;
use crate::area::area;
use crate::error::PaperError;
use crate::mapping::{FAMILY, Mapping};
use crate::scope::{Record, record};
use crate::value::stated;

/// The 60-bit prime of the Medha paper, which our ring machines use too.
const PRIME_60: u64 = (1 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1;

/// Returns the machine `ring-stored` elaborated for Set-2. Its first primes are Set-1's, so one elaboration serves both
/// sets.
fn elaborated() -> Result<Machine, PaperError> {
    let d = Description::parse(Description::STORED)?;
    let params = Params::named("set2")?;
    let found = machine(&d, params.moduli());
    found.map_err(|e| PaperError::Internal(format!("the RTL of ring-stored: {e}")))
}

/// Returns the hardware parts of the machine's first RPAU that computes with a single prime, of `bits` bits. An RPAU is
/// a residue polynomial arithmetic unit.
fn of_width(machine: &Machine, bits: u32) -> Option<&Parts> {
    let mut all = machine.rpaus.iter();
    let found = all.find(|(shape, _)| shape.bits() == [bits]);
    found.map(|(_, parts)| parts)
}

/// Returns the hardware parts of the whole ring machine.
fn whole(machine: &Machine) -> Vec<Part> {
    let rpaus = machine.rpaus.iter().map(|(_, parts)| parts);
    let lists = rpaus.chain([&machine.shared]);
    lists.flat_map(|parts| those(parts, None)).collect()
}

/// Returns the resources of our hardware that does the work of a module in Table 3 of the Medha paper. `why` is the
/// reason if there is no synthesis.
///
/// # Errors
/// Fails if the RTL cannot be elaborated for the primes, or if Yosys cannot map a part.
pub fn module(name: &str, mapping: &Mapping<'_>, why: &str) -> Result<Vec<Record>, PaperError> {
    let like = like(name, &elaborated()?);
    let found = match &like {
        Some(parts) => mapping.resources(parts)?,
        None => None,
    };
    let remark = match (&found, &like) {
        (Some(_), Some(_)) => format!("mapped for {FAMILY}"),
        (_, None) => "no module of ours is its like".to_owned(),
        (None, Some(_)) => why.to_owned(),
    };
    let mut record = area(found.as_ref());
    let label = name.replace('_', " ").replace('.', ": ");
    record.insert("label".to_owned(), label.into());
    record.insert("area.remark".to_owned(), remark.into());
    Ok(vec![record])
}

/// Returns those parts of our ring machine that do the work of a module in Table 3 of the Medha paper.
fn like(module: &str, machine: &Machine) -> Option<Vec<Part>> {
    let of_60 = |name| Top::new(name).int("Width", 60);
    let once = |top| Part { top, count: 1 };
    match module {
        "butterfly_unit" => return Some(vec![once(of_60("rm_ring_core").int("Q", PRIME_60))]),
        "butterfly_unit.modular_multiplier" => {
            let reducer = of_60("rm_red_lazy").int("Q", PRIME_60);
            return Some(vec![once(of_60("rm_mul_cascade")), once(reducer)]);
        }
        "cryptoprocessor" => return Some(whole(machine)),
        _ => {}
    }
    let (bits, part) = part(module)?;
    let does = match part {
        "" => None,
        "memory_core" => Some(Does::Memory),
        "ksk0_core" => Some(Does::Generator),
        "dyadic_core" => Some(Does::Dyadic),
        "main_core" => Some(Does::Main),
        _ => return None,
    };
    Some(those(of_width(machine, bits)?, does))
}

/// Splits the name of a module in Table 3 of the Medha paper into the bits of an RPAU's prime and the part of the RPAU.
fn part(module: &str) -> Option<(u32, &str)> {
    let (rpau, part) = module.split_once('.').unwrap_or((module, ""));
    match rpau {
        "rpau_54" => Some((54, part)),
        "rpau_60" => Some((60, part)),
        _ => None,
    }
}

/// Returns the amount of one resource that a module of an RPAU needs, as the descriptions of our two machines state it.
/// `column` is a resource in Table 3 of the Medha paper: DSP slices (`dsp`), block RAM (`bram`) or ultra RAM. Returns
/// no record for a module that is no part of an RPAU.
///
/// # Errors
/// Fails if a shipped description is refused.
pub fn needs(module: &str, column: &str) -> Result<Vec<Record>, PaperError> {
    let Some((bits, part)) = part(module) else {
        return Ok(Vec::new());
    };
    let kind = match column {
        "dsp" => Resource::Dsp,
        "bram" => Resource::BlockRam,
        _ => Resource::UltraRam,
    };
    let twiddles = |need: &str| need.contains("twiddle");
    let of: &dyn Fn(&str) -> bool = match part {
        "memory_core" => &|need| !twiddles(need),
        "main_core" => &|need| twiddles(need) || need == "butterfly multipliers",
        "dyadic_core" => &|need| need == "dyadic multipliers",
        _ => &|_| true,
    };
    let machines = OF_THE_PAPERS_SIZE.iter().map(|(machine, text)| {
        let needed = needed(&Description::parse(text)?, bits, kind, of)?;
        Ok(record([
            ("machine", (*machine).into()),
            ("needed", stated(needed)),
        ]))
    });
    machines.collect()
}

/// Some modules of our ring machine whose resources stand in one row.
struct Group {
    /// The kind of the group, by which tables choose rows: `rpau` for a whole RPAU, `width` for the first of each prime
    /// size, `whole` for the whole machine, `part` for others.
    kind: &'static str,
    part: String,
    /// The sizes of the primes that an RPAU is built for, as text to print behind the RPAU's name. It is empty for
    /// other groups.
    built: String,
    parts: Vec<Part>,
    family: Family,
}

/// Returns the groups of modules of the ring machine, in this order:
///
/// - an RPAU of each prime size on the 7-series, and each whole RPAU,
/// - the modules that RPAUs share, together,
/// - the purposes and the single modules of an RPAU of each prime size,
/// - each shared module, an RPAU of each prime size, and the whole machine.
fn groups(machine: &Machine) -> Vec<Group> {
    let group = |kind, part: String, parts| Group {
        kind,
        part,
        built: String::new(),
        parts,
        family: FAMILY,
    };
    let widths = || [60, 54].map(|bits| (bits, of_width(machine, bits)));
    let widths = || {
        widths()
            .into_iter()
            .filter_map(|(bits, parts)| Some((bits, parts?)))
    };
    let mut found = Vec::new();
    for (bits, parts) in widths() {
        let part = format!("RPAU of {bits} bits on the 7-series");
        found.push(Group {
            family: Family::Xc7,
            ..group("part", part, those(parts, None))
        });
    }
    for (number, (shape, parts)) in machine.rpaus.iter().enumerate() {
        let bits: Vec<String> = shape.bits().iter().map(u32::to_string).collect();
        found.push(Group {
            built: format!(", built for {} bits", bits.join(" and ")),
            ..group("rpau", format!("RPAU {number}"), those(parts, None))
        });
    }
    let shared = "streams, board, dispatch, link, hops".to_owned();
    found.push(group("part", shared, those(&machine.shared, None)));
    for (bits, parts) in widths() {
        for does in Does::UNITS {
            let part = format!("RPAU of {bits} bits: {}", says(does));
            found.push(group("part", part, those(parts, Some(does))));
        }
        for (does, Part { top, count }) in parts {
            let times = if *count > 1 { " each" } else { "" };
            let part = format!(
                "{bits} bits, {}: {count} {}{times}",
                says(*does),
                top.module
            );
            let one = Part {
                top: top.clone(),
                count: 1,
            };
            found.push(group("part", part, vec![one]));
        }
    }
    for (_, part) in &machine.shared {
        let name = format!("shared: {} {}", part.count, part.top.module);
        found.push(group("part", name, vec![part.clone()]));
    }
    for (bits, parts) in widths() {
        let part = format!("RPAU of {bits} bits");
        found.push(group("width", part, those(parts, None)));
    }
    found.push(group("whole", String::new(), whole(machine)));
    found
}

/// Returns the resources of each group of modules of our ring machine. The list is empty without synthesis.
///
/// # Errors
/// Fails if the RTL cannot be elaborated for the primes, or if Yosys cannot map a part.
pub fn modules(mapping: &Mapping<'_>) -> Result<Vec<Record>, PaperError> {
    let mut found = Vec::new();
    for group in groups(&elaborated()?) {
        if let Some(resources) = mapping.resources_of(&group.parts, group.family)? {
            let mut record = area(Some(&resources));
            record.insert("kind".to_owned(), group.kind.into());
            record.insert("part".to_owned(), group.part.into());
            record.insert("built".to_owned(), group.built.into());
            found.push(record);
        }
    }
    Ok(found)
}

fn says(does: Does) -> &'static str {
    match does {
        Does::Memory => "memories",
        Does::Generator => "generator",
        Does::Dyadic => "dyadic cores",
        Does::Main => "main cores",
        Does::Node => "ring",
        Does::Tables => "tables",
        Does::Control => "control",
    }
}
