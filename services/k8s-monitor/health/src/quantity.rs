//! Kubernetes quantities such as `1500m`, `0.5`, `2e3`, `123n`, `1Ki`.

/// Longer than any quantity Kubernetes writes.
const LONGEST: usize = 64;

/// A quantity of CPU in thousandths of a core, rounded up. `None` if it is no quantity, negative or beyond counting.
pub fn millicores(text: &str) -> Option<u64> {
    scaled(text, 3)
}

/// A quantity of memory in bytes, rounded up. `None` if it is no quantity, negative or beyond counting.
pub fn bytes(text: &str) -> Option<u64> {
    scaled(text, 0)
}

/// The quantity times ten to the power of `shift`.
fn scaled(text: &str, shift: i32) -> Option<u64> {
    if text.len() > LONGEST {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits: u128 = format!("0{whole}{fraction}").parse().ok()?;
    let (binary, ten) = suffix_of(suffix)?;
    let ten = ten + shift - i32::try_from(fraction.len()).ok()?;
    let value = digits.checked_mul(1_u128.checked_shl(binary)?)?;
    let power = 10_u128.checked_pow(ten.unsigned_abs());
    let value = match (ten >= 0, power) {
        (true, Some(power)) => value.checked_mul(power)?,
        (true, None) => return (digits == 0).then_some(0),
        (false, Some(power)) => value.div_ceil(power),
        (false, None) => u128::from(digits != 0),
    };
    value.try_into().ok()
}

/// Powers of two and of ten a suffix stands for.
fn suffix_of(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        exponent => (0, exponent.strip_prefix(['e', 'E'])?.parse::<i16>().ok()?.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_a_quantity_is_read() {
        let cpu = ["1500m", "2", "0.5", "123n", "2e3", "1E2", "100u", ".5", "1.", "+1", "0", "1e-3"].map(millicores);
        let expected = [1500, 2000, 500, 1, 2_000_000, 100_000, 1, 500, 1000, 1000, 0, 1];
        assert_eq!(cpu, expected.map(Some));
        let memory = ["1Ki", "128974848", "129e6", "129M", "123Mi", "0.5Gi", "1500m", "1k", "1Ei"].map(bytes);
        let expected =
            [1024, 128_974_848, 129_000_000, 129_000_000, 128_974_848, 536_870_912, 2, 1000, 1_152_921_504_606_846_976];
        assert_eq!(memory, expected.map(Some));
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        let long = "1".repeat(65);
        for bad in ["", "-1", "m", "1.2.3", "1 Gi", "NaN", "inf", "1e", "1ee3", "1e99999999", "1Zi", "99Ei", ".", &long]
        {
            assert_eq!((millicores(bad), bytes(bad)), (None, None), "{bad}");
        }
        assert_eq!((millicores("0e30000"), millicores("1e-30000")), (Some(0), Some(1)));
    }
}
