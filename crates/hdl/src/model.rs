// SPDX-License-Identifier: Apache-2.0
//! Runs a simulation model: a safe interface to the shared object that the module `build` makes.

#![allow(unsafe_code)] // a model is foreign code

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use libloading::Library;

use crate::HdlError;
use crate::header::Port;

/// A handle of an input port of one model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct In(u32);

/// A handle of an output port of one model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Out(u32);

/// The functions of `harness.cpp`, which step a simulation and move values over its ports. They
/// were looked up in the shared object, which `Model` keeps loaded.
#[derive(Clone, Copy)]
struct Api {
    create: unsafe extern "C" fn(c_int) -> *mut c_void,
    usable: unsafe extern "C" fn(*mut c_void) -> c_int,
    message: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    destroy: unsafe extern "C" fn(*mut c_void),
    set: unsafe extern "C" fn(*mut c_void, u32, *const u32) -> c_int,
    get: unsafe extern "C" fn(*mut c_void, u32, *mut u32) -> c_int,
    poke: unsafe extern "C" fn(*mut c_void, *const c_char, u32, *const u32, u32) -> c_int,
    eval: unsafe extern "C" fn(*mut c_void) -> c_int,
    step: unsafe extern "C" fn(*mut c_void, u64) -> c_int,
    waves: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int,
    waves_close: unsafe extern "C" fn(*mut c_void) -> c_int,
}

/// A running simulation of one RTL module.
///
/// Inputs keep their value until they are set again. [`Model::step`] makes rising edges of `clk_i`, at which registers
/// take the inputs that were set before. Outputs that are read afterwards are those between this edge and the next.
pub struct Model {
    handle: NonNull<c_void>,
    api: Api,
    ports: Vec<Port>,
    cycle: u64,
    path: PathBuf,
    // The last field is dropped last: the loaded code must outlive every call of a function in `api`.
    _library: Library,
}

/// Returns the number of 32-bit words for a port of `width` bits, at least two.
fn words(width: u32) -> usize {
    (width.div_ceil(32) as usize).max(2)
}

impl Model {
    pub(crate) fn load(path: &Path) -> Result<Self, HdlError> {
        let failed = |message: String| HdlError::Load {
            path: path.to_owned(),
            message,
        };
        // SAFETY: the object was built by `build` from the harness; its initialisers only set up C++ statics.
        let library = unsafe { Library::new(path) }.map_err(|e| failed(e.to_string()))?;
        // SAFETY: each type below is that of the function of this name in harness.cpp.
        let (api, port_count, port) = unsafe { symbols(&library) }.map_err(failed)?;
        // SAFETY: takes nothing, returns a number.
        let count = unsafe { port_count() };
        let mut ports = Vec::new();
        for index in 0..count {
            let (mut name, mut width, mut input) = (std::ptr::null(), 0, 0);
            // SAFETY: index < count, and the three places are written by the callee only.
            let bad = unsafe { port(index, &mut name, &mut width, &mut input) };
            if bad != 0 || name.is_null() {
                return Err(failed(format!("port {index} of {count} is not described")));
            }
            // SAFETY: a string literal of the loaded object.
            let name = unsafe { CStr::from_ptr(name) };
            ports.push(Port {
                name: name.to_string_lossy().into_owned(),
                width,
                input: input != 0,
            });
        }
        let handle = create(api, 1)?;
        Ok(Self {
            handle,
            api,
            ports,
            cycle: 0,
            path: path.to_owned(),
            _library: library,
        })
    }

    /// Restarts the simulation from cycle 0, with registers and memories at random values drawn from the lower 30 bits
    /// of `seed`. Only a memory that the sources initialise starts with its own values. The call also ends the VCD file
    /// that [`Self::waves`] has begun. The input ports have random values too, until they are set.
    ///
    /// # Errors
    /// [`HdlError::Simulation`] if the simulation cannot start; it then goes on as before.
    pub fn restart(&mut self, seed: u32) -> Result<(), HdlError> {
        // Verilator wants a positive seed; 0 would mean one from the clock.
        let fresh = create(self.api, (seed & 0x3fff_ffff) as c_int + 1)?;
        let old = std::mem::replace(&mut self.handle, fresh);
        // SAFETY: `old` came from `create` and is no longer reachable.
        unsafe { (self.api.destroy)(old.as_ptr()) };
        self.cycle = 0;
        Ok(())
    }

    /// Returns the handle of the input port with this name.
    ///
    /// # Errors
    /// [`HdlError::UnknownPort`] if the module has no such input.
    pub fn input(&self, name: &str) -> Result<In, HdlError> {
        self.find(name, true).map(In)
    }

    /// Returns the handle of the output port with this name.
    ///
    /// # Errors
    /// [`HdlError::UnknownPort`] if the module has no such output.
    pub fn output(&self, name: &str) -> Result<Out, HdlError> {
        self.find(name, false).map(Out)
    }

    /// Returns whether the module has an input port with this name.
    pub fn has_input(&self, name: &str) -> bool {
        self.find(name, true).is_ok()
    }

    /// Sets an input port from a 64-bit number. The bits of a wider port above the 64th become 0.
    ///
    /// # Errors
    /// [`HdlError::PortWidth`] if the number does not fit the port; [`HdlError::UnknownPort`] if the module has no such
    /// port.
    pub fn set(&mut self, port: In, value: u64) -> Result<(), HdlError> {
        self.set_words(port, &[value as u32, (value >> 32) as u32])
    }

    /// Sets an input port from 32-bit words, lowest first. Missing words are 0.
    ///
    /// # Errors
    /// [`HdlError::PortWidth`] if the words do not fit the port; [`HdlError::UnknownPort`] if the module has no such
    /// port.
    pub fn set_words(&mut self, port: In, value: &[u32]) -> Result<(), HdlError> {
        let width = self.port(port.0, true)?.width;
        let too_wide = value.iter().enumerate().any(|(i, &word)| {
            let room = u64::from(width).saturating_sub(32 * i as u64).min(32);
            u64::from(word) >> room != 0
        });
        if too_wide {
            return Err(HdlError::PortWidth {
                port: self.port(port.0, true)?.name.clone(),
                width,
                got: format!("{value:x?} (words, lowest first)"),
            });
        }
        // A wide port keeps its words on the stack up to 2048 bits.
        let mut small = [0u32; 64];
        let mut large = Vec::new();
        let count = words(width);
        let buffer = if count <= small.len() {
            &mut small[..count]
        } else {
            large.resize(count, 0);
            &mut large[..]
        };
        let used = value.len().min(count);
        buffer[..used].copy_from_slice(&value[..used]);
        // SAFETY: the index is of this model's table, and `buffer` has the words of that port.
        unsafe { (self.api.set)(self.handle.as_ptr(), port.0, buffer.as_ptr()) };
        Ok(())
    }

    /// Reads an output port of at most 64 bits, as the last [`Self::eval`] or [`Self::step`] left it.
    ///
    /// # Errors
    /// [`HdlError::PortWidth`] for a wider port; [`HdlError::UnknownPort`] if the module has no such port.
    pub fn get(&self, port: Out) -> Result<u64, HdlError> {
        let described = self.port(port.0, false)?;
        if described.width > 64 {
            return Err(HdlError::PortWidth {
                port: described.name.clone(),
                width: described.width,
                got: "a 64-bit read".to_owned(),
            });
        }
        let mut value = [0u32; 2];
        // SAFETY: the index is of this model's table, and two words hold 64 bits.
        unsafe { (self.api.get)(self.handle.as_ptr(), port.0, value.as_mut_ptr()) };
        Ok(u64::from(value[0]) | u64::from(value[1]) << 32)
    }

    /// Reads an output port as 32-bit words, lowest first, as the last [`Self::eval`] or [`Self::step`] left it.
    ///
    /// # Errors
    /// [`HdlError::UnknownPort`] if the module has no such port.
    pub fn get_words(&self, port: Out) -> Result<Vec<u32>, HdlError> {
        let width = self.port(port.0, false)?.width;
        let mut value = vec![0u32; words(width)];
        // SAFETY: the index is of this model's table, and `value` has the words of that port.
        unsafe { (self.api.get)(self.handle.as_ptr(), port.0, value.as_mut_ptr()) };
        value.truncate(width.div_ceil(32) as usize);
        Ok(value)
    }

    /// Writes the entry `at` of the memory (`rm_ram_1r1w`) of an instance, from 32-bit words, lowest first. Missing
    /// words are 0. The caller must leave bits above the memory's width 0. `instance` is the path of the instance below
    /// the top module, in the names that the sources give. The model must have been built with
    /// [`crate::BuildOptions::open`].
    ///
    /// # Errors
    /// [`HdlError::Simulation`] if the model has no such memory or entry, or was built without open memories.
    pub fn poke(&mut self, instance: &str, at: u32, words: &[u32]) -> Result<(), HdlError> {
        let missing = || HdlError::Simulation(format!("no memory {instance} with an entry {at}"));
        let scope = CString::new(format!("top.{instance}")).map_err(|_| missing())?;
        // SAFETY: the handle is live; the text ends with a zero; the callee reads `words` no farther than its length.
        let status = unsafe {
            (self.api.poke)(
                self.handle.as_ptr(),
                scope.as_ptr(),
                at,
                words.as_ptr(),
                words.len() as u32,
            )
        };
        if status == 0 { Ok(()) } else { Err(missing()) }
    }

    /// Evaluates combinational logic for the present inputs, without a clock edge.
    ///
    /// # Errors
    /// [`HdlError::Simulation`] if the RTL stops the simulation, for example by a failed assertion.
    pub fn eval(&mut self) -> Result<(), HdlError> {
        // SAFETY: the handle is live.
        let status = unsafe { (self.api.eval)(self.handle.as_ptr()) };
        self.check(status)
    }

    /// Runs the simulation for `cycles` rising edges of the clock `clk_i`.
    ///
    /// # Errors
    /// [`HdlError::Simulation`] if the RTL stops the simulation, for example by a failed assertion.
    pub fn step(&mut self, cycles: u64) -> Result<(), HdlError> {
        // SAFETY: the handle is live.
        let status = unsafe { (self.api.step)(self.handle.as_ptr(), cycles) };
        self.check(status)?;
        self.cycle += cycles;
        Ok(())
    }

    /// Resets the model, if the module has a reset: sets `rst_ni` to 0 for two clock cycles. The count of cycles begins
    /// at 0 again.
    ///
    /// # Errors
    /// The errors of [`Self::step`].
    pub fn reset(&mut self) -> Result<(), HdlError> {
        if self.has_input("rst_ni") {
            let reset = self.input("rst_ni")?;
            // It falls before the first edge, so that no edge sees the random values of registers.
            self.set(reset, 1)?;
            self.eval()?;
            self.set(reset, 0)?;
            self.eval()?;
            self.step(2)?;
            self.set(reset, 1)?;
            self.eval()?;
        }
        self.cycle = 0;
        Ok(())
    }

    /// Returns the number of clock cycles since the last reset, or since the start.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Writes every signal from now on to a VCD file. The model must have been built with
    /// [`crate::BuildOptions::waves`].
    ///
    /// # Errors
    /// [`HdlError::Waves`] if the file cannot be written, if the model was built without waves, or if a file was begun
    /// since the start.
    pub fn waves(&mut self, path: &Path) -> Result<(), HdlError> {
        let failed = |message: String| HdlError::Waves {
            path: path.to_owned(),
            message,
        };
        // Reports a bad directory in the system's own words.
        std::fs::File::create(path).map_err(|e| failed(e.to_string()))?;
        let text = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| failed("the path has a zero byte".to_owned()))?;
        // SAFETY: the handle is live; the text ends with a zero.
        if unsafe { (self.api.waves)(self.handle.as_ptr(), text.as_ptr()) } != 0 {
            return Err(failed(message(self.api, self.handle)));
        }
        Ok(())
    }

    /// Completes the VCD file that [`Self::waves`] has begun.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn waves_close(&mut self) -> Result<(), HdlError> {
        // SAFETY: the handle is live.
        let status = unsafe { (self.api.waves_close)(self.handle.as_ptr()) };
        self.check(status)
    }

    fn check(&self, status: c_int) -> Result<(), HdlError> {
        if status == 0 {
            return Ok(());
        }
        Err(HdlError::Simulation(message(self.api, self.handle)))
    }

    fn find(&self, name: &str, input: bool) -> Result<u32, HdlError> {
        let found = self
            .ports
            .iter()
            .position(|p| p.input == input && p.name == name);
        found
            .and_then(|index| u32::try_from(index).ok())
            .ok_or_else(|| HdlError::UnknownPort {
                direction: if input { "input" } else { "output" },
                name: name.to_owned(),
                known: self
                    .ports
                    .iter()
                    .filter(|p| p.input == input)
                    .map(|p| p.name.as_str())
                    .collect::<Vec<_>>()
                    .join(" "),
            })
    }

    /// Returns the port of a handle, or an error if this model has no port with the handle's number and direction. A
    /// handle of another model is only noticed in that case.
    fn port(&self, index: u32, input: bool) -> Result<&Port, HdlError> {
        self.ports
            .get(index as usize)
            .filter(|p| p.input == input)
            .ok_or_else(|| HdlError::UnknownPort {
                direction: if input { "input" } else { "output" },
                name: format!("number {index}"),
                known: "handles made by this model".to_owned(),
            })
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("path", &self.path)
            .field("ports", &self.ports)
            .field("cycle", &self.cycle)
            .finish()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: the handle came from `create` and nothing uses it after this.
        unsafe { (self.api.destroy)(self.handle.as_ptr()) };
    }
}

/// Starts a simulation and returns its handle, or the error of the start, such as a missing table file.
fn create(api: Api, seed: c_int) -> Result<NonNull<c_void>, HdlError> {
    // SAFETY: takes a number; returns an owned handle.
    let handle = NonNull::new(unsafe { (api.create)(seed) })
        .ok_or_else(|| HdlError::Simulation("no memory for the model".to_owned()))?;
    // SAFETY: the handle is live.
    if unsafe { (api.usable)(handle.as_ptr()) } == 0 {
        let text = message(api, handle);
        // SAFETY: the handle is live and dropped here.
        unsafe { (api.destroy)(handle.as_ptr()) };
        return Err(HdlError::Simulation(text));
    }
    Ok(handle)
}

fn message(api: Api, handle: NonNull<c_void>) -> String {
    // SAFETY: the handle is live; the text ends with a zero and is copied before the next call.
    let text = unsafe { CStr::from_ptr((api.message)(handle.as_ptr())) };
    text.to_string_lossy().into_owned()
}

type PortCount = unsafe extern "C" fn() -> u32;
type PortAt = unsafe extern "C" fn(u32, *mut *const c_char, *mut u32, *mut u32) -> c_int;

/// Finds in a loaded shared object the functions with which the harness drives the simulation and lists its ports.
///
/// # Safety
/// `library` must be a shared object that was built from `harness.cpp`. The returned functions must not be called after
/// `library` is dropped.
unsafe fn symbols(library: &Library) -> Result<(Api, PortCount, PortAt), String> {
    macro_rules! symbol {
        ($name:literal) => {
            // SAFETY: the field or return type it goes to is the function's; the caller vouches for the library.
            *unsafe { library.get($name) }.map_err(|e| e.to_string())?
        };
    }
    let api = Api {
        create: symbol!(b"rm_create\0"),
        usable: symbol!(b"rm_usable\0"),
        message: symbol!(b"rm_message\0"),
        destroy: symbol!(b"rm_destroy\0"),
        set: symbol!(b"rm_set\0"),
        get: symbol!(b"rm_get\0"),
        poke: symbol!(b"rm_poke\0"),
        eval: symbol!(b"rm_eval\0"),
        step: symbol!(b"rm_step\0"),
        waves: symbol!(b"rm_waves\0"),
        waves_close: symbol!(b"rm_waves_close\0"),
    };
    Ok((api, symbol!(b"rm_port_count\0"), symbol!(b"rm_port\0")))
}
