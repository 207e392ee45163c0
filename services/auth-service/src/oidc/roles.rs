//! What somebody may do here, by the groups that the identity provider says they are in.

use auth_service_contract::Role;

/// Which group has which role. Whoever is in several has the role that may do most.
#[derive(Debug, Clone, Default)]
pub struct GroupRoles {
    /// Group and role. Names of groups are compared letter by letter.
    pub groups: Vec<(String, Role)>,
    /// The role of who is in none of them; without one they are not let in.
    pub without_group: Option<Role>,
}

impl GroupRoles {
    pub(super) fn of(&self, groups: &[String]) -> Option<Role> {
        let has = |role: Role| self.groups.iter().any(|(group, of_group)| *of_group == role && groups.contains(group));
        [Role::PlatformAdministrator, Role::Operator, Role::Viewer]
            .into_iter()
            .find(|&role| has(role))
            .or(self.without_group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_role_that_may_do_most_counts_and_no_group_is_no_role() {
        let groups = [("staff", Role::Viewer), ("platform", Role::PlatformAdministrator), ("on-call", Role::Operator)];
        let roles =
            GroupRoles { groups: groups.map(|(group, role)| (group.to_owned(), role)).to_vec(), without_group: None };
        let of = |groups: &[&str]| roles.of(&groups.iter().map(|&group| group.to_owned()).collect::<Vec<_>>());

        assert_eq!(of(&["staff"]), Some(Role::Viewer));
        assert_eq!(of(&["staff", "on-call", "unheard of"]), Some(Role::Operator));
        assert_eq!(of(&["platform", "staff"]), Some(Role::PlatformAdministrator));
        assert_eq!(of(&["Platform", "platform ", ""]), None);
        assert_eq!(of(&[]), None);
        let everybody = GroupRoles { without_group: Some(Role::Viewer), ..roles };
        assert_eq!(everybody.of(&[]), Some(Role::Viewer));
        assert_eq!(everybody.of(&["on-call".to_owned()]), Some(Role::Operator));
    }
}
