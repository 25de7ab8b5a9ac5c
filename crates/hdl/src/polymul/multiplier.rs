// SPDX-License-Identifier: Apache-2.0
//! The polynomial multiplier as a host uses it. The host checks commands before the hardware sees them, and returns
//! results with their cycles.

use std::sync::Arc;

use ringmill_machines::polymul::{ArrayOp, PolymulError, SETS, SLOTS, Shape, Tables};

use super::{Code, Dice, DriveError, Driver, Op, Place, Unit};
use crate::{BuildOptions, Hdl, HdlError};

/// A polynomial multiplier in simulation, with a copy of the tables in its table slots.
pub struct Multiplier {
    driver: Driver,
    /// For each table slot, the tables that this host sent last, and how many commands had loaded
    /// tables into the slot by then. The tables are valid while that number is the slot's present
    /// one.
    tables: [Option<(Arc<Tables>, u64)>; SLOTS],
    /// The selected table slot. The next tables are loaded into it, and limbs are loaded modulo the
    /// prime whose tables are in it.
    slot: usize,
}

impl Multiplier {
    /// Builds the simulation model of a shape (unless the cache has it) and resets it.
    ///
    /// # Errors
    /// The errors of the tools that build the model.
    pub fn new(hdl: &Hdl, shape: Shape, options: BuildOptions) -> Result<Self, HdlError> {
        Ok(Self {
            driver: Driver::new(hdl, shape, options)?,
            tables: [None, None],
            slot: 0,
        })
    }

    pub fn shape(&self) -> Shape {
        self.driver.shape()
    }

    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Returns the driver of the multiplier's pins. The host does not check commands that a caller
    /// sends there, and does not know the tables that they load.
    pub fn driver_mut(&mut self) -> &mut Driver {
        &mut self.driver
    }

    /// Selects a table slot. From now on tables are loaded into it, and limbs are loaded modulo the prime whose
    /// tables it has. At first slot 0 is selected.
    ///
    /// # Errors
    /// [`PolymulError::Slot`] for a slot that the multiplier does not have.
    pub fn select(&mut self, slot: usize) -> Result<(), PolymulError> {
        if slot >= SLOTS {
            return Err(PolymulError::Slot {
                got: slot,
                slots: SLOTS,
            });
        }
        self.slot = slot;
        Ok(())
    }

    /// Returns the tables of the selected table slot.
    ///
    /// # Errors
    /// [`PolymulError::NoTables`] if [`Self::tables_of`] returns `None` for the slot.
    pub fn tables(&self) -> Result<&Arc<Tables>, PolymulError> {
        self.tables_of(self.slot).ok_or(PolymulError::NoTables)
    }

    /// Returns the tables in a table slot, or `None` if the slot has none that were sent through this multiplier. It
    /// has none while a load of tables is in progress, and after a load that failed.
    pub fn tables_of(&self, slot: usize) -> Option<&Arc<Tables>> {
        let (tables, load) = self.tables.get(slot)?.as_ref()?;
        let driver = &self.driver;
        (driver.has_tables(slot) && *load == driver.table_loads(slot)).then_some(tables)
    }

    /// Makes the multiplier's input and output stream stall at random from now on. The same seed
    /// gives the same stalls. `None` ends the stalls.
    pub fn stall(&mut self, seed: Option<u64>) {
        self.driver.stall(seed.map(Dice::new));
    }

    /// Starts to load tables into the selected table slot.
    ///
    /// # Errors
    /// [`DriveError::Busy`] if the load unit is busy, or if the array or the unload unit works on a limb of the slot.
    /// [`DriveError::Refused`] for tables of a degree that the machine does not have; [`DriveError::Answered`] if the
    /// hardware refuses the command.
    pub fn start_tables(&mut self, tables: &Arc<Tables>) -> Result<(), DriveError> {
        let degree = tables.degree();
        self.shape().degree(degree.n())?;
        self.idle(Unit::Load, "TABLES")?;
        for unit in [Unit::Array, Unit::Unload] {
            let place = self.driver.held(unit).map(|held| held.at);
            let under = place.and_then(|at| self.driver.limb_slot(at.set, at.buf));
            if under == Some(self.slot) {
                self.idle(unit, "TABLES")?;
            }
        }
        self.driver.send(&tables.words(self.shape()), true);
        let code = self.driver.start_tables(self.slot, degree.log_n())?;
        self.accepted("TABLES", code)?;
        self.tables[self.slot] = Some((Arc::clone(tables), self.driver.table_loads(self.slot)));
        Ok(())
    }

    /// Starts to load a limb into a place, with the tables of the selected slot.
    ///
    /// # Errors
    /// [`DriveError::Refused`] without tables, for a limb of another length, or for a residue that is not below the
    /// modulus. [`DriveError::Place`] for a place that does not exist. [`DriveError::Busy`] if the load unit is busy,
    /// if the array works on the place's set, or if the unload unit works on the place. [`DriveError::Answered`] if the
    /// hardware refuses the command.
    pub fn start_load(&mut self, at: Place, limb: &[u64]) -> Result<(), DriveError> {
        self.tables()?.check(limb)?;
        check_place(at)?;
        self.idle(Unit::Load, "LOAD")?;
        self.free(Unit::Array, at, false, "LOAD")?;
        self.free(Unit::Unload, at, true, "LOAD")?;
        // Checked: below a modulus of 32 bits.
        let words: Vec<u32> = limb.iter().map(|&x| x as u32).collect();
        self.driver.send(&words, true);
        let code = self.driver.start_load(at, self.slot)?;
        self.accepted("LOAD", code)
    }

    /// Starts an operation of the array of butterflies on a set of two polynomials. A transform works on the set's
    /// polynomial `buf`. A product, sum or difference works on both, with its result in polynomial 0, and ignores
    /// `buf`.
    ///
    /// # Errors
    /// [`DriveError::Busy`] if the array is busy, or if the load or the unload unit works on a limb of the set.
    /// [`DriveError::Refused`] without tables or limbs, or for two operands that were loaded with different table
    /// slots. [`DriveError::Place`] for a set or polynomial that does not exist; [`DriveError::Answered`] if the
    /// hardware refuses the command.
    pub fn start(&mut self, op: ArrayOp, set: usize, buf: usize) -> Result<(), DriveError> {
        let eval = false;
        let at = Place { set, buf, eval };
        check_place(at)?;
        self.idle(Unit::Array, op.name())?;
        self.free(Unit::Load, at, false, op.name())?;
        self.free(Unit::Unload, at, false, op.name())?;
        if op.forms().b.is_none() {
            self.limb(set, buf)?;
        } else if self.limb(set, 0)? != self.limb(set, 1)? {
            return Err(PolymulError::Mixed { set }.into());
        }
        let code = self.driver.start(op, set, buf)?;
        self.accepted(op.name(), code)
    }

    /// Starts to unload the limb at a place.
    ///
    /// # Errors
    /// [`DriveError::Busy`] if the unload unit is busy, if the array works on the place's set, or if the load unit
    /// works on the place. [`DriveError::Refused`] without tables or a limb. [`DriveError::Place`] for a place that
    /// does not exist; [`DriveError::Answered`] if the hardware refuses the command.
    pub fn start_unload(&mut self, at: Place) -> Result<(), DriveError> {
        check_place(at)?;
        self.idle(Unit::Unload, "UNLOAD")?;
        self.free(Unit::Array, at, false, "UNLOAD")?;
        self.free(Unit::Load, at, true, "UNLOAD")?;
        self.limb(at.set, at.buf)?;
        let code = self.driver.start_unload(at)?;
        self.accepted("UNLOAD", code)
    }

    /// Runs cycles until `unit` has a done bit that no caller has waited for, and returns the cycle of the oldest one.
    ///
    /// # Errors
    /// [`DriveError::Stream`] if the load unit ended with an error code; [`DriveError::NeverDone`] as for
    /// [`Driver::wait`].
    pub fn wait(&mut self, unit: Unit) -> Result<u64, DriveError> {
        let cycle = self.driver.wait(unit)?;
        if unit == Unit::Load && self.driver.load_code() != Code::Ok {
            return Err(DriveError::Stream {
                command: "LOAD or TABLES",
                code: self.driver.load_code(),
            });
        }
        Ok(cycle)
    }

    /// Loads tables into the selected table slot. Returns the cycles from the call to the command's done bit. The
    /// caller must have waited for the earlier commands of the load unit ([`Self::wait`]).
    ///
    /// # Errors
    /// The errors of [`Self::start_tables`] and [`Self::wait`].
    pub fn load_tables(&mut self, tables: &Arc<Tables>) -> Result<u64, DriveError> {
        let begin = self.driver.cycle();
        self.start_tables(tables)?;
        Ok(self.wait(Unit::Load)? - begin)
    }

    /// Loads a limb into a place. Returns the cycles from the call to the command's done bit. The caller must have
    /// waited for the earlier commands of the load unit ([`Self::wait`]).
    ///
    /// # Errors
    /// The errors of [`Self::start_load`] and [`Self::wait`].
    pub fn load(&mut self, at: Place, limb: &[u64]) -> Result<u64, DriveError> {
        let begin = self.driver.cycle();
        self.start_load(at, limb)?;
        Ok(self.wait(Unit::Load)? - begin)
    }

    /// Runs an operation of the array of butterflies. Returns the cycles from the call to the command's done bit.
    /// [`Driver::issues`] then tells in which of them the butterflies began an operation. The caller must have waited
    /// for the array's earlier commands ([`Self::wait`]).
    ///
    /// # Errors
    /// The errors of [`Self::start`] and [`Self::wait`].
    pub fn run(&mut self, op: ArrayOp, set: usize, buf: usize) -> Result<u64, DriveError> {
        let begin = self.driver.cycle();
        self.start(op, set, buf)?;
        Ok(self.wait(Unit::Array)? - begin)
    }

    /// Unloads the limb at a place. Returns the cycles from the call to the command's done bit, and the residues. The
    /// caller must have waited for earlier unloads ([`Self::wait`]) and taken their limbs ([`Self::take_limb`]).
    ///
    /// # Errors
    /// The errors of [`Self::start_unload`] and [`Self::wait`].
    pub fn unload(&mut self, at: Place) -> Result<(u64, Vec<u64>), DriveError> {
        let begin = self.driver.cycle();
        self.start_unload(at)?;
        let end = self.wait(Unit::Unload)?;
        Ok((end - begin, self.take_limb()?))
    }

    /// Removes the oldest limb that was unloaded completely, and returns its residues.
    ///
    /// # Errors
    /// [`DriveError::Missing`] if no such limb is left.
    pub fn take_limb(&mut self) -> Result<Vec<u64>, DriveError> {
        let words = self.driver.take_output();
        let words = words.ok_or_else(|| DriveError::Missing("no limb was unloaded".to_owned()))?;
        Ok(words.into_iter().map(u64::from).collect())
    }

    fn idle(&self, unit: Unit, command: &'static str) -> Result<(), DriveError> {
        if !self.driver.is_busy(unit)? {
            return Ok(());
        }
        Err(DriveError::Busy { unit, command })
    }

    /// Refuses a command on the limb at place `at` if the busy unit `unit` works on that limb.
    /// Without `limb_only` it also refuses if the unit works on the other limb of the place's set.
    fn free(
        &self,
        unit: Unit,
        at: Place,
        limb_only: bool,
        command: &'static str,
    ) -> Result<(), DriveError> {
        // Tables have no place.
        let held = self.driver.held(unit).filter(|held| held.op != Op::Tables);
        let taken = held.is_some_and(|h| h.at.set == at.set && (!limb_only || h.at.buf == at.buf));
        if taken {
            self.idle(unit, command)
        } else {
            Ok(())
        }
    }

    /// Returns the table slot with whose modulus the limb at a place was loaded. It is an error if the place has no
    /// limb, or if no table slot has tables.
    fn limb(&self, set: usize, buf: usize) -> Result<usize, PolymulError> {
        if (0..SLOTS).all(|slot| self.tables_of(slot).is_none()) {
            return Err(PolymulError::NoTables);
        }
        let slot = self.driver.limb_slot(set, buf);
        slot.ok_or(PolymulError::NoData { set, buf })
    }

    /// Ends a load whose stream was cut short. Words that are still queued for the load are dropped.
    ///
    /// # Errors
    /// The errors of the simulation; the hardware's refusal if no stream is in progress.
    pub fn abort(&mut self) -> Result<(), DriveError> {
        self.driver.drop_input();
        let code = self.driver.abort()?;
        self.accepted("ABORT", code)
    }

    /// Returns an error if the result code `code` says that the hardware refused a command. The
    /// words that were queued for the command are then dropped.
    fn accepted(&mut self, command: &'static str, code: Code) -> Result<(), DriveError> {
        if code == Code::Ok {
            return Ok(());
        }
        self.driver.drop_input();
        Err(DriveError::Answered { command, code })
    }
}

fn check_place(at: Place) -> Result<(), DriveError> {
    let Place { set, buf, .. } = at;
    if set < SETS && buf < 2 {
        return Ok(());
    }
    Err(DriveError::Place { set, buf })
}
