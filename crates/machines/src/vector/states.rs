// SPDX-License-Identifier: Apache-2.0
//! A table of the vector machine's states between calls. Each is stored once and has a number.

use std::collections::HashMap;
use std::rc::Rc;

use super::clockwork::{Clockwork, Counting};

/// Three simulated machines that receive the same instructions and use the same places of the buffer. The first counts
/// all times. The second leaves out the time of distant memory and of instructions, as the BASALISC paper does. The
/// third counts all times with the program's limbs on one side (half of the channels) of distant memory. If the number
/// of channels is odd, the third uses all channels, as the first does.
pub type Clocks = [Clockwork; COUNTINGS.len()];

/// For each of the three simulated machines, whether it counts the time of distant memory and of instructions.
pub const COUNTINGS: [Counting; 3] = [Counting::WHOLE, Counting::PAPER, Counting::WHOLE];

/// All states between calls in which the simulated machines have been, each with a number.
#[derive(Default)]
pub struct States {
    all: Vec<Rc<Clocks>>,
    numbers: HashMap<Rc<Clocks>, u32>,
}

/// A state of the simulated machines between two calls. `number` identifies the state up to the numbers of the buffer's
/// places. `places` lists, each once, the places of the buffer to which results in the pipelines will be written. The
/// stored state names such a place by its index in this list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    pub number: u32,
    pub places: Vec<u32>,
}

impl State {
    /// Renumbers the places of the buffer: the place p gets the number `new[p]`.
    pub fn rename(&mut self, new: &[u32]) {
        for place in &mut self.places {
            *place = new.get(*place as usize).copied().unwrap_or(*place);
        }
    }
}

impl States {
    /// Returns the state of the simulated machines between two calls. A state that is new is added to the table.
    pub fn note(&mut self, clocks: &Clocks) -> State {
        let mut places: Vec<u32> = Vec::new();
        let rest = clocks.each_ref().map(|clock| {
            clock.at_rest(|place| {
                let known = places.iter().position(|&other| other == place);
                known.unwrap_or_else(|| {
                    places.push(place);
                    places.len() - 1
                }) as u32
            })
        });
        let number = match self.numbers.get(&rest) {
            Some(&number) => number,
            None => {
                let rest = Rc::new(rest);
                let number = self.all.len() as u32;
                self.all.push(Rc::clone(&rest));
                self.numbers.insert(rest, number);
                number
            }
        };
        State { number, places }
    }

    /// Returns running machines that continue from a state, with a buffer of `places` places, or `None` for an
    /// unknown state.
    pub fn awake(&self, state: &State, places: u32) -> Option<Clocks> {
        let rest = self.all.get(state.number as usize)?;
        let place = |name: u32| state.places.get(name as usize).copied().unwrap_or(name);
        Some(rest.each_ref().map(|clock| clock.awake(places, place)))
    }
}
