// SPDX-License-Identifier: Apache-2.0
//! The host behind AXI4-Lite: reads and writes of registers, transfers and waits for events.

use ringmill_hdl::HdlError;
use ringmill_hdl::shell::Register;

use super::{Bus, OKAY};

/// The number of cycles, or of polls of a register, after which a wait panics: far more than any transfer here takes.
const PATIENCE: u64 = 20_000;
/// The distance between the address registers of a port and those of the next.
const PORT_REGISTERS: u64 = 0x20;

impl Bus {
    /// Waits for the answer to the host's write (`which` = 0) or read (1), and returns its value and response.
    fn answer(&mut self, which: usize) -> Result<(u64, u64), HdlError> {
        for _ in 0..PATIENCE {
            if let Some(answer) = self.answered[which].take() {
                let pins = [&self.sending[..2], &self.sending[2..]][which];
                assert!(
                    pins.iter().all(Option::is_none),
                    "answered before all was sent"
                );
                return Ok(answer);
            }
            self.tick()?;
        }
        panic!("no answer on AXI4-Lite in {PATIENCE} cycles");
    }

    fn pin(&mut self, name: &str, value: u64) -> Result<(), HdlError> {
        let port = self.model.input(name)?;
        self.model.set(port, value)
    }

    fn begin_write(&mut self, register: u64, value: u32, bytes: u64) -> Result<(), HdlError> {
        self.pin("s_awaddr_i", register)?;
        self.pin("s_wdata_i", value.into())?;
        self.pin("s_wstrb_i", bytes)?;
        (self.sending[0], self.sending[1]) = (Some(false), Some(false));
        Ok(())
    }

    fn begin_read(&mut self, register: u64) -> Result<(), HdlError> {
        self.pin("s_araddr_i", register)?;
        self.sending[2] = Some(false);
        Ok(())
    }

    /// Writes the bytes of a register that the mask `bytes` selects, and returns the response.
    pub fn write_bytes(&mut self, register: u64, value: u32, bytes: u64) -> Result<u64, HdlError> {
        self.begin_write(register, value, bytes)?;
        Ok(self.answer(0)?.1)
    }

    /// Writes some bytes of a register (register, value, mask) and reads another at the same time. Returns the response
    /// to the write and the value read.
    pub fn write_beside_read(
        &mut self,
        (register, value, bytes): (u64, u32, u64),
        read: u64,
    ) -> Result<(u64, u32), HdlError> {
        self.begin_write(register, value, bytes)?;
        self.begin_read(read)?;
        let (value, response) = self.answer(1)?;
        assert_eq!(response, OKAY, "read of {read:#x}");
        Ok((self.answer(0)?.1, value as u32))
    }

    /// Writes registers one after another, and sends each address and each value as soon as its channel is free.
    pub fn write_at_once(&mut self, writes: &[(u64, u32)]) -> Result<(), HdlError> {
        let (mut named, mut given, mut answers) = (0, 0, 0);
        while answers < writes.len() {
            if let (None, Some(&(register, _))) = (self.sending[0], writes.get(named)) {
                self.pin("s_awaddr_i", register)?;
                self.sending[0] = Some(false);
                named += 1;
            }
            if let (None, Some(&(_, value))) = (self.sending[1], writes.get(given)) {
                self.pin("s_wdata_i", value.into())?;
                self.pin("s_wstrb_i", 0xf)?;
                self.sending[1] = Some(false);
                given += 1;
            }
            self.tick()?;
            if let Some((_, response)) = self.answered[0].take() {
                assert_eq!(response, OKAY);
                answers += 1;
            }
        }
        Ok(())
    }

    /// Writes a register and returns the response.
    pub fn try_write(&mut self, register: u64, value: u32) -> Result<u64, HdlError> {
        self.write_bytes(register, value, 0xf)
    }

    pub fn write(&mut self, register: u64, value: u32) -> Result<(), HdlError> {
        let response = self.try_write(register, value)?;
        assert_eq!(response, OKAY, "write of {value:#x} to {register:#x}");
        Ok(())
    }

    /// Reads a register and returns the value and the response.
    pub fn try_read(&mut self, register: u64) -> Result<(u32, u64), HdlError> {
        self.begin_read(register)?;
        let (data, response) = self.answer(1)?;
        Ok((data as u32, response))
    }

    pub fn read(&mut self, register: u64) -> Result<u32, HdlError> {
        let (value, response) = self.try_read(register)?;
        assert_eq!(response, OKAY, "read of {register:#x}");
        Ok(value)
    }

    /// Starts a transfer of `beats` beats at every port, from or to `address`. `which` is the register block, [`READ`]
    /// or [`WRITE`].
    pub fn transfer(&mut self, which: u64, address: u64, beats: usize) -> Result<(), HdlError> {
        for port in 0..self.ports() {
            let register = which + PORT_REGISTERS * port as u64;
            let address = self.at_port(address, port);
            self.write(register, address as u32)?;
            self.write(register + 4, (address >> 32) as u32)?;
        }
        self.write(which + 8, beats as u32)
    }

    /// Polls the event register until one of `events` has come. Clears those of them that came and returns them.
    pub fn wait(&mut self, events: u32) -> Result<u32, HdlError> {
        for _ in 0..PATIENCE {
            let found = self.read(EVENTS)? & events;
            if found != 0 {
                self.write(EVENTS, found)?;
                return Ok(found);
            }
        }
        panic!("none of the events {events:#x} in {PATIENCE} reads");
    }
}

pub const COMMAND: u64 = Register::Command.bits();
pub const ANSWER: u64 = Register::Answer.bits();
pub const BUSY: u64 = Register::Busy.bits();
pub const EVENTS: u64 = Register::Events.bits();
pub const ENABLE: u64 = Register::Enable.bits();
pub const END: u64 = Register::End.bits();
pub const CYCLES: u64 = Register::Cycles.bits();
pub const COUNT: u64 = Register::Count.bits();
pub const READ: u64 = Register::Read.bits();
pub const WRITE: u64 = Register::Write.bits();
