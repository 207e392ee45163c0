//! The table of prices, and the text it is kept as.
//!
//! A line is `source ID DATE WORDS…`, `price SOURCE PROVIDER REGION ITEM AMOUNT`, `own CLUSTER node|cpu|memory-gib AMOUNT`
//! or `credit CLUSTER`.
//! Amounts are US dollars, for an hour unless the item is a volume or a credit (a month). `*` is every region but those
//! with price lists of their own. Empty lines and those that begin with `#` are for people.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
    sync::LazyLock,
};

use vocabulary::{ClusterId, Money};

use crate::{OwnRates, Price};

/// More lines than every type of both clouds in every region has.
const MOST_LINES: usize = 500_000;

/// Where prices are from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// A word for it.
    pub id: String,
    /// The day of the prices, as year-month-day or as much of it as is known.
    pub date: String,
    /// What it is, as a sentence begins: `AWS list prices of EC2 …`.
    pub words: String,
}

/// Prices of one or more sources.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    sources: Vec<Source>,
    /// Amount and source by provider, region and item.
    prices: HashMap<Key, (Money, usize)>,
    pub(crate) own_rates: BTreeMap<ClusterId, OwnRates>,
}

/// `provider region item`, as the line has it.
type Key = Box<str>;

/// The text is no table of prices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the price table cannot be read: {what}")]
pub struct NotATable {
    /// Which line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl Table {
    /// The table that is part of the executable.
    pub fn built_in() -> &'static Self {
        static TABLE: LazyLock<Table> = LazyLock::new(|| {
            let texts = [include_str!("../data/aws.prices"), include_str!("../data/gcp.prices")];
            let mut all = Table::default();
            for table in texts.into_iter().filter_map(|text| text.parse().ok()) {
                all.take_over(table);
            }
            all
        });
        &TABLE
    }

    pub(crate) fn price(&self, provider: &str, region: &str, item: &str) -> Option<Price<'_>> {
        let of = |region: &str| self.prices.get(format!("{provider} {region} {item}").as_str());
        let everywhere = || of("*").filter(|_| !has_lists_of_its_own(region));
        let (amount, source) = of(region).or_else(everywhere)?;
        Some(Price { amount: *amount, source: self.sources.get(*source)? })
    }

    /// Adds a source, to be named by its number.
    pub(crate) fn add_source(&mut self, source: Source) -> usize {
        let known = self.sources.iter().position(|known| *known == source);
        known.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        })
    }

    /// Adds a price, in place of one that is there.
    pub(crate) fn put(&mut self, source: usize, provider: &str, region: &str, item: &str, amount: Money) {
        self.prices.insert(format!("{provider} {region} {item}").into(), (amount, source));
    }

    /// Adds another table, whose prices go before those that are there.
    pub fn take_over(&mut self, other: Self) {
        let numbers: Vec<_> = other.sources.into_iter().map(|source| self.add_source(source)).collect();
        for (key, (amount, source)) in other.prices {
            if let Some(source) = numbers.get(source) {
                self.prices.insert(key, (amount, *source));
            }
        }
        self.own_rates.extend(other.own_rates);
    }

    /// Says what a cluster costs, in place of what was said before; without any rate nothing is said any more.
    pub fn set_own_rates(&mut self, cluster: ClusterId, rates: OwnRates) {
        if rates == OwnRates::default() {
            self.own_rates.remove(&cluster);
        } else {
            self.own_rates.insert(cluster, rates);
        }
    }

    /// How many prices there are.
    pub fn len(&self) -> usize {
        self.prices.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.prices.is_empty() && self.own_rates.is_empty()
    }
}

/// Regions of separate partitions, whose prices are others.
fn has_lists_of_its_own(region: &str) -> bool {
    region.starts_with("us-gov-") || region.starts_with("us-iso") || region.starts_with("cn-")
}

impl std::str::FromStr for Table {
    type Err = NotATable;
    fn from_str(text: &str) -> Result<Self, NotATable> {
        let mut table = Self::default();
        for (number, line) in text.lines().enumerate() {
            let fault = |what| NotATable { line: number + 1, what };
            if number >= MOST_LINES {
                return Err(fault("the table is too long"));
            }
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            table.read_line(line).map_err(fault)?;
        }
        Ok(table)
    }
}

impl Table {
    fn read_line(&mut self, line: &str) -> Result<(), &'static str> {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["source", id, date, about @ ..] => {
                let source = Source { id: (*id).into(), date: (*date).into(), words: about.join(" ") };
                if self.sources.iter().any(|known| known.id == source.id) {
                    return Err("there is such a source already");
                }
                self.add_source(source);
            }
            ["price", source, provider, region, item, amount] => {
                let source = self.sources.iter().position(|known| known.id == *source);
                let amount = amount.parse().map_err(|_| "the amount is none")?;
                self.put(source.ok_or("its source was not named before")?, provider, region, item, amount);
            }
            ["credit", cluster] => {
                let cluster = cluster.parse().map_err(|_| "this is no cluster's id")?;
                self.own_rates.entry(cluster).or_default().has_credit = true;
            }
            ["own", cluster, of, amount] => {
                let cluster = cluster.parse().map_err(|_| "this is no cluster's id")?;
                let amount = Some(amount.parse().map_err(|_| "the amount is none")?);
                let rates = self.own_rates.entry(cluster).or_default();
                match *of {
                    "node" => rates.node = amount,
                    "cpu" => rates.cpu = amount,
                    "memory-gib" => rates.memory_gib = amount,
                    _ => return Err("there are rates for node, cpu and memory-gib only"),
                }
            }
            _ => return Err("it is neither a source nor a price nor a rate of one's own"),
        }
        Ok(())
    }

    /// The table as text, the same for the same prices.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for source in &self.sources {
            let _ = writeln!(text, "source {} {} {}", source.id, source.date, source.words);
        }
        let sorted: BTreeMap<_, _> = self.prices.iter().collect();
        for (key, (amount, source)) in sorted {
            if let Some(source) = self.sources.get(*source) {
                let _ = writeln!(text, "price {} {key} {}", source.id, exactly(*amount));
            }
        }
        for (cluster, rates) in &self.own_rates {
            if rates.has_credit {
                let _ = writeln!(text, "credit {cluster}");
            }
            for (of, amount) in [("node", rates.node), ("cpu", rates.cpu), ("memory-gib", rates.memory_gib)] {
                if let Some(amount) = amount {
                    let _ = writeln!(text, "own {cluster} {of} {}", exactly(amount));
                }
            }
        }
        text
    }
}

/// All nine decimals but the zeros at the end.
fn exactly(amount: Money) -> String {
    let nanos = amount.in_nanos();
    let text = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
