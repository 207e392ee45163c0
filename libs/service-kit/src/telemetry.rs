//! Logs: one line each to standard error, as text for people or JSON for machines.

use std::{fmt, str::FromStr};

use tracing_subscriber::{EnvFilter, fmt::writer::MakeWriter};

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people at a terminal.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl FromStr for LogFormat {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("the log format is either text or json".to_owned()),
        }
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Json => "json",
        })
    }
}

/// Starts logging for the whole process. `filter` is in the syntax of `RUST_LOG`, such as `info,kube=warn`.
///
/// A panic is logged with its place but without its text: the text may hold whatever the code was working on.
pub fn init(format: LogFormat, filter: &str) -> Result<(), String> {
    init_with(format, filter, std::io::stderr)
}

/// [`init`] with another place to write to.
pub fn init_with<W>(format: LogFormat, filter: &str, writer: W) -> Result<(), String>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::try_new(filter).map_err(|why| format!("the log filter cannot be understood: {why}"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init(),
    }
    .map_err(|why| format!("logging was started before: {why}"))?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(%place, "a part of KubeOpera panicked, which is a fault of KubeOpera");
    }));
    Ok(())
}
