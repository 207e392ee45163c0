//! Amounts of money.

use std::fmt;

use serde::{Deserialize, Serialize};

/// US dollars, never less than nothing, exact to a billionth: prices by the hour have up to eight decimals.
///
/// A number of dollars in JSON; printed with two decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Money(u64);

/// The number is no amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not an amount of US dollars; an amount looks like 0.0416 and is not negative")]
pub struct NotMoney;

const NANOS: u64 = 1_000_000_000;

impl Money {
    /// This many billionths of a dollar.
    pub const fn nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// In billionths of a dollar.
    pub const fn in_nanos(self) -> u64 {
        self.0
    }

    /// That many times over.
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl std::iter::Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        Self(amounts.map(|amount| amount.0).fold(0, u64::saturating_add))
    }
}

impl std::str::FromStr for Money {
    type Err = NotMoney;
    /// Decimal digits with or without a fraction, read without loss; a tenth decimal and more are rounded down.
    fn from_str(text: &str) -> Result<Self, NotMoney> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) {
            return Err(NotMoney);
        }
        let fraction: String = fraction.chars().chain("000000000".chars()).take(9).collect();
        let (whole, fraction): (u64, u64) =
            (whole.parse().map_err(|_| NotMoney)?, fraction.parse().map_err(|_| NotMoney)?);
        whole.checked_mul(NANOS).and_then(|nanos| nanos.checked_add(fraction)).map(Self).ok_or(NotMoney)
    }
}

impl From<Money> for f64 {
    #[allow(clippy::cast_precision_loss, reason = "far below a cent for any amount a cluster can cost")]
    fn from(money: Money) -> Self {
        money.0 as Self / 1e9
    }
}

impl TryFrom<f64> for Money {
    type Error = NotMoney;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
    fn try_from(dollars: f64) -> Result<Self, NotMoney> {
        let nanos = (dollars * 1e9).round();
        if (0.0..1e19).contains(&nanos) { Ok(Self(nanos as u64)) } else { Err(NotMoney) }
    }
}

impl fmt::Display for Money {
    /// Dollars and cents: `$1234.50`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.0.saturating_add(NANOS / 200) / (NANOS / 100);
        f.pad(&format!("${}.{:02}", cents / 100, cents % 100))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_without_loss() {
        let nanos = |text: &str| text.parse::<Money>().map(Money::in_nanos);
        assert_eq!(nanos("0.02181159"), Ok(21_811_590));
        assert_eq!(nanos("0.0000166667"), Ok(16_666));
        assert_eq!(nanos("12"), Ok(12_000_000_000));
        for bad in ["", ".5", "-1", "1e3", "NaN", "1,5", "99999999999999999999"] {
            assert_eq!(nanos(bad), Err(NotMoney), "{bad}");
        }
    }

    #[test]
    fn no_amount_is_negative_or_no_number() {
        for bad in [-0.01, f64::NAN, f64::INFINITY] {
            assert_eq!(Money::try_from(bad), Err(NotMoney), "{bad}");
        }
        assert_eq!(Money::try_from(30.368).map(f64::from), Ok(30.368));
    }

    #[test]
    fn money_is_printed_in_dollars_and_cents() {
        assert_eq!(Money::nanos(1_234_505_000_000).to_string(), "$1234.51");
        assert_eq!(Money::default().to_string(), "$0.00");
    }
}
