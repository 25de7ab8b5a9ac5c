//! Yosys takes every leaf and infers what was meant: DSP blocks, block RAM, no latch.

use ringmill_hdl::leaves::{MULTIPLIERS, leaves};
use ringmill_hdl::{Family, Resources, Top};

use crate::support::hdl;

fn resources(top: &Top) -> Resources {
    let made = hdl().synthesise(top).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        made.resources.other,
        [].into(),
        "{top}: cells that no leaf should need"
    );
    made.resources
}

#[test]
fn word_level_montgomery_takes_seven_dsp_blocks() {
    // The paper's count: four for the 32 x 32 product, one for each of three steps.
    let found = resources(&MULTIPLIERS[0].top("rm_mod_mul"));
    assert_eq!(found.dsp, 7);
    assert_eq!(found.bram18, 0);
}

#[test]
fn memories_become_block_ram() {
    for module in ["rm_ram_1r1w", "rm_ram_2rw"] {
        let found = resources(&Top::new(module).int("Width", 36).int("Depth", 1024));
        assert_eq!(
            (found.bram18, found.ff, found.lut_memory),
            (2, 0, 0),
            "{module}"
        );
    }
}

/// One block of 4096 words of 72 bits, and no logic that makes up for what it cannot do.
#[test]
fn memories_become_ultraram_when_asked() {
    for module in ["rm_ram_1r1w", "rm_ram_2rw"] {
        let top = Top::new(module).int("Width", 72).int("Depth", 4096);
        let ultra = top.text("Style", "ultra");
        let found = hdl()
            .synthesise_for(&ultra, Family::Xcup)
            .unwrap()
            .resources;
        assert_eq!((found.uram, found.bram18, found.ff), (1, 0, 0), "{module}");
        assert!(found.lut <= 2, "{module}: {found:?}");
    }
}

#[test]
#[ignore = "half a minute a multiplier; `make full` runs it"]
fn every_leaf() {
    for leaf in leaves() {
        resources(&leaf.top);
    }
    for multiplier in MULTIPLIERS {
        for module in ["rm_mod_mul", "rm_butterfly"] {
            let found = resources(&multiplier.top(module));
            assert_eq!(found.dsp, multiplier.dsp, "{module}: {}", multiplier.name);
        }
    }
}
