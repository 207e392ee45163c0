//! What `kubeopera up` says on the terminal. Everything else goes to the log.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the one place that talks to the terminal")]

use std::io::{self, Write};

use vocabulary::Secret;

/// Where KubeOpera is and what to do next.
pub(crate) struct Welcome<'a> {
    /// Address of the dashboard.
    pub(crate) dashboard: &'a str,
    /// The cluster, in words.
    pub(crate) cluster: &'a str,
    /// Address of the Git repository.
    pub(crate) repository: &'a str,
    /// What to put behind `kubectl` to reach the cluster, such as ` --context kind`.
    pub(crate) kubectl: &'a str,
    /// Where data is kept.
    pub(crate) data: &'a str,
}

impl Welcome<'_> {
    /// Greets; name and password of the first administrator are shown if it is being made just now.
    pub(crate) fn greet(&self, first_administrator: Option<(&str, &Secret)>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        self.write(&mut out, first_administrator)?;
        out.flush()
    }

    fn write(&self, out: &mut impl Write, first_administrator: Option<(&str, &Secret)>) -> io::Result<()> {
        let Self { dashboard, cluster, repository, kubectl, data } = self;
        writeln!(out, "\nKubeOpera is running.\n")?;
        writeln!(out, "  Dashboard    {dashboard}")?;
        if let Some((username, password)) = first_administrator {
            writeln!(out, "  User name    {username}")?;
            writeln!(out, "  Password     {}   (shown this once; choose your own when you log in)", password.reveal())?;
        }
        writeln!(out, "  Cluster      {cluster}")?;
        writeln!(out, "  Git          {repository}")?;
        writeln!(out, "  Data         {data}\n")?;
        writeln!(out, "Next: open the dashboard, log in and choose Register This Cluster. To follow along:\n")?;
        writeln!(out, "  kubectl{kubectl} get hostcluster -n kubeopera-system -w\n")?;
        writeln!(out, "Ctrl-C stops KubeOpera; the next start continues where it was.")
    }
}

/// One line about what is being done now.
pub(crate) fn step(text: &str) {
    println!("» {text}");
}

/// Why KubeOpera stops.
pub(crate) fn complain(text: &str) {
    eprintln!("kubeopera: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(first_administrator: Option<(&str, &Secret)>) -> String {
        let mut out = Vec::new();
        let welcome = Welcome {
            dashboard: "http://127.0.0.1:7070",
            cluster: "context one",
            repository: "http://10.0.0.1:7071/gitops.git",
            kubectl: " --context one",
            data: "/data",
        };
        welcome.write(&mut out, first_administrator).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_first_password_is_shown_with_the_name_that_goes_with_it() {
        let text = greeting(Some(("admin", &Secret::new("s3cret"))));

        assert!(text.contains("User name    admin") && text.contains("Password     s3cret"), "{text}");
    }

    #[test]
    fn a_later_start_says_nothing_of_passwords_but_still_what_to_do_next() {
        let text = greeting(None);

        assert!(!text.contains("Password"), "{text}");
        assert!(text.contains("kubectl --context one get hostcluster -n kubeopera-system -w"), "{text}");
    }
}
