//! Storage on AWS: EBS volumes. On EKS the driver's rights come from Pod Identity, on kubeadm from the instance profile.

use gitops_scaffolder_contract::Origin;
use serde_json::json;

use super::{Chart, ChartSource, Component, Installation, Namespace, Release};
use crate::{cluster::Cluster, layer::Layer};

const NAME: &str = "aws-ebs-csi-driver";
const PURPOSE: &str = "storage";

pub(super) fn component(cluster: &Cluster) -> Component {
    match cluster.origin {
        // GKE brings its own; on a cluster that existed, rights to make volumes are not ours to assume.
        Origin::Existing | Origin::Gke => return Component::not_needed(NAME, PURPOSE),
        Origin::Kubeadm | Origin::Eks => {}
    }
    let values = json!({
        "controller": {
            "region": cluster.region.as_str(),
            "replicaCount": cluster.replicas(),
            "resources": cluster.resources(10, 48, 256),
        },
        "imagePullSecrets": cluster.pull_secret_names(),
        "node": { "enableWindows": false },
        "storageClasses": [{
            "name": "gp3",
            "annotations": { "storageclass.kubernetes.io/is-default-class": "true" },
            "allowVolumeExpansion": true,
            "parameters": { "type": "gp3", "encrypted": "true" },
            // A released volume is kept: it may be the database's last copy.
            "reclaimPolicy": "Retain",
            "volumeBindingMode": "WaitForFirstConsumer",
        }],
    });
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Controllers,
            namespace: Namespace::KUBE_SYSTEM,
            release: Some(Release {
                chart: Chart {
                    source: ChartSource::Repository {
                        url: "https://kubernetes-sigs.github.io/aws-ebs-csi-driver",
                        chart: NAME,
                    },
                    version: "2.64.0",
                },
                values,
                images: &[
                    "public.ecr.aws/csi-components/csi-attacher",
                    "public.ecr.aws/csi-components/csi-node-driver-registrar",
                    "public.ecr.aws/csi-components/csi-provisioner",
                    "public.ecr.aws/csi-components/csi-resizer",
                    "public.ecr.aws/csi-components/csi-snapshotter",
                    "public.ecr.aws/csi-components/livenessprobe",
                    "public.ecr.aws/csi-components/volume-modifier-for-k8s",
                    "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver",
                ],
            }),
            objects: Vec::new(),
        },
    )
}
