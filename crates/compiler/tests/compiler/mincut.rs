// SPDX-License-Identifier: Apache-2.0
//! Minimum vertex cuts are as small as those of exhaustive search.

use proptest::prelude::*;
use ringmill_compiler::internals::min_vertex_cut;

fn separates(edges: &[(u32, u32)], sources: &[bool], sinks: &[bool], cut: &[bool]) -> bool {
    let mut seen: Vec<bool> = sources.iter().zip(cut).map(|(&s, &c)| s && !c).collect();
    // Edges go from lower to higher nodes, so one sweep in order of the tail reaches everything.
    let mut sorted = edges.to_vec();
    sorted.sort_unstable();
    for (a, b) in sorted {
        if seen[a as usize] && !cut[b as usize] {
            seen[b as usize] = true;
        }
    }
    !seen.iter().zip(sinks).any(|(&s, &t)| s && t)
}

proptest! {
    #[test]
    fn equals_exhaustive_search(
        raw in prop::collection::vec((0u32..9, 0u32..9), 0..18),
        sources in prop::collection::vec(any::<bool>(), 9),
        sinks in prop::collection::vec(any::<bool>(), 9),
    ) {
        let edges: Vec<(u32, u32)> = raw.into_iter().filter(|(a, b)| a < b).collect();
        let cut = min_vertex_cut(&edges, &sources, &sinks);
        prop_assert!(separates(&edges, &sources, &sinks, &cut));
        let best = (0u32..512)
            .filter(|mask| {
                let cut: Vec<bool> = (0..9).map(|v| mask >> v & 1 == 1).collect();
                separates(&edges, &sources, &sinks, &cut)
            })
            .map(u32::count_ones)
            .min();
        prop_assert_eq!(Some(cut.iter().filter(|&&c| c).count() as u32), best);
    }
}

#[test]
fn long_chains_do_not_overflow() {
    let n = 200_000u32;
    let edges: Vec<(u32, u32)> = (1..n).map(|v| (v - 1, v)).collect();
    let mut sources = vec![false; n as usize];
    let mut sinks = sources.clone();
    sources[0] = true;
    sinks[n as usize - 1] = true;
    let cut = min_vertex_cut(&edges, &sources, &sinks);
    assert!(cut[0], "the cut nearest the source is wanted");
    assert_eq!(cut.iter().filter(|&&c| c).count(), 1);
}
