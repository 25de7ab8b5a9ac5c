// SPDX-License-Identifier: Apache-2.0
//! What seeds and constants expand to: made when a step first reads it, kept while a byte budget has room.
//!
//! One [`Expanded`] holds limbs of keys and encoded constants alike, for all runs of one server. What no step holds and
//! was not wanted for longest goes first. What a step holds lives until the step lets go of it, and others that want it
//! meanwhile share it; so at any time the bytes alive are at most the budget, or where that is more, those that steps
//! hold. No lock is held while something is made: threads make different things side by side, and what two want at one
//! time is made once.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::Limbed;
use ringmill_isa::Poly;
use ringmill_math::{Residues, Ring};
use serde::Serialize;

use crate::DeviceError;

/// Says what is wanted of an [`Expanded`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// A limb of a seed, by the seed's number.
    Limb {
        seed: u32,
        stream: u64,
        modulus: u64,
        ring: Ring,
    },
    /// All limbs of a constant, which one encoding makes.
    Constant(u32),
}

/// Something in its expanded form.
pub enum Form {
    Limb(Box<[u64]>),
    Constant(Box<dyn Limbed + Send + Sync>),
}

/// Something in its expanded form, counted for as long as anybody holds it.
pub struct Made {
    form: Form,
    bytes: u64,
    alive: Arc<AtomicU64>,
}

impl Made {
    /// The residues: of a constant those modulo modulus number `modulus`, none where it has no such.
    pub fn limb(&self, modulus: usize) -> Residues<'_> {
        match &self.form {
            Form::Limb(residues) => Residues::Wide(residues),
            Form::Constant(plain) => {
                let limb = plain.limb(Poly::FIRST, modulus);
                limb.unwrap_or(Residues::Wide(&[]))
            }
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.alive.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Where a thread puts what it makes, for those that wait for it. Locked while it is being made.
type Cell = Arc<Mutex<Option<Arc<Made>>>>;

#[derive(Default)]
struct Slot {
    kept: Option<Arc<Made>>,
    /// Of [`Held::order`], when kept.
    at: u64,
    /// What steps may still hold after it was dropped here.
    loose: Weak<Made>,
    making: Option<Cell>,
    /// It was made before.
    once: bool,
}

/// A run that reads from here.
struct Reader {
    number: u64,
    budget: u64,
    peak: u64,
}

#[derive(Default)]
struct Held {
    slots: HashMap<Item, Slot>,
    /// What is kept, that which was not wanted for longest first.
    order: BTreeMap<u64, Item>,
    clock: u64,
    kept: u64,
    readers: Vec<Reader>,
    runs: u64,
}

/// Expanded limbs of keys and encoded constants under one budget. Without a run that sets one it keeps everything.
#[derive(Default)]
pub struct Expanded {
    held: Mutex<Held>,
    /// Bytes kept, in use, or being made.
    alive: Arc<AtomicU64>,
    seeds: AtomicU32,
}

impl Held {
    /// The least of all runs that read at this time.
    fn budget(&self) -> u64 {
        let budgets = self.readers.iter().map(|reader| reader.budget);
        budgets.min().unwrap_or(u64::MAX)
    }

    fn keep(&mut self, item: Item, made: &Arc<Made>) {
        self.clock += 1;
        let slot = self.slots.entry(item).or_default();
        match slot.kept {
            Some(_) => {
                self.order.remove(&slot.at);
            }
            None => {
                slot.kept = Some(Arc::clone(made));
                self.kept += made.bytes;
            }
        }
        slot.at = self.clock;
        self.order.insert(self.clock, item);
    }

    fn drop_kept(&mut self, item: Item) {
        let Some(slot) = self.slots.get_mut(&item) else {
            return;
        };
        if let Some(made) = slot.kept.take() {
            self.order.remove(&slot.at);
            self.kept -= made.bytes;
        }
    }

    /// Drops what nobody holds until `over` bytes are free, as far as there is something.
    fn free(&mut self, over: u64) {
        let (mut freed, mut gone) = (0, Vec::new());
        for item in self.order.values() {
            if freed >= over {
                break;
            }
            let kept = self.slots.get(item).and_then(|slot| slot.kept.as_ref());
            // References are only made under this lock, so one that is alone stays so.
            if let Some(made) = kept.filter(|made| Arc::strong_count(made) == 1) {
                freed += made.bytes;
                gone.push(*item);
            }
        }
        for item in gone {
            self.drop_kept(item);
        }
    }
}

impl Expanded {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that are kept, in use, or being made.
    pub fn bytes(&self) -> u64 {
        self.alive.load(Ordering::Relaxed)
    }

    pub fn next_seed(&self) -> u32 {
        self.seeds.fetch_add(1, Ordering::Relaxed)
    }

    /// What is wanted, of `bytes` bytes: as it is kept or in use, or by `make`.
    pub fn get(
        &self,
        item: Item,
        bytes: u64,
        usage: &Usage,
        make: impl Fn() -> Result<Form, DeviceError>,
    ) -> Result<Arc<Made>, DeviceError> {
        let cell = Cell::default();
        loop {
            let mut held = self.lock();
            let budget = held.budget();
            let slot = held.slots.entry(item).or_default();
            let there = slot.kept.clone().or_else(|| slot.loose.upgrade());
            if let Some(made) = there {
                if slot.kept.is_some() || self.bytes() <= budget {
                    held.keep(item, &made);
                }
                return Ok(made);
            }
            if let Some(cell) = slot.making.clone() {
                drop(held);
                let made = cell.lock().unwrap_or_else(PoisonError::into_inner);
                match &*made {
                    Some(made) => return Ok(Arc::clone(made)),
                    // Whoever made it failed, and may have been asked to stop, which this thread was not.
                    None => continue,
                }
            }
            slot.making = Some(Arc::clone(&cell));
            let mut inside = cell.lock().unwrap_or_else(PoisonError::into_inner);
            held.free(self.bytes().saturating_add(bytes).saturating_sub(budget));
            let alive = self.alive.fetch_add(bytes, Ordering::Relaxed) + bytes;
            for reader in &mut held.readers {
                reader.peak = reader.peak.max(alive);
            }
            drop(held);
            // Counts the bytes until the made thing does, and lets others try if there will be none.
            let mut making = Making {
                of: self,
                item,
                bytes,
            };
            let form = make()?;
            let made = Arc::new(Made {
                form,
                bytes: std::mem::take(&mut making.bytes),
                alive: Arc::clone(&self.alive),
            });
            *inside = Some(Arc::clone(&made));
            let mut held = self.lock();
            let slot = held.slots.entry(item).or_default();
            usage.count(item, std::mem::replace(&mut slot.once, true));
            slot.loose = Arc::downgrade(&made);
            if self.bytes() <= held.budget() {
                held.keep(item, &made);
            }
            drop(held);
            drop(making);
            return Ok(made);
        }
    }

    /// A run begins to read.
    fn enter(&self, budget: u64) -> u64 {
        let mut held = self.lock();
        // What is too much goes, or is its last user's from now on.
        while held.kept > budget {
            let Some(oldest) = held.order.values().next().copied() else {
                break;
            };
            held.drop_kept(oldest);
        }
        held.runs += 1;
        let number = held.runs;
        held.readers.push(Reader {
            number,
            budget,
            peak: self.bytes(),
        });
        number
    }

    fn peak(&self, run: u64) -> u64 {
        let held = self.lock();
        let found = held.readers.iter().find(|reader| reader.number == run);
        found.map_or(0, |reader| reader.peak)
    }

    fn leave(&self, run: u64) {
        self.lock().readers.retain(|reader| reader.number != run);
    }
}

/// Something that is being made; whatever becomes of it, it is not being made any more when this is gone.
struct Making<'c> {
    of: &'c Expanded,
    item: Item,
    /// Those that nothing made counts yet.
    bytes: u64,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.of.alive.fetch_sub(self.bytes, Ordering::Relaxed);
        if let Some(slot) = self.of.lock().slots.get_mut(&self.item) {
            slot.making = None;
        }
    }
}

/// What a run expanded. All figures are measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ExpandedStats {
    /// Bytes that expanded key limbs and encoded constants might take: those asked for
    /// ([`crate::Request::expanded_bytes`]), or where not all fit into memory, what the limit left. `None` where all
    /// were kept.
    pub budget_bytes: Option<u64>,
    /// Most bytes of them at one time, kept or held by steps.
    pub peak_bytes: u64,
    /// Limbs that seeds were expanded to, and how many of these had been expanded before and dropped.
    pub limbs: u64,
    pub limbs_again: u64,
    /// Constants that were encoded, and how many of these had been encoded before and dropped.
    pub constants: u64,
    pub constants_again: u64,
}

/// One run's part in what is expanded.
pub struct Usage {
    budget: Option<u64>,
    readers: Vec<(Arc<Expanded>, u64)>,
    limbs: [AtomicU64; 2],
    constants: [AtomicU64; 2],
}

impl Usage {
    /// A run begins that reads from `places`; `least` is the largest single thing that it expands.
    ///
    /// # Errors
    /// [`DeviceError::SmallBudget`] below it; [`DeviceError::SeveralBudgets`].
    pub fn begin(
        places: Vec<Arc<Expanded>>,
        budget: Option<u64>,
        least: u64,
    ) -> Result<Self, DeviceError> {
        if let Some(budget) = budget.filter(|&budget| budget < least) {
            return Err(DeviceError::SmallBudget { budget, least });
        }
        if budget.is_some() && places.len() > 1 {
            let places = places.len();
            return Err(DeviceError::SeveralBudgets { places });
        }
        let enter = |place: Arc<Expanded>| {
            let number = place.enter(budget.unwrap_or(u64::MAX));
            (place, number)
        };
        Ok(Self {
            budget,
            readers: places.into_iter().map(enter).collect(),
            limbs: Default::default(),
            constants: Default::default(),
        })
    }

    fn count(&self, item: Item, again: bool) {
        let [all, repeated] = match item {
            Item::Limb { .. } => &self.limbs,
            Item::Constant(_) => &self.constants,
        };
        all.fetch_add(1, Ordering::Relaxed);
        repeated.fetch_add(u64::from(again), Ordering::Relaxed);
    }

    pub fn stats(&self) -> ExpandedStats {
        let peaks = self.readers.iter().map(|(place, run)| place.peak(*run));
        let [limbs, limbs_again] = &self.limbs;
        let [constants, constants_again] = &self.constants;
        ExpandedStats {
            budget_bytes: self.budget,
            peak_bytes: peaks.sum(),
            limbs: limbs.load(Ordering::Relaxed),
            limbs_again: limbs_again.load(Ordering::Relaxed),
            constants: constants.load(Ordering::Relaxed),
            constants_again: constants_again.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Usage {
    fn drop(&mut self) {
        for (place, run) in &self.readers {
            place.leave(*run);
        }
    }
}
