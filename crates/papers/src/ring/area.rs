// SPDX-License-Identifier: Apache-2.0
//! Table 3 of the Medha paper, module by module. Our logic comes from the synthesis of the machine `ring-stored`,
//! elaborated for the primes of both parameter sets. Memories and multipliers of our two machines come from their
//! descriptions.

use ringmill_hdl::parts::Part;
use ringmill_hdl::ring::parts::{Does, Machine, Parts, machine, those};
use ringmill_hdl::{Family, Resources, Top};
use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE};
use ringmill_schemes::ckks::Params;

use crate::error::PaperError;
use crate::mapping::{FAMILY, Mapping};
use crate::scope::{Record, record};
use crate::tables;
use crate::value::{Value, stated, synthesised};

/// The 60-bit prime of the Medha paper, which our ring machines use too.
const PRIME_60: u64 = (1 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1;

/// Returns the logic, memories and multipliers of synthesised modules as a record. Without synthesis they count as not
/// measured.
fn area(found: Option<&Resources>) -> Record {
    let of = |count: fn(&Resources) -> f64| {
        found.map_or(Value::NotMeasured, |found| synthesised(count(found)))
    };
    record([
        ("area.lut", of(|r| r.lut_places() as f64)),
        ("area.ff", of(|r| r.ff as f64)),
        ("area.dsp", of(|r| r.dsp as f64)),
        ("area.bram", of(|r| r.bram18 as f64 / 2.0)),
        ("area.uram", of(|r| r.uram as f64)),
    ])
}

/// Returns the machine `ring-stored` elaborated for Set-2. Its first primes are Set-1's, so one elaboration serves both
/// sets.
pub fn elaborated() -> Result<Machine, PaperError> {
    let d = Description::parse(Description::STORED)?;
    let params = Params::named("set2")?;
    let found = machine(&d, params.moduli());
    found.map_err(|e| PaperError::Internal(format!("the RTL of ring-stored: {e}")))
}

/// Returns the hardware parts of the machine's first RPAU that computes with a single prime, of `bits` bits. An RPAU is
/// a residue polynomial arithmetic unit.
pub fn of_width(machine: &Machine, bits: u32) -> Option<&Parts> {
    let mut all = machine.rpaus.iter();
    let found = all.find(|(shape, _)| shape.bits() == [bits]);
    found.map(|(_, parts)| parts)
}

/// Returns the hardware parts of the whole ring machine.
pub fn whole(machine: &Machine) -> Vec<Part> {
    let rpaus = machine.rpaus.iter().map(|(_, parts)| parts);
    let lists = rpaus.chain([&machine.shared]);
    lists.flat_map(|parts| those(parts, None)).collect()
}

/// Asks a mapping for every hardware module of the area tables, so that it can collect them.
pub fn ask(mapping: &Mapping<'_>) -> Result<(), PaperError> {
    #[derive(serde::Deserialize)]
    struct Modules {
        resources: Vec<Vec<toml::Value>>,
    }
    let printed: Modules = tables::of("ring")?;
    for row in &printed.resources {
        if let Some(toml::Value::String(name)) = row.first() {
            module(name, mapping, "")?;
        }
    }
    own(mapping)?;
    super::bars::taken(mapping).map(drop)
}

/// Returns the resources of our hardware that does the work of a module in Table 3 of the Medha paper. `why` is the
/// reason if there is no synthesis.
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
/// `column` is a resource in Table 3 of the Medha paper: DSP slices (`dsp`), block RAM (`bram`) or ultra RAM.
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
        let fit = Description::parse(text)?.needs_at(bits)?.fit()?;
        let own = fit.needs.iter().filter(|n| n.units.is_some());
        let needs = own.filter(|n| n.resource == kind && of(&n.name));
        Ok(record([
            ("machine", (*machine).into()),
            ("needed", stated(needs.map(|n| n.each).sum::<f64>())),
        ]))
    });
    machines.collect()
}

/// Returns the resources of each whole RPAU, of the modules that RPAUs share, and of the modules of one RPAU of each
/// prime size. The list is empty without synthesis.
pub fn own(mapping: &Mapping<'_>) -> Result<Vec<Record>, PaperError> {
    let machine = elaborated()?;
    let mut found = Vec::new();
    let mut push_for = |part: String, parts: &[Part], family: Family| {
        if let Some(resources) = mapping.resources_of(parts, family)? {
            let mut record = area(Some(&resources));
            record.insert("part".to_owned(), part.into());
            found.push(record);
        }
        Ok::<_, PaperError>(())
    };
    for bits in [60, 54] {
        if let Some(parts) = of_width(&machine, bits) {
            let part = format!("RPAU of {bits} bits on the 7-series");
            push_for(part, &those(parts, None), Family::Xc7)?;
        }
    }
    let mut push = |part: String, parts: &[Part]| push_for(part, parts, FAMILY);
    for (number, (shape, parts)) in machine.rpaus.iter().enumerate() {
        let bits: Vec<String> = shape.bits().iter().map(u32::to_string).collect();
        let part = format!("RPAU {number}, built for {} bits", bits.join(" and "));
        push(part, &those(parts, None))?;
    }
    let shared = "streams, board, dispatch, link, hops".to_owned();
    push(shared, &those(&machine.shared, None))?;
    for bits in [60, 54] {
        let Some(parts) = of_width(&machine, bits) else {
            continue;
        };
        for does in Does::UNITS {
            let part = format!("RPAU of {bits} bits: {}", says(does));
            push(part, &those(parts, Some(does)))?;
        }
        for (does, Part { top, count }) in parts {
            let times = if *count > 1 { " each" } else { "" };
            let (says, module) = (says(*does), &top.module);
            let one = Part {
                top: top.clone(),
                count: 1,
            };
            push(
                format!("{bits} bits, {says}: {count} {module}{times}"),
                &[one],
            )?;
        }
    }
    for (_, part) in &machine.shared {
        let module = format!("shared: {} {}", part.count, part.top.module);
        push(module, std::slice::from_ref(part))?;
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
