//! Machines that run programs whole, as their simulated RTL.

mod ring;
mod torus;
mod vector;

pub(crate) use ring::RingRtl;
pub(crate) use torus::TorusRtl;
pub(crate) use vector::VectorRtl;
