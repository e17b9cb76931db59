//! Who may add hooks: a hooks file that a project brings along runs only after its owner approved
//! exactly those bytes.
//!
//! Checking out a branch must not run its hooks. A [`Bundle`] is a hooks file together with the
//! scripts of the project that it names; a [`TrustStore`] remembers the digests of the bundles that
//! were approved, and their bytes, so that a change can be shown. Approval is for content: where
//! the project lies does not matter, and one changed byte, in the file or in a script, voids it, as
//! does a word that leads elsewhere.

pub(crate) mod bundle;
pub(crate) mod named;
mod permissions;
mod store;
mod written;

pub use bundle::{Bundle, BundleFile};
pub use permissions::{UnsafeFile, check_permissions};
pub use store::{Approval, Trust, TrustStore};
