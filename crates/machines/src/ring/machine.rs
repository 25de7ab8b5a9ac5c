//! The ring machine behind the [`Machine`] trait.

use std::collections::HashSet;
use std::io::Write;

use ringmill_compiler::{Limit, Target};
use ringmill_isa::mid::Verified;

use super::description::Description;
use super::encode::{MAX_LAYER, decode};
use super::micro::MicroCode;
use super::program::{self, Totals};
use super::time;
use crate::{LinkUse, Machine, MachineError, MachineReport, MemoryUse, SimOptions, UnitUse};

/// A ring machine made from a description.
#[derive(Clone, Debug)]
pub struct RingMachine {
    description: Description,
    /// The description as it was written, comments and all.
    text: Option<String>,
}

impl RingMachine {
    /// # Errors
    /// [`MachineError::Field`] for a description out of range.
    pub fn new(description: Description) -> Result<Self, MachineError> {
        description.check()?;
        Ok(Self {
            description,
            text: None,
        })
    }

    /// The machine that a text describes.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] and [`MachineError::Field`].
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        Ok(Self {
            text: Some(text.to_owned()),
            ..Self::new(Description::parse(text)?)?
        })
    }

    fn report(&self, mut totals: Totals) -> MachineReport {
        let d = &self.description;
        let end_to_end = time::end_to_end(d, &totals);
        totals.spills.cycles = (end_to_end.spills_seconds * d.clock_mhz * 1e6).round() as u64;
        totals.spills.share = if end_to_end.seconds > 0.0 {
            end_to_end.spills_seconds / end_to_end.seconds
        } else {
            0.0
        };
        let key_bytes = totals.key_bytes;
        let kinds = totals.tally.by_kind.iter();
        let share = |busy: u64, units: usize| {
            busy as f64 / (totals.cycles.max(1) * units.max(1) as u64) as f64
        };
        let unit = |unit: String, busy: u64, units: usize| UnitUse {
            unit,
            busy_cycles: busy,
            utilisation: share(busy, units),
        };
        let per_rpau = totals.tally.units.iter().take(d.rpaus);
        let mut utilisation = vec![
            unit("main".into(), per_rpau.clone().map(|u| u[0]).sum(), d.rpaus),
            unit(
                "dyadic".into(),
                per_rpau.clone().map(|u| u[1]).sum(),
                d.rpaus,
            ),
            unit("ring".into(), totals.tally.ring, 1),
            unit("link".into(), totals.tally.link, 1),
        ];
        for (r, busy) in per_rpau.enumerate() {
            utilisation.push(unit(format!("rpau{r}.main"), busy[0], 1));
            utilisation.push(unit(format!("rpau{r}.dyadic"), busy[1], 1));
        }
        MachineReport {
            machine: d.name.clone(),
            end_to_end,
            how: "model",
            clock_mhz: d.clock_mhz,
            cycles: totals.cycles,
            seconds: totals.cycles as f64 / (d.clock_mhz * 1e6),
            calls: totals.calls,
            instructions: totals.tally.words,
            instructions_by_kind: kinds.clone().map(|(k, v)| (k.to_string(), v.0)).collect(),
            cycles_by_kind: kinds.map(|(k, v)| (k.to_string(), v.1)).collect(),
            procedures: totals.procedures,
            utilisation,
            memory: MemoryUse {
                slots: d.slots(),
                slot_bytes: d.slot_bytes(),
                peak_bytes: totals
                    .peak
                    .iter()
                    .map(|&p| u64::from(p) * d.slot_bytes())
                    .collect(),
                peak_slots: totals.peak,
                key_slots: d.keys.slots,
                key_limbs: totals.key_limbs as usize,
            },
            keys: totals.keys,
            link: LinkUse {
                bytes_in: totals.bytes_in,
                bytes_out: totals.bytes_out,
                key_bytes,
                seconds_in: d.link_seconds(totals.bytes_in),
                seconds_out: d.link_seconds(totals.bytes_out),
                key_seconds: d.link_seconds(key_bytes),
            },
            spills: totals.spills,
            cuts: totals.cuts,
            rpaus: d.rpaus,
            multipliers_per_rpau: d.multipliers_per_rpau(),
            offload: None,
        }
    }
}

impl Machine for RingMachine {
    fn name(&self) -> &str {
        &self.description.name
    }

    fn description(&self) -> String {
        let made = || toml::to_string(&self.description).unwrap_or_default();
        self.text.clone().unwrap_or_else(made)
    }

    fn target(&self) -> Target {
        let d = &self.description;
        let limit = |field, is| Limit { field, is };
        Target {
            machine: d.name.clone(),
            // The ring of twice the native degree is cut into halves.
            log_n: Limit {
                field: "log_n",
                is: 1..=d.log_n + 1,
            },
            modulus_bits: limit("word_bits", d.word_bits),
            friendly_bits: limit("word_bits", 0),
            moduli: Limit {
                field: "rpaus",
                is: d.rpaus * (MAX_LAYER + 1),
            },
        }
    }

    fn simulate(
        &self,
        program: &Verified,
        mut options: SimOptions<'_>,
    ) -> Result<MachineReport, MachineError> {
        self.check_values(program)?;
        let mut progress = options.progress.take();
        let totals = program::run(
            &self.description,
            program,
            options,
            &mut |_| Ok(()),
            &mut |call| {
                if let Some(tell) = &mut progress {
                    tell(call.done);
                }
                Ok(())
            },
        )?;
        Ok(self.report(totals))
    }

    fn micro_text(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
        out: &mut dyn Write,
    ) -> Result<(), MachineError> {
        self.check_values(program)?;
        let mut seen: HashSet<String> = HashSet::new();
        program::run(
            &self.description,
            program,
            options,
            &mut |outcome| {
                let code = &outcome.scheduled.code;
                if seen.insert(code.name.clone()) {
                    write_code(code, outcome.cycles, out)?;
                }
                Ok(())
            },
            &mut |_| Ok(()),
        )?;
        Ok(())
    }
}

/// One procedure's streams and tables as text.
fn write_code(code: &MicroCode, cycles: u64, out: &mut dyn Write) -> Result<(), MachineError> {
    writeln!(
        out,
        "proc {} limbs 2^{} ; {cycles} cycles",
        code.name, code.log_n
    )?;
    for (name, words) in ["c0.main", "c0.dyadic", "c1.main", "c1.dyadic"]
        .iter()
        .zip(&code.streams)
    {
        writeln!(out, "stream {name}")?;
        for (at, &bits) in words.iter().enumerate() {
            match decode(bits) {
                Some(word) => writeln!(out, "  {at:4}  {bits:016x}  {word}")?,
                None => writeln!(out, "  {at:4}  {bits:016x}  ?")?,
            }
        }
    }
    for (at, row) in code.constants.iter().enumerate().skip(1) {
        writeln!(out, "constant {at} {row:?}")?;
    }
    for (at, galois) in code.galois.iter().enumerate() {
        writeln!(out, "galois {at} {galois}")?;
    }
    for (at, row) in code.generators.iter().enumerate() {
        write!(out, "stream-table {at}")?;
        for entry in row {
            match entry {
                Some(s) => write!(out, " {}:{}", s.seed, s.stream)?,
                None => write!(out, " -")?,
            }
        }
        writeln!(out)?;
    }
    writeln!(out)?;
    Ok(())
}
