// SPDX-License-Identifier: Apache-2.0
//! Tests of delay lines, memories, the queue and the skid buffer against plain Rust models.

use std::collections::VecDeque;

use ringmill_hdl::{BuildOptions, Hdl, HdlError, Top};

use crate::common::failure::{Check, Failure, ensure};
use crate::rtl::support::{Rng, hdl, seed};

const CYCLES: usize = 2000;

pub fn check_delay(hdl: &Hdl, seed: u64) -> Check {
    let mut rng = Rng::new(seed);
    for depth in [0u64, 1, 5] {
        let top = Top::new("rm_delay").int("Width", 100).int("Depth", depth);
        let mut model = hdl.model(&top, BuildOptions::default())?;
        let (d, q) = (model.input("d_i")?, model.output("q_o")?);
        let mut past = VecDeque::new();
        for _ in 0..100 {
            let word = [rng.bits() as u32, rng.bits() as u32, rng.bits() as u32, 0xa];
            past.push_back(word);
            model.set_words(d, &word)?;
            if depth == 0 {
                model.eval()?;
            } else {
                model.step(1)?;
            }
            if past.len() as u64 >= depth.max(1) {
                let got = model.get_words(q)?;
                let want = past.pop_front();
                ensure!(
                    Some(&got[..]) == want.as_ref().map(|w| &w[..]),
                    "depth {depth}"
                );
            }
        }
    }
    Ok(())
}

pub fn check_ram_1r1w(hdl: &Hdl, seed: u64) -> Check {
    let mut rng = Rng::new(seed);
    for out_reg in [0u64, 1] {
        let top = Top::new("rm_ram_1r1w")
            .int("Width", 40)
            .int("Depth", 24)
            .int("OutReg", out_reg);
        let mut model = hdl.model(&top, BuildOptions::default())?;
        let port = ["we_i", "waddr_i", "wdata_i", "re_i", "raddr_i"];
        let [we, waddr, wdata, re, raddr] = port.map(|name| model.input(name));
        let (we, waddr, wdata, re, raddr) = (we?, waddr?, wdata?, re?, raddr?);
        let rdata = model.output("rdata_o")?;
        let mut memory = [None; 24];
        // The values of the read register, one for each cycle of latency, the oldest first. `None` is undefined.
        let mut shown = VecDeque::from(vec![None; 1 + out_reg as usize]);
        let mut register: Option<u64> = None;
        for cycle in 0..CYCLES {
            let (w, r) = (!rng.chance(3), !rng.chance(3));
            let (at, word, from) = (rng.below(24), rng.bits() >> 24, rng.below(24));
            for (port, value) in [
                (we, u64::from(w)),
                (waddr, at),
                (wdata, word),
                (re, u64::from(r)),
                (raddr, from),
            ] {
                model.set(port, value)?;
            }
            model.step(1)?;
            if r {
                register = memory[from as usize];
            }
            if w {
                memory[at as usize] = Some(word);
            }
            shown.push_back(register);
            shown.pop_front();
            if let Some(Some(want)) = shown.front() {
                let got = model.get(rdata)?;
                ensure!(got == *want, "cycle {cycle}: {got:#x}, not {want:#x}");
            }
        }
    }
    Ok(())
}

pub fn check_ram_2rw(hdl: &Hdl, seed: u64) -> Check {
    check_ram_2rw_style(hdl, seed, "block")?;
    check_ram_2rw_style(hdl, seed, "ultra")
}

fn check_ram_2rw_style(hdl: &Hdl, seed: u64, style: &str) -> Check {
    let mut rng = Rng::new(seed);
    let top = Top::new("rm_ram_2rw").int("Width", 33).int("Depth", 16);
    let top = top.text("Style", style);
    let ultra = style == "ultra";
    let mut model = hdl.model(&top, BuildOptions::default())?;
    let mut memory = [None; 16];
    let mut registers: [Option<u64>; 2] = [None; 2];
    for cycle in 0..CYCLES {
        let mut writes = Vec::new();
        let mut taken = None;
        for (side, register) in ["a", "b"].iter().zip(&mut registers) {
            let mut at = rng.below(16);
            let (enable, write, word) = (!rng.chance(4), rng.chance(2), rng.bits() >> 31);
            let mut seen = memory[at as usize];
            if ultra && let Some(&(_, new)) = writes.iter().find(|(to, _)| *to == at) {
                seen = Some(new); // port a's, met by port b
            }
            if enable && write {
                // The two ports never write to the same address.
                if taken == Some(at) {
                    at ^= 1;
                }
                taken = Some(at);
                writes.push((at, word));
                seen = memory[at as usize];
            }
            if enable && !(ultra && write) {
                *register = seen;
            }
            for (name, value) in [
                ("en", u64::from(enable)),
                ("we", u64::from(write)),
                ("addr", at),
                ("wdata", word),
            ] {
                let port = model.input(&format!("{side}_{name}_i"))?;
                model.set(port, value)?;
            }
        }
        model.step(1)?;
        for (at, word) in writes {
            memory[at as usize] = Some(word);
        }
        for (side, register) in ["a", "b"].iter().zip(&registers) {
            if let Some(want) = register {
                let got = model.get(model.output(&format!("{side}_rdata_o"))?)?;
                ensure!(
                    got == *want,
                    "cycle {cycle} port {side}: {got:#x}, not {want:#x}"
                );
            }
        }
    }
    Ok(())
}

/// Checks a queue with random offers and random readiness: the order of its words, its count, and that no word is lost
/// or made up. It holds `capacity` words, and shows the first less than `first_latency` cycles after it came.
fn check_stream(hdl: &Hdl, top: &Top, capacity: usize, first_latency: u64, seed: u64) -> Check {
    let mut rng = Rng::new(seed);
    let mut model = hdl.model(top, BuildOptions::default())?;
    let [valid_i, data_i, ready_i] = ["valid_i", "data_i", "ready_i"].map(|n| model.input(n));
    let (valid_i, data_i, ready_i) = (valid_i?, data_i?, ready_i?);
    let [ready_o, valid_o, data_o] = ["ready_o", "valid_o", "data_o"].map(|n| model.output(n));
    let (ready_o, valid_o, data_o) = (ready_o?, valid_o?, data_o?);
    let count_o = model.output("count_o").ok();
    for (offer, take) in [(1, 1), (2, 2), (1, 4), (4, 1)] {
        model.restart(rng.bits() as u32)?;
        model.set(valid_i, 0)?;
        model.set(ready_i, 0)?;
        model.reset()?;
        let mut held = VecDeque::new();
        let (mut sent, mut idle) = (0u64, 0u64);
        for cycle in 0..CYCLES {
            let (offered, taking) = (
                offer == 1 || rng.chance(offer),
                take == 1 || rng.chance(take),
            );
            let word = rng.bits() >> 32;
            model.set(valid_i, u64::from(offered))?;
            model.set(ready_i, u64::from(taking))?;
            model.set(data_i, word)?;
            model.eval()?;
            let (ready, valid) = (model.get(ready_o)? != 0, model.get(valid_o)? != 0);
            ensure!(
                ready || held.len() >= capacity,
                "cycle {cycle}: not ready, {} held",
                held.len()
            );
            ensure!(
                !ready || held.len() < capacity,
                "cycle {cycle}: ready and full"
            );
            ensure!(
                !valid || !held.is_empty(),
                "cycle {cycle}: a word from nowhere"
            );
            idle = if valid || held.is_empty() {
                0
            } else {
                idle + 1
            };
            ensure!(
                idle < first_latency,
                "cycle {cycle}: {} held and none shown",
                held.len()
            );
            if let Some(count_o) = count_o {
                let count = model.get(count_o)?;
                ensure!(count == held.len() as u64, "cycle {cycle}: count {count}");
            }
            if valid {
                let got = model.get(data_o)?;
                ensure!(
                    Some(&got) == held.front(),
                    "cycle {cycle}: {got:#x}, not {:x?}",
                    held.front()
                );
            }
            model.step(1)?;
            if valid && taking {
                held.pop_front();
            }
            if ready && offered {
                held.push_back(word);
                sent += 1;
            }
        }
        // If both sides are always ready, a word passes in every cycle.
        if (offer, take) == (1, 1) {
            ensure!(sent >= CYCLES as u64 - 2, "{sent} words in {CYCLES} cycles");
        }
    }
    Ok(())
}

pub fn check_fifo(hdl: &Hdl, seed: u64) -> Check {
    for depth in [2usize, 5, 8] {
        let top = Top::new("rm_fifo").int("Depth", depth as u64);
        check_stream(hdl, &top, depth, 1, seed)?;
    }
    Ok(())
}

pub fn check_skid(hdl: &Hdl, seed: u64) -> Check {
    check_stream(hdl, &Top::new("rm_skid"), 2, 1, seed)
}

#[test]
#[ignore = "many small models; `make full` runs it"]
fn delay_lines() {
    check_delay(hdl(), seed()).unwrap();
}

#[test]
fn simple_dual_port_ram() {
    check_ram_1r1w(hdl(), seed()).unwrap();
}

#[test]
fn true_dual_port_ram() {
    check_ram_2rw(hdl(), seed()).unwrap();
}

#[test]
#[ignore = "many small models; `make full` runs it"]
fn queue() {
    check_fifo(hdl(), seed()).unwrap();
}

#[test]
fn skid_buffer() {
    check_skid(hdl(), seed()).unwrap();
}

#[test]
fn rom_reads_its_file() {
    let table: Vec<u64> = (0..32)
        .map(|i: u64| i.wrapping_mul(0x9e37_79b9) & 0xffff_ffff)
        .collect();
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("rom.hex");
    let text: String = table.iter().map(|w| format!("{w:08x}\n")).collect();
    std::fs::write(&file, text).unwrap();
    let top = Top::new("rm_rom")
        .int("Depth", 32)
        .text("InitFile", file.to_str().unwrap());
    let mut model = hdl().model(&top, BuildOptions::default()).unwrap();
    let (re, addr) = (model.input("re_i").unwrap(), model.input("addr_i").unwrap());
    let rdata = model.output("rdata_o").unwrap();
    for (at, &want) in table.iter().enumerate() {
        model.set(re, 1).unwrap();
        model.set(addr, at as u64).unwrap();
        model.step(1).unwrap();
        assert_eq!(model.get(rdata).unwrap(), want);
        model.set(re, 0).unwrap();
        model.set(addr, 0).unwrap();
        model.step(1).unwrap();
        assert_eq!(model.get(rdata).unwrap(), want, "held without re_i");
    }
}

#[test]
fn rom_without_its_file_is_an_error() {
    let top = Top::new("rm_rom").text("InitFile", "no/such/table.hex");
    match hdl().model(&top, BuildOptions::default()) {
        Err(HdlError::Simulation(message)) => {
            assert!(message.contains("no/such/table.hex"), "{message}")
        }
        other => panic!("{:?}", other.map_err(Failure::from)),
    }
}
