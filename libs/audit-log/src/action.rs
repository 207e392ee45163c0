//! The words of the log.

use std::str::FromStr;

/// Words with their spelling in the database and in answers, which is stable over versions.
macro_rules! words {
    ($(#[$of_all:meta])* $name:ident { $($(#[$of_one:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$of_all])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$of_one])* $variant,)* }

        impl $name {
            /// All there are.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl FromStr for $name {
            type Err = ();
            fn from_str(word: &str) -> Result<Self, ()> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word).ok_or(())
            }
        }
    };
}

words! {
    /// What was done.
    #[allow(missing_docs, reason = "the words say it")]
    Action {
        LogIn = "log_in",
        LogOut = "log_out",
        SeeClusters = "see_clusters",
        RegisterCluster = "register_cluster",
        CheckKubeconfig = "check_kubeconfig",
        /// A kubeconfig was tried, whatever came of it.
        TryToConnect = "try_to_connect",
        ConnectCluster = "connect_cluster",
        /// A cluster got another name or other labels.
        ChangeCluster = "change_cluster",
        ReplaceKubeconfig = "replace_kubeconfig",
        DisconnectCluster = "disconnect_cluster",
        DeleteCluster = "delete_cluster",
        RetryCluster = "retry_cluster",
        SeeProvisioning = "see_provisioning",
        /// The infrastructure of a cluster that is being deleted is no longer looked after and stays where it is.
        GiveUpInfrastructure = "give_up_infrastructure",
        /// A cluster was asked for, whatever came of it.
        TryToCreate = "try_to_create",
        CreateCluster = "create_cluster",
        SeeCatalogue = "see_catalogue",
        /// A HostCluster that KubeOpera had no record of was taken on record.
        AdoptCluster = "adopt_cluster",
        /// A HostCluster was deleted in Kubernetes, which lets go of the cluster.
        RemoveCluster = "remove_cluster",
        SeeUsers = "see_users",
        AddUser = "add_user",
        ChangeUser = "change_user",
        ResetPassword = "reset_password",
        ChangeOwnPassword = "change_own_password",
        /// The first administrator of a cluster's environment.
        AddEnvironmentAdministrator = "add_environment_administrator",
        SeeSessions = "see_sessions",
        SeeOthersSessions = "see_others_sessions",
        EndSession = "end_session",
        SeeTokens = "see_tokens",
        SeeOthersTokens = "see_others_tokens",
        MakeToken = "make_token",
        RevokeToken = "revoke_token",
        SeeCredentials = "see_credentials",
        AddCredential = "add_credential",
        ChangeCredential = "change_credential",
        CheckCredential = "check_credential",
        DeleteCredential = "delete_credential",
        /// A cluster may use a credential from now on.
        BindCredential = "bind_credential",
        /// A cluster uses its credential no longer.
        ReleaseCredential = "release_credential",
        /// A credential's secret was asked for, for a cluster.
        OpenCredential = "open_credential",
        /// Everything that is sealed was put under another encryption key.
        RotateEncryptionKey = "rotate_encryption_key",
        /// An encryption key that is lost is done without from now on.
        ForgetEncryptionKey = "forget_encryption_key",
        SeeGitSetting = "see_git_setting",
        ChangeGitSetting = "change_git_setting",
        CheckGitSetting = "check_git_setting",
        SeeRegistrySetting = "see_registry_setting",
        ChangeRegistrySetting = "change_registry_setting",
        MakeBackup = "make_backup",
        RestoreBackup = "restore_backup",
        SeeAudit = "see_audit",
        ExportAudit = "export_audit",
    }
}

words! {
    /// What came of it.
    Outcome {
        /// It is about to be done somewhere else than in the database; another row says what came of it. Without one nobody
        /// knows: KubeOpera was ended in between.
        Asked = "asked",
        /// It was done.
        Done = "done",
        /// It had been done before.
        Unchanged = "unchanged",
        /// It was refused.
        Denied = "denied",
        /// It was tried and did not succeed.
        Failed = "failed",
    }
}
