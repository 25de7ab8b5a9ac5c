// SPDX-License-Identifier: Apache-2.0
//! Times the candidate kernels of a shape and chooses among them.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use ringmill_limits::room;

use super::policy::Mode;
use super::{Candidate, Choice, Shape, Source, Task, file, policy, timing};
use crate::kernels::{best_backend, forced_backend};
use crate::wipe::on_a_clean_stack;
use crate::{Backend, MathError, Ring};

/// The longest time for the candidates of one shape up to [`QUICK_LOG_N`]; a few slow calls may take more.
const PATIENCE: Duration = Duration::from_millis(1);
/// Longer limbs get more time, in proportion to their length, so that each candidate has its turns. A program that
/// transforms such limbs has many of them.
const QUICK_LOG_N: u8 = 12;
/// From this length on scalar code is no candidate if there is another. To find out that it is the slowest would take
/// most of the time.
const SCALAR_LOG_N: u8 = 9;
/// Shapes whose choice is noted for [`made`]; there are fewer.
const NOTED: usize = 1024;

/// The order in which the stages of a transform visit the limb.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    pub name: &'static str,
    /// Parts of at most this many bytes are finished one after the other.
    pub block: usize,
}

impl Order {
    /// The coefficients of a block, for words of so many bytes.
    #[cfg(target_arch = "x86_64")] // no other loops heed an order
    pub const fn words(self, bytes: usize) -> usize {
        self.block / bytes
    }
}

/// The first one is the one to start with: half of the smallest first-level cache in use.
pub(crate) const ORDERS: [Order; 3] = [
    Order {
        name: "blocks of 32 KiB",
        block: 32 << 10,
    },
    Order {
        name: "blocks of 8 KiB",
        block: 8 << 10,
    },
    Order {
        name: "whole",
        block: usize::MAX,
    },
];

/// A transform in one arithmetic and one width of vectors.
pub(crate) struct Arithmetic<P: Planned> {
    pub name: &'static str,
    pub level: Backend,
    /// Returns whether the arithmetic is exact for the plan's modulus, long enough for its length, and worth timing
    /// there.
    pub takes: fn(&P) -> bool,
    /// Bytes of a word as its loops hold it, where they heed an [`Order`].
    pub ordered: Option<usize>,
    /// Forward and inverse.
    pub run: [Run<P>; 2],
}

/// # Safety
/// The processor must have the features of the kernel's level, the kernel must take the plan, and the limb must have
/// the plan's length.
pub(crate) type Run<P> = unsafe fn(&P, &mut [<P as Planned>::Word], Order);

/// One cell a shape: [`EMPTY`], [`BUSY`], or the chosen candidate and two.
pub(crate) struct Cells<const CLASSES: usize>([[[AtomicU8; LENGTHS]; CLASSES]; TASKS]);

const TASKS: usize = 3;
const LENGTHS: usize = Ring::MAX_LOG_N as usize + 1;
const EMPTY: u8 = 0;
const BUSY: u8 = 1;
const CHOSEN: u8 = 2;

impl<const CLASSES: usize> Cells<CLASSES> {
    pub const fn new() -> Self {
        Self([const { [const { [const { AtomicU8::new(EMPTY) }; LENGTHS] }; CLASSES] }; TASKS])
    }

    pub fn at(&self, task: Task, class: usize, log_n: u8) -> Option<&AtomicU8> {
        self.0[task as usize].get(class)?.get(usize::from(log_n))
    }
}

/// A plan of transforms, for which kernels are chosen.
pub(crate) trait Planned: Sized + 'static {
    type Word: Copy + Default + 'static;

    /// The best level first; the last takes every plan on every processor.
    fn arithmetics() -> &'static [Arithmetic<Self>];

    /// The shape of a task of this plan, and where its choice is kept.
    fn shape(&self, task: Task) -> (Shape, Cell);
}

/// The place that keeps the choice of a shape.
pub(crate) type Cell = Option<&'static AtomicU8>;

/// Candidate k of a table: its arithmetic and its order.
type Kernel<P> = (&'static Arithmetic<P>, Order);

fn at<P: Planned>(k: u8) -> Option<Kernel<P>> {
    let k = usize::from(k);
    Some((
        P::arithmetics().get(k / ORDERS.len())?,
        ORDERS[k % ORDERS.len()],
    ))
}

/// The orders that differ on a limb of so many bytes: whole is what the first one does with a limb that fits its block.
pub(crate) fn orders(bytes: usize) -> impl Iterator<Item = usize> {
    ORDERS.iter().enumerate().filter_map(move |(o, order)| {
        let whole = order.block == usize::MAX && bytes > ORDERS[0].block;
        (o == 0 || whole || (order.block != usize::MAX && bytes > order.block)).then_some(o)
    })
}

/// The name of an order on a limb of so many bytes.
pub(crate) fn order_name(order: Order, bytes: usize) -> &'static str {
    let fits = bytes <= order.block;
    if fits {
        ORDERS[ORDERS.len() - 1].name
    } else {
        order.name
    }
}

/// The candidates of a shape up to a level, in the order of the table.
fn candidates<P: Planned>(plan: &P, level: Backend) -> Vec<u8> {
    let log_n = plan.shape(Task::Forward).0.log_n;
    let mut list = Vec::new();
    for (a, arithmetic) in P::arithmetics().iter().enumerate() {
        let slow = arithmetic.level == Backend::Scalar && log_n >= SCALAR_LOG_N && !list.is_empty();
        if arithmetic.level > level || !(arithmetic.takes)(plan) || slow {
            continue;
        }
        let bytes = arithmetic.ordered.map_or(0, |word| word << log_n);
        list.extend(orders(bytes).map(|o| (a * ORDERS.len() + o) as u8));
    }
    list
}

/// The name of candidate k.
fn named<P: Planned>(plan: &P, k: u8) -> String {
    at::<P>(k).map_or_else(String::new, |kernel| name(plan, kernel))
}

fn name<P: Planned>(plan: &P, (arithmetic, order): Kernel<P>) -> String {
    let Some(word) = arithmetic.ordered else {
        return arithmetic.name.to_owned();
    };
    let bytes = word << plan.shape(Task::Forward).0.log_n;
    format!("{}, {}", arithmetic.name, order_name(order, bytes))
}

/// The first candidate up to a level.
fn first<P: Planned>(plan: &P, level: Backend) -> Kernel<P> {
    let table = P::arithmetics();
    let found = table
        .iter()
        .find(|kernel| kernel.level <= level && (kernel.takes)(plan));
    (found.unwrap_or(&table[table.len() - 1]), ORDERS[0])
}

/// The kernel of a forward or inverse transform: the first of its level where that is forced, else the chosen one.
#[inline]
fn kernel<P: Planned>(plan: &P, task: Task) -> Kernel<P> {
    if let Some(level) = forced_backend() {
        return first(plan, level);
    }
    let (shape, cell) = plan.shape(task);
    let found = match cell.map(|cell| (cell, chosen(cell))) {
        Some((_, Chosen::Is(k))) => at(k),
        Some((cell, Chosen::NotYet)) => {
            choose(plan, shape, cell, patience(shape.log_n)).and_then(at)
        }
        _ => None,
    };
    found.unwrap_or_else(|| first(plan, policy().level))
}

/// The choice that a cell holds.
pub(crate) fn chosen(cell: &AtomicU8) -> Chosen {
    match cell.load(Ordering::Relaxed) {
        EMPTY => Chosen::NotYet,
        BUSY => Chosen::Busy,
        k => Chosen::Is(k - CHOSEN),
    }
}

/// The state of a shape's choice.
pub(crate) enum Chosen {
    NotYet,
    /// A thread is timing it.
    Busy,
    Is(u8),
}

/// Transforms a limb, which must have the plan's length.
pub(crate) fn run<P: Planned>(plan: &P, task: Task, limb: &mut [P::Word]) {
    let (arithmetic, order) = kernel(plan, task);
    // SAFETY: candidates are of levels that the processor has and take the plan; the limb has its length (caller).
    unsafe { arithmetic.run[direction(task)](plan, limb, order) }
}

/// Transforms a limb as [`run`] does, by the candidate of this name.
pub(crate) fn run_on<P: Planned>(
    plan: &P,
    kernel: &str,
    task: Task,
    limb: &mut [P::Word],
) -> Result<(), MathError> {
    let ids = candidates(plan, best_backend());
    let found = ids
        .into_iter()
        .find(|&k| named(plan, k) == kernel)
        .and_then(at::<P>);
    let (arithmetic, order) = found.ok_or_else(|| MathError::OutOfRange {
        what: "the kernel of a transform",
        expected: "one of the plan's kernels",
        got: kernel.to_owned(),
    })?;
    // SAFETY: as in `run`.
    unsafe { arithmetic.run[direction(task)](plan, limb, order) };
    Ok(())
}

/// The names of all candidates on this processor.
pub(crate) fn names<P: Planned>(plan: &P) -> Vec<String> {
    let ids = candidates(plan, best_backend());
    ids.into_iter().map(|k| named(plan, k)).collect()
}

/// Returns the index of the task's loop among the two loops of a kernel.
fn direction(task: Task) -> usize {
    usize::from(task == Task::Inverse)
}

/// Returns the time that a program grants for timing the candidates of a length.
pub fn patience(log_n: u8) -> Duration {
    PATIENCE * (1 << log_n.saturating_sub(QUICK_LOG_N))
}

/// Chooses anew.
pub(crate) fn choice<P: Planned>(plan: &P, task: Task, patience: Duration) -> Option<Choice> {
    let (shape, cell) = plan.shape(task);
    choose(plan, shape, cell?, patience)?;
    made().into_iter().find(|choice| choice.shape == shape)
}

/// Chooses, where no other thread is at it.
#[cold]
fn choose<P: Planned>(plan: &P, shape: Shape, cell: &AtomicU8, patience: Duration) -> Option<u8> {
    // The choice is kept, and what was transformed before it may be secret.
    on_a_clean_stack(|| settled(plan, shape, cell, patience))
}

fn settled<P: Planned>(plan: &P, shape: Shape, cell: &AtomicU8, patience: Duration) -> Option<u8> {
    let ids = candidates(plan, policy().level);
    let n = 1usize << shape.log_n;
    let mut scratch = Scratch::<P::Word>::default();
    let run = &mut |k: u8| {
        if let Some((arithmetic, order)) = at::<P>(k) {
            // SAFETY: as in `run`.
            unsafe { arithmetic.run[direction(shape.task)](plan, scratch.limb(n), order) };
        }
    };
    let bytes = (n * size_of::<P::Word>()) as u64;
    Settling {
        shape,
        cell,
        ids: &ids,
        name: &|k| named(plan, k),
        bytes,
    }
    .settle(patience, run)
}

/// A limb to time kernels on, made when it is first asked for. It is all zeros, which are residues of any modulus: no
/// kernel's time depends on what it transforms. It starts on a cache line, as those of devices do.
#[derive(Default)]
pub(crate) struct Scratch<W>(Vec<W>);

impl<W: Copy + Default> Scratch<W> {
    pub fn limb(&mut self, n: usize) -> &mut [W] {
        const LINE: usize = 64;
        let spare = LINE / size_of::<W>();
        self.0.resize(n + spare, W::default());
        let start = self.0.as_ptr().align_offset(LINE).min(spare);
        &mut self.0[start..start + n]
    }
}

/// A choice to be made.
pub(crate) struct Settling<'a> {
    pub shape: Shape,
    pub cell: &'a AtomicU8,
    /// The candidates, the first of them the one to start with.
    pub ids: &'a [u8],
    pub name: &'a dyn Fn(u8) -> String,
    /// The bytes that timing allocates.
    pub bytes: u64,
}

impl Settling<'_> {
    /// Chooses as the environment says and keeps the choice; `run(k)` calls candidate k once. `None` where another
    /// thread is timing this shape, or where there is no memory for it.
    pub fn settle(self, patience: Duration, run: &mut dyn FnMut(u8)) -> Option<u8> {
        let (ids, cell) = (self.ids, self.cell);
        let chosen = match (ids, policy().mode) {
            ([], _) => return None,
            ([only], _) => self.keep(*only, Source::Only, &[]),
            (_, Mode::First) => self.keep(ids[0], Source::Fixed, &[]),
            (_, Mode::Random(seed)) => self.keep(
                ids[random(seed, self.shape) % ids.len()],
                Source::Fixed,
                &[],
            ),
            (_, Mode::Timed) => {
                let kept = file::kept(self.shape)
                    .and_then(|name| ids.iter().find(|&&k| (self.name)(k) == name));
                match kept {
                    Some(&k) => self.keep(k, Source::File, &[]),
                    None => {
                        room("a limb to time transforms on", self.bytes).ok()?;
                        let before = cell.swap(BUSY, Ordering::Relaxed);
                        if before == BUSY {
                            return None;
                        }
                        let times = timing::time(ids.len(), patience, &mut |k| run(ids[k]));
                        let k = ids[times.fastest()];
                        let k = self.keep(k, Source::Timed, &times.better);
                        file::keep(self.shape, &(self.name)(k));
                        k
                    }
                }
            }
        };
        Some(chosen)
    }

    fn keep(&self, k: u8, source: Source, times: &[f64]) -> u8 {
        self.cell.store(k + CHOSEN, Ordering::Relaxed);
        let candidates = self.ids.iter().enumerate().map(|(at, &id)| Candidate {
            kernel: (self.name)(id),
            seconds: times.get(at).copied(),
        });
        note(Choice {
            shape: self.shape,
            kernel: (self.name)(k),
            source,
            candidates: candidates.collect(),
        });
        k
    }
}

/// A number that the seed and the shape decide (FNV-1a).
fn random(seed: u64, shape: Shape) -> usize {
    let text = format!("{seed} {shape}");
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 33) as usize
}

static MADE: RwLock<Vec<Choice>> = RwLock::new(Vec::new());

/// Notes a choice. Never waits: a process that was forked while another of its threads noted one would wait for ever,
/// and a choice that goes unnoted serves all the same.
fn note(choice: Choice) {
    for _ in 0..100 {
        if let Ok(mut made) = MADE.try_write() {
            made.retain(|old| old.shape != choice.shape);
            if made.len() < NOTED {
                made.push(choice);
            }
            return;
        }
        std::thread::yield_now();
    }
}

/// The choices of this process so far, in the order in which they were made.
pub fn made() -> Vec<Choice> {
    MADE.read()
        .unwrap_or_else(|error| error.into_inner())
        .clone()
}
