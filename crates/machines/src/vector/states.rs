// SPDX-License-Identifier: Apache-2.0
//! The states of machines between calls, each kept once and known by a number.

use std::collections::HashMap;
use std::rc::Rc;

use super::clockwork::{Clockwork, Counting};

/// Machines that are sent the same instructions and share the buffer's places: with all times counted, by the paper's counting, and with
/// all times counted and the program's limbs on one side of distant memory.
pub type Clocks = [Clockwork; COUNTINGS.len()];

/// What each of them counts.
pub const COUNTINGS: [Counting; 3] = [Counting::WHOLE, Counting::PAPER, Counting::WHOLE];

/// All states that were met.
#[derive(Default)]
pub struct States {
    all: Vec<Rc<Clocks>>,
    numbers: HashMap<Rc<Clocks>, u32>,
}

/// A state: the number of what is equal but for the numbers of the buffer's places, and the places that things are on their way to, in
/// the order in which they are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    pub number: u32,
    pub places: Vec<u32>,
}

impl State {
    /// Renames the buffer's places: `new` is the new number of each.
    pub fn rename(&mut self, new: &[u32]) {
        for place in &mut self.places {
            *place = new.get(*place as usize).copied().unwrap_or(*place);
        }
    }
}

impl States {
    /// The state of machines, kept if it is new.
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

    /// The machines of a state at work, with a buffer of so many places; `None` for a state that was not met.
    pub fn awake(&self, state: &State, places: u32) -> Option<Clocks> {
        let rest = self.all.get(state.number as usize)?;
        let place = |name: u32| state.places.get(name as usize).copied().unwrap_or(name);
        Some(rest.each_ref().map(|clock| clock.awake(places, place)))
    }
}
