//! What each kind of machine says of itself.

use std::fmt;

use ringmill_machines::vector::sides::{Period, Placement};
use ringmill_machines::{RingUse, TorusUse, VectorUse};

use super::{Table, bytes, grouped, seconds};
use crate::report::How;

/// One bootstrap alone and among others, beside the floor.
pub(super) fn torus_rows(
    table: &mut Table<'_, '_>,
    torus: &TorusUse,
    how: Option<How>,
) -> fmt::Result {
    table.row(
        "one ciphertext alone",
        format!("{} cycles", torus.alone),
        how,
    )?;
    let several = format!("{} cycles each", torus.interleaved);
    table.row(&format!("{} interleaved", torus.places), several, how)?;
    let floor = format!("{} cycles", torus.floor);
    table.row("floor of butterflies, products", floor, Some(How::Counted))?;
    table.row(
        "waiting for the key",
        format!("{} cycles", torus.starved),
        how,
    )?;
    if let Some(switch) = torus.switch {
        let (alone, together) = (switch.alone, switch.together);
        let cycles = format!("{alone} cycles, {together} for {}", torus.places);
        table.row("of that, the key switch", cycles, how)?;
        let floor = format!("{} cycles", switch.floor);
        table.row("floor of masks", floor, Some(How::Counted))?;
    }
    Ok(())
}

/// Where a vector machine's cycles went.
pub(super) fn vector_rows(
    table: &mut Table<'_, '_>,
    vector: &VectorUse,
    how: Option<How>,
) -> fmt::Result {
    let cycles = |n: u64| format!("{} cycles", grouped(n));
    table.row(
        "by the paper's counting",
        cycles(vector.cycles_by_papers_counting),
        how,
    )?;
    let (reads, writes) = (grouped(vector.port_reads), grouped(vector.port_writes));
    let stalls = grouped(vector.port_stalls);
    let port = format!("{reads} reads, {writes} writes, {stalls} stalled");
    table.row("port of the buffer", port, how)?;
    table.row(
        "floor of the port",
        cycles(vector.port_floor),
        Some(How::Counted),
    )?;
    table.row(
        "floor of sums",
        cycles(vector.mac_floor),
        Some(How::Counted),
    )?;
    let filled = |share: f64| format!("{:.1} %", 100.0 * share);
    table.row("pipeline of sums, filled", filled(vector.filled_mac), how)?;
    let transforms = filled(vector.filled_transform);
    table.row("pipeline of transforms, filled", transforms, how)?;
    table.row("queue dry", cycles(vector.queue_dry), how)?;
    table.row(
        "on a channel of distant memory",
        cycles(vector.distant_cycles),
        how,
    )?;
    let (spilled, reloaded) = (vector.limbs_spilled, vector.limbs_reloaded);
    let mut limbs = format!(
        "{} loaded, {spilled} spilled, {reloaded} of them had back",
        vector.limbs_loaded
    );
    if vector.limbs_made > 0 {
        limbs.push_str(&format!(", {} made of seeds", vector.limbs_made));
    }
    table.row("limbs", limbs, how)?;
    let host = &vector.host;
    let Period {
        machine,
        host: beside,
        period,
    } = host.in_turn;
    let in_turn = format!(
        "a run each {}: machine {}, then host {}",
        cycles(period),
        grouped(machine),
        grouped(beside)
    );
    table.row("host and machine in turn", in_turn, how)?;
    let apart = match host.apart {
        Some(of) => format!(
            "a run each {}: machine {} beside host {}",
            cycles(of.period),
            grouped(of.machine),
            grouped(of.host)
        ),
        None => {
            "a side of distant memory is too small, or its channels are no two halves".to_owned()
        }
    };
    table.row("each on half of the channels", apart, how)?;
    let placement = match host.placement {
        Placement::InTurn => "in turn, on all channels",
        Placement::Apart => "apart, on half of the channels each",
    };
    table.row("placement of limbs", placement.to_owned(), how)?;
    let stepped = format!(
        "{} instructions stepped, {} calls replayed",
        grouped(vector.stepped),
        grouped(vector.calls_replayed)
    );
    table.row("simulated", stepped, how)
}

pub(super) fn ring_rows(
    table: &mut Table<'_, '_>,
    ring: &RingUse,
    how: Option<How>,
) -> fmt::Result {
    let slots = ring.memory.slots;
    let peak = ring.memory.peak_slots.iter().max().copied().unwrap_or(0);
    let text = format!("{peak} of {slots} slots");
    table.row("polynomials, fullest unit", text, how)?;
    // A machine without key memory keeps none.
    if ring.memory.key_slots > 0 {
        let (keys, room) = (ring.memory.key_limbs, ring.memory.key_slots);
        table.row(
            "key limbs, fullest unit",
            format!("{keys} needed, room for {room}"),
            how,
        )?;
        let all = &ring.keys;
        table.row(
            "key limbs",
            format!(
                "{} needed, {} fit, {} loaded in the run",
                all.needed, all.fit, all.loaded
            ),
            how,
        )?;
    }
    spill_rows(table, ring, how)
}

fn spill_rows(table: &mut Table<'_, '_>, ring: &RingUse, how: Option<How>) -> fmt::Result {
    let cuts = &ring.cuts;
    if cuts.calls > 0 {
        let text = format!("{} into {} that fit", cuts.calls, cuts.parts);
        table.row("calls cut", text, how)?;
    }
    let s = &ring.spills;
    if s.stores + s.loads > 0 {
        let text = format!(
            "{} out, {} in; {}, {}",
            s.stores,
            s.loads,
            bytes(s.bytes),
            seconds(s.seconds)
        );
        table.row("spilled limbs", text, how)?;
    }
    let inside = &s.inside;
    if inside.bytes > 0 {
        let text = format!(
            "{} out, {} in, {} of keys; {}, {} (waits are in the cycles)",
            inside.stores,
            inside.loads,
            inside.key_loads,
            bytes(inside.bytes),
            seconds(inside.seconds)
        );
        table.row("limbs moved inside procedures", text, how)?;
    }
    Ok(())
}
