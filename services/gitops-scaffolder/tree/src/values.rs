//! Values of charts and objects as data.

use std::collections::BTreeMap;

use serde_json::Value;

/// Lays `more` over `values`: maps are merged, anything else is replaced.
pub(crate) fn with(values: &mut Value, more: Value) {
    match (values, more) {
        (Value::Object(values), Value::Object(more)) => {
            for (key, value) in more {
                with(values.entry(key).or_insert(Value::Null), value);
            }
        }
        (value, more) => *value = more,
    }
}

/// The same value with the keys of each map in order, whether or not this build of `serde_json` keeps them as inserted.
pub(crate) fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let ordered: BTreeMap<String, Value> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(ordered.into_iter().collect())
        }
        Value::Array(list) => list.into_iter().map(sorted).collect(),
        scalar => scalar,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_are_merged_and_everything_else_is_replaced() {
        let mut values = json!({ "image": { "tag": "1" }, "args": ["a"], "replicas": 1 });

        with(&mut values, json!({ "image": { "registry": "r" }, "args": ["b"], "new": { "x": true } }));

        let expected = json!({
            "image": { "tag": "1", "registry": "r" }, "args": ["b"], "replicas": 1, "new": { "x": true }
        });
        assert_eq!(values, expected);
    }
}
