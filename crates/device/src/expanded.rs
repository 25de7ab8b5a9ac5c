// SPDX-License-Identifier: Apache-2.0
//! Caches the limbs that seeds and constants expand to, under a budget of bytes.
//!
//! A limb is made when a step first reads it. One [`Expanded`] holds limbs of keys and encoded constants alike, for all
//! runs of one server. It drops the least recently read item that no step holds. An item that a step holds lives until
//! the step releases it, and other steps that read it meanwhile share it. So the bytes alive are at most the budget, or
//! the bytes that steps hold if these are more. No lock is held while an item is made: threads make different items
//! side by side, and two threads that need one item make it once.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::Limbed;
use ringmill_isa::Poly;
use ringmill_math::{Residues, Ring};
use serde::Serialize;

use crate::DeviceError;

/// The key of an item in an [`Expanded`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// A limb of a seed; seeds are known by their numbers.
    Limb {
        seed: u32,
        stream: u64,
        modulus: u64,
        ring: Ring,
    },
    /// All limbs of a constant. One encoding makes them all.
    Constant(u32),
}

/// An item in expanded form: the residues of one limb, or all limbs of a constant.
pub enum Form {
    Limb(Box<[u64]>),
    Constant(Box<dyn Limbed + Send + Sync>),
}

/// An expanded item. Its bytes count until the last reference goes.
pub struct Made {
    form: Form,
    bytes: u64,
    alive: Arc<AtomicU64>,
}

impl Made {
    /// Returns the residues. For a constant they are those modulo modulus number `modulus`, or none if it has no such
    /// modulus.
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

/// The place where a thread puts the item that it makes, for threads that wait for it. It is locked while the item is
/// made.
type Cell = Arc<Mutex<Option<Arc<Made>>>>;

#[derive(Default)]
struct Slot {
    kept: Option<Arc<Made>>,
    /// Its key in [`Held::order`], while it is kept.
    at: u64,
    /// The item after it was dropped here, if steps still hold it.
    loose: Weak<Made>,
    making: Option<Cell>,
    /// Whether the item was made before.
    once: bool,
}

/// A run that reads from this cache.
struct Reader {
    number: u64,
    budget: u64,
    peak: u64,
}

#[derive(Default)]
struct Held {
    slots: HashMap<Item, Slot>,
    /// The items that are kept, the least recently read first.
    order: BTreeMap<u64, Item>,
    clock: u64,
    kept: u64,
    readers: Vec<Reader>,
    runs: u64,
}

/// A cache of expanded key limbs and encoded constants under one budget. It keeps everything until a run sets a budget.
#[derive(Default)]
pub struct Expanded {
    held: Mutex<Held>,
    /// Bytes that are kept, in use, or being made.
    alive: Arc<AtomicU64>,
    seeds: AtomicU32,
}

impl Held {
    /// Returns the least budget of all runs that read at this time.
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

    /// Drops items that no step holds until `over` bytes are free, or until no such item is left.
    fn free(&mut self, over: u64) {
        let (mut freed, mut gone) = (0, Vec::new());
        for item in self.order.values() {
            if freed >= over {
                break;
            }
            let kept = self.slots.get(item).and_then(|slot| slot.kept.as_ref());
            // References are made under this lock only, so a single reference stays single.
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

    /// Returns the bytes that are kept, in use, or being made.
    pub fn bytes(&self) -> u64 {
        self.alive.load(Ordering::Relaxed)
    }

    pub fn next_seed(&self) -> u32 {
        self.seeds.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns an item of `bytes` bytes: the one that is kept or in use, or a new one from `make`.
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
                    // The thread that made it failed, perhaps because it was asked to stop; this thread was not.
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
            // Counts the bytes until the finished item does, and lets other threads try if the item fails.
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

    /// Registers a run that begins to read.
    fn enter(&self, budget: u64) -> u64 {
        let mut held = self.lock();
        // Items above the budget go now, or with their last user.
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

/// An item that is being made. When this is dropped, the item counts as not being made, whether it succeeded or failed.
struct Making<'c> {
    of: &'c Expanded,
    item: Item,
    /// The bytes that no finished item counts yet.
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

/// The figures of a run's expansions, all measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ExpandedStats {
    /// The bytes that expanded key limbs and encoded constants might take: the budget asked for
    /// ([`crate::Request::expanded_bytes`]), or the limit's rest if not all fit into memory. `None` if all were kept.
    pub budget_bytes: Option<u64>,
    /// The most bytes at one time, kept or held by steps.
    pub peak_bytes: u64,
    /// The limbs to which seeds were expanded. `limbs_again` counts those that had been expanded before and dropped.
    pub limbs: u64,
    pub limbs_again: u64,
    /// The constants that were encoded. `constants_again` counts those that had been encoded before and dropped.
    pub constants: u64,
    pub constants_again: u64,
}

/// The share of one run in the caches that it reads.
pub struct Usage {
    budget: Option<u64>,
    readers: Vec<(Arc<Expanded>, u64)>,
    limbs: [AtomicU64; 2],
    constants: [AtomicU64; 2],
}

impl Usage {
    /// Registers a run that reads from `places`; `least` is the size of the largest single item that it expands.
    ///
    /// # Errors
    /// [`DeviceError::SmallBudget`] for a budget below `least`; [`DeviceError::SeveralBudgets`].
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
