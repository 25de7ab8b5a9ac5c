// SPDX-License-Identifier: Apache-2.0
//! Times the candidate kernels of a shape of transform, and chooses among them. A shape is the kind
//! of transform, the width of words, the size of the modulus and the length.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use ringmill_limits::room;

use super::policy::Mode;
use super::{Candidate, Choice, Shape, Source, Task, file, policy, timing};
use crate::kernels::{best_backend, forced_backend};
use crate::wipe::on_a_clean_stack;
use crate::{Backend, MathError, Ring};

/// The time for which the candidate kernels of one shape of transform are timed, for limbs of up to
/// 2^[`QUICK_LOG_N`] coefficients. A few slow calls may take more.
const PATIENCE: Duration = Duration::from_millis(1);
/// The base-2 logarithm of the length up to which the candidate kernels for a limb are timed for
/// [`PATIENCE`]. Longer limbs get more time, in proportion to their length, so that each candidate
/// is timed several times. A program that transforms such limbs has many of them.
const QUICK_LOG_N: u8 = 12;
/// The base-2 logarithm of the limb's length from which on scalar code is no candidate if there is
/// another kernel. It is the slowest candidate, and timing it would take most of the time.
const SCALAR_LOG_N: u8 = 9;
/// The most choices of kernels that [`made`] returns. There are fewer shapes of transform, each
/// with one choice.
const NOTED: usize = 1024;

/// The order in which the stages of a transform go through the limb: part by part, or each stage
/// through the whole limb.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    pub name: &'static str,
    /// The most bytes of a part of the limb that is finished before the next part begins.
    pub block: usize,
}

impl Order {
    /// Returns the number of words in a part of the limb, for words of `bytes` bytes.
    #[cfg(target_arch = "x86_64")] // no other loops heed an order
    pub const fn words(self, bytes: usize) -> usize {
        self.block / bytes
    }
}

/// The candidate orders of a transform's stages. The first one is used until the kernels were
/// timed. Its parts of 32 KiB are as large as the smallest first-level cache in use.
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

/// The loops of the forward and of the inverse transform in one arithmetic and one width of
/// vectors.
pub(crate) struct Arithmetic<P: Planned> {
    pub name: &'static str,
    pub level: Backend,
    /// Returns whether the arithmetic is exact for the plan's modulus, has loops for its length, and is worth timing
    /// for it.
    pub takes: fn(&P) -> bool,
    /// The bytes of a word in these loops, or `None` if they do not follow an [`Order`] of stages.
    pub ordered: Option<usize>,
    /// The loops of the transforms in this arithmetic: first the forward one, then the inverse one.
    pub run: [Run<P>; 2],
}

/// A function that transforms a limb in place with one kernel, by the plan's tables and in an order of stages.
///
/// # Safety
/// The processor must have the features of the kernel's level, the kernel must serve the plan, and the limb must have
/// the plan's length.
pub(crate) type Run<P> = unsafe fn(&P, &mut [<P as Planned>::Word], Order);

/// A memory cell for each shape of the transforms that one table of kernels computes. It holds
/// [`EMPTY`], [`BUSY`], or [`CHOSEN`] plus the number of the chosen candidate kernel.
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

/// A plan, the tables for transforms of one ring and modulus, whose transforms several kernels can
/// compute.
pub(crate) trait Planned: Sized + 'static {
    type Word: Copy + Default + 'static;

    /// Returns the arithmetics in which kernels compute this kind of plan, those of the best
    /// instruction set first. The last one is right for every plan on every processor.
    fn arithmetics() -> &'static [Arithmetic<Self>];

    /// Returns the shape of this plan's transform of kind `task`, and the cell that keeps the chosen kernel.
    fn shape(&self, task: Task) -> (Shape, Cell);
}

/// The memory cell that keeps the number of the kernel chosen for a shape of transform, or `None`
/// if the choice is not kept.
pub(crate) type Cell = Option<&'static AtomicU8>;

/// A kernel that could compute a transform: its arithmetic, and its order of stages.
type Kernel<P> = (&'static Arithmetic<P>, Order);

fn at<P: Planned>(k: u8) -> Option<Kernel<P>> {
    let k = usize::from(k);
    Some((
        P::arithmetics().get(k / ORDERS.len())?,
        ORDERS[k % ORDERS.len()],
    ))
}

/// Returns the indices of those [`ORDERS`] of stages that differ on a limb of `bytes` bytes. If the
/// limb fits into the parts of the first order, the order that takes whole limbs does the same as
/// the first.
pub(crate) fn orders(bytes: usize) -> impl Iterator<Item = usize> {
    ORDERS.iter().enumerate().filter_map(move |(o, order)| {
        let whole = order.block == usize::MAX && bytes > ORDERS[0].block;
        (o == 0 || whole || (order.block != usize::MAX && bytes > order.block)).then_some(o)
    })
}

/// Returns the name of an order of stages on a limb of `bytes` bytes. It is that of the order for
/// whole limbs if the limb fits into one part.
pub(crate) fn order_name(order: Order, bytes: usize) -> &'static str {
    let fits = bytes <= order.block;
    if fits {
        ORDERS[ORDERS.len() - 1].name
    } else {
        order.name
    }
}

/// Returns the numbers of the kernels that could compute a plan's transforms with the instructions of `level` or less,
/// in the order of the plan's table of arithmetics. From 2^[`SCALAR_LOG_N`] coefficients on, scalar code is left out if
/// there is another kernel.
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

/// Returns the name of candidate kernel number k of a plan.
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

/// Returns the first kernel of the plan's table that could compute its transforms with the
/// instructions of `level` or less.
fn first<P: Planned>(plan: &P, level: Backend) -> Kernel<P> {
    let table = P::arithmetics();
    let found = table
        .iter()
        .find(|kernel| kernel.level <= level && (kernel.takes)(plan));
    (found.unwrap_or(&table[table.len() - 1]), ORDERS[0])
}

/// Returns the kernel of a forward or inverse transform. It is the first candidate if
/// [`with_backend`](crate::kernels::with_backend) forces an instruction set, otherwise the chosen one. While no
/// choice can be made, for example because another thread is making it, it is the first kernel of the plan's table
/// that serves.
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

/// Returns the state of the choice of a kernel that a cell keeps: not made, being made, or made.
pub(crate) fn chosen(cell: &AtomicU8) -> Chosen {
    match cell.load(Ordering::Relaxed) {
        EMPTY => Chosen::NotYet,
        BUSY => Chosen::Busy,
        k => Chosen::Is(k - CHOSEN),
    }
}

/// The state of the choice of a kernel for a shape of transform: not made, being made, or made.
pub(crate) enum Chosen {
    NotYet,
    /// A thread is timing the candidate kernels of the shape, so that no choice is made yet.
    Busy,
    Is(u8),
}

/// Transforms a limb, which must have the plan's length, with the chosen kernel.
pub(crate) fn run<P: Planned>(plan: &P, task: Task, limb: &mut [P::Word]) {
    let (arithmetic, order) = kernel(plan, task);
    // SAFETY: candidates are of levels that the processor has and take the plan; the limb has its length (caller).
    unsafe { arithmetic.run[direction(task)](plan, limb, order) }
}

/// Transforms a limb, which must have the plan's length, with the kernel named `kernel`.
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

/// Returns the names of all candidate kernels of a plan on this processor.
pub(crate) fn names<P: Planned>(plan: &P) -> Vec<String> {
    let ids = candidates(plan, best_backend());
    ids.into_iter().map(|k| named(plan, k)).collect()
}

/// Returns the index of a transform's loop among the two loops of a kernel: 1 for the inverse
/// transform, otherwise 0.
fn direction(task: Task) -> usize {
    usize::from(task == Task::Inverse)
}

/// Returns the time for which the candidate kernels for a limb of 2^`log_n` coefficients are timed.
pub fn patience(log_n: u8) -> Duration {
    PATIENCE * (1 << log_n.saturating_sub(QUICK_LOG_N))
}

/// Chooses the kernel of one kind of a plan's transforms again, as the environment asks for, and returns the new
/// choice. If that means timing, it takes about `patience`. Returns `None` if choices for this shape are not kept, if
/// another thread is choosing, if there is no memory to time kernels, or if the choice did not get into the list that
/// [`made`] returns.
pub(crate) fn choice<P: Planned>(plan: &P, task: Task, patience: Duration) -> Option<Choice> {
    let (shape, cell) = plan.shape(task);
    choose(plan, shape, cell?, patience)?;
    made().into_iter().find(|choice| choice.shape == shape)
}

/// Chooses the kernel of a shape of transform and returns its number. If the environment does not fix the choice and
/// the file of choices lacks the shape, kernels are timed for about `patience`. Returns `None` if another thread is
/// choosing it, or if there is no memory to time kernels.
#[cold]
fn choose<P: Planned>(plan: &P, shape: Shape, cell: &AtomicU8, patience: Duration) -> Option<u8> {
    // The stack may hold parts of a secret limb that was transformed before, and the choice is kept on the heap.
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

/// A limb on which kernels are timed, made when it is first needed. Its words are all zero, which
/// are residues of any modulus; no kernel's time depends on the data. It starts on a cache line, as
/// the limbs of devices do.
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

/// A choice of a kernel for a shape of transform that is still to be made.
pub(crate) struct Settling<'a> {
    pub shape: Shape,
    pub cell: &'a AtomicU8,
    /// The numbers of the candidate kernels. The first one is used until the choice is made.
    pub ids: &'a [u8],
    pub name: &'a dyn Fn(u8) -> String,
    /// The bytes of the limbs on which the candidate kernels are timed.
    pub bytes: u64,
}

impl Settling<'_> {
    /// Chooses a kernel in the way that the environment asks for, and keeps the choice. Timing
    /// takes about `patience`. `run(k)` calls candidate k once. Returns `None` if another thread is
    /// timing this shape, if there is no memory to time it, or without candidates.
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

/// Returns a hash (FNV-1a) of the seed and the shape, by which random choices are repeatable.
fn random(seed: u64, shape: Shape) -> usize {
    let text = format!("{seed} {shape}");
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 33) as usize
}

static MADE: RwLock<Vec<Choice>> = RwLock::new(Vec::new());

/// Adds a choice of a kernel to the list that [`made`] returns. It never waits for a lock: a
/// process that was forked while another thread held the lock would wait forever. A choice that
/// does not get into the list is used all the same.
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

/// Returns this process's latest choice of a kernel for each shape of transform, in the order in which the choices were
/// made. A choice may be absent if another thread held the list when it was made.
pub fn made() -> Vec<Choice> {
    MADE.read()
        .unwrap_or_else(|error| error.into_inner())
        .clone()
}
