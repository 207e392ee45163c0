//! Where KubeOpera connects to for the clusters of others.

use clap::Args;
use ipnet::IpNet;
use kube_kit::{KubeconfigOptions, OwnRanges};

use crate::browsers::range;

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct Targets {
    /// Range of addresses, such as 10.0.0.0/8, in which API servers of clusters have to be; may be given several times
    /// [default: anywhere but this machine, its cluster, and metadata services of clouds]
    #[arg(long, value_name = "CIDR", value_parser = range)]
    allowed_target_cidr: Vec<IpNet>,
}

impl Targets {
    /// Where kubeconfigs may lead for as long as this process runs. `own_ranges` are those of the cluster it is a Pod of.
    pub(crate) fn kubeconfigs(&self, own_ranges: Option<&'static OwnRanges>) -> KubeconfigOptions {
        let allowed_targets = self.allowed_target_cidr.clone().leak();
        KubeconfigOptions { allow_loopback: false, allowed_targets, own_ranges }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        targets: Targets,
    }

    #[test]
    fn a_target_is_an_address_or_a_range_and_there_may_be_several() {
        let parse = |words: &[&str]| CommandLine::try_parse_from([&["kubeopera"], words].concat());
        let allowed = |words: &[&str]| parse(words).ok().unwrap().targets.kubeconfigs(None).allowed_targets;

        let both = ["--allowed-target-cidr", "10.0.0.0/8", "--allowed-target-cidr", "2001:db8::7"];
        assert_eq!(
            allowed(&both).iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["10.0.0.0/8", "2001:db8::7/128"]
        );
        assert_eq!(allowed(&[]), []);
        for unusable in ["api.acme.com", "10.0.0.0/33", "::ffff:10.0.0.0/104"] {
            assert!(parse(&["--allowed-target-cidr", unusable]).is_err(), "{unusable}");
        }
    }
}
