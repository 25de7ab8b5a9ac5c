//! Machines that run programs whole, as their simulated RTL.

mod ring;
mod torus;

pub(crate) use ring::RingRtl;
pub(crate) use torus::TorusRtl;
