//! Google's price list, as its Cloud Billing Catalog API gives it: `services/6F81-5844-456A/skus`, one page or all of them
//! joined.
//!
//! <https://cloud.google.com/billing/docs/reference/rest/v1/services.skus/list>

use std::{fmt, io::Read};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use vocabulary::Money;

use crate::table::{Source, Table};

/// More prices than Google has of use here.
const MOST_PRICES: usize = 200_000;

/// How the list calls the CPUs and the memory of a family.
const FAMILIES: &[(&str, &str)] = &[
    ("E2 Instance", "e2"),
    ("N1 Predefined Instance", "n1"),
    ("N2 Instance", "n2"),
    ("N2D AMD Instance", "n2d"),
    ("N4 Instance", "n4"),
    ("T2D AMD Instance", "t2d"),
    ("T2A Arm Instance", "t2a"),
    ("Compute optimized", "c2"),
    ("C2D AMD Instance", "c2d"),
    ("C3 Instance", "c3"),
    ("C4A Arm Instance", "c4a"),
];

/// How the list calls volumes and load balancers.
const OTHERS: &[(&str, &str)] = &[
    ("Storage PD Capacity", "volume/pd-standard"),
    ("Balanced PD Capacity", "volume/pd-balanced"),
    ("SSD backed PD Capacity", "volume/pd-ssd"),
    ("Regional Storage PD Capacity", "volume/regional-pd-standard"),
    ("Regional Balanced PD Capacity", "volume/regional-pd-balanced"),
    ("Regional SSD backed PD Capacity", "volume/regional-pd-ssd"),
    ("Network Load Balancing: Forwarding Rule Minimum Service Charge", "load-balancer/forwarding-rule"),
    ("Network Load Balancing: Forwarding Rule Additional Service Charge", "load-balancer/further-forwarding-rule"),
];

/// Reads a price list. `date` is the day it is of: the list itself does not say.
pub fn read(file: impl Read, date: &str) -> Result<Table, serde_json::Error> {
    let mut table = Table::default();
    let date: String = date.chars().filter(char::is_ascii_graphic).take(10).collect();
    let words = "Google Cloud Billing Catalog, Compute Engine".to_owned();
    let source = table.add_source(Source { id: format!("google-{date}"), date, words });
    let mut deserializer = serde_json::Deserializer::from_reader(std::io::BufReader::with_capacity(1 << 16, file));
    List { table: &mut table, source }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(table)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Sku {
    description: String,
    category: Category,
    service_regions: Vec<String>,
    pricing_info: Vec<PricingInfo>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Category {
    usage_type: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PricingInfo {
    pricing_expression: Expression,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Expression {
    usage_unit: String,
    tiered_rates: Vec<Rate>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Rate {
    unit_price: UnitPrice,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct UnitPrice {
    currency_code: String,
    units: String,
    nanos: i64,
}

impl Sku {
    /// What it is to us, if it is anything.
    fn item(&self) -> Option<String> {
        let spot = match self.category.usage_type.as_str() {
            "OnDemand" => "",
            "Preemptible" => "-spot",
            _ => return None,
        };
        let words = self.description.strip_prefix("Spot Preemptible ").unwrap_or(&self.description);
        if let Some((_, item)) = OTHERS.iter().find(|(name, _)| is_or_is_in_a_place(words, name)) {
            return spot.is_empty().then(|| (*item).to_owned());
        }
        FAMILIES.iter().find_map(|(name, family)| {
            let rest = words.strip_prefix(name)?.trim_start();
            let part = if is_or_is_in_a_place(rest, "Core") {
                "cpu"
            } else if is_or_is_in_a_place(rest, "Ram") {
                "memory"
            } else {
                return None;
            };
            Some(format!("linux{spot}-{part}/{family}"))
        })
    }

    /// The price of a unit, if there is one that is not of several steps.
    fn amount(&self) -> Option<Money> {
        let [info] = self.pricing_info.as_slice() else { return None };
        let expression = &info.pricing_expression;
        let [rate] = expression.tiered_rates.as_slice() else { return None };
        if !matches!(expression.usage_unit.as_str(), "h" | "GiBy.h" | "GiBy.mo")
            || rate.unit_price.currency_code != "USD"
        {
            return None;
        }
        let units: u64 = if rate.unit_price.units.is_empty() { 0 } else { rate.unit_price.units.parse().ok()? };
        let nanos = units.checked_mul(1_000_000_000)?.checked_add(u64::try_from(rate.unit_price.nanos).ok()?)?;
        (nanos > 0).then(|| Money::nanos(nanos))
    }
}

/// The list adds where something is: `… running in Finland`, `… in Finland`.
fn is_or_is_in_a_place(words: &str, name: &str) -> bool {
    words
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(" running in ") || rest.starts_with(" in "))
}

/// The list, whose prices go into the table one by one.
struct List<'a> {
    table: &'a mut Table,
    source: usize,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a price list of Google")
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut has_skus = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "skus" {
                map.next_value_seed(Skus(&mut self))?;
                has_skus = true;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if has_skus { Ok(()) } else { Err(A::Error::custom("it has no list of SKUs")) }
    }
}

struct Skus<'a, 'b>(&'b mut List<'a>);

impl<'de> DeserializeSeed<'de> for Skus<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Skus<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SKUs")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let List { table, source } = self.0;
        while let Some(sku) = seq.next_element::<Sku>()? {
            let Some((item, amount)) = sku.item().zip(sku.amount()) else { continue };
            for region in sku.service_regions.iter().filter(|region| region.bytes().all(|c| c.is_ascii_graphic())) {
                table.put(*source, "gcp", region, &item, amount);
            }
            if table.len() > MOST_PRICES {
                return Err(A::Error::custom("it has too many prices"));
            }
        }
        Ok(())
    }
}
