//! The multiplier as a host uses it: refusals before the hardware, results with their cycles.

use std::sync::Arc;

use ringmill_machines::polymul::{ArrayOp, PolymulError, SETS, Shape, Tables};

use super::{Code, Dice, DriveError, Driver, Place, Unit};
use crate::{BuildOptions, Hdl, HdlError};

/// A simulated multiplier and the tables that it holds.
pub struct Multiplier {
    driver: Driver,
    /// The tables that were sent last, and the number of that table command.
    tables: Option<(Arc<Tables>, u64)>,
}

impl Multiplier {
    /// Builds the model of a shape (unless the cache has it) and resets it.
    ///
    /// # Errors
    /// What the tools refuse.
    pub fn new(hdl: &Hdl, shape: Shape, options: BuildOptions) -> Result<Self, HdlError> {
        Ok(Self {
            driver: Driver::new(hdl, shape, options)?,
            tables: None,
        })
    }

    pub fn shape(&self) -> Shape {
        self.driver.shape()
    }

    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The pins: what goes through here is not checked by the host, and tables that are loaded here are not known to it.
    pub fn driver_mut(&mut self) -> &mut Driver {
        &mut self.driver
    }

    /// The tables that the hardware has, where it took them from here.
    ///
    /// # Errors
    /// [`PolymulError::NoTables`].
    pub fn tables(&self) -> Result<&Arc<Tables>, PolymulError> {
        let (driver, known) = (&self.driver, self.tables.as_ref());
        let known = known.filter(|(_, load)| driver.has_tables() && *load == driver.table_loads());
        known
            .map(|(tables, _)| tables)
            .ok_or(PolymulError::NoTables)
    }

    /// From now on both streams stall at random, repeatably from this seed; or no more.
    pub fn stall(&mut self, seed: Option<u64>) {
        self.driver.stall(seed.map(Dice::new));
    }

    /// Starts to load tables.
    ///
    /// # Errors
    /// [`DriveError::Busy`] for a unit that is busy; [`DriveError::Refused`] for tables made for a larger machine; the hardware's own refusal.
    pub fn start_tables(&mut self, tables: &Arc<Tables>) -> Result<(), DriveError> {
        let degree = tables.degree();
        self.shape().degree(degree.n())?;
        for unit in Unit::ALL {
            self.idle(unit, "TABLES")?;
        }
        self.driver.send(&tables.words(self.shape()), true);
        let code = self.driver.start_tables(degree.log_n())?;
        self.accepted("TABLES", code)?;
        self.tables = Some((Arc::clone(tables), self.driver.table_loads()));
        Ok(())
    }

    /// Starts to load a limb.
    ///
    /// # Errors
    /// [`DriveError::Refused`] without tables, for a limb of another length or with a residue that is not reduced;
    /// [`DriveError::Busy`] where the load unit or the place is; the hardware's own refusal.
    pub fn start_load(&mut self, at: Place, limb: &[u64]) -> Result<(), DriveError> {
        self.tables()?.check(limb)?;
        check_place(at)?;
        self.idle(Unit::Load, "LOAD")?;
        self.free(Unit::Array, at, false, "LOAD")?;
        self.free(Unit::Unload, at, true, "LOAD")?;
        // Checked: below a modulus of 32 bits.
        let words: Vec<u32> = limb.iter().map(|&x| x as u32).collect();
        self.driver.send(&words, true);
        let code = self.driver.start_load(at)?;
        self.accepted("LOAD", code)
    }

    /// Starts the array on a set; a transform works on its polynomial `buf`, a product on both, its result in 0.
    ///
    /// # Errors
    /// [`DriveError::Refused`] without tables; [`DriveError::Busy`] where the array or a limb of the set is; the
    /// hardware's own refusal.
    pub fn start(&mut self, op: ArrayOp, set: usize, buf: usize) -> Result<(), DriveError> {
        self.tables()?;
        let eval = false;
        let at = Place { set, buf, eval };
        check_place(at)?;
        self.idle(Unit::Array, op.name())?;
        self.free(Unit::Load, at, false, op.name())?;
        self.free(Unit::Unload, at, false, op.name())?;
        let code = self.driver.start(op, set, buf)?;
        self.accepted(op.name(), code)
    }

    /// Starts to unload a limb.
    ///
    /// # Errors
    /// [`DriveError::Refused`] without tables; [`DriveError::Busy`] where the unload unit or the place is; the hardware's
    /// own refusal.
    pub fn start_unload(&mut self, at: Place) -> Result<(), DriveError> {
        self.tables()?;
        check_place(at)?;
        self.idle(Unit::Unload, "UNLOAD")?;
        self.free(Unit::Array, at, false, "UNLOAD")?;
        self.free(Unit::Load, at, true, "UNLOAD")?;
        let code = self.driver.start_unload(at)?;
        self.accepted("UNLOAD", code)
    }

    /// Ticks until `unit` is done; the cycle of its done bit.
    ///
    /// # Errors
    /// [`DriveError::Stream`] where the load unit ended with an error, [`DriveError::NeverDone`].
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

    /// Loads tables; cycles from the command's acceptance to its done bit, as below.
    ///
    /// # Errors
    /// Those of [`Self::start_tables`] and [`Self::wait`].
    pub fn load_tables(&mut self, tables: &Arc<Tables>) -> Result<u64, DriveError> {
        let begin = self.driver.cycle();
        self.start_tables(tables)?;
        Ok(self.wait(Unit::Load)? - begin)
    }

    /// Loads a limb; cycles.
    ///
    /// # Errors
    /// Those of [`Self::start_load`] and [`Self::wait`].
    pub fn load(&mut self, at: Place, limb: &[u64]) -> Result<u64, DriveError> {
        let begin = self.driver.cycle();
        self.start_load(at, limb)?;
        Ok(self.wait(Unit::Load)? - begin)
    }

    /// Runs the array; cycles. [`Driver::issues`] then tells in which of them it issued.
    ///
    /// # Errors
    /// Those of [`Self::start`] and [`Self::wait`].
    pub fn run(&mut self, op: ArrayOp, set: usize, buf: usize) -> Result<u64, DriveError> {
        let begin = self.driver.cycle();
        self.start(op, set, buf)?;
        Ok(self.wait(Unit::Array)? - begin)
    }

    /// Unloads a limb; cycles and residues.
    ///
    /// # Errors
    /// Those of [`Self::start_unload`] and [`Self::wait`].
    pub fn unload(&mut self, at: Place) -> Result<(u64, Vec<u64>), DriveError> {
        let begin = self.driver.cycle();
        self.start_unload(at)?;
        let end = self.wait(Unit::Unload)?;
        Ok((end - begin, self.take_limb()?))
    }

    /// The next limb that was unloaded whole.
    ///
    /// # Errors
    /// [`DriveError::Missing`] where none was.
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

    /// Refuses a place that a busy unit holds: the same limb, or all of its set.
    fn free(
        &self,
        unit: Unit,
        at: Place,
        limb_only: bool,
        command: &'static str,
    ) -> Result<(), DriveError> {
        // Tables are on no place and leave nobody any.
        let taken = self
            .driver
            .held(unit)
            .is_none_or(|held| held.set == at.set && (!limb_only || held.buf == at.buf));
        if taken {
            self.idle(unit, command)
        } else {
            Ok(())
        }
    }

    /// The hardware's refusal; what was to follow the command is not sent.
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
