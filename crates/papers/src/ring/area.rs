// SPDX-License-Identifier: Apache-2.0
//! The ring paper's Table 3, module by module: logic, and what each has of memories and multipliers; ours by synthesis of
//! `ring-stored` as its RTL is elaborated for the primes of both sets, memories and multipliers of both machines by their fields.

use ringmill_hdl::parts::Part;
use ringmill_hdl::ring::parts::{Does, Machine, Parts, machine, those};
use ringmill_hdl::{Family, Resources, Top};
use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE};
use ringmill_schemes::ckks::Params;

use super::paper::Ring;
use crate::error::PaperError;
use crate::figure::How;
use crate::mapping::{FAMILY, Mapping};
use crate::row::{Ours, Row};

const TABLE: &str = "Table 3: modules";
const OURS: &str = "Table 3: modules of ring-stored";
/// The machine that has RTL.
const BUILT: &str = "ring-stored";
/// The paper's prime of 60 bits, which is ours, too.
const PRIME_60: u64 = (1 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1;
const NO_LIKE: &str = "no module of ours is its like";

/// A count after synthesis: its name, what is counted, and which memory or multiplier it is.
type Metric = (&'static str, fn(&Resources) -> f64, Option<Resource>);

pub const METRICS: [Metric; 5] = [
    ("LUT", |r| r.lut_places() as f64, None),
    ("registers", |r| r.ff as f64, None),
    ("DSP", |r| r.dsp as f64, Some(Resource::Dsp)),
    (
        "block RAM",
        |r| r.bram18 as f64 / 2.0,
        Some(Resource::BlockRam),
    ),
    ("ultra RAM", |r| r.uram as f64, Some(Resource::UltraRam)),
];

/// `ring-stored` for Set-2, whose first primes are Set-1's: one elaboration for both.
pub fn elaborated() -> Result<Machine, PaperError> {
    let d = Description::parse(Description::STORED)?;
    let params = Params::named("set2")?;
    let found = machine(&d, params.moduli());
    found.map_err(|e| PaperError::Internal(format!("the RTL of {BUILT}: {e}")))
}

/// The first RPAU with one prime, of so many bits.
pub fn of_width(machine: &Machine, bits: u32) -> Option<&Parts> {
    let mut all = machine.rpaus.iter();
    let found = all.find(|(shape, _)| shape.bits() == [bits]);
    found.map(|(_, parts)| parts)
}

/// The machine whole.
pub fn whole(machine: &Machine) -> Vec<Part> {
    let rpaus = machine.rpaus.iter().map(|(_, parts)| parts);
    let lists = rpaus.chain([&machine.shared]);
    lists.flat_map(|parts| those(parts, None)).collect()
}

/// Rows of the paper's modules, then of ours; `why` says why there is no synthesis.
pub fn rows(
    paper: &Ring,
    mapping: &Mapping<'_>,
    why: Option<&str>,
) -> Result<Vec<Row>, PaperError> {
    let machine = elaborated()?;
    let mut rows = Vec::new();
    for (module, lut, ff, bram, uram, dsp) in &paper.resources {
        let like = like(module, &machine);
        let found = match &like {
            Some(parts) => mapping.resources(parts)?,
            None => None,
        };
        let remark = match (&found, &like) {
            (Some(_), Some(_)) => format!("mapped for {FAMILY}"),
            (_, None) => NO_LIKE.to_owned(),
            (None, Some(_)) => why.unwrap_or_default().to_owned(),
        };
        let case = name(module);
        let cells = [
            Some(*lut),
            Some(*ff),
            dsp.figure(),
            bram.figure(),
            uram.figure(),
        ];
        for ((metric, of, kind), printed) in METRICS.into_iter().zip(cells) {
            let Some(printed) = printed else { continue };
            let ours = match &found {
                Some(resources) => Ours::Is(of(resources), How::Synthesis),
                None => Ours::NotMeasured,
            };
            let row = Row::new(TABLE, case.as_str(), metric, "", Some(printed), ours);
            rows.push(row.remarked(remark.as_str()));
            if let Some(kind) = kind {
                rows.extend(stated(module, &case, metric, printed, kind)?);
            }
        }
    }
    rows.extend(own(&machine, mapping)?);
    Ok(rows)
}

fn name(module: &str) -> String {
    module.replace('_', " ").replace('.', ": ")
}

/// What of ours does what the paper's module does.
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

/// An RPAU's part of the descriptions' fields: its width, and what of it.
fn part(module: &str) -> Option<(u32, &str)> {
    let (rpau, part) = module.split_once('.').unwrap_or((module, ""));
    match rpau {
        "rpau_54" => Some((54, part)),
        "rpau_60" => Some((60, part)),
        _ => None,
    }
}

/// What a module of an RPAU has of a kind by both machines' fields.
fn stated(
    module: &str,
    case: &str,
    metric: &str,
    printed: f64,
    kind: Resource,
) -> Result<Vec<Row>, PaperError> {
    let Some((bits, part)) = part(module) else {
        return Ok(Vec::new());
    };
    let twiddles = |need: &str| need.contains("twiddle");
    let of: &dyn Fn(&str) -> bool = match part {
        "memory_core" => &|need| !twiddles(need),
        "main_core" => &|need| twiddles(need) || need == "butterfly multipliers",
        "dyadic_core" => &|need| need == "dyadic multipliers",
        _ => &|_| true,
    };
    let mut rows = Vec::new();
    for (machine, text) in OF_THE_PAPERS_SIZE {
        let fit = Description::parse(text)?.needs_at(bits)?.fit()?;
        let own = fit.needs.iter().filter(|n| n.units.is_some());
        let needs = own.filter(|n| n.resource == kind);
        let each = needs.filter(|n| of(&n.name)).map(|n| n.each).sum();
        let ours = Ours::Is(each, How::Stated);
        let metric = format!("{metric}, {machine}");
        rows.push(Row::new(TABLE, case, metric, "", Some(printed), ours));
    }
    Ok(rows)
}

/// Each RPAU whole, what they share, and the modules of one of each width.
fn own(machine: &Machine, mapping: &Mapping<'_>) -> Result<Vec<Row>, PaperError> {
    let mut rows = Vec::new();
    let mut push_for = |case: &str, parts: &[Part], family: Family| {
        if let Some(found) = mapping.resources_of(parts, family)? {
            for (metric, of, _) in METRICS {
                let value = of(&found);
                if value > 0.0 {
                    let ours = Ours::Is(value, How::Synthesis);
                    rows.push(Row::new(OURS, case, metric, "", None, ours));
                }
            }
        }
        Ok::<_, PaperError>(())
    };
    for bits in [60, 54] {
        if let Some(parts) = of_width(machine, bits) {
            let case = format!("RPAU of {bits} bits on the 7-series");
            push_for(&case, &those(parts, None), Family::Xc7)?;
        }
    }
    let mut push = |case: &str, parts: &[Part]| push_for(case, parts, FAMILY);
    for (number, (shape, parts)) in machine.rpaus.iter().enumerate() {
        let bits: Vec<String> = shape.bits().iter().map(u32::to_string).collect();
        let case = format!("RPAU {number}, built for {} bits", bits.join(" and "));
        push(&case, &those(parts, None))?;
    }
    push(
        "streams, board, dispatch, link, hops",
        &those(&machine.shared, None),
    )?;
    for bits in [60, 54] {
        let Some(parts) = of_width(machine, bits) else {
            continue;
        };
        for does in Does::UNITS {
            let case = format!("RPAU of {bits} bits: {}", says(does));
            push(&case, &those(parts, Some(does)))?;
        }
        for (does, part) in parts {
            let Part { top, count } = part;
            let times = if *count > 1 { " each" } else { "" };
            let case = format!(
                "{bits} bits, {}: {count} {}{times}",
                says(*does),
                top.module
            );
            let one = Part {
                top: top.clone(),
                count: 1,
            };
            push(&case, &[one])?;
        }
    }
    for (_, part) in &machine.shared {
        let case = format!("shared: {} {}", part.count, part.top.module);
        push(&case, std::slice::from_ref(part))?;
    }
    Ok(rows)
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
