//! `kubeopera prices`: more list prices than are built in, and what clusters on hardware of one's own cost.

use std::{
    fs::{self, File},
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use prices::{OwnRates, Table};
use vocabulary::{ClusterId, Money};

use crate::{
    data_folder::{self, DataPath},
    welcome,
};

#[derive(Subcommand)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) enum PricesCommand {
    /// Take list prices from a file of the cloud's own. KubeOpera knows them from its next start on.
    Update {
        #[command(flatten)]
        data: DataPath,
        /// An offer file of the AWS Price List, or the SKUs of the Google Cloud Billing Catalog, as JSON
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
        /// Whose file it is
        #[arg(long, value_name = "CLOUD", value_enum)]
        cloud: Cloud,
        /// Day of Google's prices, such as 2026-11-30; AWS's say it themselves
        #[arg(long, value_name = "DATE", required_if_eq("cloud", "gcp"))]
        date: Option<String>,
    },
    /// Say what a cluster's nodes cost in a month, in US dollars, in place of list prices.
    Set {
        #[command(flatten)]
        data: DataPath,
        /// The cluster's id
        cluster: ClusterId,
        #[command(flatten)]
        rates: Rates,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Cloud {
    /// Amazon Web Services
    Aws,
    /// Google Cloud
    Gcp,
}

#[derive(Args)]
pub(crate) struct Rates {
    /// For a node, whatever its size
    #[arg(long, value_name = "USD")]
    node: Option<Money>,
    /// For a CPU
    #[arg(long, value_name = "USD")]
    cpu: Option<Money>,
    /// For a gibibyte of memory
    #[arg(long, value_name = "USD")]
    memory_gib: Option<Money>,
    /// The billing account's free tier of GKE goes to this cluster
    #[arg(long)]
    free_tier: bool,
    /// List prices count again
    #[arg(long, conflicts_with_all = ["node", "cpu", "memory_gib", "free_tier"])]
    none: bool,
}

/// Changes the file beside KubeOpera's data.
pub(crate) fn run(command: PricesCommand) -> anyhow::Result<()> {
    match command {
        PricesCommand::Update { data, from, cloud, date } => {
            let file = File::open(&from).with_context(|| format!("opening {}", from.display()))?;
            let new = read(file, cloud, date.as_deref().unwrap_or_default())
                .with_context(|| format!("reading {}", from.display()))?;
            if new.is_empty() {
                bail!("{} has no price that KubeOpera can use", from.display());
            }
            let count = new.len();
            change(&data.path(), |table| table.take_over(new))?;
            welcome::step(&format!("{count} prices are there now. KubeOpera knows them from its next start on."));
        }
        PricesCommand::Set { data, cluster, rates } => {
            let Rates { node, cpu, memory_gib, free_tier, none } = rates;
            let rates = OwnRates { node, cpu, memory_gib, has_credit: free_tier };
            if rates == OwnRates::default() && !none {
                bail!("name at least one of --node, --cpu, --memory-gib and --free-tier; or --none");
            }
            change(&data.path(), |table| table.set_own_rates(cluster, rates))?;
            welcome::step("Written down. KubeOpera knows it from its next start on.");
        }
    }
    Ok(())
}

fn read(file: impl Read, cloud: Cloud, date: &str) -> anyhow::Result<Table> {
    Ok(match cloud {
        Cloud::Aws => prices::offer_file(file)?,
        Cloud::Gcp => prices::sku_list(file, date)?,
    })
}

fn file_in(data: &Path) -> PathBuf {
    data.join("prices")
}

fn change(data: &Path, change: impl FnOnce(&mut Table)) -> anyhow::Result<()> {
    let mut table = added(data)?;
    change(&mut table);
    data_folder::make_for_owner(data)?;
    data_folder::write_for_owner(&file_in(data), table.to_text().as_bytes())
}

/// What was added to the built-in table.
fn added(data: &Path) -> anyhow::Result<Table> {
    let path = file_in(data);
    match fs::read_to_string(&path) {
        Ok(text) => text.parse().with_context(|| format!("reading {}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Table::default()),
        Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
    }
}

/// The built-in table with what was added to it.
pub(crate) fn all(data: &Path) -> anyhow::Result<Table> {
    let mut table = Table::built_in().clone();
    table.take_over(added(data)?);
    Ok(table)
}

#[cfg(test)]
mod tests {
    use prices::Purchase;

    use super::*;

    #[test]
    fn what_was_added_outlives_the_next_change_and_goes_before_what_is_built_in() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let new = "source mine 2026-11 Mine.\nprice mine aws eu-north-1 linux/t3.medium 0.01".parse().unwrap();
        change(&data, |table: &mut Table| table.take_over(new)).unwrap();
        let cluster = ClusterId::random();
        let rates = OwnRates { node: Some(Money::nanos(5)), ..OwnRates::default() };
        change(&data, |table| table.set_own_rates(cluster, rates)).unwrap();

        let table = all(&data).unwrap();

        let hour = |machine| table.machine("aws", "eu-north-1", machine, Purchase::OnDemand).map(|price| price.amount);
        assert_eq!(hour("t3.medium"), Some("0.01".parse().unwrap()));
        assert_eq!(hour("t3.large"), Some("0.0864".parse().unwrap()));
        assert_eq!(table.own_rates(cluster), Some(rates));
    }

    #[test]
    fn an_offer_file_of_aws_and_a_list_of_google_are_known_from_the_next_start_on() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("file.json");
        let data = || DataPath { data: Some(folder.path().join("data")) };
        let update = |cloud, day: Option<&str>| {
            run(PricesCommand::Update { data: data(), from: from.clone(), cloud, date: day.map(str::to_owned) })
        };
        // As https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AWSELB/current/eu-north-1/index.json is made.
        let offers = r#"{"formatVersion": "v1.0", "offerCode": "AWSELB", "publicationDate": "2026-11-20T10:00:00Z",
            "products": {"A": {"sku": "A", "productFamily": "Load Balancer-Network", "attributes": {"servicecode": "AWSELB",
                "location": "EU (Stockholm)", "usagetype": "EUN1-LoadBalancerUsage", "regionCode": "eu-north-1"}}},
            "terms": {"OnDemand": {"A": {"A.JRTCKXETXF": {"offerTermCode": "JRTCKXETXF", "sku": "A",
                "effectiveDate": "2026-11-01T00:00:00Z", "termAttributes": {}, "priceDimensions": {"A.JRTCKXETXF.6YS6EN2CT7": {
                "unit": "Hrs", "description": "per hour", "appliesTo": [], "rateCode": "A.JRTCKXETXF.6YS6EN2CT7",
                "beginRange": "0", "endRange": "Inf", "pricePerUnit": {"USD": "0.0239400000"}}}}}}}}"#;
        fs::write(&from, offers).unwrap();
        update(Cloud::Aws, None).unwrap();
        // As `services/6F81-5844-456A/skus` answers.
        let skus = r#"{"skus": [{"name": "services/6F81-5844-456A/skus/0001", "skuId": "0001",
            "description": "Balanced PD Capacity in Finland", "category": {"serviceDisplayName": "Compute Engine",
            "resourceFamily": "Storage", "resourceGroup": "SSD", "usageType": "OnDemand"}, "serviceRegions": ["europe-north1"],
            "pricingInfo": [{"summary": "", "pricingExpression": {"usageUnit": "GiBy.mo", "displayQuantity": 1, "tieredRates": [
            {"startUsageAmount": 0, "unitPrice": {"currencyCode": "USD", "units": "0", "nanos": 110000000}}]}}]}]}"#;
        fs::write(&from, skus).unwrap();
        update(Cloud::Gcp, Some("2026-11-20")).unwrap();

        let table = all(&data().path()).unwrap();
        let hour = table.load_balancer("aws", "eu-north-1", prices::LoadBalancer::Network).unwrap();
        assert_eq!((hour.amount, hour.source.date.as_str()), ("0.02394".parse().unwrap(), "2026-11-20"));
        let month = table.volume("gcp", "europe-north1", "pd-balanced").unwrap();
        assert_eq!((month.amount, month.source.date.as_str()), ("0.11".parse().unwrap(), "2026-11-20"));

        let refusal = format!("{:#}", update(Cloud::Aws, None).unwrap_err());
        assert!(refusal.contains("file.json"), "{refusal}");
        assert!(
            all(&data().path()).unwrap().load_balancer("aws", "eu-north-1", prices::LoadBalancer::Network).is_some()
        );
    }

    #[test]
    fn a_broken_file_is_named_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(file_in(folder.path()), "nonsense\n").unwrap();

        let refusal = format!("{:#}", change(folder.path(), |_| ()).unwrap_err());

        assert!(refusal.contains("prices") && refusal.contains("line 1"), "{refusal}");
        assert_eq!(fs::read_to_string(file_in(folder.path())).unwrap(), "nonsense\n");
    }
}
