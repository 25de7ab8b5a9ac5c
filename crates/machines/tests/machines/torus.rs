// SPDX-License-Identifier: Apache-2.0
//! The bootstrapping engine: its cycles with the 128-bit set, its needs, and its refusals.

mod keyswitch;
mod shape;
mod switch;

use ringmill_isa::mid::{Head, ProcBuilder, TableModulus};
use ringmill_machines::torus::keyswitch::{Digits, Generators};
use ringmill_machines::torus::{
    Description, KeyRate, KeySwitch, Schedule, Shape, Sizes, TorusMachine, give_cycles,
    load_cycles, run, switch_cycles,
};
use ringmill_machines::{Machine, fpga::Resource};
use ringmill_math::torus::TorusRing;

/// The log of the base and the number of digits of the paper's key switch.
const BASE_2: (u32, usize) = (1, 15);
/// The log of the base and the number of digits of the TFHE library's key switch.
const BASE_4: (u32, usize) = (2, 8);

/// Returns an engine for the 128-bit set with 96 butterflies, and with products for `2^log_pos` positions at a time.
/// It has `cores` generators of masks.
fn full(
    unroll: usize,
    places: usize,
    log_pos: u32,
    cores: usize,
    (log_base, levels): (u32, usize),
) -> Shape {
    let beats = (1024 >> log_pos) * ((1 << unroll) - 1);
    Shape::cheapest(Sizes {
        log_n: 10,
        levels: 3,
        log_base: 7,
        dim: 630,
        unroll,
        units: 3,
        log_lanes: 5,
        log_pos,
        places,
        group: 1,
        key_beats: (beats as usize).next_power_of_two(),
        switch: KeySwitch {
            digits: Digits { log_base, levels },
            generators: Generators {
                cores,
                rounds: 20,
                steps: 2,
            },
        },
    })
    .unwrap()
}

/// Returns one ciphertext's share of the cycles of bootstraps in all places, loads and results included. Keys are never
/// late.
fn each(shape: Shape) -> u64 {
    let places = shape.sizes().places as u64;
    let rotations = run(shape, places as usize, || true).cycles;
    let switch = switch_cycles(shape, places as usize);
    load_cycles(shape) + (rotations + switch).div_ceil(places) + give_cycles(shape)
}

/// Bounds the cycles with 96 butterflies, and with products for four positions at a time or for eight. The paper takes
/// 1.19, 0.60 and 0.40 million cycles for m = 1, 2 and 3.
#[test]
fn cycles_of_the_128_bit_set() {
    for (unroll, log_pos, cores, alone_most, two_most) in [
        (1, 2, 14, 550_000, u64::MAX),
        (2, 2, 20, 450_000, 300_000),
        // If weights multiplied sums, these multipliers of products alone would take 376,320 cycles.
        (3, 2, 20, 350_000, 270_000),
        (3, 3, 20, 350_000, 270_000),
    ] {
        for digits in [BASE_2, BASE_4] {
            let [alone, two] = [1, 2].map(|places| full(unroll, places, log_pos, cores, digits));
            println!(
                "m = {unroll}, {:?}, {:?} multipliers, {cores} generators, base 2^{} with {}: {} alone, {} interleaved, {} of a switch, floors {:?} a step",
                alone.schedule(),
                alone.multipliers(),
                digits.0,
                digits.1,
                each(alone),
                each(two),
                switch_cycles(alone, 1),
                alone.floors()
            );
            let (alone, two) = (each(alone), each(two));
            assert!(alone <= alone_most && two <= two_most, "{alone} {two}");
        }
    }
    assert_eq!(full(1, 1, 2, 14, BASE_2).floors(), (427, 256));
    // Bundles of coefficients cost more transforms, but one product instead of seven.
    assert_eq!(full(3, 1, 2, 14, BASE_2).floors(), (1067, 256));
}

/// Bounds the cycles and DSP blocks of the shipped engines, with keys at their sources' rates. The first has the
/// paper's butterflies, the second is within all of the paper's resources, and the third within its 2,881 DSP blocks.
/// The last is within the 5,494 of FPT, whose blind rotation alone takes 96,000 cycles.
#[test]
fn cycles_of_shipped_engines() {
    for (text, dsp, alone_most, all_most) in [
        (Description::OURS, 864.0, 550_000, 350_000),
        (Description::FIT, 2881.0, 400_000, 150_000),
        (Description::WIDE, 2881.0, 400_000, 150_000),
        (Description::LARGE, 5494.0, 400_000, 60_000),
    ] {
        let machine = TorusMachine::parse(text).unwrap();
        let places = machine.shape().sizes().places;
        let alone = machine.bootstraps(1, true);
        let each = machine.bootstraps(places, true).div_ceil(places as u64);
        let took = (machine.fit().totals.iter()).map(|t| (t.resource.name(), t.used, t.available));
        println!(
            "{}: {alone} alone, {each} of {places}, {:?} and {:?} of runs, {} and {} of switches",
            machine.name(),
            machine.run(1),
            machine.run(places),
            machine.switch(1),
            machine.switch(places),
        );
        println!("{:?}", took.collect::<Vec<_>>());
        assert!(alone <= alone_most && each <= all_most, "{alone} {each}");
        let totals = &machine.fit().totals;
        let used = totals
            .iter()
            .find(|t| t.resource == Resource::Dsp)
            .unwrap()
            .used;
        assert!(used <= dsp, "{used}");
    }
}

/// Checks that a description of the paper's engine, with 96 butterflies, takes fewer cycles than the paper prints. Its
/// keys are never late.
#[test]
fn the_papers_engine() {
    let paper = Description::read(Description::PAPER).unwrap();
    assert_eq!(paper.schedule, Schedule::Pairs);
    for (unroll, gbytes, printed) in [
        (1, 15.74, 1_190_000),
        (2, 15.74, 600_000),
        (3, 31.5, 400_000),
    ] {
        let mut d = paper.clone();
        d.unroll = unroll;
        d.key.gbyte_per_second = gbytes;
        let machine = TorusMachine::new(d).unwrap();
        let shape = machine.shape();
        let (fed, at_link) = (run(shape, 1, || true), machine.run(1));
        println!(
            "m = {unroll}: {fed:?}; at {gbytes} GB/s {}, {:?}",
            at_link.cycles,
            shape.multipliers()
        );
        assert_eq!(shape.butterflies(), 96);
        assert!(fed.cycles < printed, "{fed:?}");
        let used = (machine.fit().totals.iter()).find(|t| t.resource == Resource::Dsp);
        assert!(used.unwrap().used <= 2881.0);
    }
}

/// Bounds the cycles with keys from the paper's two links and from a memory. Eight interleaved ciphertexts share the
/// key, so that no source bounds them.
#[test]
fn sources_of_the_key() {
    for (rate, alone_most) in [("15.74", 750_000), ("31.5", 450_000), ("460.0", 400_000)] {
        let text = Description::WIDE.replace(
            "gbyte_per_second = 460.0",
            &format!("gbyte_per_second = {rate}"),
        );
        let machine = TorusMachine::parse(&text).unwrap();
        let alone = machine.bootstraps(1, true);
        let each = machine.bootstraps(8, true).div_ceil(8);
        println!(
            "{rate} GB/s: {alone} alone, {} waiting, {each} of 8, {} waiting",
            machine.run(1).starved,
            machine.run(8).starved
        );
        assert!(alone <= alone_most && each <= 150_000, "{alone} {each}");
    }
}

/// Counts a transform of N = 1024 by eight butterflies. Its floor is 640 cycles, and the paper's takes 697.
#[test]
fn a_unit_of_eight_butterflies() {
    let shape = Shape::new(Sizes {
        log_n: 10,
        levels: 3,
        log_base: 7,
        dim: 4,
        unroll: 1,
        units: 6,
        log_lanes: 3,
        log_pos: 2,
        places: 1,
        group: 1,
        key_beats: 256,
        switch: full(1, 1, 2, 1, BASE_2).sizes().switch,
    })
    .unwrap();
    assert_eq!(shape.transform_cycles(), 659);
}

/// Checks that a key which comes more slowly than it is read bounds the run, and that the run counts cycles without
/// key.
#[test]
fn a_slow_key_bounds_the_run() {
    let shape = full(1, 1, 2, 14, BASE_2);
    // 15.74 GB/s at 180 MHz.
    let rate = KeyRate::new(shape, 15.74 * 8e3 / 180.0);
    let slow = run(shape, 1, rate.offers());
    let least = (shape.key_total() as f64 * rate.cycles_a_beat()) as u64;
    assert!(
        slow.cycles >= least && slow.cycles < least + 2000,
        "{slow:?} {least}"
    );
    assert!(slow.starved > 0);
    let two = full(1, 2, 2, 14, BASE_2);
    println!("two: {:?}", run(two, 2, rate.offers()));
    println!(
        "15.74 GB/s at 180 MHz: {slow:?}, {} cycles a beat",
        rate.cycles_a_beat()
    );
}

/// Counts DSP blocks by hand: 96 + 48 multipliers of six blocks, and 128 + 96 + 16. Checks that memory is within the
/// paper's 48 Mb.
#[test]
fn needs_of_the_shipped_descriptions() {
    for (text, dsp) in [(Description::OURS, 864.0), (Description::FIT, 1440.0)] {
        let machine = TorusMachine::parse(text).unwrap();
        let used = |resource| {
            let totals = &machine.fit().totals;
            totals.iter().find(|t| t.resource == resource).unwrap().used
        };
        assert_eq!(used(Resource::Dsp), dsp);
        let bits = used(Resource::BlockRam) * 36.0 * 1024.0;
        assert!(bits < 48e6, "{bits}");
    }
}

#[test]
fn what_cannot_be_made_is_refused_by_its_field() {
    for (from, to, field) in [
        ("log_n = 10", "log_n = 12", "log_n"),
        ("levels = 3", "levels = 0", "levels"),
        ("log_base = 7", "log_base = 11", "log_base"),
        ("dim = 630", "dim = 0", "dim"),
        ("unroll = 1", "unroll = 4", "unroll"),
        ("units = 3", "units = 4", "units"),
        ("units = 3", "units = 1", "units"),
        ("log_lanes = 5", "log_lanes = 9", "log_lanes"),
        ("log_pos = 2", "log_pos = 6", "log_pos"),
        ("places = 4", "places = 0", "places"),
        ("group = 2", "group = 5", "group"),
        ("key_beats = 512", "key_beats = 500", "key_beats"),
        ("key_beats = 512", "key_beats = 128", "key_beats"),
        ("unroll = 1", "unroll = 1\nschedule = \"pairs\"", "units"),
        ("clock_mhz = 180.0", "clock_mhz = 0.0", "clock_mhz"),
        ("= 460.0", "= -1.0", "key.gbyte_per_second"),
        ("places = 4", "places = 129", "places"),
        ("cores = 14", "cores = 0", "switch.cores"),
        ("cores = 14", "cores = 257", "switch.cores"),
        ("rounds = 20", "rounds = 5", "switch.rounds"),
        ("steps = 2", "steps = 3", "switch.steps"),
        ("log_base = 1 ", "log_base = 3 ", "switch.log_base"),
        ("levels = 15", "levels = 33", "switch.levels"),
    ] {
        let text = Description::OURS.replace(from, to);
        let error = TorusMachine::parse(&text).unwrap_err().to_string();
        assert!(error.contains(&format!("{field} = ")), "{to}: {error}");
    }
}

#[test]
fn programs_of_another_ring_or_modulus_are_refused() {
    let machine = TorusMachine::parse(Description::OURS).unwrap();
    let moduli = [
        TableModulus::PowerOfTwo(32),
        TableModulus::Prime(TorusRing::MAX_PRIME),
    ];
    let procedure = ProcBuilder::new("nothing", 10, &moduli)
        .unwrap()
        .finish()
        .unwrap();
    let refusal = |log_n, moduli| {
        let head = Head {
            log_n,
            moduli,
            inputs: &[],
            procs: &[],
            halts: false,
        };
        machine
            .takes(&head, &procedure)
            .map_err(|error| error.to_string())
    };
    assert_eq!(refusal(10, &moduli[..]), Ok(Vec::new()));
    let ring = refusal(9, &moduli[..]).unwrap_err();
    assert!(
        ring.contains("rings of 2^9") && ring.contains("`log_n`"),
        "{ring}"
    );
    let modulus = refusal(10, &moduli[..1]).unwrap_err();
    assert!(modulus.contains("moduli"), "{modulus}");
}
