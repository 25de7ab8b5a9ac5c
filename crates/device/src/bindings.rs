// SPDX-License-Identifier: Apache-2.0
//! Checks the input limbs and seeds of a program before a device runs it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use ringmill_isa::mid::{Program, TableModulus};
use ringmill_limits::room;
use ringmill_math::{Modulus, Residues, Ring, expand_uniform, is_short};

use crate::DeviceError;
use crate::constant::Constant;
use crate::expanded::{Expanded, Form, Item, Made, Usage};
use crate::value::Value;

#[derive(Clone)]
enum Data<'a> {
    Borrowed(&'a [u64]),
    /// The borrowed residues of a limb in words of 32 bits, for a modulus below 2^32.
    Short(&'a [u32]),
    /// A borrowed limb that consists of blocks of equal residues: one value for each block, and the number of residues
    /// of the limb.
    Spread(&'a [u64], usize),
    Shared(Arc<[u64]>),
    /// One limb of a constant that is encoded when a step reads it: the limb modulo the program's modulus with this
    /// number.
    Constant(Arc<Constant<'a>>, usize),
}

/// Returns the modulus of public exponents: 2N, for a ring of degree N = 2^`log_n`.
pub fn exponents(log_n: u8) -> TableModulus {
    TableModulus::PowerOfTwo(log_n.saturating_add(1))
}

/// A limb that a caller binds to a program's input. Its residues are below its modulus: [`Limb::borrowed`],
/// [`Limb::held`] and [`Limb::shared`] check this, and for the other constructors the caller ensures it.
#[derive(Clone)]
pub struct Limb<'a> {
    data: Data<'a>,
    modulus: TableModulus,
    /// The seed of the switching key to which the limb belongs, from which the key's masks are
    /// expanded. It is `None` for any other limb.
    seed: Option<[u8; 32]>,
}

impl<'a> Limb<'a> {
    /// Makes a limb of residues modulo `modulus` that the caller lends, in words of 64 bits.
    ///
    /// # Errors
    /// [`DeviceError::Residue`] for a residue at or above `modulus`.
    pub fn borrowed(
        data: &'a [u64],
        modulus: impl Into<TableModulus>,
    ) -> Result<Self, DeviceError> {
        let modulus = modulus.into();
        check_residues(data, modulus)?;
        Ok(Self {
            data: Data::Borrowed(data),
            modulus,
            seed: None,
        })
    }

    /// Makes a limb of residues modulo `modulus` that the caller lends, in words of 32 or 64 bits.
    ///
    /// # Errors
    /// [`DeviceError::Residue`] for a residue at or above `modulus`.
    pub fn held(data: Residues<'a>, modulus: impl Into<TableModulus>) -> Result<Self, DeviceError> {
        let modulus = modulus.into();
        match data {
            Residues::Wide(data) => Self::borrowed(data, modulus),
            Residues::Short(words) => {
                let most = words.iter().fold(0, |most, &x| x.max(most));
                let above = |&x: &u32| u128::from(x) >= modulus.value();
                let position = match above(&most) {
                    true => words.iter().position(above),
                    false => None,
                };
                match position {
                    Some(position) => Err(DeviceError::Residue {
                        position,
                        value: words[position].into(),
                        modulus,
                    }),
                    None => Ok(Self::scanned(data, modulus)),
                }
            }
        }
    }

    /// Makes a limb that shares the ownership of its residues, which are modulo `modulus`, with the
    /// caller, without copying them.
    ///
    /// # Errors
    /// [`DeviceError::Residue`] for a residue at or above `modulus`.
    pub fn shared(data: Arc<[u64]>, modulus: impl Into<TableModulus>) -> Result<Self, DeviceError> {
        let modulus = modulus.into();
        check_residues(&data, modulus)?;
        Ok(Self {
            data: Data::Shared(data),
            modulus,
            seed: None,
        })
    }

    /// Adds the seed from which the masks of a key-switching key were expanded. The limb holds rows
    /// of that key.
    pub fn with_seed(self, seed: [u8; 32]) -> Self {
        Self {
            seed: Some(seed),
            ..self
        }
    }

    /// Returns the seed of the switching key to which the limb belongs, or `None` for any other limb. The mask of row r
    /// of an LWE switching key is stream r of the seed.
    pub fn seed(&self) -> Option<&[u8; 32]> {
        self.seed.as_ref()
    }

    /// Makes a limb of residues modulo `modulus` that the caller lends, without checking them. The caller has
    /// checked them before: a session checks its keys once, not in each run.
    pub fn scanned(data: impl Into<Residues<'a>>, modulus: TableModulus) -> Self {
        let data = data.into();
        let data = match data {
            Residues::Wide(data) => {
                debug_assert!(check_residues(data, modulus).is_ok());
                Data::Borrowed(data)
            }
            // The modulus is 2^32 or more, though these residues are below 2^32.
            Residues::Short(_) if !is_short(modulus.value()) => Data::Shared(data.wide().into()),
            Residues::Short(data) => Data::Short(data),
        };
        Self {
            data,
            modulus,
            seed: None,
        }
    }

    /// Makes a limb of `len` residues modulo `modulus` that consists of equally long blocks of equal residues. The
    /// caller lends one value for each block, below `modulus`.
    pub fn spread(values: &'a [u64], len: usize, modulus: TableModulus) -> Self {
        debug_assert!(check_residues(values, modulus).is_ok());
        Self {
            data: Data::Spread(values, len),
            modulus,
            seed: None,
        }
    }

    /// Makes one limb of a constant that is encoded when a step reads it: the limb modulo `modulus`, which has `number`
    /// in the program's list of moduli. Only devices for which [`crate::Device::expands`] is true take such limbs.
    pub fn of_constant(constant: Arc<Constant<'a>>, number: usize, modulus: TableModulus) -> Self {
        Self {
            data: Data::Constant(constant, number),
            modulus,
            seed: None,
        }
    }

    /// Returns the residues in words of 64 bits. The result is empty for a limb that is given as one value for each
    /// block ([`Limb::spread`]), and for a constant that is encoded when a step reads it.
    pub fn residues(&self) -> Cow<'_, [u64]> {
        match &self.data {
            Data::Borrowed(d) => Cow::Borrowed(d),
            Data::Short(d) => Residues::Short(d).wide(),
            Data::Shared(d) => Cow::Borrowed(d),
            Data::Constant(..) | Data::Spread(..) => Cow::Borrowed(&[]),
        }
    }

    fn len(&self) -> usize {
        match &self.data {
            Data::Borrowed(d) => d.len(),
            Data::Short(d) => d.len(),
            Data::Spread(_, len) => *len,
            Data::Shared(d) => d.len(),
            Data::Constant(constant, _) => constant.len,
        }
    }

    pub fn modulus(&self) -> TableModulus {
        self.modulus
    }

    fn constant(&self) -> Option<&Arc<Constant<'a>>> {
        match &self.data {
            Data::Constant(constant, _) => Some(constant),
            Data::Borrowed(_) | Data::Short(_) | Data::Spread(..) | Data::Shared(_) => None,
        }
    }

    pub fn value(&self) -> Value<'_> {
        match &self.data {
            Data::Borrowed(d) => Value::Bound(d),
            Data::Short(d) => Value::Short(d),
            Data::Spread(values, len) => Value::Spread(values, *len),
            Data::Shared(d) => Value::Shared(d.clone()),
            Data::Constant(constant, modulus) => Value::Constant(constant, *modulus),
        }
    }
}

/// Refuses a limb with a residue at or above `modulus`, and names the first such residue. If no residue is too large,
/// the check is one pass over the limb without branches.
///
/// # Errors
/// [`DeviceError::Residue`].
pub fn check_residues(data: &[u64], modulus: TableModulus) -> Result<(), DeviceError> {
    let top = modulus.top();
    if top >> 63 == 0 {
        // Bit 63 is set exactly if x >= 2^63 or top - x wraps around. If x is at most top, top - x stays below 2^63, as
        // top does.
        let bad = data
            .iter()
            .fold(0u64, |bad, &x| bad | x | top.wrapping_sub(x));
        if bad >> 63 == 0 && modulus.value() != 0 {
            return Ok(());
        }
    } else if data.iter().fold(0, |most, &x| x.max(most)) <= top {
        return Ok(());
    }
    let above = |&x: &u64| u128::from(x) >= modulus.value();
    match data.iter().position(above) {
        Some(position) => Err(DeviceError::Residue {
            position,
            value: data[position],
            modulus,
        }),
        None => Ok(()),
    }
}

/// The seed of a key whose limbs are expanded one by one as steps read them. An [`Expanded`] caches these limbs.
pub struct SeedExpansion {
    seed: [u8; 32],
    expanded: Arc<Expanded>,
    /// The number of this seed among the seeds that share the cache `expanded`.
    number: u32,
}

impl SeedExpansion {
    /// Makes a seed with a cache of its own for its expanded limbs.
    pub fn new(seed: [u8; 32]) -> Self {
        Self::within(seed, &Arc::default())
    }

    /// Makes a seed whose expanded limbs share the cache `expanded`, and its budget of bytes, with other seeds.
    pub fn within(seed: [u8; 32], expanded: &Arc<Expanded>) -> Self {
        Self {
            seed,
            expanded: Arc::clone(expanded),
            number: expanded.next_seed(),
        }
    }

    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// Returns a limb in evaluation form as the instruction `PRNG` defines it: the words of
    /// keystream number `stream` of this seed, each reduced modulo `modulus`. A machine may hold a
    /// limb as two halves. The limb of one half then has the words at its positions of the whole
    /// limb. The first half has the values at the roots psi^e of x^N + 1 with e = 1 mod 4, in
    /// bit-reversed order, where psi is a primitive 2N-th root of unity.
    ///
    /// # Errors
    /// [`DeviceError::Halt`] if there is no memory for the limb.
    pub fn limb(
        &self,
        stream: u64,
        modulus: Modulus,
        ring: Ring,
        usage: &Usage,
    ) -> Result<Arc<Made>, DeviceError> {
        let item = Item::Limb {
            seed: self.number,
            stream,
            modulus: modulus.value(),
            ring,
        };
        let words = ring.parent().len();
        let expand = || {
            room("a limb of a key", (2 * size_of::<u64>() * words) as u64)?;
            let mut full = vec![0; words];
            expand_uniform(&self.seed, stream, modulus, &mut full);
            let part = full.get(ring.first()..).and_then(|p| p.get(..ring.len()));
            Ok(Form::Limb(part.unwrap_or(&[]).into()))
        };
        let bytes = (size_of::<u64>() * ring.len()) as u64;
        self.expanded.get(item, bytes, usage, expand)
    }
}

/// The data of a run: one limb for each of [`Program::inputs`] and one seed for each of [`Program::seeds`], in order.
/// In place of a limb may stand a vector, a table, or an exponent modulo 2N.
#[derive(Clone, Default)]
pub struct Bindings<'a> {
    pub limbs: Vec<Limb<'a>>,
    pub seeds: Vec<Arc<SeedExpansion>>,
}

impl Bindings<'_> {
    /// Returns the caches of all expanded limbs and encoded constants of these bindings. If all limbs and constants
    /// share one [`Expanded`], the list has one entry.
    pub fn expanded(&self) -> Vec<Arc<Expanded>> {
        let seeds = self.seeds.iter().map(|seed| &seed.expanded);
        let constants = self.limbs.iter().filter_map(Limb::constant);
        let mut places: Vec<Arc<Expanded>> = Vec::new();
        for place in seeds.chain(constants.map(|constant| &constant.expanded)) {
            // Seeds and constants of one place follow one another.
            let known = |known: &Arc<Expanded>| Arc::ptr_eq(known, place);
            if !places.iter().rev().any(known) {
                places.push(Arc::clone(place));
            }
        }
        places
    }

    /// Returns two sizes in bytes of the constants that are encoded when a step reads them: the sum, and the largest. A
    /// constant counts once, however many of its limbs are bound.
    pub fn constant_bytes(&self) -> (u64, u64) {
        let mut known = HashSet::new();
        let constants = self.limbs.iter().filter_map(Limb::constant);
        let new = constants.filter(|&constant| known.insert(Arc::as_ptr(constant)));
        new.fold((0, 0), |(all, largest), constant| {
            let bytes = constant.bytes;
            (all + bytes, bytes.max(largest))
        })
    }

    /// Refuses bindings whose counts, lengths or moduli differ from the program's inputs and seeds. It does not look at
    /// residues, which are below their moduli in every [`Limb`].
    ///
    /// # Errors
    /// [`DeviceError::MissingBinding`], [`DeviceError::ExtraBindings`], [`DeviceError::SeedCount`],
    /// [`DeviceError::LimbLength`] or [`DeviceError::LimbModulus`], for the first mismatch; [`DeviceError::Malformed`]
    /// for an input whose modulus is not in the program's list.
    pub fn check(&self, program: &Program) -> Result<(), DeviceError> {
        if let Some(missing) = program.inputs.get(self.limbs.len()) {
            let (expected, got) = (program.inputs.len(), self.limbs.len());
            return Err(DeviceError::MissingBinding {
                name: missing.name.clone(),
                expected,
                got,
            });
        }
        if self.limbs.len() > program.inputs.len() {
            return Err(DeviceError::ExtraBindings {
                expected: program.inputs.len(),
                got: self.limbs.len(),
            });
        }
        if self.seeds.len() != program.seeds.len() {
            return Err(DeviceError::SeedCount {
                expected: program.seeds.len(),
                got: self.seeds.len(),
            });
        }
        for (input, limb) in program.inputs.iter().zip(&self.limbs) {
            let missing =
                || DeviceError::Malformed(format!("input `{}` has no modulus", input.name));
            let modulus = match input.ty.modulus() {
                Some(id) => program.moduli.get(usize::from(id.0)).copied(),
                None => Some(exponents(program.log_n)),
            };
            let modulus = modulus.ok_or_else(missing)?;
            if limb.len() != input.ty.words() {
                let (expected, got) = (input.ty.words(), limb.len());
                return Err(DeviceError::LimbLength {
                    name: input.name.clone(),
                    expected,
                    got,
                });
            }
            // Only the value of a modulus matters to its residues, not its kind.
            if limb.modulus.value() != modulus.value() {
                let (expected, got) = (modulus, limb.modulus);
                return Err(DeviceError::LimbModulus {
                    name: input.name.clone(),
                    expected,
                    got,
                });
            }
        }
        Ok(())
    }
}
