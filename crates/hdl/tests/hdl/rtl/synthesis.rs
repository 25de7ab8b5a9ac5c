// SPDX-License-Identifier: Apache-2.0
//! Tests of synthesis. Yosys takes every leaf module and infers the DSP blocks and memories that are meant, without a
//! latch. It finds as many as the machines' needs say.

use ringmill_hdl::leaves::{MULTIPLIERS, WIDE_MULTIPLIERS, flavour, leaves};
use ringmill_hdl::{Family, Resources, Top, polymul};
use ringmill_machines::fpga::{self, Memory, MemoryKind, Part, Ports, Reduction, Resource};
use ringmill_machines::polymul::Shape;

use crate::rtl::support::hdl;

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
    // The paper's count: four blocks for the 32 x 32 product, and one for each of three steps.
    let found = resources(&MULTIPLIERS[0].top("rm_mod_mul"));
    assert_eq!(found.dsp, 7);
    assert_eq!(found.bram18, 0);
}

#[test]
#[ignore = "half a minute of synthesis; `make full` runs it"]
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

/// A memory of 4096 words of 72 bits becomes one block of ultra RAM, with almost no logic beside it.
#[test]
#[ignore = "synthesis; `make full` runs it"]
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

/// A module, and the rest of the whole without it, add up to the whole's registers and DSP blocks.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn what_is_left_out_is_counted_by_itself() {
    let count = |top: Top| hdl().synthesise_for(&top, Family::Xcup).unwrap().resources;
    let whole = Top::new("rm_torus_mul");
    let rest = count(whole.clone().apart("rm_torus_times"));
    let inner = count(Top::new("rm_torus_times"));
    let whole = count(whole);
    assert_eq!((whole.dsp, inner.dsp, rest.dsp), (6, 6, 0));
    assert_eq!(whole.ff, inner.ff + rest.ff);
    assert!(rest.lut > 0 && rest.lut < inner.lut, "{rest:?}");
    assert_eq!(rest.other, [].into());
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
    for multiplier in WIDE_MULTIPLIERS {
        let found = resources(&multiplier.top("rm_wide_mul"));
        assert_eq!(found.dsp, multiplier.dsp, "{multiplier:?}");
    }
}

/// Descriptions count as many DSP blocks for a multiplier as [`MULTIPLIERS`] says, which `every_leaf` compares with
/// Yosys.
#[test]
fn multipliers_of_descriptions_take_the_leaves_dsp_blocks() {
    for multiplier in MULTIPLIERS {
        let reduction = match multiplier.flavour {
            flavour::WORD_MONTGOMERY => Reduction::WordMontgomery,
            flavour::MONTGOMERY_FRIENDLY => Reduction::MontgomeryFriendly,
            flavour::SPARSE => Reduction::Sparse,
            flavour::SOLINAS52 => Reduction::Solinas52,
            _ => Reduction::NttFriendly,
        };
        let found = reduction.dsp(multiplier.width);
        assert_eq!(found, multiplier.dsp, "{}", multiplier.name);
    }
}

/// Descriptions count what Yosys finds, for a memory of each kind that shipped machines have.
#[test]
#[ignore = "more synthesis; `make full` runs it"]
fn memories_of_descriptions_take_what_yosys_finds() {
    use MemoryKind::{Bram, Lutram, Uram};
    are_counted(&[
        (Bram, 882, 60, Family::Xc7),
        (Uram, 4097, 72, Family::Xcup),
        (Lutram, 8, 129, Family::Xc7),
    ]);
}

/// Descriptions count what Yosys finds, for other memories and at the edges of each kind.
#[test]
#[ignore = "more synthesis; `make full` runs it"]
fn every_memory_takes_what_yosys_finds() {
    use MemoryKind::{Bram, Lutram, Uram};
    let seven = Family::Xc7;
    are_counted(&[
        (Bram, 512, 60, seven),
        (Bram, 128, 32, seven),
        (Bram, 1024, 32, seven),
        (Bram, 513, 36, seven),
        (Bram, 4096, 9, seven),
        (Uram, 4096, 60, Family::Xcup),
        (Lutram, 64, 3, seven),
    ]);
}

fn are_counted(memories: &[(MemoryKind, u64, u64, Family)]) {
    use MemoryKind::{Bram, Lutram, Sram, Uram};
    for &(kind, depth, width, family) in memories {
        let style = match kind {
            Bram => "block",
            Uram => "ultra",
            Lutram => "distributed",
            Sram => unreachable!("no FPGA has it"),
        };
        let of = |module: &str| {
            let size = Top::new(module).int("Width", width).int("Depth", depth);
            if module == "rm_fifo" {
                size
            } else {
                size.text("Style", style)
            }
        };
        // Distributed RAM is read in the cycle of use, as in a queue.
        let top = of(if kind == Lutram {
            "rm_fifo"
        } else {
            "rm_ram_1r1w"
        });
        let found = hdl().synthesise_for(&top, family).unwrap().resources;
        let memory = Memory {
            name: top.to_string(),
            kind,
            count: 1,
            depth,
            width,
            ports: Ports::ONE_EACH,
        };
        let counted = memory
            .takes(match family {
                Family::Xc7 => fpga::Family::SevenSeries,
                Family::Xcup => fpga::Family::UltraScalePlus,
            })
            .unwrap();
        assert_eq!(
            (counted.bram18, counted.uram, counted.lut_memory),
            (found.bram18, found.uram, found.lut_memory),
            "{top}"
        );
    }
}

/// Checks that a description of `polymul` needs what its netlist has. The netlist may have more look-up tables as
/// memory, because it also has delay lines in them.
fn equals_its_needs(units: usize, max_log_n: u32, beat: usize) {
    let shape = Shape::new(units, max_log_n, beat).unwrap();
    let part = Part::named("XC7VX485T").unwrap();
    let fit = shape.needs("polymul", part).fit().unwrap();
    let needs = |of| {
        let total = fit.totals.iter().find(|t| t.resource == of);
        total.map_or(0.0, |t| t.used)
    };
    let found = hdl().synthesise(&polymul::top(shape)).unwrap().resources;
    assert_eq!(needs(Resource::Dsp), found.dsp as f64);
    assert_eq!(needs(Resource::BlockRam), found.bram18 as f64 / 2.0);
    assert!(needs(Resource::LutMemory) <= found.lut_memory as f64);
    assert_eq!(needs(Resource::UltraRam), found.uram as f64);
}

#[test]
#[ignore = "half a minute of synthesis; `make full` runs it"]
fn a_small_polymul_takes_what_its_description_needs() {
    equals_its_needs(4, 9, 4);
}

#[test]
#[ignore = "minutes; `make full` runs it"]
fn the_shipped_polymul_takes_what_its_description_needs() {
    equals_its_needs(32, 12, 4);
}
