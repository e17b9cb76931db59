//! A record in the words of OpenTelemetry.

use hookexec::Event;
use hookexec::internal::audit::Record;
use hookexec::wire::HookReport;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Kind;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, KeyValueList};
use serde::Serialize;
use serde_json::Value;

use crate::records::Parcel;

/// The attributes with a name of OpenTelemetry: the field of a record, and what they hold. Every
/// other field of a record is sent as `hookexec.` and its name.
pub(crate) const STANDARD: &[[&str; 3]] = &[
    ["", UID, "the record's id: the same each time that it is sent"],
    ["session", "gen_ai.conversation.id", "the field `session`"],
    ["agent", "gen_ai.agent.name", "the field `agent`"],
    ["tool", "gen_ai.tool.name", "the field `tool`"],
    ["", OPERATION, "`execute_tool` at events of a tool call, `chat` at those of a model call"],
    ["", ARGUMENTS, "with `--inputs`: the arguments of the tool call, as JSON"],
];

const UID: &str = "log.record.uid";
const OPERATION: &str = "gen_ai.operation.name";
const ARGUMENTS: &str = "gen_ai.tool.call.arguments";

/// Returns the attributes of a record, without those of its hooks.
pub(super) fn attributes(parcel: &Parcel, inputs: bool) -> Vec<KeyValue> {
    let record = &*parcel.record;
    let mut found = vec![text(UID, &parcel.id)];
    found.extend(operation(record).map(|name| text(OPERATION, name)));
    let Ok(Value::Object(fields)) = serde_json::to_value(record) else { return found };
    for (name, field) in fields {
        let standard = STANDARD.iter().find(|[from, ..]| *from == name);
        match (&*name, field) {
            // They are sent in another form.
            ("v" | "time" | "traceparent" | "hooks", _) => {}
            ("input" | "updated_input", _) if !inputs => {}
            ("input", Value::Object(mut fields)) if fields.contains_key("tool_input") => {
                let arguments = fields["tool_input"].take();
                found.push(text(ARGUMENTS, &arguments.to_string()));
            }
            ("input" | "updated_input", field) => {
                found.push(text(&ours(&name), &field.to_string()));
            }
            ("decision", Value::Null) => found.push(text(&ours(&name), "none")),
            (_, Value::Object(parts)) => {
                let part = |(part, value)| pair(&ours(&format!("{name}.{part}")), value);
                found.extend(parts.into_iter().map(part));
            }
            (_, field) => {
                found.push(pair(&standard.map_or(ours(&name), |it| it[1].to_owned()), field));
            }
        }
    }
    found
}

/// Returns the name of an attribute of our own.
fn ours(name: &str) -> String {
    format!("hookexec.{name}")
}

/// Returns what one hook of a record did.
pub(super) fn fields(report: &HookReport) -> Vec<KeyValue> {
    let Ok(Value::Object(fields)) = serde_json::to_value(report) else { return Vec::new() };
    fields.into_iter().map(|(name, field)| pair(&name, field)).collect()
}

fn operation(record: &Record) -> Option<&'static str> {
    match record.event {
        Event::BeforeLlmCall | Event::AfterLlmCall => Some("chat"),
        _ if record.tool.is_some() => Some("execute_tool"),
        _ => None,
    }
}

/// Returns the word that stands for a status or a mode in a record.
pub(super) fn word_of(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn text(name: &str, value: &str) -> KeyValue {
    pair(name, value.into())
}

pub(super) fn pair(name: &str, value: Value) -> KeyValue {
    KeyValue { key: name.to_owned(), value: any(value), ..KeyValue::default() }
}

/// Returns a value of JSON.
pub(super) fn any(value: Value) -> Option<AnyValue> {
    let kind = match value {
        Value::Null => return None,
        Value::Bool(value) => Kind::BoolValue(value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Kind::IntValue(number),
            None => Kind::DoubleValue(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Kind::StringValue(text),
        Value::Array(items) => {
            Kind::ArrayValue(ArrayValue { values: items.into_iter().filter_map(any).collect() })
        }
        Value::Object(fields) => {
            let values = fields.into_iter().map(|(name, value)| pair(&name, value)).collect();
            Kind::KvlistValue(KeyValueList { values })
        }
    };
    Some(AnyValue { value: Some(kind) })
}
