// SPDX-License-Identifier: Apache-2.0
//! Adds up the FPGA resources that a machine needs, and compares them with those of its FPGA or
//! die.

use super::memory::{Memory, MemoryKind};
use super::multiplier::Multipliers;
use super::part::{Family, Part, Resources};
use crate::error::MachineError;
use ringmill_device::report::{Fit, NeedUse, Ports, RegionUse, Resource, Total, pieces_text};

/// A group of equal memories or multipliers of a machine, which takes resources of the FPGA.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Need {
    Memory(Memory),
    Multipliers(Multipliers),
}

impl Need {
    /// Makes the need for `count` memories of `depth` words of `width` bits each. Every memory serves one read and
    /// one write in a cycle.
    pub fn memory(
        name: impl Into<String>,
        kind: MemoryKind,
        count: u64,
        depth: u64,
        width: u64,
    ) -> Self {
        Self::Memory(Memory {
            name: name.into(),
            kind,
            count,
            depth,
            width,
            ports: Ports::ONE_EACH,
        })
    }

    /// Multiplies the need by `times`, and puts the machine's name before the need's name, for an FPGA that holds
    /// several machines.
    #[must_use]
    pub fn of(mut self, machine: &str, times: u64) -> Self {
        let (name, count) = match &mut self {
            Self::Memory(m) => (&mut m.name, &mut m.count),
            Self::Multipliers(m) => (&mut m.name, &mut m.count),
        };
        *name = format!("{machine} {name}");
        *count = count.saturating_mul(times);
        self
    }

    fn name(&self) -> &str {
        match self {
            Self::Memory(m) => &m.name,
            Self::Multipliers(m) => &m.name,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Memory(m) => m.text(),
            Self::Multipliers(m) => m.text(),
        }
    }

    fn ports(&self) -> Option<Ports> {
        match self {
            Self::Memory(m) => Some(m.ports),
            Self::Multipliers(_) => None,
        }
    }

    fn multipliers(&self) -> u64 {
        match self {
            Self::Memory(_) => 0,
            Self::Multipliers(m) => m.count,
        }
    }

    fn takes(&self, part: &Part) -> Result<Resources, MachineError> {
        match self {
            Self::Memory(m) => m.takes(part.family),
            Self::Multipliers(m) if part.family == Family::Asic => Ok(Resources {
                multipliers: m.count,
                ..Resources::default()
            }),
            Self::Multipliers(m) => Ok(Resources {
                dsp: m.dsp(),
                ..Resources::default()
            }),
        }
    }
}

/// The equal units of a machine, such as the ring machine's RPAUs. Each unit lies on one die.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    pub name: &'static str,
    pub count: u64,
    /// The memories and multipliers of one of the machine's units.
    pub needs: Vec<Need>,
}

/// All memories and multipliers of a machine, and the FPGA on which it is laid out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Needs {
    /// The name of the machine's description.
    pub machine: String,
    pub part: &'static Part,
    pub unit: Unit,
    /// The memories and multipliers outside of the machine's units.
    pub shared: Vec<Need>,
}

impl Needs {
    /// Adds up the resources of all needs and compares the sums with the resources of the machine's FPGA or die.
    ///
    /// # Errors
    /// [`MachineError::Ports`] for a memory with more accesses in a cycle than the ports of its kind of RAM can serve,
    /// and for SRAM on an FPGA.
    pub fn fit(&self) -> Result<Fit, MachineError> {
        let mut needs = Vec::new();
        let mut sum = |list: &[Need], units: Option<u64>| {
            let mut all = Resources::default();
            for need in list {
                let takes = need.takes(self.part)?;
                all = all.plus(takes);
                let whole = takes.times(units.unwrap_or(1));
                for of in Resource::ALL.into_iter().filter(|&of| takes.pieces(of) > 0) {
                    needs.push(NeedUse {
                        name: need.name().to_owned(),
                        shape: need.text(),
                        ports: need.ports(),
                        units,
                        resource: of,
                        each: takes.amount(of),
                        used: whole.amount(of),
                        available: self.part.has.amount(of),
                    });
                }
            }
            Ok::<_, MachineError>(all)
        };
        let unit = sum(&self.unit.needs, Some(self.unit.count))?;
        let all = sum(&self.shared, None)?.plus(unit.times(self.unit.count));
        let totals: Vec<_> = Resource::ALL
            .into_iter()
            .filter(|&of| all.pieces(of) > 0)
            .map(|of| Total {
                resource: of,
                each: unit.amount(of),
                used: all.amount(of),
                available: self.part.has.amount(of),
            })
            .collect();
        let mut fit = Fit {
            part: self.part.name,
            device: self.part.device,
            unit: self.unit.name,
            units: self.unit.count,
            needs,
            totals,
            multipliers: self.multipliers(),
            regions: self.regions(unit),
            fits: true,
            excess: None,
            allowed: None,
        };
        fit.excess = excess(&fit);
        fit.fits = fit.excess.is_none();
        Ok(fit)
    }

    /// Returns the number of modular multipliers in all units and outside of them.
    fn multipliers(&self) -> u64 {
        let sum = |list: &[Need]| {
            let counts = list.iter().map(Need::multipliers);
            counts.fold(0, u64::saturating_add)
        };
        let units = sum(&self.unit.needs).saturating_mul(self.unit.count);
        units.saturating_add(sum(&self.shared))
    }

    fn regions(&self, unit: Resources) -> Option<RegionUse> {
        if self.part.regions < 2 {
            return None;
        }
        let region = self.part.region();
        let (room, resource) = region.room(unit)?;
        Some(RegionUse {
            regions: self.part.regions,
            room,
            resource,
            each: unit.amount(resource),
            available: region.amount(resource),
        })
    }

    /// Adds up the resources of all needs and compares the sums with the resources of the machine's FPGA or die.
    /// `allowed` is the reason for which the machine may exceed them (`allow_more_than_the_part_has`). It must be there
    /// if the machine exceeds them, and only then.
    ///
    /// # Errors
    /// [`MachineError::ExceedsPart`] if the machine exceeds its FPGA or die without a reason.
    /// [`MachineError::FitsAfterAll`] if it has a reason and fits. [`MachineError::Field`] for a reason that is empty,
    /// too long or not on one line. The errors of [`Self::fit`].
    pub fn accepted(&self, allowed: Option<&str>) -> Result<Fit, MachineError> {
        let fit = self.fit()?;
        match (&fit.excess, allowed) {
            (None, None) => Ok(fit),
            (None, Some(_)) => Err(MachineError::FitsAfterAll {
                machine: self.machine.clone(),
                part: fit.part,
            }),
            (Some(excess), None) => Err(MachineError::ExceedsPart {
                machine: self.machine.clone(),
                part: fit.part,
                excess: excess.clone(),
            }),
            (Some(_), Some(reason)) => {
                let length = reason.trim().chars().count();
                if !(1..=LONGEST).contains(&length) || reason.chars().any(char::is_control) {
                    return Err(MachineError::Field {
                        field: "allow_more_than_the_part_has",
                        got: format!("{reason:?}"),
                        expected: format!("a reason of 1 to {LONGEST} characters on one line"),
                    });
                }
                Ok(Fit {
                    allowed: Some(reason.to_owned()),
                    ..fit
                })
            }
        }
    }
}

/// The most characters of the reason for which a machine may exceed the resources of its FPGA or
/// die.
const LONGEST: usize = 300;

/// Returns a text of the resources of which the machine needs more than its FPGA or die has. For
/// each it gives the amount needed, the amount of the FPGA or die, and the memory or multiplier
/// group that needs the most. The text also says if the dies have no room for all units. Returns `None` if the machine
/// fits.
fn excess(fit: &Fit) -> Option<String> {
    let most = |of, amount: fn(&NeedUse) -> f64| {
        let of = fit.needs.iter().filter(|n| n.resource == of);
        let most = of.max_by(|a, b| amount(a).total_cmp(&amount(b)));
        most.map_or(String::new(), |n| {
            format!(" ({} for {})", pieces_text(amount(n)), n.name)
        })
    };
    let over = fit.totals.iter().filter(|t| t.used > t.available);
    let mut faults: Vec<String> = over
        .map(|t| {
            format!(
                "the machine needs {} {}{}, the {} has {}",
                pieces_text(t.used),
                t.resource.name(),
                most(t.resource, |n| n.used),
                fit.part,
                pieces_text(t.available)
            )
        })
        .collect();
    if let Some(r) = &fit.regions {
        let places = r.room.saturating_mul(r.regions);
        if places < fit.units {
            faults.push(format!(
                "one {} needs {} {}{}, a die region has {}: {places} of {} {}s find a place",
                fit.unit,
                pieces_text(r.each),
                r.resource.name(),
                most(r.resource, |n| if n.units.is_some() { n.each } else { 0.0 }),
                pieces_text(r.available),
                fit.units,
                fit.unit
            ));
        }
    }
    (!faults.is_empty()).then(|| faults.join("; "))
}
