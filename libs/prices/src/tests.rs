use super::*;

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

fn amount(price: Option<Price<'_>>) -> Option<Money> {
    price.map(|price| price.amount)
}

#[test]
fn the_built_in_tables_can_be_read_and_name_their_sources() {
    for text in [include_str!("../data/aws.prices"), include_str!("../data/gcp.prices")] {
        let table: Table = text.parse().unwrap();
        assert!(table.len() > 50);
    }
    let price = Table::built_in().machine("aws", "eu-north-1", "t3.medium", Purchase::OnDemand).unwrap();
    assert_eq!(price.amount, money("0.0432"));
    assert!(!price.source.words.is_empty() && !price.source.date.is_empty());
    assert_eq!(monthly(price.amount), money("31.536"));
}

#[test]
fn an_unknown_machine_or_region_has_no_price_and_never_a_default() {
    let table = Table::built_in();
    for (provider, region, machine) in [
        ("aws", "us-east-1", "m99.huge"),
        ("aws", "mars-north-1", "t3.medium"),
        ("aws", "us-gov-west-1", "t3.medium"),
        ("gcp", "us-central1", "m99-standard-4"),
        ("gcp", "us-central1", "e2-custom-4-8192"),
        ("gcp", "mars-north1", "e2-standard-4"),
        ("azure", "westeurope", "Standard_D2s_v3"),
        ("on-premises", "", ""),
    ] {
        assert_eq!(table.machine(provider, region, machine, Purchase::OnDemand), None, "{machine} in {region}");
    }
}

#[test]
fn spot_is_never_priced_as_on_demand() {
    let table = Table::built_in();
    assert_eq!(table.machine("aws", "us-east-1", "m5.large", Purchase::Spot), None);
    assert_eq!(table.machine("gcp", "us-central1", "e2-standard-2", Purchase::Spot), None);
}

#[test]
fn a_google_machine_costs_what_its_cpus_and_its_memory_do() {
    let table = Table::built_in();
    let hour = |machine| f64::from(table.machine("gcp", "us-central1", machine, Purchase::OnDemand).unwrap().amount);
    assert!((hour("e2-standard-4") - 0.13402).abs() < 0.00001);
    assert!((hour("e2-medium") - 0.03351).abs() < 0.00001);
    assert!((hour("c4a-highcpu-4") - 0.15152).abs() < 0.00001);
}

#[test]
fn volumes_and_load_balancers_have_dated_prices_where_they_were_seen_and_none_elsewhere() {
    let table = Table::built_in();
    for (provider, region, volume, dollars) in [
        ("aws", "us-east-1", "gp3", "0.08"),
        ("aws", "us-east-1", "io2", "0.125"),
        ("aws", "eu-north-1", "gp3", "0.0836"),
        ("gcp", "europe-west4", "pd-balanced", "0.11"),
        ("gcp", "europe-west4", "regional-pd-balanced", "0.22"),
        ("gcp", "us-central1", "pd-standard", "0.04"),
    ] {
        let price = table.volume(provider, region, volume).unwrap();
        assert_eq!((price.amount, price.source.date.is_empty()), (money(dollars), false), "{volume} in {region}");
    }
    let balancer = |region, kind| amount(table.load_balancer("aws", region, kind));
    assert_eq!(balancer("us-east-1", LoadBalancer::Network), Some(money("0.0225")));
    assert_eq!(balancer("us-east-1", LoadBalancer::Classic), Some(money("0.025")));
    // What was not seen is not that of the next region.
    assert_eq!(balancer("eu-north-1", LoadBalancer::Network), None);
    assert_eq!(table.volume("aws", "eu-central-1", "gp3"), None);
    assert_eq!(table.volume("aws", "us-gov-west-1", "gp3"), None);
    assert_eq!(table.load_balancer("gcp", "us-central1", LoadBalancer::ForwardingRule), None);
}

#[test]
fn control_planes_cost_the_same_everywhere_but_in_regions_with_lists_of_their_own() {
    let table = Table::built_in();
    assert_eq!(amount(table.control_plane("aws", "eu-north-1", "eks")), Some(money("0.10")));
    assert_eq!(amount(table.control_plane_past_support("aws", "sa-east-1", "eks")), Some(money("0.60")));
    assert_eq!(amount(table.control_plane("gcp", "europe-west4", "gke")), Some(money("0.10")));
    assert_eq!(amount(table.control_plane_credit("gcp", "gke")), Some(money("74.40")));
    assert_eq!(table.control_plane("aws", "us-gov-west-1", "eks"), None);
    assert_eq!(table.control_plane("aws", "cn-north-1", "eks"), None);
}

#[test]
fn a_table_taken_over_goes_before_what_was_there_and_survives_as_text() {
    let mut table: Table =
        "source old 2025 Old.\nprice old aws r linux/a 1\nprice old aws r linux/b 2".parse().unwrap();
    let cluster = "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11".parse().unwrap();
    let new = format!(
        "source new 2026 Newer ones.\nprice new aws r linux/a 0.000000001\nown {cluster} node 120.5\ncredit {cluster}\n"
    );

    table.take_over(new.parse().unwrap());

    let again: Table = table.to_text().parse().unwrap();
    for table in [&table, &again] {
        let a = table.machine("aws", "r", "a", Purchase::OnDemand).unwrap();
        assert_eq!((a.amount, a.source.words.as_str()), (Money::nanos(1), "Newer ones."));
        assert_eq!(amount(table.machine("aws", "r", "b", Purchase::OnDemand)), Some(money("2")));
        assert_eq!(
            table.own_rates(cluster),
            Some(OwnRates { node: Some(money("120.5")), has_credit: true, ..OwnRates::default() })
        );
    }
    assert_eq!(again.to_text(), table.to_text());
}

#[test]
fn a_broken_table_says_in_which_line() {
    let fault = |text: &str| text.parse::<Table>().unwrap_err().line;
    assert_eq!(fault("source a 2026 A.\nprice a aws r linux/a -1"), 2);
    assert_eq!(fault("# a note\n\nprice a aws r linux/a 1"), 3);
    assert_eq!(fault("own nobody node 1"), 1);
    assert_eq!(fault("source a 2026 A.\nsource a 2026 B."), 2);
    assert_eq!(fault("price"), 1);
}

const OFFERS: &str = r#"{
 "formatVersion": "v1.0", "disclaimer": "…", "offerCode": "AmazonEC2", "version": "1", "publicationDate": "2026-11-20T10:00:00Z",
 "products": {
  "LINUX": {"sku": "LINUX", "productFamily": "Compute Instance", "attributes": {"regionCode": "eu-north-1", "instanceType": "m7i.large",
    "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used", "licenseModel": "No License required", "vcpu": "2"}},
  "WINDOWS": {"productFamily": "Compute Instance", "attributes": {"regionCode": "eu-north-1", "instanceType": "m7i.large",
    "operatingSystem": "Windows", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used", "licenseModel": "No License required"}},
  "DEDICATED": {"productFamily": "Compute Instance", "attributes": {"regionCode": "eu-north-1", "instanceType": "m7i.large",
    "operatingSystem": "Linux", "tenancy": "Dedicated", "preInstalledSw": "NA", "capacitystatus": "Used", "licenseModel": "No License required"}},
  "UNUSED": {"productFamily": "Compute Instance", "attributes": {"regionCode": "eu-north-1", "instanceType": "m7i.large",
    "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "UnusedCapacityReservation", "licenseModel": "No License required"}},
  "GP3": {"productFamily": "Storage", "attributes": {"regionCode": "eu-north-1", "volumeApiName": "gp3", "usagetype": "EUN1-EBS:VolumeUsage.gp3"}},
  "NLB": {"productFamily": "Load Balancer-Network", "attributes": {"regionCode": "eu-north-1", "usagetype": "EUN1-LoadBalancerUsage"}},
  "NLCU": {"productFamily": "Load Balancer-Network", "attributes": {"regionCode": "eu-north-1", "usagetype": "EUN1-LCUUsage"}}
 },
 "terms": {
  "OnDemand": {
   "LINUX": {"LINUX.T": {"offerTermCode": "T", "priceDimensions": {"LINUX.T.R": {"unit": "Hrs", "beginRange": "0", "endRange": "Inf", "pricePerUnit": {"USD": "0.1071000000"}}}}},
   "WINDOWS": {"W.T": {"priceDimensions": {"W.T.R": {"beginRange": "0", "pricePerUnit": {"USD": "0.2"}}}}},
   "DEDICATED": {"D.T": {"priceDimensions": {"D.T.R": {"beginRange": "0", "pricePerUnit": {"USD": "0.3"}}}}},
   "UNUSED": {"U.T": {"priceDimensions": {"U.T.R": {"beginRange": "0", "pricePerUnit": {"USD": "0.1"}}}}},
   "GP3": {"G.T": {"priceDimensions": {"G.T.R": {"beginRange": "0", "pricePerUnit": {"USD": "0.0836"}}}}},
   "NLB": {"N.T": {"priceDimensions": {"N.T.R": {"beginRange": "0", "pricePerUnit": {"USD": "0.0239"}}}}},
   "NLCU": {"L.T": {"priceDimensions": {"L.T.R": {"beginRange": "0", "pricePerUnit": {"USD": "0.006"}}}}}
  },
  "Reserved": {"LINUX": {"LINUX.X": {"priceDimensions": {"q": {"unit": "Quantity", "pricePerUnit": {"USD": "500"}}}}}}
 }
}"#;

#[test]
fn of_an_offer_file_only_plain_prices_on_demand_are_taken() {
    let table = offer_file(OFFERS.as_bytes()).unwrap();
    assert_eq!(table.len(), 3);
    let price = table.machine("aws", "eu-north-1", "m7i.large", Purchase::OnDemand).unwrap();
    assert_eq!((price.amount, price.source.date.as_str()), (money("0.1071"), "2026-11-20"));
    assert_eq!(amount(table.volume("aws", "eu-north-1", "gp3")), Some(money("0.0836")));
    assert_eq!(amount(table.load_balancer("aws", "eu-north-1", LoadBalancer::Network)), Some(money("0.0239")));
    assert_eq!(table.load_balancer("aws", "eu-north-1", LoadBalancer::Classic), None);
    assert!(table.to_text().parse::<Table>().is_ok());
}

#[test]
fn a_file_that_is_no_offer_file_is_refused() {
    for bad in ["", "[]", "{}", r#"{"terms": {}, "products": {}}"#, r#"{"products": {"a": 1}}"#, &OFFERS[..900]] {
        assert!(offer_file(bad.as_bytes()).is_err(), "{bad}");
    }
}

/// An offer file without end, and how much of it was read.
struct Endless {
    head: std::io::Cursor<Vec<u8>>,
    number: u64,
    left: u64,
}

impl std::io::Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let read = std::io::Read::read(&mut self.head, buffer)?;
            if read > 0 || self.left == 0 {
                return Ok(read);
            }
            self.left -= 1;
            self.number += 1;
            let comma = if self.number == 1 { "" } else { "," };
            let product = format!(r#"{comma}"{}":{{"productFamily":"Dedicated Host","attributes":{{}}}}"#, self.number);
            self.head = std::io::Cursor::new(product.into_bytes());
        }
    }
}

#[test]
fn products_of_no_use_take_no_memory_however_many_there_are() {
    let head = br#"{"offerCode":"AmazonEC2","products":{"#.to_vec();
    let file = Endless { head: std::io::Cursor::new(head), number: 0, left: 300_000 };
    // It ends in the middle, and not because there are too many: none is kept.
    let refusal = offer_file(file).unwrap_err();
    assert!(refusal.is_eof(), "{refusal}");
}

const SKUS: &str = r#"{"skus": [
 {"description": "N2 Instance Core running in Finland", "category": {"usageType": "OnDemand"}, "serviceRegions": ["europe-north1"],
  "pricingInfo": [{"pricingExpression": {"usageUnit": "h", "tieredRates": [{"startUsageAmount": 0, "unitPrice": {"currencyCode": "USD", "units": "0", "nanos": 34806000}}]}}]},
 {"description": "N2 Instance Ram running in Finland", "category": {"usageType": "OnDemand"}, "serviceRegions": ["europe-north1"],
  "pricingInfo": [{"pricingExpression": {"usageUnit": "GiBy.h", "tieredRates": [{"unitPrice": {"currencyCode": "USD", "units": "0", "nanos": 4665000}}]}}]},
 {"description": "Spot Preemptible N2 Instance Core running in Finland", "category": {"usageType": "Preemptible"}, "serviceRegions": ["europe-north1"],
  "pricingInfo": [{"pricingExpression": {"usageUnit": "h", "tieredRates": [{"unitPrice": {"currencyCode": "USD", "nanos": 8000000}}]}}]},
 {"description": "N2 Custom Instance Core running in Finland", "category": {"usageType": "OnDemand"}, "serviceRegions": ["europe-north1"],
  "pricingInfo": [{"pricingExpression": {"usageUnit": "h", "tieredRates": [{"unitPrice": {"currencyCode": "USD", "nanos": 99}}]}}]},
 {"description": "Commitment v1: N2 Cpu in Finland for 1 Year", "category": {"usageType": "Commit1Yr"}, "serviceRegions": ["europe-north1"], "pricingInfo": []},
 {"description": "Balanced PD Capacity in Finland", "category": {"usageType": "OnDemand"}, "serviceRegions": ["europe-north1"],
  "pricingInfo": [{"pricingExpression": {"usageUnit": "GiBy.mo", "tieredRates": [{"unitPrice": {"currencyCode": "USD", "units": "0", "nanos": 110000000}}]}}]},
 {"description": "Regional Balanced PD Capacity in Finland", "category": {"usageType": "OnDemand"}, "serviceRegions": ["europe-north1"],
  "pricingInfo": [{"pricingExpression": {"usageUnit": "GiBy.mo", "tieredRates": [{"unitPrice": {"currencyCode": "USD", "units": "0", "nanos": 220000000}}]}}]},
 {"description": "Network Vpn Internet Egress from Americas to Africa", "category": {"usageType": "OnDemand"}, "serviceRegions": ["us-east1"],
  "pricingInfo": [{"pricingExpression": {"usageUnit": "GiBy", "tieredRates": [{"unitPrice": {"currencyCode": "USD", "nanos": 1}}, {"unitPrice": {"currencyCode": "USD", "nanos": 2}}]}}]}
], "nextPageToken": ""}"#;

#[test]
fn of_a_sku_list_machines_are_taken_by_cpu_and_memory() {
    let table = sku_list(SKUS.as_bytes(), "2026-11-20").unwrap();
    let hour = |bought| amount(table.machine("gcp", "europe-north1", "n2-standard-2", bought));
    assert_eq!(hour(Purchase::OnDemand), Some(money("0.106932")));
    // Of spot only half is known.
    assert_eq!(hour(Purchase::Spot), None);
    assert_eq!(amount(table.volume("gcp", "europe-north1", "pd-balanced")), Some(money("0.11")));
    assert_eq!(amount(table.volume("gcp", "europe-north1", "regional-pd-balanced")), Some(money("0.22")));
    assert_eq!(table.len(), 5);
    for bad in ["", "{}", "[]", r#"{"skus": 1}"#] {
        assert!(sku_list(bad.as_bytes(), "2026").is_err(), "{bad}");
    }
}
