// SPDX-License-Identifier: Apache-2.0
//! Tests the resources of the FPGAs that descriptions can name.

use ringmill_machines::fpga::{PARTS, Part, Resource, Resources};

/// The percentages of used resources that the papers print are, to the printed digits, those of these FPGAs.
#[test]
fn the_papers_percentages_are_of_these_parts() {
    let percent = |used: f64, name: &str, of| {
        let part = Part::named(name).unwrap();
        100.0 * used / part.has.amount(of)
    };
    for (used, of, printed) in [
        (1576.5, Resource::BlockRam, 58.6),
        (931.0, Resource::UltraRam, 72.7),
        (3607.0, Resource::Dsp, 29.3),
    ] {
        assert!((percent(used, "U250", of) - printed).abs() < 0.1, "{of:?}");
    }
    for (used, of, printed) in [(96.0, Resource::BlockRam, 6.5), (224.0, Resource::Dsp, 6.2)] {
        assert!((percent(used, "XC7VX690T", of) - printed).abs() < 0.1);
        assert!((percent(used, "XC7VX485T", of) - printed).abs() > 1.0);
    }
    assert_eq!(Part::named("U250").unwrap().region().uram, 320);
    assert_eq!(Part::named("U280").unwrap().has.dsp, 9024);
}

#[test]
fn an_unknown_part_is_told_the_known_ones() {
    let fault = Part::named("u250").unwrap_err().to_string();
    for part in &PARTS {
        assert!(fault.contains(part.name), "{fault}");
    }
    assert!(fault.contains("\"u250\""), "{fault}");
}

#[test]
fn room_is_what_the_scarcest_leaves() {
    let has = Resources {
        bram18: 10,
        uram: 7,
        lut_memory: 100,
        dsp: 100,
        ..Resources::default()
    };
    let need = Resources {
        bram18: 2,
        uram: 2,
        ..Resources::default()
    };
    assert_eq!(has.room(need), Some((3, Resource::UltraRam)));
    assert_eq!(has.room(Resources::default()), None);
    assert_eq!(has.room(has.plus(need)), Some((0, Resource::BlockRam)));
    assert_eq!(
        need.times(3).share(2),
        need.plus(Resources {
            bram18: 1,
            uram: 1,
            ..need.times(0)
        })
    );
}
