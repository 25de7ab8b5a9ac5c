// SPDX-License-Identifier: Apache-2.0
//! The data a program runs on: input limbs and seeds, validated before anything runs.

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
    /// In words of 32 bits: of a modulus below 2^32.
    Short(&'a [u32]),
    /// By its values, each for a run of equal ones, and its length.
    Spread(&'a [u64], usize),
    Shared(Arc<[u64]>),
    /// The limb modulo that modulus of a constant.
    Constant(Arc<Constant<'a>>, usize),
}

/// What public exponents are taken modulo: 2N, of the ring's degree N.
pub fn exponents(log_n: u8) -> TableModulus {
    TableModulus::PowerOfTwo(log_n.saturating_add(1))
}

/// Residues that are known to be below their modulus: scanned once when made, never again.
#[derive(Clone)]
pub struct Limb<'a> {
    data: Data<'a>,
    modulus: TableModulus,
    /// What the masks of a switching key are expanded from.
    seed: Option<[u8; 32]>,
}

impl<'a> Limb<'a> {
    /// Borrows residues, each of which must be below `modulus`; otherwise [`DeviceError::Residue`].
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

    /// As [`Limb::borrowed`], in the words that the residues are held in.
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

    /// Shares residues, each of which must be below `modulus`; otherwise [`DeviceError::Residue`].
    pub fn shared(data: Arc<[u64]>, modulus: impl Into<TableModulus>) -> Result<Self, DeviceError> {
        let modulus = modulus.into();
        check_residues(&data, modulus)?;
        Ok(Self {
            data: Data::Shared(data),
            modulus,
            seed: None,
        })
    }

    /// Of the rows of a key-switching key: the seed that their masks were expanded from.
    pub fn with_seed(self, seed: [u8; 32]) -> Self {
        Self {
            seed: Some(seed),
            ..self
        }
    }

    /// The seed of a switching key's masks: mask of row r is stream r of it.
    pub fn seed(&self) -> Option<&[u8; 32]> {
        self.seed.as_ref()
    }

    /// Borrows residues that this crate has scanned before (keys, at every run of a session).
    pub fn scanned(data: impl Into<Residues<'a>>, modulus: TableModulus) -> Self {
        let data = data.into();
        let data = match data {
            Residues::Wide(data) => {
                debug_assert!(check_residues(data, modulus).is_ok());
                Data::Borrowed(data)
            }
            // Below 2^32 by chance.
            Residues::Short(_) if !is_short(modulus.value()) => Data::Shared(data.wide().into()),
            Residues::Short(data) => Data::Short(data),
        };
        Self {
            data,
            modulus,
            seed: None,
        }
    }

    /// Borrows the values of a limb of `len` residues, each of which stands for a run of equal ones.
    pub fn spread(values: &'a [u64], len: usize, modulus: TableModulus) -> Self {
        debug_assert!(check_residues(values, modulus).is_ok());
        Self {
            data: Data::Spread(values, len),
            modulus,
            seed: None,
        }
    }

    /// The limb modulo modulus number `number` of a constant that is encoded when it is read: for devices that
    /// say so ([`crate::Device::expands`]).
    pub fn of_constant(constant: Arc<Constant<'a>>, number: usize, modulus: TableModulus) -> Self {
        Self {
            data: Data::Constant(constant, number),
            modulus,
            seed: None,
        }
    }

    /// The residues; none of a constant that is encoded when it is read, which devices that say so are given.
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

/// Refuses residues at or above `modulus`, naming the first. One pass without branches for the common case.
pub fn check_residues(data: &[u64], modulus: TableModulus) -> Result<(), DeviceError> {
    let top = modulus.top();
    if top >> 63 == 0 {
        // Bit 63 is set exactly when x >= 2^63 or top - x wraps (top < 2^63, so top - x of a small x never has it).
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

/// The seed of a key: expanded limb by limb as steps read them, and kept in an [`Expanded`].
pub struct SeedExpansion {
    seed: [u8; 32],
    expanded: Arc<Expanded>,
    /// Its own there.
    number: u32,
}

impl SeedExpansion {
    /// A seed that shares what it keeps with no other.
    pub fn new(seed: [u8; 32]) -> Self {
        Self::within(seed, &Arc::default())
    }

    /// A seed whose limbs are kept with those of others, under one budget.
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

    /// The evaluation-form limb of `PRNG`: the keystream's words of `stream`, each reduced mod `modulus`; on a half ring
    /// those of the positions of that half (roots psi^e with e = 1 mod 4 are the first half of the bit-reversed order).
    ///
    /// # Errors
    /// [`ringmill_limits::Halt::NoMemory`] where there is none for it.
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

/// One limb (or vector, table or exponent, modulo 2N) for each of [`Program::inputs`] and one seed for each of [`Program::seeds`], in order.
#[derive(Clone, Default)]
pub struct Bindings<'a> {
    pub limbs: Vec<Limb<'a>>,
    pub seeds: Vec<Arc<SeedExpansion>>,
}

impl Bindings<'_> {
    /// Where expanded limbs and constants are kept: one place, where seeds and constants were made to share it.
    pub fn expanded(&self) -> Vec<Arc<Expanded>> {
        let seeds = self.seeds.iter().map(|seed| &seed.expanded);
        let constants = self.limbs.iter().filter_map(Limb::constant);
        let mut places: Vec<Arc<Expanded>> = Vec::new();
        for place in seeds.chain(constants.map(|constant| &constant.expanded)) {
            // They come in rows of one place.
            let known = |known: &Arc<Expanded>| Arc::ptr_eq(known, place);
            if !places.iter().rev().any(known) {
                places.push(Arc::clone(place));
            }
        }
        places
    }

    /// Bytes of the constants that are encoded as they are read: of all, and of the largest.
    pub fn constant_bytes(&self) -> (u64, u64) {
        let mut known = HashSet::new();
        let constants = self.limbs.iter().filter_map(Limb::constant);
        let new = constants.filter(|&constant| known.insert(Arc::as_ptr(constant)));
        new.fold((0, 0), |(all, largest), constant| {
            let bytes = constant.bytes;
            (all + bytes, bytes.max(largest))
        })
    }

    /// Refuses bindings that do not fit: counts, lengths, moduli (residues were checked when each [`Limb`] was made).
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
            // Residues below a value are what they are, whatever kind their modulus was called.
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
