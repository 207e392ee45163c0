//! Provider and region out of a node's `spec.providerID`.
//!
//! Cloud controllers write it; each cloud has its own form. The text is untrusted: whatever it holds, the answer is a
//! valid provider and region or none.

use vocabulary::{Provider, Region};

/// The provider a node's provider ID names, and its region where the ID tells it.
///
/// None for a node without a cloud behind it: no ID, or one that a local distribution wrote for want of a cloud. A cloud
/// that is not in the table is called by the scheme of its IDs.
pub fn provider_of(provider_id: &str) -> Option<(Provider, Option<Region>)> {
    // Oracle's cloud controller writes bare OCIDs.
    if provider_id.starts_with("ocid1.") {
        return Some((provider("oci")?, oracle_region(provider_id)));
    }
    let (scheme, rest) = provider_id.split_once("://")?;
    // `aws:///zone/instance` and `aws://zone/instance` are both found.
    let mut parts = rest.trim_start_matches('/').split('/');
    let first = parts.next().filter(|part| !part.is_empty());
    let second = parts.next();
    let (name, region) = match scheme {
        "aws" => (Provider::AWS, first.and_then(aws_region)),
        // gce://project/zone/instance
        "gce" => (Provider::GCP, second.and_then(google_region)),
        // The ID holds subscription and resource group, and no location.
        "azure" => ("azure", None),
        "hcloud" | "hrobot" => ("hetzner", None),
        "digitalocean" => ("digitalocean", None),
        // openstack://region/instance, or openstack:///instance where the cloud has one region.
        "openstack" => ("openstack", if rest.starts_with('/') { None } else { first.and_then(region) }),
        "vsphere" => ("vsphere", None),
        "linode" => ("linode", None),
        "oci" => ("oci", first.and_then(oracle_region)),
        "ibm" | "ibmcloud" | "ibmvpc" => ("ibm", None),
        // ibmpowervs://region/zone/service/instance
        "ibmpowervs" => ("ibm", first.and_then(region)),
        "equinixmetal" | "packet" => ("equinix", None),
        // scaleway://instance/zone/id
        "scaleway" => ("scaleway", second.and_then(scaleway_region)),
        "ovh" | "ovhcloud" => ("ovh", None),
        // alicloud://region.instance, or the bare `region.instance` of old, which no scheme tells apart.
        "alicloud" => ("alibaba", first.and_then(|id| region(id.split('.').next()?))),
        "vultr" => ("vultr", None),
        "exoscale" => ("exoscale", None),
        "upcloud" => ("upcloud", None),
        "kind" | "k3s" | "k3d" | "kwok" | "minikube" | "docker" | "local" => return None,
        other => return Some((provider(other)?, None)),
    };
    Some((provider(name)?, region))
}

fn provider(name: &str) -> Option<Provider> {
    name.to_ascii_lowercase().parse().ok()
}

/// A region as the label or ID spells it, in lower case.
pub(crate) fn region(text: &str) -> Option<Region> {
    text.to_ascii_lowercase().parse().ok()
}

/// `eu-north-1a` is in `eu-north-1`; so are the local zone `us-west-2-lax-1a` in `us-west-2` and the wavelength zone
/// `us-east-1-wl1-bos-wlz-1` in `us-east-1`: a region ends at its first number.
fn aws_region(zone: &str) -> Option<Region> {
    let mut parts = Vec::new();
    for part in zone.split('-') {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            parts.push(part);
            continue;
        }
        parts.push(part.get(..digits)?);
        return if parts.len() >= 3 { region(&parts.join("-")) } else { None };
    }
    None
}

/// `europe-west4-a` is in `europe-west4`.
fn google_region(zone: &str) -> Option<Region> {
    let (name, _) = zone.rsplit_once('-')?;
    if name.contains('-') && name.ends_with(|c: char| c.is_ascii_digit()) { region(name) } else { None }
}

/// `fr-par-1` is in `fr-par`.
fn scaleway_region(zone: &str) -> Option<Region> {
    let (name, number) = zone.rsplit_once('-')?;
    if name.contains('-') && number.bytes().all(|c| c.is_ascii_digit()) { region(name) } else { None }
}

/// `ocid1.instance.oc1.eu-frankfurt-1.…`; the four oldest regions are written as airport codes
/// (<https://docs.oracle.com/en-us/iaas/Content/General/Concepts/regions.htm>).
fn oracle_region(ocid: &str) -> Option<Region> {
    region(match ocid.split('.').nth(3)? {
        "iad" => "us-ashburn-1",
        "phx" => "us-phoenix-1",
        "fra" => "eu-frankfurt-1",
        "lhr" => "uk-london-1",
        other => other,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_cloud_is_known_by_its_own_form_of_provider_id() {
        for (id, provider, region) in [
            ("aws:///eu-north-1a/i-0abc1234def567890", "aws", Some("eu-north-1")),
            ("aws://eu-north-1a/i-0abc", "aws", Some("eu-north-1")),
            ("aws:///us-west-2-lax-1a/i-0abc", "aws", Some("us-west-2")),
            ("aws:///us-east-1-wl1-bos-wlz-1/i-0abc", "aws", Some("us-east-1")),
            ("aws:///us-gov-west-1b/i-0abc", "aws", Some("us-gov-west-1")),
            ("aws:///us-isob-east-1a/i-0abc", "aws", Some("us-isob-east-1")),
            ("aws:///cn-northwest-1c/i-0abc", "aws", Some("cn-northwest-1")),
            ("aws:///ap-southeast-2a/6d3b7d0c/fargate-ip-10-0-0-1.internal", "aws", Some("ap-southeast-2")),
            ("aws:///i-0abc", "aws", None),
            ("gce://my-project/europe-west4-a/gke-node-1", "gcp", Some("europe-west4")),
            ("gce://example.com:my-project/us-central1-ai1a/node", "gcp", Some("us-central1")),
            ("gce://my-project", "gcp", None),
            (
                "azure:///subscriptions/0/resourceGroups/mc_rg_westeurope/providers/Microsoft.Compute/virtualMachines/a",
                "azure",
                None,
            ),
            ("hcloud://1234567", "hetzner", None),
            ("hrobot://1234567", "hetzner", None),
            ("digitalocean://1234567", "digitalocean", None),
            ("openstack:///5e1c8b6a-0000", "openstack", None),
            ("openstack://RegionOne/5e1c8b6a-0000", "openstack", Some("regionone")),
            ("vsphere://4230e4e6-0000", "vsphere", None),
            ("linode://1234567", "linode", None),
            ("oci://ocid1.instance.oc1.eu-zurich-1.an5helj", "oci", Some("eu-zurich-1")),
            ("ocid1.instance.oc1.iad.anuwcljt", "oci", Some("us-ashburn-1")),
            ("ibm://a1b2c3///d4e5/kube-node", "ibm", None),
            ("ibmpowervs://lon/lon06/service/instance", "ibm", Some("lon")),
            ("equinixmetal://5e1c8b6a-0000", "equinix", None),
            ("scaleway://instance/fr-par-1/5e1c8b6a-0000", "scaleway", Some("fr-par")),
            ("alicloud://cn-hangzhou.i-abc", "alibaba", Some("cn-hangzhou")),
            ("nutanix://5e1c8b6a-0000", "nutanix", None),
            ("Nutanix://5e1c8b6a-0000", "nutanix", None),
        ] {
            let (found, place) = provider_of(id).unwrap();
            assert_eq!((found.as_str(), place.as_ref().map(Region::as_str)), (provider, region), "{id}");
        }
    }

    #[test]
    fn a_node_without_a_cloud_names_no_provider() {
        for id in [
            "",
            "kind://docker/kind/kind-control-plane",
            "k3s://server-1",
            "kwok://node-1",
            "nonsense",
            "://x",
            "a b://x",
            "-x-://y",
        ] {
            assert_eq!(provider_of(id), None, "{id}");
        }
    }

    proptest! {
        #[test]
        fn whatever_the_text_the_answer_is_valid_or_none(
            scheme in "aws|gce|azure|openstack|oci|scaleway|alicloud|[a-zA-Z0-9._-]{0,40}",
            rest in "\\PC{0,80}|[a-z0-9/.-]{0,80}",
        ) {
            for id in [format!("{scheme}://{rest}"), format!("ocid1.{rest}"), rest.clone()] {
                if let Some((provider, region)) = provider_of(&id) {
                    prop_assert!(provider.as_str().parse::<Provider>().is_ok());
                    prop_assert!(region.is_none_or(|region| region.as_str().parse::<Region>().is_ok()));
                }
            }
        }
    }
}
