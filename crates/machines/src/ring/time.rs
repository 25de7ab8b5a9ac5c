// SPDX-License-Identifier: Apache-2.0
//! The end-to-end time of a program on the ring machine, what bounds it, and what would make it shorter.

use super::description::{Description, MAX_KEY_SLOTS, MAX_SLOTS};
use super::program::Totals;
use ringmill_device::report::{EndToEnd, TimePart};

/// Between calls link and units take turns; inside procedures that do not fit they overlap.
pub fn end_to_end(d: &Description, totals: &Totals) -> EndToEnd {
    let seconds = |cycles: u64| cycles as f64 / (d.clock_mhz * 1e6);
    let tally = &totals.tally;
    let [stores, loads, keys] = tally.moving;
    let spilled = totals.spills.bytes;
    // As the program's limbs are stored, two of them a limb at twice the native degree.
    let bytes_a_key = 8u64 << d.log_n.min(totals.log_n);
    let parts = EndToEnd {
        inputs_seconds: d.link_seconds(totals.bytes_in),
        keys_seconds: d.link_seconds(totals.key_bytes) + seconds(keys),
        programs_seconds: d.link_seconds(totals.program_bytes),
        // What is not the link's alone.
        compute_seconds: seconds(totals.cycles + tally.overlap - tally.link),
        spills_seconds: d.link_seconds(spilled) + seconds(stores + loads),
        outputs_seconds: d.link_seconds(totals.bytes_out),
        overlap_seconds: seconds(tally.overlap),
        resident_key_limbs: totals.resident_keys,
        resident_key_seconds: d.link_seconds(totals.resident_keys * bytes_a_key),
        ..EndToEnd::default()
    };
    parts.summed(|by| help(d, totals, by))
}

fn help(d: &Description, totals: &Totals, by: TimePart) -> String {
    const LINK: &str = "a faster link (`link.us_per_limb`)";
    match by {
        TimePart::LinkKeys => {
            let needed = totals.key_limbs as usize;
            if (d.keys.slots + 1..=MAX_KEY_SLOTS).contains(&needed) {
                format!("room for all keys (`keys.slots` = {needed}), or fewer rotation steps")
            } else {
                format!("fewer rotation steps, more room for keys (`keys.slots`), or {LINK}")
            }
        }
        TimePart::LinkSpills if d.slots() < MAX_SLOTS => {
            format!(
                "more room for values (`memory.slots`, {} now), or {LINK}",
                d.slots()
            )
        }
        TimePart::LinkSpills => format!("fewer values alive at once, or {LINK}"),
        TimePart::LinkPrograms => {
            format!(
                "deeper program memories (`tables.words`), more calls of each procedure, or {LINK}"
            )
        }
        TimePart::LinkData => format!("{LINK}, or more work for each input"),
        TimePart::Compute => compute(d, totals),
        // Nothing is left to the host.
        TimePart::Host => String::new(),
    }
}

/// The busiest unit, and what there could be more of.
fn compute(d: &Description, totals: &Totals) -> String {
    let units = &totals.tally.units[..d.rpaus];
    let busiest = |unit: usize| units.iter().map(|u| u[unit]).max().unwrap_or(0);
    let (main, dyadic, ring) = (busiest(0), busiest(1), totals.tally.ring);
    let idle = units.iter().filter(|u| u[0] + u[1] == 0).count();
    let share = |busy: u64| 100.0 * busy as f64 / totals.cycles.max(1) as f64;
    let (name, busy, more) = if main >= dyadic.max(ring) {
        ("main cores", main, "more butterflies (`cores.butterfly`)")
    } else if dyadic >= ring {
        ("dyadic cores", dyadic, "more dyadic cores (`cores.dyadic`)")
    } else {
        ("ring", ring, "a wider ring (`ring.lanes`)")
    };
    let rest = match idle {
        0 => String::new(),
        n => format!(
            "; {n} of {} RPAUs have nothing to do: the program has few primes",
            d.rpaus
        ),
    };
    format!(
        "{more}, the busiest {name} being at {:.0} %{rest}",
        share(busy)
    )
}
