//! What Terraform's state says there is.

use serde_json::Value;

/// A resource that is in the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InState {
    /// Its address, such as `module.network.aws_subnet.public["eu-north-1a"]`.
    pub address: String,
    /// Its type.
    pub kind: String,
    /// How the cloud calls it: its ARN if it has one, or else its id; empty if it has neither.
    pub id: String,
}

/// The resources that a state in format 4 knows of, in its order. What is only read is none.
pub fn resources(state: &Value) -> Vec<InState> {
    let all = state.get("resources").and_then(Value::as_array);
    let managed = all.into_iter().flatten().filter(|one| text(one, "mode") == "managed");
    managed.flat_map(instances).collect()
}

fn instances(resource: &Value) -> impl Iterator<Item = InState> {
    let (module, kind, name) = (text(resource, "module"), text(resource, "type"), text(resource, "name"));
    let module = if module.is_empty() { String::new() } else { format!("{module}.") };
    let instances = resource.get("instances").and_then(Value::as_array).into_iter().flatten();
    instances.map(move |instance| {
        let index = match instance.get("index_key") {
            Some(Value::String(key)) => format!("[\"{key}\"]"),
            Some(Value::Number(number)) => format!("[{number}]"),
            _ => String::new(),
        };
        let of_cloud = |name: &str| instance.get("attributes").map(|all| text(all, name)).filter(|id| !id.is_empty());
        InState {
            address: format!("{module}{kind}.{name}{index}"),
            kind: kind.to_owned(),
            id: of_cloud("arn").or_else(|| of_cloud("id")).unwrap_or_default().to_owned(),
        }
    })
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instance_of_each_managed_resource_is_one_with_its_address() {
        let state = serde_json::json!({ "version": 4, "resources": [
            { "mode": "data", "type": "aws_region", "name": "this", "instances": [{ "attributes": { "id": "x" } }] },
            { "module": "module.network", "mode": "managed", "type": "aws_subnet", "name": "public", "instances": [
                { "index_key": "eu-north-1a", "attributes": { "arn": "arn:aws:ec2:::subnet/1", "id": "subnet-1" } },
                { "index_key": 1, "attributes": { "id": "subnet-2" } },
            ] },
            { "mode": "managed", "type": "aws_eip", "name": "nat", "instances": [{ "attributes": null }] },
        ] });
        let found: Vec<_> = resources(&state).into_iter().map(|one| (one.address, one.id)).collect();
        let expected = [
            (r#"module.network.aws_subnet.public["eu-north-1a"]"#, "arn:aws:ec2:::subnet/1"),
            ("module.network.aws_subnet.public[1]", "subnet-2"),
            ("aws_eip.nat", ""),
        ];
        assert_eq!(found, expected.map(|(address, id)| (address.to_owned(), id.to_owned())));
    }

    #[test]
    fn what_is_no_state_knows_of_nothing() {
        for text in ["{}", "[]", r#"{"resources":["made"]}"#, r#"{"resources":{}}"#] {
            assert_eq!(serde_json::from_str(text).map(|state| resources(&state)).ok(), Some(vec![]), "{text}");
        }
    }
}
