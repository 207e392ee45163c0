//! What a pod requests, as the scheduler counts it.

use k8s_monitor_contract::Resources;

/// What a pod's spec asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct PodRequests<'a> {
    /// Of its containers.
    pub containers: &'a [Resources],
    /// Of its init containers in order, and whether each is a sidecar (`restartPolicy: Always`).
    pub init_containers: &'a [(Resources, bool)],
    /// `spec.overhead`.
    pub overhead: Resources,
    /// CPU of `spec.resources.requests`, which stands in place of the containers'.
    pub pod_millicores: Option<u64>,
    /// Memory of `spec.resources.requests`, which stands in place of the containers'.
    pub pod_bytes: Option<u64>,
}

/// The most a pod needs at any time of its life: containers and sidecars together, or an init container and the sidecars
/// started before it, whichever is more; and the overhead.
/// <https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers>
pub fn effective(pod: &PodRequests<'_>) -> Resources {
    let mut sidecars = Resources::default();
    let mut most = Resources::default();
    for (requests, is_sidecar) in pod.init_containers {
        let while_starting = sidecars.plus(*requests);
        most = larger(most, while_starting);
        if *is_sidecar {
            sidecars = while_starting;
        }
    }
    let running = pod.containers.iter().fold(sidecars, |sum, requests| sum.plus(*requests));
    let most = larger(most, running);
    let most = Resources {
        cpu_millicores: pod.pod_millicores.unwrap_or(most.cpu_millicores),
        memory_bytes: pod.pod_bytes.unwrap_or(most.memory_bytes),
    };
    most.plus(pod.overhead)
}

fn larger(one: Resources, other: Resources) -> Resources {
    Resources {
        cpu_millicores: one.cpu_millicores.max(other.cpu_millicores),
        memory_bytes: one.memory_bytes.max(other.memory_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn cpu(cpu_millicores: u64) -> Resources {
        Resources { cpu_millicores, memory_bytes: 0 }
    }

    #[test]
    fn a_large_init_container_counts_only_as_far_as_it_exceeds_the_rest() {
        let containers = [cpu(100), cpu(200)];
        let of = |init: &[(Resources, bool)]| {
            effective(&PodRequests {
                containers: &containers,
                init_containers: init,
                overhead: cpu(7),
                ..Default::default()
            })
        };
        assert_eq!(of(&[(cpu(250), false)]), cpu(307));
        assert_eq!(of(&[(cpu(900), false)]), cpu(907));
        assert_eq!(of(&[(cpu(50), true), (cpu(300), false)]), cpu(357));
        assert_eq!(of(&[(cpu(300), false), (cpu(50), true)]), cpu(357));
    }

    #[test]
    fn requests_of_the_pod_itself_stand_in_place_of_those_of_its_containers() {
        let pod = PodRequests { containers: &[cpu(100)], pod_millicores: Some(50), ..Default::default() };
        assert_eq!(effective(&pod), cpu(50));
    }
}
