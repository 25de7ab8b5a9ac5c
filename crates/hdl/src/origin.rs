// SPDX-License-Identifier: Apache-2.0
//! Finds the RTL sources, the tools and the cache: those of a checkout, or of a package that is installed without one.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::cache::{Key, Scratch};
use crate::{HdlError, Sources, Tools};

/// The files of an installed package of Ringmill.
#[derive(Clone, Debug)]
pub struct Package {
    /// The name and the text of each source. Names are those of the checkout, with `/` (`rtl/lib/rm_copy.sv`).
    pub sources: &'static [(&'static str, &'static str)],
    /// The Python environment in which the package is installed. The package's extra `rtl` installs the tools there.
    pub environment: PathBuf,
}

static PACKAGE: OnceLock<Package> = OnceLock::new();

/// Sets the installed package whose files are used outside a checkout. Only the first call in a process has an effect.
pub fn install(package: Package) {
    let _ = PACKAGE.set(package);
}

/// Returns the RTL sources of the checkout at or above `start`, or of the installed package. No tools are needed.
///
/// # Errors
/// [`HdlError::NoWorkspace`] if there is neither a checkout nor a package; [`HdlError::NoCache`] if a package has no
/// cache directory to write its sources to; errors of reading and writing the files.
pub fn sources(start: &Path) -> Result<Sources, HdlError> {
    Origin::find(start)?.sources()
}

/// The folder of the RTL sources, relative to a checkout's root.
const RTL: &str = "rtl";
/// The folder of the RTL that follows designs of published papers, relative to a checkout's root.
/// This project's modules are compared with these designs.
const PEERS: &str = "crates/hdl/peers";

/// Where sources, tools and cache come from: a checkout or the installed package.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The root directory of the checkout.
    Checkout(PathBuf),
    Package(Package),
}

impl Origin {
    /// Finds the checkout at or above `start`, or else the installed package.
    ///
    /// # Errors
    /// [`HdlError::NoWorkspace`] if there is neither a checkout nor a package.
    pub fn find(start: &Path) -> Result<Self, HdlError> {
        let absolute = std::path::absolute(start).map_err(HdlError::io("resolve", start))?;
        let is_checkout =
            |dir: &&Path| dir.join("rtl/lib").is_dir() && dir.join("Cargo.toml").is_file();
        match absolute.ancestors().find(is_checkout) {
            Some(root) => Ok(Self::Checkout(root.to_owned())),
            None => match PACKAGE.get() {
                Some(package) => Ok(Self::Package(package.clone())),
                None => Err(HdlError::NoWorkspace(absolute)),
            },
        }
    }

    /// Returns the RTL sources of the checkout or, without one, of the installed package.
    pub fn sources(&self) -> Result<Sources, HdlError> {
        self.read(&[RTL])
    }

    /// Returns the RTL sources, and the designs of published papers with which this project's modules are compared.
    pub fn sources_with_peers(&self) -> Result<Sources, HdlError> {
        self.read(&[RTL, PEERS])
    }

    /// Returns the tools of `$RINGMILL_VENV`, of the checkout's `.venv`, or of the package's environment.
    pub fn tools(&self) -> Result<Tools, HdlError> {
        Tools::in_venv(&from_env("RINGMILL_VENV", || match self {
            Self::Checkout(root) => root.join(".venv"),
            Self::Package(package) => package.environment.clone(),
        }))
    }

    /// Returns the cache directory. For a checkout it is below `$CARGO_TARGET_DIR` or the checkout's `target`, for a
    /// package below the user's folder of caches. The models in it are code that is run, so the user must let nobody
    /// else write there. This is not checked.
    ///
    /// # Errors
    /// [`HdlError::NoCache`] if the user has no folder of caches.
    pub fn cache(&self) -> Result<PathBuf, HdlError> {
        match self {
            Self::Checkout(root) => {
                let target = from_env("CARGO_TARGET_DIR", || root.join("target"));
                Ok(target.join("hdl"))
            }
            Self::Package(_) => {
                // A relative path is ignored, as the specification of these folders asks.
                let named = |name| {
                    let path = PathBuf::from(std::env::var_os(name)?);
                    path.is_absolute().then_some(path)
                };
                let caches = named("XDG_CACHE_HOME");
                let caches = caches.or_else(|| Some(named("HOME")?.join(".cache")));
                Ok(caches.ok_or(HdlError::NoCache)?.join("ringmill/hdl"))
            }
        }
    }

    fn read(&self, folders: &[&str]) -> Result<Sources, HdlError> {
        let root = match self {
            Self::Checkout(root) => root.clone(),
            Self::Package(package) => written(package, &self.cache()?)?,
        };
        let roots: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
        Sources::read(&roots.iter().map(PathBuf::as_path).collect::<Vec<_>>())
    }
}

/// Writes the package's sources as files, since the tools read files, into a folder that is named by their hash. Files
/// that are missing or differ are written again. Returns the folder.
pub fn written(package: &Package, cache: &Path) -> Result<PathBuf, HdlError> {
    let mut key = Key::new("sources");
    for (name, text) in package.sources {
        key.texts([name, text]);
    }
    let root = cache.join(format!("sources-{}", key.hex()));
    let stale = |(name, text): &&(&str, &str)| {
        let there = std::fs::read_to_string(root.join(name));
        !there.is_ok_and(|there| there == *text)
    };
    let stale: Vec<_> = package.sources.iter().filter(stale).collect();
    if stale.is_empty() {
        return Ok(root);
    }
    let work = Scratch::new(cache)?;
    let part = work.0.join("source.sv");
    for (name, text) in stale {
        let path = root.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(HdlError::io("create", folder))?;
        }
        std::fs::write(&part, text).map_err(HdlError::io("write", &part))?;
        std::fs::rename(&part, &path).map_err(HdlError::io("write", &path))?;
    }
    Ok(root)
}

fn from_env(name: &str, default: impl FnOnce() -> PathBuf) -> PathBuf {
    std::env::var_os(name).map_or_else(default, PathBuf::from)
}
