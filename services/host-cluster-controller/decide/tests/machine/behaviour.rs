//! behaviour
