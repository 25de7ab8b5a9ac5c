// SPDX-License-Identifier: Apache-2.0
//! Tests the FPGA resources that descriptions need: the figures of the shipped ones by hand, and the descriptions that
//! are refused.

use ringmill_machines::fpga::{Fit, Part, Ports, Resource};
use ringmill_machines::polymul::Shape;
use ringmill_machines::{MachineError, Registry, polymul, ring, vector};

fn amount(fit: &Fit, of: Resource) -> (f64, f64) {
    let total = fit.totals.iter().find(|t| t.resource == of);
    total.map_or((0.0, 0.0), |t| (t.each, t.used))
}

/// Returns the needs in one resource: the name of each, its amount in one unit and its amount in the machine.
fn list(fit: &Fit, of: Resource) -> Vec<(&str, f64, f64)> {
    let of = fit.needs.iter().filter(|n| n.resource == of);
    of.map(|n| (n.name.as_str(), n.each, n.used)).collect()
}

/// The machine has ten RPAUs with residues of 60 bits in rows of 32, so a limb has 512 rows.
#[test]
fn the_ring_fits_the_u250_and_each_of_its_dies() {
    let machine = Registry::standard().open("ring").unwrap();
    let fit = machine.fit();
    assert_eq!((fit.part, fit.device, fit.units), ("U250", "XCU250", 10));
    // A column of eight slots is 4096 x 60. RPM 11 and 12 are 2 x 2048 words of 8 x 60 bits: 7 blocks. Keys are 18 x 2048
    // such words over nine stripes: 4096 each.
    assert_eq!(
        list(fit, Resource::UltraRam),
        [
            ("RPM 0-7", 32.0, 320.0),
            ("RPM 11-12", 7.0, 70.0),
            ("key memory", 63.0, 630.0),
        ]
    );
    // Each generator has 3 x 115 words of 60 bits: six passes with 16 values, then 8, 4, 2 and five of one. The program
    // memories have 4 x 4096 words of 64 bits: seven columns of 9 bits and one of one bit. The link's buffer has one
    // limb.
    assert_eq!(
        list(fit, Resource::BlockRam),
        [
            ("RPM 8", 32.0, 320.0),
            ("RPM 9", 32.0, 320.0),
            ("RPM 10", 32.0, 320.0),
            ("twiddle starting values", 16.0, 160.0),
            ("program memories", 30.0, 30.0),
            ("link buffer", 27.0, 27.0),
        ]
    );
    // Thirteen blocks a 60-bit multiplier.
    assert_eq!(
        list(fit, Resource::Dsp),
        [
            ("butterfly multipliers", 208.0, 2080.0),
            ("twiddle multipliers", 208.0, 2080.0),
            ("dyadic multipliers", 52.0, 520.0),
        ]
    );
    assert_eq!(amount(fit, Resource::BlockRam), (112.0, 1177.0));
    assert_eq!(amount(fit, Resource::UltraRam), (102.0, 1020.0));
    assert_eq!(amount(fit, Resource::Dsp), (468.0, 4680.0));
    let regions = fit.regions.as_ref().unwrap();
    assert_eq!((regions.regions, regions.room), (4, 3));
    assert_eq!((regions.each, regions.available), (102.0, 320.0));
    assert!(fit.fits && fit.warning().is_none());
}

/// Like the machine of the Medha paper's Table 3, one RPAU has primes of 60 bits and nine have primes of 54 bits.
#[test]
fn rpaus_need_no_more_memory_than_the_papers_and_half_its_block_rams() {
    for (text, wide, narrow) in [
        (
            ring::Description::MEDHA,
            (112.0, 102.0, 468.0),
            (112.0, 92.0, 324.0),
        ),
        (
            ring::Description::STORED,
            (180.0, 102.0, 468.0),
            (168.0, 92.0, 324.0),
        ),
    ] {
        let d = ring::Description::parse(text).unwrap();
        let of = |bits| {
            let fit = d.needs_at(bits).unwrap().fit().unwrap();
            let each = |of| amount(&fit, of).0;
            (
                each(Resource::BlockRam),
                each(Resource::UltraRam),
                each(Resource::Dsp),
            )
        };
        assert_eq!((of(60), of(54)), (wide, narrow), "{}", d.name);
        assert!(wide.0 <= 1.5 * 128.0 && wide.1 <= 102.0 && narrow.1 <= 92.0);
        assert!(wide.2 + 9.0 * narrow.2 <= 3600.0);
    }
}

/// `ring-large` has memory for N = 2^16: 24 limbs of polynomials in ultra RAM, three in block RAM, 36 limbs of keys,
/// and twiddle tables of seven rings.
#[test]
fn a_larger_ring_needs_what_it_holds() {
    let d = ring::Description::parse(ring::Description::LARGE).unwrap();
    assert_eq!((d.slots(), d.keys.slots, d.splits), (27, 36, 2));
    for (bits, twiddles, keys) in [(60, 32.0, 126.0), (54, 24.0, 108.0)] {
        let fit = d.needs_at(bits).unwrap().fit().unwrap();
        let each = |name: &str| {
            let mut needs = fit.needs.iter();
            needs.find(|n| n.name == name).unwrap().each
        };
        // Each of sixteen generators has 7 x 115 words beside it.
        assert_eq!(each("twiddle starting values"), twiddles, "{bits} bits");
        assert_eq!(each("key memory"), keys, "{bits} bits");
        assert_eq!(amount(&fit, Resource::BlockRam).0, 96.0 + twiddles);
        assert_eq!(amount(&fit, Resource::UltraRam).0, 96.0 + keys);
        assert!(!fit.fits);
    }
    let warning = Registry::standard()
        .open("ring-large")
        .unwrap()
        .fit()
        .warning();
    assert!(warning.is_some_and(|text| text.contains("section 6")));
}

/// Checks that each memory reads one row and writes one row in a cycle. The vector machine has three exceptions. Its
/// buffer has one port for reads and writes, two registers are read at a time, and its tables of twiddles on a die are
/// only read.
#[test]
fn every_memory_of_a_machine_is_read_and_written_once_a_cycle() {
    for name in Registry::standard().names() {
        let machine = Registry::standard().open(name).unwrap();
        for need in &machine.fit().needs {
            let expected = match need.resource {
                Resource::Dsp | Resource::Multiplier => None,
                Resource::Sram | Resource::UltraRam if need.name == "ciphertext buffer" => {
                    Some(Ports::SINGLE)
                }
                Resource::Sram | Resource::LutMemory if need.name == "registers" => Some(Ports {
                    reads: 2,
                    writes: 1,
                    either: 0,
                }),
                Resource::Sram if need.name.starts_with("twiddle") => Some(Ports::READ),
                Resource::BlockRam | Resource::UltraRam | Resource::LutMemory | Resource::Sram => {
                    Some(Ports::ONE_EACH)
                }
            };
            assert_eq!(need.ports, expected, "{name}: {}", need.name);
        }
    }
}

/// At radix 32 and 512 lanes the machine has eight transform units of 142 multipliers, each of six DSP blocks. A die
/// has room for three of these units.
#[test]
fn the_vector_machine_fits_the_u250_and_each_of_its_dies() {
    let machine = Registry::standard().open("vector-u250").unwrap();
    let vector = machine.as_a::<vector::VectorMachine>().unwrap();
    vector::built::check(vector.description()).unwrap();
    let fit = machine.fit();
    assert_eq!((fit.part, fit.units), ("U250", 8));
    assert_eq!(
        list(fit, Resource::Dsp),
        [
            ("butterflies", 294.0, 2352.0),
            ("before the transform", 186.0, 1488.0),
            ("behind the transform", 186.0, 1488.0),
            ("twiddle factory", 180.0, 1440.0),
            ("seeds", 6.0, 48.0),
            ("multiply-accumulate", 3072.0, 3072.0),
        ]
    );
    assert_eq!(amount(fit, Resource::Dsp), (852.0, 9888.0));
    // 8192 words of 32 bits a lane.
    assert_eq!(
        list(fit, Resource::UltraRam),
        [("ciphertext buffer", 1024.0, 1024.0)]
    );
    // Seeds of 56 primes for four instructions, by two and by three bits of a line: 896 and 1,792 words of 32 bits. Eight
    // LUTs hold 64 words of seven bits.
    assert_eq!(
        list(fit, Resource::LutMemory)[..2],
        [
            ("twiddle seeds, low", 14.0 * 40.0, 8.0 * 560.0),
            ("twiddle seeds, high", 28.0 * 40.0, 8.0 * 1120.0),
        ]
    );
    let regions = fit.regions.as_ref().unwrap();
    assert_eq!((regions.regions, regions.room), (4, 3));
    assert!(fit.fits && fit.warning().is_none());
    // With twice the lanes the machine does not fit.
    let twice = edited(
        vector::Description::U250,
        &[("log_lanes = 9", "log_lanes = 10")],
    );
    let fault = Registry::standard().load(&twice).err().unwrap().to_string();
    assert!(fault.contains("19,776 DSP"), "{fault}");
}

/// `ring-stored` has rows of 32 as Medha has, and tables of twiddles.
#[test]
fn stored_twiddles_need_more_block_rams() {
    let machine = Registry::standard().open("ring-stored").unwrap();
    let fit = machine.fit();
    // Sixteen butterflies of the first stage have a table each, and those of the second share eight. A table has 3
    // rings x (512 + 128 + 32 + 8 + 2) words, in seven halves of 2048 x 9 bits.
    assert_eq!(
        list(fit, Resource::BlockRam),
        [
            ("RPM 8", 32.0, 320.0),
            ("RPM 9", 32.0, 320.0),
            ("RPM 10", 32.0, 320.0),
            ("twiddle tables", 84.0, 840.0),
            ("program memories", 30.0, 30.0),
            ("link buffer", 27.0, 27.0),
        ]
    );
    assert_eq!(amount(fit, Resource::BlockRam), (180.0, 1857.0));
    assert_eq!(amount(fit, Resource::UltraRam), (102.0, 1020.0));
    assert_eq!(amount(fit, Resource::Dsp), (468.0, 4680.0));
    assert!(fit.fits && fit.regions.as_ref().is_some_and(|r| r.room == 3));
}

/// The computed resources of `polymul` are those that Yosys finds in the whole machine (docs/machines/polymul.md).
#[test]
fn polymul_needs_what_its_netlist_has() {
    let machine = Registry::standard().open("polymul").unwrap();
    let fit = machine.fit();
    assert_eq!(fit.part, "XC7VX485T");
    assert_eq!(amount(fit, Resource::Dsp), (7.0, 224.0));
    assert_eq!(amount(fit, Resource::BlockRam), (3.0, 96.0));
    // Eight beats of 129 bits: 21 slices of six bits and one of three.
    assert_eq!(
        list(fit, Resource::LutMemory),
        [("unload queue", 88.0, 88.0)]
    );
    assert!(fit.fits && fit.warning().is_none() && fit.regions.is_none());
}

#[test]
fn polymul_of_other_shapes() {
    let part = Part::named("XC7VX485T").unwrap();
    for (units, max_log_n, beat, dsp, bram) in [
        // With 64 rows, banks of 128 words and tables of 2 x 256 words take half a block each.
        (4, 9, 2, 28.0, 10.0),
        (8, 8, 2, 56.0, 20.0),
        // Banks of 2048 words take two blocks each. Tables of 16384 words take three columns of 9 bits, each of four
        // blocks of 4096 words, and five columns of one bit in half a block each.
        (32, 16, 4, 224.0, 32.0 * (4.0 * 2.0 + 12.0 + 2.5)),
        // With 32 rows the tables have 2 x 256 words again.
        (64, 12, 4, 448.0, 64.0 * 2.5),
    ] {
        let shape = Shape::new(units, max_log_n, beat).unwrap();
        let fit = shape.needs("it", part).fit().unwrap();
        assert_eq!(amount(&fit, Resource::Dsp).1, dsp, "{units}");
        assert_eq!(
            amount(&fit, Resource::BlockRam).1,
            bram,
            "{units} 2^{max_log_n}"
        );
    }
}

fn edited(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

/// Returns the description of a ring machine with 40 key slots, more than its FPGA has room for, and the line that
/// allows the excess. Its keys are 40 x 2048 words of 480 bits over nine stripes, three ultra RAMs deep. They take 189
/// ultra RAMs, and an RPAU needs 228.
fn large() -> (String, String) {
    let text = edited(ring::Description::MEDHA, &[("slots = 18", "slots = 40")]);
    let line = "allow_more_than_the_part_has = \"keys of many rotations\"\n";
    (text, line.to_owned())
}

fn refused(text: &str) -> String {
    match Registry::standard().load(text) {
        Ok(_) => panic!("taken: {text}"),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn what_exceeds_its_part_is_refused_unless_it_says_so() {
    let (text, line) = large();
    assert!(matches!(
        Registry::standard().load(&text),
        Err(MachineError::ExceedsPart { .. })
    ));
    let fault = refused(&text);
    for said in [
        "`ring`",
        "the machine needs 2,280 ultra RAM (1,890 for key memory), the U250 has 1,280",
        "228 ultra RAM (189 for key memory), a die region has 320",
        "4 of 10 RPAUs",
        "allow_more_than_the_part_has",
    ] {
        assert!(fault.contains(said), "{said}: {fault}");
    }
    let warned = Registry::standard().load(&format!("{line}{text}")).unwrap();
    let warning = warned.fit().warning().unwrap();
    for said in [
        "DOES NOT FIT ITS PART",
        "2,280 ultra RAM",
        "keys of many rotations",
    ] {
        assert!(warning.contains(said), "{said}: {warning}");
    }
    // Each of ten RPAUs has 1024 butterflies and 512 dyadic cores, of thirteen DSP blocks each.
    let wide = edited(
        ring::Description::STORED,
        &[
            ("butterfly = 32", "butterfly = 1024"),
            ("row = 32", "row = 1024"),
            ("group = 8", "group = 1024"),
            ("dyadic = 4", "dyadic = 512"),
            ("lanes = 32", "lanes = 1024"),
        ],
    );
    let fault = refused(&wide);
    assert!(
        fault.contains("199,680 DSP (133,120 for butterfly multipliers), the U250 has 12,288"),
        "{fault}"
    );
}

/// Each die region has room for one RPAU, so four RPAUs fit and a fifth does not.
#[test]
fn a_die_region_ends_what_the_part_would_hold() {
    let (text, line) = large();
    let four = edited(&text, &[("rpaus = 10", "rpaus = 4")]);
    assert!(Registry::standard().load(&four).unwrap().fit().fits);
    // The FPGA has more than 5 x 228 ultra RAMs, but a fifth RPAU would lie across a border between dies.
    let five = edited(&text, &[("rpaus = 10", "rpaus = 5")]);
    let fault = refused(&five);
    assert!(
        fault.contains("4 of 5 RPAUs") && !fault.contains("the machine needs"),
        "{fault}"
    );
    // A reason for an excess that does not exist is refused, too.
    let stale = format!("{line}{four}");
    assert!(matches!(
        Registry::standard().load(&stale),
        Err(MachineError::FitsAfterAll { .. })
    ));
    assert!(refused(&stale).contains("take that statement away"));
    let polymul = format!("{line}{}", polymul::Description::PAPER);
    assert!(matches!(
        Registry::standard().load(&polymul),
        Err(MachineError::FitsAfterAll { .. })
    ));
}

#[test]
fn a_part_must_be_named_and_known() {
    for text in [ring::Description::MEDHA, polymul::Description::PAPER] {
        let line = text.lines().find(|l| l.starts_with("part = ")).unwrap();
        let none = text.replacen(line, "", 1);
        assert!(matches!(
            Registry::standard().load(&none),
            Err(MachineError::Syntax(_))
        ));
        assert!(refused(&none).contains("missing field `part`"));
        let other = text.replacen(line, "part = \"U2500\"", 1);
        assert!(matches!(
            Registry::standard().load(&other),
            Err(MachineError::UnknownPart { .. })
        ));
        let fault = refused(&other);
        assert!(
            fault.contains("\"U2500\"") && fault.contains("U250, U280, VCU128"),
            "{fault}"
        );
    }
    // The first FPGA has no ultra RAM, and the second is not cut into regions here.
    let (text, _) = large();
    let seven = edited(&text, &[("\"U250\"", "\"XC7VX690T\"")]);
    assert!(refused(&seven).contains("the XC7VX690T has 0"));
    let whole = edited(
        &text,
        &[("\"U250\"", "\"U280\""), ("rpaus = 10", "rpaus = 4")],
    );
    assert!(Registry::standard().load(&whole).unwrap().fit().fits);
}

#[test]
fn a_reason_is_some_words_on_one_line() {
    let (text, _) = large();
    let long = "x".repeat(301);
    for reason in ["", "  ", "two\\nlines", long.as_str()] {
        let text = format!("allow_more_than_the_part_has = \"{reason}\"\n{text}");
        let fault = Registry::standard().load(&text).err().unwrap();
        assert!(
            matches!(
                fault,
                MachineError::Field {
                    field: "allow_more_than_the_part_has",
                    ..
                }
            ),
            "{fault}"
        );
    }
}

/// For all fields in range the needs are counted. The machine then fits, or it is refused as too large and accepted
/// with a reason.
#[test]
fn extreme_descriptions_are_counted() {
    let (_, line) = large();
    let text = ring::Description::MEDHA;
    for (log_n, butterfly, slots, word) in [
        (3, 4, 1, 8),
        (16, 32768, 27, 64),
        (16, 1, 27, 64),
        (3, 1, 1, 8),
    ] {
        let text = edited(
            text,
            &[
                ("row = 32", &format!("row = {}", 2 * butterfly)),
                ("group = 8", &format!("group = {}", 2 * butterfly)),
                ("residues = 8", "residues = 1"),
                ("log_n = 14", &format!("log_n = {log_n}")),
                ("butterfly = 16", &format!("butterfly = {butterfly}")),
                ("generator = 16", &format!("generator = {butterfly}")),
                ("lanes = 32", "lanes = 1"),
                ("dyadic = 4", "dyadic = 1"),
                ("[ring]\nlanes = 32", "[ring]\nlanes = 1"),
                ("residues_per_cycle = 4", "residues_per_cycle = 1"),
                ("slots = 8", &format!("slots = {slots}")),
                ("word_bits = 60", &format!("word_bits = {word}")),
            ],
        );
        match Registry::standard().load(&text) {
            Ok(machine) => assert!(machine.fit().fits),
            Err(MachineError::ExceedsPart { .. }) => {
                let machine = Registry::standard().load(&format!("{line}{text}")).unwrap();
                assert!(machine.fit().warning().is_some());
            }
            Err(other) => panic!("{other}"),
        }
    }
}
