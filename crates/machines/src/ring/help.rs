// SPDX-License-Identifier: Apache-2.0
//! Says what would shorten a program's time on a ring machine. A field of the description is named with a larger value
//! with which the machine fits its FPGA, or with the reason why none does.

use super::description::{Description, MAX_KEY_SLOTS, MAX_SLOTS, TwiddleSource};
use super::program::Totals;
use crate::MachineError;
use ringmill_device::report::TimePart;

const LINK: &str = "a faster link (`link.us_per_limb`)";
const CLOCK: &str = "a faster clock (`clock_mhz`)";

/// Returns a text that says what would shorten `by`, the largest component of the program's time. The text is empty for
/// [`TimePart::Host`] and [`TimePart::Waits`], which the ring machine does not have.
pub fn help(d: &Description, totals: &Totals, by: TimePart) -> String {
    match by {
        TimePart::LinkKeys => keys(d, totals.key_limbs),
        TimePart::LinkSpills => values(d),
        TimePart::LinkPrograms => programs(d),
        TimePart::LinkData => format!("{LINK}, or more work for each input"),
        TimePart::Compute => compute(d, totals),
        // Nothing is left to the host, and the machine has no memory beside its own that units wait for.
        TimePart::Host | TimePart::Waits => String::new(),
    }
}

/// Checks that the ring machine still fits its FPGA after the change `change` of its description. The error says which
/// resources exceed the FPGA, or which field is out of its range.
fn fits(d: &Description, change: impl FnOnce(&mut Description)) -> Result<(), String> {
    let mut changed = d.clone();
    changed.allow_more_than_the_part_has = None;
    change(&mut changed);
    match changed.check() {
        Ok(_) => Ok(()),
        Err(MachineError::ExceedsPart { excess, .. }) => Err(excess),
        Err(other) => Err(other.to_string()),
    }
}

/// Returns advice on how the ring machine gets more room for keys. `needed` is the number of key limbs on the RPAU
/// that needs most.
fn keys(d: &Description, needed: u64) -> String {
    const FEWER: &str = "fewer rotation steps";
    let now = d.keys.slots;
    let needed = usize::try_from(needed).unwrap_or(usize::MAX);
    if needed <= now {
        return format!("{FEWER}, keys that are there before the run, or {LINK}");
    }
    // Stripes grow with the slots, so that a stripe stays as deep as it is.
    let stripes = |slots: usize| match now {
        0 => d.keys.stripes,
        now => (d.keys.stripes * slots).div_ceil(now),
    };
    let room = |slots: usize, stripes: usize| {
        fits(d, |changed| {
            changed.keys.slots = slots;
            changed.keys.stripes = stripes;
        })
    };
    let most = needed.min(MAX_KEY_SLOTS);
    let found = (now + 1..=most).rev().find_map(|slots| {
        let ways = [d.keys.stripes, stripes(slots)].into_iter();
        let stripes = ways.into_iter().find(|&s| room(slots, s).is_ok())?;
        Some((slots, stripes))
    });
    let Some((slots, stripes)) = found else {
        let why = match room(now + 1, stripes(now + 1)) {
            Err(why) if now < MAX_KEY_SLOTS => why,
            _ => format!("the instruction word names {MAX_KEY_SLOTS}"),
        };
        return format!(
            "{FEWER}, or {LINK}; no `keys.slots` above {now} fits ({needed} needed): {why}"
        );
    };
    let beside = match stripes == d.keys.stripes {
        true => String::new(),
        false => format!(", `keys.stripes` = {stripes}"),
    };
    match slots == needed {
        true => format!("room for all keys (`keys.slots` = {slots}{beside}), or {FEWER}"),
        false => format!(
            "room for more keys (`keys.slots` = {slots}{beside}, the most that the {} holds of the {needed} needed), {FEWER}, or {LINK}",
            d.part
        ),
    }
}

/// Returns advice on how the ring machine gets more room for values: more slots in a port group of polynomial memory.
fn values(d: &Description) -> String {
    let now = d.slots();
    let more = MAX_SLOTS.saturating_sub(now);
    let grown = |group: usize, by: usize| {
        let held = d.memory.get(group).map_or(0, |group| group.slots);
        let result = fits(d, |changed| {
            if let Some(group) = changed.memory.get_mut(group) {
                group.slots = held + by;
            }
        });
        result.map(|()| (group, held + by))
    };
    let mut ways = (1..=more)
        .rev()
        .flat_map(|by| (0..d.memory.len()).map(move |group| (group, by)));
    if let Some((group, slots)) = ways.find_map(|(group, by)| grown(group, by).ok()) {
        return format!(
            "more room for values (`memory.{group}.slots` = {slots}, the most that fits; {now} slots in all now), or {LINK}"
        );
    }
    let why = match grown(0, 1) {
        Err(why) if more > 0 => why,
        _ => format!("the instruction word names {MAX_SLOTS}"),
    };
    format!(
        "fewer values alive at once, or {LINK}; more room for values (`memory.0.slots`, {now} slots in all now) does not fit: {why}"
    )
}

/// Returns advice on how the ring machine gets more room for instruction words.
fn programs(d: &Description) -> String {
    const CALLS: &str = "more calls of each procedure";
    let words = d.tables.words.saturating_mul(2);
    match fits(d, |changed| changed.tables.words = words) {
        Ok(()) => format!("deeper program memories (`tables.words` = {words}), {CALLS}, or {LINK}"),
        Err(why) => format!(
            "{CALLS}, or {LINK}; deeper program memories (`tables.words` = {words}) do not fit: {why}"
        ),
    }
}

/// Names the busiest unit and its share of the cycles, and says which resource would relieve it.
fn compute(d: &Description, totals: &Totals) -> String {
    let units = totals.tally.units.get(..d.rpaus).unwrap_or_default();
    let busiest = |unit: usize| units.iter().map(|u| u[unit]).max().unwrap_or(0);
    let (main, dyadic, ring) = (busiest(0), busiest(1), totals.tally.ring);
    let idle = units.iter().filter(|u| u[0] + u[1] == 0).count();
    let share = |busy: u64| 100.0 * busy as f64 / totals.cycles.max(1) as f64;
    let (name, busy, more) = if main >= dyadic.max(ring) {
        ("main cores", main, butterflies(d))
    } else if dyadic >= ring {
        ("dyadic cores", dyadic, dyadics(d))
    } else {
        ("ring", ring, lanes(d))
    };
    let rest = match idle {
        0 => String::new(),
        n => format!(
            "; {n} of {} RPAUs have nothing to do: the program has few primes",
            d.rpaus
        ),
    };
    let at = format!("the busiest {name} being at {:.0} %{rest}", share(busy));
    match more {
        Ok(more) => format!("{more}, {at}"),
        Err(why) => format!("{CLOCK}, {at}; {why}"),
    }
}

/// Checks a ring machine with twice the butterflies, and the row and twiddle generators that these need. Returns the
/// fields of the description to change, or why that machine does not fit.
fn butterflies(d: &Description) -> Result<String, String> {
    let twice = |n: usize| n.saturating_mul(2);
    let (butterflies, row) = (twice(d.cores.butterfly), twice(d.row));
    let generated = d.twiddles.source == TwiddleSource::Generated;
    let stripes = d.keys.stripes.max(row.div_ceil(d.keys.group.max(1)));
    let mut named = format!("`cores.butterfly` = {butterflies}, `row` = {row}");
    if generated {
        named += &format!(", `cores.generator` = {butterflies}");
    }
    if stripes != d.keys.stripes {
        named += &format!(", `keys.stripes` = {stripes}");
    }
    let fit = fits(d, |changed| {
        changed.cores.butterfly = butterflies;
        if generated {
            changed.cores.generator = butterflies;
        }
        changed.row = row;
        changed.keys.stripes = stripes;
    });
    match fit {
        Ok(()) => Ok(format!("more butterflies ({named})")),
        Err(why) => Err(format!("more butterflies ({named}) do not fit: {why}")),
    }
}

/// Finds the most dyadic cores that fit the FPGA, up to twice the present number. Returns the field of the description
/// to change, or why no more cores fit.
fn dyadics(d: &Description) -> Result<String, String> {
    let now = d.cores.dyadic;
    let with = |cores: usize| fits(d, |changed| changed.cores.dyadic = cores);
    let found = (now + 1..=2 * now).rev().find(|&cores| with(cores).is_ok());
    match (found, with(now + 1)) {
        (Some(cores), _) => Ok(format!("more dyadic cores (`cores.dyadic` = {cores})")),
        (None, Err(why)) => Err(format!(
            "more dyadic cores (`cores.dyadic`, {now} now) do not fit: {why}"
        )),
        (None, Ok(())) => Ok(format!("dyadic cores (`cores.dyadic` = {})", now + 1)),
    }
}

/// Checks a ring machine whose network between the RPAUs carries twice the residues a cycle, at most as many as a
/// memory row has. Returns the field of the description to change, or why that machine does not fit.
fn lanes(d: &Description) -> Result<String, String> {
    let lanes = d.ring.lanes.saturating_mul(2).min(d.row);
    if lanes == d.ring.lanes {
        return Err(format!(
            "the ring (`ring.lanes` = {lanes}) is as wide as a row, and cannot be wider"
        ));
    }
    match fits(d, |changed| changed.ring.lanes = lanes) {
        Ok(()) => Ok(format!("a wider ring (`ring.lanes` = {lanes})")),
        Err(why) => Err(format!(
            "a wider ring (`ring.lanes` = {lanes}) does not fit: {why}"
        )),
    }
}
