// SPDX-License-Identifier: Apache-2.0
//! Tables 5 and 6: memories and units, as the description has them.

use ringmill_machines::vector::{Description, unit_multipliers};

use super::paper::Vector;
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const MEMORIES: &str = "Table 5: memories of the description `vector`";
const UNITS: &str = "Table 6: units of the description `vector`";
const TEXT: &str = "Section 6.1: multipliers of the transform units";

pub fn rows(paper: &Vector) -> Result<Vec<Row>, PaperError> {
    let d = Description::read(Description::PAPER)?;
    let counted = |value: f64| Ours::Is(value, How::Counted);
    let stated = |value: f64| Ours::Is(value, How::Stated);
    let lanes = (1u64 << d.log_lanes) as f64;
    let chunk = lanes * 4.0;
    let mac_ns = 1e3 / d.micro.mac_clock_mhz;
    let mut found = Vec::new();
    for (name, capacity, ns) in &paper.memory_levels {
        // As the paper has it: kB and MB are of 1024 here, GB as well.
        let (printed, unit) = match capacity.split_once(' ') {
            Some((number, unit)) => (number.parse().ok(), unit),
            None => (None, ""),
        };
        let unit = match unit {
            "GB" => "GB",
            "MB" => "MB",
            _ => "kB",
        };
        let (bytes, latency) = match name.as_str() {
            "ddr" => {
                let gb = d.distant.channels as f64 * d.distant.gbyte as f64;
                (stated(gb), stated(d.distant.latency_ns))
            }
            "ctb" => {
                let mb = d.buffer_words as f64 * 4.0 / f64::from(1u32 << 20);
                // A read, one pass through a permutation unit of one rank less than its stages, and a write.
                let read = 1e3 / d.clock_mhz;
                (counted(mb), counted(2.0 * read))
            }
            "mac_rf" => {
                let kb = f64::from(d.registers) * chunk / 1024.0;
                (counted(kb), counted(d.stages.mac as f64 * mac_ns))
            }
            // A sum each cycle.
            _ => (counted(chunk / 1024.0), counted(mac_ns)),
        };
        found.push(Row::new(MEMORIES, name, "capacity", unit, printed, bytes));
        let row = Row::new(MEMORIES, name, "round trip", "ns", Some(*ns), latency);
        found.push(match name.as_str() {
            "mac_rf" => row.remarked(format!(
                "a register is read when its pipeline of {} has ended",
                d.stages.mac
            )),
            "ctb" => row.remarked("a read and a write of the port"),
            _ => row,
        });
    }
    let tbps = |words: f64, mhz: f64| words * 32.0 * mhz / 1e6;
    let transform = d.micro.clock_mhz as f64 / d.micro.transform as f64;
    for (name, mhz, _, _, _) in &paper.elements {
        let (clock, rate, printed, unit) = match name.as_str() {
            "ctb" => (d.clock_mhz, tbps(lanes, d.clock_mhz), Some(64.0), "Tb/s"),
            "mac" => {
                let clock = d.micro.mac_clock_mhz;
                (clock, tbps(lanes, clock), Some(102.0), "Tb/s")
            }
            "ntt" | "permutation" => (transform, tbps(lanes / 2.0, transform), Some(32.0), "Tb/s"),
            "pcie" => (*mhz, d.link.gbit_per_second / 8.0, Some(26.0), "GB/s"),
            "ddr" => {
                let rate = d.distant.channels as f64 * d.distant.gbyte_per_second;
                (*mhz, rate, Some(51.0), "GB/s")
            }
            _ => continue,
        };
        found.push(Row::new(
            UNITS,
            name,
            "clock",
            "MHz",
            Some(*mhz),
            stated(clock),
        ));
        let row = Row::new(UNITS, name, "throughput", unit, printed, counted(rate));
        found.push(match name.as_str() {
            "ntt" | "permutation" => row
                .remarked("1024 words in and 1024 out at 2 GHz are 65.5 each; the paper prints 32"),
            _ => row,
        });
    }
    let [butterfly, before, behind] = unit_multipliers(d.log_radix);
    let all = d.units() * (butterfly + before + behind);
    for (name, value) in [
        ("butterfly", butterfly),
        ("pre", before),
        ("post", behind),
        ("all_units", all),
    ] {
        let printed = paper.ntt_multipliers.get(name).copied();
        let ours = counted(value as f64);
        found.push(Row::new(TEXT, "multipliers", name, "", printed, ours));
    }
    Ok(found)
}
