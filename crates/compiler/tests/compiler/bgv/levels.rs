// SPDX-License-Identifier: Apache-2.0
//! The placement of bootstraps in BGV programs costs no more than any other set of cuts.

use std::sync::Arc;

use ringmill_compiler::Passes;
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::internals::{
    Costs, Deep, Frame, Manager, Placement, best, relinearised, tried,
};
use ringmill_isa::macros::{MacroProgram, Visibility};
use ringmill_schemes::bgv::Bgv;

use super::toy;

/// Returns the relinearised program that computes `body` of two inputs.
fn program(body: impl Fn(&mut TraceBuilder, Traced, Traced) -> Traced) -> MacroProgram {
    let mut t = TraceBuilder::new("placed", 2).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.input("y", Visibility::Encrypted, None).unwrap();
    let z = body(&mut t, x, y);
    t.output("z", z, None).unwrap();
    relinearised::<Bgv>(t.finish(), Passes::ALL)
}

/// Returns the placement with these cuts, in ascending order, at which every live value is bootstrapped.
fn cut_at(cuts: Vec<usize>) -> Placement {
    Placement {
        cuts,
        ..Placement::default()
    }
}

/// Returns the cost of the placement whose cuts come as late as the noise allows.
fn at_the_last_moment(program: &MacroProgram, start: &Manager<'_>) -> f64 {
    let mut cuts: Vec<usize> = Vec::new();
    for count in 1..=program.instrs.len() {
        let mut prefix = program.clone();
        prefix.instrs.truncate(count);
        let mut cut = count - 1;
        while tried(&prefix, start, &cut_at(cuts.clone()))
            .unwrap()
            .is_err()
        {
            cuts.retain(|&known| known != cut + 1);
            cuts.push(cut);
            cuts.sort_unstable();
            cut = cut.checked_sub(1).unwrap();
        }
    }
    let found = tried(program, start, &cut_at(cuts)).unwrap();
    found.unwrap().1
}

/// Returns the least cost of all sets of cuts.
fn cheapest(program: &MacroProgram, start: &Manager<'_>) -> f64 {
    let count = program.instrs.len();
    let sets = (0u32..1 << (count - 1)).map(|set| {
        let cuts = (1..count).filter(|cut| set >> (cut - 1) & 1 == 1);
        cut_at(cuts.collect())
    });
    let costs = sets.filter_map(|placement| {
        let found = tried(program, start, &placement).unwrap();
        found.ok().map(|(_, cost)| cost)
    });
    costs.fold(f64::INFINITY, f64::min)
}

#[test]
fn no_set_of_cuts_is_cheaper_and_the_last_moment_is_dearer() {
    let procedure = toy::procedure();
    let params = Arc::clone(procedure.params());
    let costs = Costs::new(&params, &procedure).unwrap();
    let deep = Deep {
        procedure: &procedure,
        costs: &costs,
        convention: None,
        callees: &[],
    };
    let square = |t: &mut TraceBuilder, x| t.square(x, None).unwrap();
    let programs = [
        // Squares in sequence: one value lives across each cut.
        program(|t, x, y| {
            let sum = t.add(x, y, None).unwrap();
            (0..4).fold(sum, |x, _| square(t, x))
        }),
        // Two values, and then one: the last moment refreshes both.
        program(|t, x, y| {
            let (a, b) = (square(t, x), square(t, y));
            let both = t.mul(a, b, None).unwrap();
            let both = square(t, both);
            square(t, both)
        }),
    ];
    let (start, watch) = (procedure.start(), Default::default());
    let (mut cut, mut all, mut put_off) = (0, 0.0, 0.0);
    // The lower the level of the inputs, the sooner their levels run out.
    for entry in start.to(start.above(5)) {
        let entry = vec![entry; 2];
        let frame = Frame {
            params: &params,
            entry: &entry,
            output: ringmill_isa::Level::LOWEST,
            measure: false,
            deep: Some(deep),
            watch: &watch,
        };
        for program in &programs {
            let start = Manager::new(program, frame).unwrap();
            let (placement, cost) = best(program, &start).unwrap().unwrap();
            let least = cheapest(program, &start);
            let last = at_the_last_moment(program, &start);
            println!("{placement:?}: {cost} of {least}, {last}");
            assert!(cost <= least * (1.0 + 1e-9) && least <= last * (1.0 + 1e-9));
            cut += usize::from(!placement.is_empty());
            (all, put_off) = (all + cost, put_off + last);
        }
    }
    assert!(cut > 0 && all <= put_off);
}
