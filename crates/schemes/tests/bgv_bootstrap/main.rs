//! Bootstrapping of BGV, each step against its definition in the clear.

mod sets;
mod thin;
