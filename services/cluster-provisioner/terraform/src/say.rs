//! The lines that `terraform -json` writes, as far as they mean something here.

use serde::Deserialize;
use serde_json::Value;

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A resource is going to be changed.
    Planned {
        /// Type of the resource, such as `aws_vpc`.
        kind: String,
        /// What is going to happen to it.
        change: Change,
        /// Whether that is because an earlier run left it unfinished.
        is_unfinished: bool,
    },
    /// Work on a resource begins.
    Begun {
        /// Its address, such as `module.network.aws_vpc.this`.
        address: String,
        /// Its type.
        kind: String,
    },
    /// It is done.
    Done {
        /// Its address.
        address: String,
    },
    /// It did not succeed.
    Failed {
        /// Its address.
        address: String,
    },
    /// Something for people.
    Diagnostic(Diagnostic),
    /// Nothing of this.
    Else,
}

/// What is going to happen to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is made.
    Create,
    /// It is changed in place.
    Update,
    /// It is deleted and made anew.
    Replace,
    /// It is deleted.
    Delete,
}

/// An error or a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it is an error.
    pub is_error: bool,
    /// What happened.
    pub summary: String,
    /// More about it.
    pub detail: String,
    /// Type of the resource it is about.
    pub kind: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    type_: String,
    #[serde(default)]
    change: Option<PlannedChange>,
    #[serde(default)]
    hook: Option<Hook>,
    #[serde(default)]
    diagnostic: Option<Value>,
}

#[derive(Deserialize)]
struct PlannedChange {
    resource: Resource,
    action: String,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Hook {
    resource: Resource,
    #[serde(default)]
    action: String,
}

#[derive(Deserialize)]
struct Resource {
    addr: String,
    resource_type: String,
}

impl Said {
    /// Reads a line. One that is no JSON says nothing here.
    pub fn of(line: &str) -> Self {
        let Ok(line) = serde_json::from_str::<Line>(line) else { return Self::Else };
        match (line.type_.as_str(), line.change, line.hook, line.diagnostic) {
            ("planned_change", Some(planned), _, _) => {
                let change = match planned.action.as_str() {
                    "create" => Change::Create,
                    "update" => Change::Update,
                    "replace" => Change::Replace,
                    "delete" | "remove" => Change::Delete,
                    _ => return Self::Else,
                };
                let is_unfinished = planned.reason.as_deref() == Some("tainted");
                Self::Planned { kind: planned.resource.resource_type, change, is_unfinished }
            }
            // What is only read is no work on the way.
            ("apply_start" | "apply_complete" | "apply_errored", _, Some(hook), _) if hook.action == "read" => {
                Self::Else
            }
            ("apply_start", _, Some(hook), _) => {
                Self::Begun { address: hook.resource.addr, kind: hook.resource.resource_type }
            }
            ("apply_complete", _, Some(hook), _) => Self::Done { address: hook.resource.addr },
            ("apply_errored", _, Some(hook), _) => Self::Failed { address: hook.resource.addr },
            ("diagnostic", _, _, Some(said)) => Self::Diagnostic(Diagnostic::of(&said)),
            _ => Self::Else,
        }
    }
}

impl Diagnostic {
    /// Of what Terraform says: not the snippet, which quotes lines of files with values.
    fn of(said: &Value) -> Self {
        let text = |field: &str| said.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let address = text("address");
        let kind = address.rsplit('.').nth(1).filter(|kind| kind.contains('_')).map(str::to_owned);
        Self { is_error: text("severity") == "error", summary: text("summary"), detail: text("detail"), kind }
    }
}
