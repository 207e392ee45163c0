//! AWS's offer files, as its Price List bulk API has them: `AmazonEC2/current/<region>/index.json` and the like.
//!
//! Such a file has hundreds of megabytes: the products and, after them, the terms they are sold on. It is read once from
//! front to back, and of a product only its number and what it is are kept.
//! <https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-file-for-services.html>

use std::{collections::HashMap, fmt, io::Read};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor},
};
use vocabulary::Money;

use crate::table::{Source, Table};

/// More products than are of use here in the largest file, that of EC2 in all regions.
const MOST_PRODUCTS: usize = 200_000;

/// Reads an offer file: Linux machines on demand, volumes, load balancers, EKS control planes. Everything else in it is
/// passed over.
pub fn read(file: impl Read) -> Result<Table, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_reader(std::io::BufReader::with_capacity(1 << 16, file));
    let offers = Offers::deserialize(&mut deserializer)?;
    deserializer.end()?;
    let mut table = Table::default();
    let date = offers.published.get(..10).unwrap_or("unknown").to_owned();
    let words = format!("AWS Price List, {}", printable(&offers.offer));
    let source = table.add_source(Source { id: format!("{}-{date}", printable(&offers.offer)), date, words });
    for (product, amount) in offers.prices {
        table.put(source, "aws", &product.region, &product.item, amount);
    }
    Ok(table)
}

fn printable(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).take(40).collect()
}

/// A product of use here.
#[derive(Debug)]
struct Wanted {
    region: String,
    item: String,
}

#[derive(Default)]
struct Offers {
    offer: String,
    published: String,
    prices: Vec<(Wanted, Money)>,
}

impl<'de> Deserialize<'de> for Offers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl<'de> Visitor<'de> for Whole {
            type Value = Offers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an offer file of AWS")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Offers, A::Error> {
                let mut offers = Offers::default();
                let mut products: Option<HashMap<String, Wanted>> = None;
                let mut has_terms = false;
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "offerCode" => offers.offer = map.next_value()?,
                        "publicationDate" => offers.published = map.next_value()?,
                        "products" => products = Some(map.next_value_seed(Products)?),
                        "terms" => {
                            let products = products
                                .take()
                                .ok_or_else(|| A::Error::custom("the terms come before the products"))?;
                            map.next_value_seed(Terms { products, prices: &mut offers.prices })?;
                            has_terms = true;
                        }
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                if has_terms { Ok(offers) } else { Err(A::Error::custom("it has no products with terms")) }
            }
        }
        deserializer.deserialize_map(Whole)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Product {
    #[serde(default)]
    product_family: String,
    #[serde(default)]
    attributes: Attributes,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    region_code: String,
    instance_type: String,
    operating_system: String,
    tenancy: String,
    pre_installed_sw: String,
    capacitystatus: String,
    license_model: String,
    usagetype: String,
    operation: String,
    volume_api_name: String,
    marketoption: String,
}

impl Product {
    /// What it is to us, if it is anything.
    fn wanted(self) -> Option<Wanted> {
        let of = &self.attributes;
        let item = match self.product_family.as_str() {
            "Compute Instance" | "Compute Instance (bare metal)" => {
                let is_plain = of.operating_system == "Linux"
                    && of.tenancy == "Shared"
                    && of.pre_installed_sw == "NA"
                    && of.capacitystatus == "Used"
                    && of.license_model == "No License required"
                    && matches!(of.marketoption.as_str(), "" | "OnDemand");
                (is_plain && !of.instance_type.is_empty()).then(|| format!("linux/{}", of.instance_type))?
            }
            "Storage" if !of.volume_api_name.is_empty() && of.usagetype.contains("EBS:VolumeUsage") => {
                format!("volume/{}", of.volume_api_name)
            }
            "Load Balancer-Network" if is_hourly(&of.usagetype) => "load-balancer/network".to_owned(),
            "Load Balancer-Application" if is_hourly(&of.usagetype) => "load-balancer/application".to_owned(),
            "Load Balancer" if is_hourly(&of.usagetype) => "load-balancer/classic".to_owned(),
            "Compute" if of.usagetype.ends_with("AmazonEKS-Hours:perCluster") => match of.operation.as_str() {
                "CreateOperation" => "control-plane/eks".to_owned(),
                _ => return None,
            },
            _ => return None,
        };
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_graphic());
        (is_word(&of.region_code) && is_word(&item)).then_some(Wanted { region: self.attributes.region_code, item })
    }
}

fn is_hourly(usage_type: &str) -> bool {
    usage_type == "LoadBalancerUsage" || usage_type.ends_with("-LoadBalancerUsage")
}

/// The products of use, by number.
struct Products;

impl<'de> DeserializeSeed<'de> for Products {
    type Value = HashMap<String, Wanted>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Products {
    type Value = HashMap<String, Wanted>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("products")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut wanted = HashMap::new();
        while let Some((number, product)) = map.next_entry::<String, Product>()? {
            if let Some(product) = product.wanted() {
                wanted.insert(number, product);
            }
            if wanted.len() > MOST_PRODUCTS {
                return Err(A::Error::custom("it has too many products"));
            }
        }
        Ok(wanted)
    }
}

/// What the products cost on demand.
struct Terms<'a> {
    products: HashMap<String, Wanted>,
    prices: &'a mut Vec<(Wanted, Money)>,
}

impl<'de> DeserializeSeed<'de> for Terms<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Terms<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("terms")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Terms { products, prices } = self;
        let mut products = Some(products);
        while let Some(kind) = map.next_key::<String>()? {
            match products.take_if(|_| kind == "OnDemand") {
                Some(products) => map.next_value_seed(OnDemand { products, prices })?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct OnDemand<'a> {
    products: HashMap<String, Wanted>,
    prices: &'a mut Vec<(Wanted, Money)>,
}

impl<'de> DeserializeSeed<'de> for OnDemand<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Term {
    price_dimensions: HashMap<String, Dimension>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dimension {
    #[serde(default)]
    begin_range: String,
    price_per_unit: HashMap<String, String>,
}

impl<'de> Visitor<'de> for OnDemand<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("terms on demand")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { mut products, prices } = self;
        while let Some(number) = map.next_key::<String>()? {
            let Some(product) = products.remove(&number) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let terms: HashMap<String, Term> = map.next_value()?;
            if let Some(amount) = only_price(&terms) {
                prices.push((product, amount));
            }
        }
        Ok(())
    }
}

/// The price, if there is exactly one and it is none of several steps. A price of nothing is that of something else, such
/// as a reservation that is not used.
fn only_price(terms: &HashMap<String, Term>) -> Option<Money> {
    let mut dimensions = terms.values().flat_map(|term| term.price_dimensions.values());
    let only = dimensions.next().filter(|dimension| matches!(dimension.begin_range.as_str(), "" | "0"))?;
    if dimensions.next().is_some() {
        return None;
    }
    only.price_per_unit.get("USD")?.parse().ok().filter(|amount| *amount > Money::default())
}
