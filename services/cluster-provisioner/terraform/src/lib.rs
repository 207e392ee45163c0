//! What Terraform is given and what it says, without Terraform: the modules, the one file with all values, the lines of
//! `-json` as progress in words, and its errors as troubles that say what to change.
//!
//! The modules are plain text that never changes from cluster to cluster. Every value is in `terraform.tfvars.json`, where
//! Terraform takes a text for what it is: in a module, or in JSON that is a module, `${…}` within a text would be run.

mod configuration;
mod diagnosis;
mod modules;
mod progress;
mod say;
mod state;

pub use configuration::{Access, Configuration, VARIABLES_FILE, cloud_name};
pub use diagnosis::trouble;
pub use modules::{MODULES, ModuleFile, digest};
pub use progress::{Progress, Purpose, words_of};
pub use say::{Change, Diagnostic, Said};
pub use state::{InState, resources};
