//! What Google bills a machine type as. Its machines have no price of their own: their CPUs and their memory have.
//!
//! <https://cloud.google.com/compute/docs/machine-resource>

/// What a machine type consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Machine<'a> {
    pub(crate) family: &'a str,
    /// A shared-core machine is billed as a part of the two CPUs it has.
    pub(crate) thousandths_of_cpus: u64,
    pub(crate) memory_mib: u64,
}

/// MiB of memory for each CPU, by family and kind.
const MEMORY_A_CPU: &[(&str, &str, u64)] = &[
    ("e2", "standard", 4096),
    ("e2", "highmem", 8192),
    ("e2", "highcpu", 1024),
    ("n1", "standard", 3840),
    ("n1", "highmem", 6656),
    ("n2", "standard", 4096),
    ("n2", "highmem", 8192),
    ("n2", "highcpu", 1024),
    ("n2d", "standard", 4096),
    ("n2d", "highmem", 8192),
    ("n2d", "highcpu", 1024),
    ("n4", "standard", 4096),
    ("n4", "highmem", 8192),
    ("n4", "highcpu", 2048),
    ("t2d", "standard", 4096),
    ("t2a", "standard", 4096),
    ("c2", "standard", 4096),
    ("c2d", "standard", 4096),
    ("c2d", "highmem", 8192),
    ("c2d", "highcpu", 2048),
    ("c3", "standard", 4096),
    ("c3", "highmem", 8192),
    ("c3", "highcpu", 2048),
    ("c4a", "standard", 4096),
    ("c4a", "highmem", 8192),
    ("c4a", "highcpu", 2048),
];

/// Shared-core machines: thousandths of a CPU and MiB of memory that are billed.
const SHARED_CORE: &[(&str, u64, u64)] = &[("e2-micro", 250, 1024), ("e2-small", 500, 2048), ("e2-medium", 1000, 4096)];

/// A predefined machine type; `None` for custom ones, for those with disks or GPUs of their own, and for what is unknown.
pub(crate) fn of_google(machine_type: &str) -> Option<Machine<'_>> {
    let mut parts = machine_type.split('-');
    let (family, kind, size) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    if let Some((_, thousandths_of_cpus, memory_mib)) = SHARED_CORE.iter().find(|(name, ..)| *name == machine_type) {
        return Some(Machine { family, thousandths_of_cpus: *thousandths_of_cpus, memory_mib: *memory_mib });
    }
    let cpus: u64 = size?.parse().ok().filter(|cpus| (1..=1024).contains(cpus))?;
    let (.., memory) = MEMORY_A_CPU.iter().find(|(of, is, _)| (*of, *is) == (family, kind))?;
    Some(Machine { family, thousandths_of_cpus: cpus * 1000, memory_mib: cpus * memory })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_type_says_what_it_consists_of() {
        let of =
            |name| of_google(name).map(|machine| (machine.family, machine.thousandths_of_cpus, machine.memory_mib));
        assert_eq!(of("e2-standard-4"), Some(("e2", 4000, 16384)));
        assert_eq!(of("n1-standard-1"), Some(("n1", 1000, 3840)));
        assert_eq!(of("n2-highmem-8"), Some(("n2", 8000, 65536)));
        assert_eq!(of("e2-medium"), Some(("e2", 1000, 4096)));
    }

    #[test]
    fn what_is_unknown_consists_of_nothing_known() {
        for name in [
            "m99-huge-4",
            "e2-custom-4-8192",
            "e2-standard",
            "e2-standard-0",
            "e2-standard-x",
            "c3-standard-4-lssd",
            "",
        ] {
            assert_eq!(of_google(name), None, "{name}");
        }
    }
}
