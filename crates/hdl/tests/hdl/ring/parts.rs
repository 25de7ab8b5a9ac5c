// SPDX-License-Identifier: Apache-2.0
//! Tests of the ring machine's resources, module by module. Every module is counted, and the memories are those of the
//! machine's description.

use std::collections::BTreeMap;

use ringmill_hdl::parts::{Part, resources};
use ringmill_hdl::ring::parts::{Does, Machine, machine, those};
use ringmill_hdl::ring::top;
use ringmill_hdl::{Family, Resources, Top};
use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE};
use ringmill_schemes::ckks::Params;

use crate::common::setup::hdl;
use crate::ring::bench::{medha, primes, toy};

/// Modules that are always counted by themselves.
const APART: [&str; 25] = [
    "rm_chacha20",
    "rm_ring_affine",
    "rm_ring_agen",
    "rm_ring_board",
    "rm_ring_core",
    "rm_ring_dyadic",
    "rm_ring_feed",
    "rm_ring_fetch",
    "rm_ring_fold",
    "rm_ring_generator",
    "rm_ring_group",
    "rm_ring_keys",
    "rm_ring_link",
    "rm_ring_main",
    "rm_ring_mode",
    "rm_ring_narrow",
    "rm_ring_network",
    "rm_ring_node",
    "rm_ring_powers",
    "rm_ring_reduce",
    "rm_ring_rpau",
    "rm_ring_send",
    "rm_ring_turn",
    "rm_ring_twiddle",
    "rm_ring_twiddles",
];

fn all(machine: &Machine) -> Vec<Part> {
    let rpaus = machine.rpaus.iter().map(|(_, parts)| parts);
    let lists = rpaus.chain([&machine.shared]);
    lists.flat_map(|parts| those(parts, None)).collect()
}

/// Checks that each module is counted as often as the elaborated machine has it.
fn check_counts(d: &Description, primes: &[u64]) {
    let mut counted = BTreeMap::new();
    for Part { top, count } in all(&machine(d, primes).unwrap()) {
        *counted.entry(top.module).or_insert(0) += count;
    }
    let there = hdl().instances(&top(d, primes).unwrap()).unwrap();
    for module in APART {
        assert_eq!(counted.get(module), there.get(module), "{module}");
    }
}

#[test]
fn every_module_is_counted() {
    check_counts(&toy(7, 4, 3), &primes());
}

#[test]
#[ignore = "other machines to elaborate; `make full` runs it"]
fn every_module_of_other_machines_is_counted() {
    // With one prime less, one RPAU has one prime and the others have two.
    check_counts(&toy(7, 8, 3), &primes()[..5]);
    // A machine of one stage a pass and generated twiddle factors, on a ring network that does not reduce.
    check_counts(&medha(7, 2, 3), &primes());
}

#[test]
#[ignore = "synthesis of a whole machine; `make full` runs it"]
fn memories_of_a_toy_are_its_descriptions() {
    let d = toy(8, 4, 1);
    let found = machine(&d, &primes()[..1]).unwrap();
    let (_, parts) = &found.rpaus[0];
    let memories = sum(&those(parts, Some(Does::Memory)));
    check_memories(&d, 60, &memories, |need| !need.contains("twiddle"));
}

fn sum(parts: &[Part]) -> Resources {
    resources(hdl(), parts, Family::Xcup).unwrap()
}

/// Checks that an RPAU's block RAMs and ultra RAMs, `found` by synthesis, are those that the description `d` needs at
/// residues of `bits` bits. Only needs whose name is `wanted` count.
fn check_memories(d: &Description, bits: u32, found: &Resources, wanted: impl Fn(&str) -> bool) {
    let fit = d.needs_at(bits).unwrap().fit().unwrap();
    let of = |kind| {
        let needs = fit.needs.iter().filter(|n| n.units.is_some());
        let needs = needs.filter(|n| n.resource == kind && wanted(&n.name));
        needs.map(|n| n.each).sum::<f64>()
    };
    assert_eq!(found.bram18 as f64 / 2.0, of(Resource::BlockRam));
    assert_eq!(found.uram as f64, of(Resource::UltraRam));
    assert!(found.other.is_empty(), "{:?}", found.other);
}

/// Returns a shipped machine, and the primes of Set-2, for which it is built. Set-1's are among them.
fn shipped(text: &str) -> (Description, Vec<u64>) {
    let d = Description::parse(text).unwrap();
    let params = Params::named("set2").unwrap();
    (d, params.moduli().to_vec())
}

/// An RPAU of each kind of the shipped machines has the memories that the description says. The paths of each module
/// are within the bar of docs/rtl.md. The test prints what each module takes.
#[test]
#[ignore = "synthesis of modules at full size; `make full` runs it"]
fn what_the_shipped_machines_take() {
    // Widths of an RPAU's primes: one of 60 bits, one of 54, or two of 54 if the RPAU stands in for another.
    let kinds: [&[&[u32]]; 2] = [&[&[60], &[54]], &[&[60], &[54], &[54, 54]]];
    let mut beyond = Vec::new();
    for ((name, text), kinds) in OF_THE_PAPERS_SIZE.into_iter().zip(kinds) {
        let (d, primes) = shipped(text);
        let found = machine(&d, &primes).unwrap();
        check_counts(&d, &primes);
        let mut seen: Vec<Vec<u32>> = Vec::new();
        for (r, (shape, parts)) in found.rpaus.iter().enumerate() {
            if seen.contains(&shape.bits()) {
                continue;
            }
            seen.push(shape.bits());
            println!("{name}, RPAU {r}, primes of {:?} bits", shape.bits());
            beyond.extend(parts.iter().filter_map(|(_, part)| print(part)));
            let whole = sum(&those(parts, None));
            println!("  LUT {} {whole:?}", whole.lut_places());
            check_memories(&d, shape.q_width(), &whole, |_| true);
        }
        assert_eq!(seen, kinds);
        println!("{name}, shared");
        beyond.extend(found.shared.iter().filter_map(|(_, part)| print(part)));
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}

/// Paths through several modules are within the bar of docs/rtl.md. The test maps a whole machine of one RPAU, of each
/// kind that the shipped machine has. Each core, ChaCha20, the board, each stream and the reading of a word's operands
/// are mapped by themselves. Otherwise the mapper lets a module with room grow as deep as the deepest one. The second
/// prime of a stand-in is the prime of a second layer here. `$RINGMILL_KIND` selects one kind, as in `54+54`.
#[test]
#[ignore = "an hour of synthesis; `make full` runs it"]
fn paths_of_machines_of_one_rpau() {
    let (mut d, primes) = shipped(Description::STORED);
    (d.rpaus, d.stand_in) = (1, Vec::new());
    let one = std::env::var("RINGMILL_KIND").ok();
    for (kind, width, count) in [("60", 60, 1), ("54", 54, 1), ("54+54", 54, 2)] {
        if one.as_ref().is_some_and(|one| one != kind) {
            continue;
        }
        let wide = primes.iter().filter(|prime| prime.ilog2() + 1 == width);
        let own: Vec<u64> = wide.copied().take(count).collect();
        let top = top(&d, &own).unwrap();
        let once = [
            "rm_ring_core",
            "rm_chacha20",
            "rm_ring_board",
            "rm_ring_fetch",
            "rm_ring_reads",
        ];
        let top = once.into_iter().fold(top, Top::once);
        let paths = hdl().levels(&top, Family::Xcup).unwrap().paths;
        println!("{kind} bits: {paths:#?}");
        assert!(paths.within_bar(), "{kind} bits");
    }
}

/// Prints what one part takes. Returns its name if it has paths beyond the bar of docs/rtl.md.
fn print(part: &Part) -> Option<String> {
    let one = Part {
        count: 1,
        ..part.clone()
    };
    let found = sum(&[one]);
    let paths = hdl().levels(&part.top, Family::Xcup).unwrap().paths;
    println!(
        "  {} x {}: {} LUT ({} by themselves), {} FF, {} levels, {} carry bits, {} beyond",
        part.count,
        part.top,
        found.lut_places(),
        found.lut + found.lut_memory,
        found.ff,
        paths.levels(),
        paths.carry(),
        paths.beyond
    );
    (!paths.within_bar()).then(|| part.top.to_string())
}
