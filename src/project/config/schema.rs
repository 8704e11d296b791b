//! The configuration as a JSON schema, for editors.

use serde_json::{Map, Value, json};

use super::keys::{KEYS, Key, Shape};
use super::read::{CONFIDENCES, FRAMEWORKS, KINDS, LEVELS};
use crate::finding::Rule;

/// The schema of an `hvdlint.toml`, and of `[tool.hvdlint]` in a `pyproject.toml`.
#[must_use]
pub fn schema(rules: &[&'static Rule]) -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "hvdlint",
        "description": "How a project wants to be checked by hvdlint.",
        "type": "object",
        "additionalProperties": false,
        "properties": KEYS.iter().map(|key| (key.name.to_owned(), property(key))).collect::<Map<_, _>>(),
        "definitions": {
            "check": check(rules),
            "checks": { "type": "array", "items": { "$ref": "#/definitions/check" } },
            "patterns": strings("A path pattern as in .gitignore."),
        },
    })
}

fn property(key: &Key) -> Value {
    let mut property = shape(key.shape);
    if let (Some(property), Some(meaning)) = (property.as_object_mut(), Some(key.meaning)) {
        property.insert("description".to_owned(), meaning.into());
    }
    property
}

fn shape(shape: Shape) -> Value {
    match shape {
        // A reference stands alone in this draft.
        Shape::Checks => json!({ "allOf": [{ "$ref": "#/definitions/checks" }] }),
        Shape::Patterns => json!({ "allOf": [{ "$ref": "#/definitions/patterns" }] }),
        Shape::Names => strings("A dotted name, or a path."),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Path => json!({ "type": "string" }),
        Shape::Confidence => json!({ "enum": words(&CONFIDENCES) }),
        Shape::Framework => json!({ "enum": words(&FRAMEWORKS) }),
        Shape::Levels => json!({
            "type": "object",
            "propertyNames": { "$ref": "#/definitions/check" },
            "additionalProperties": { "enum": words(&LEVELS) },
        }),
        Shape::ChecksOfFiles => json!({
            "type": "object",
            "additionalProperties": { "$ref": "#/definitions/checks" },
        }),
        Shape::Api => json!({ "type": "array", "items": row() }),
    }
}

/// A row that teaches a name.
fn row() -> Value {
    let name = |meaning: &str| json!({ "type": "string", "description": meaning });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "kind"],
        "properties": {
            "name": name("Qualified name, such as our_library.optimizers.Lamb."),
            "kind": { "enum": words(&KINDS), "description": "What calling it makes or does." },
            "base": name("Qualified name of the class that it extends."),
            "returns": name("Qualified name of the class of what it returns."),
            "parameters": strings("The name of a positional parameter."),
        },
    })
}

/// A name, code, beginning of a code, group, or `ALL`.
fn check(rules: &[&'static Rule]) -> Value {
    let mut groups: Vec<&str> = rules.iter().map(|rule| rule.group.name()).collect();
    groups.sort_unstable();
    groups.dedup();
    let names = rules.iter().flat_map(|rule| [rule.name, rule.code]);
    let all: Vec<&str> = ["ALL"].into_iter().chain(groups).chain(names).collect();
    json!({ "anyOf": [{ "enum": all }, { "type": "string", "pattern": "^HVD[0-9]*$" }] })
}

fn strings(meaning: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string", "description": meaning } })
}

fn words<T>(words: &[(&'static str, T)]) -> Vec<&'static str> {
    words.iter().map(|(word, _)| *word).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::checks::RULES;
    use crate::project::Config;

    #[test]
    fn every_word_of_the_schema_is_read() {
        let schema = schema(RULES);
        let read = |text: &str| Config::parse(text, Path::new("hvdlint.toml"), RULES);
        for check in schema["definitions"]["check"]["anyOf"][0]["enum"].as_array().expect("words") {
            read(&format!("ignore = [{check}]")).expect("the schema lists it");
        }
        let properties = schema["properties"].as_object().expect("properties");
        for (key, property) in properties {
            for word in property["enum"].as_array().into_iter().flatten() {
                read(&format!("{key} = {word}")).expect("the schema lists it");
            }
        }
        for level in properties["levels"]["additionalProperties"]["enum"].as_array().expect("levels") {
            read(&format!("levels.HVD001 = {level}")).expect("the schema lists it");
        }
        for kind in properties["api"]["items"]["properties"]["kind"]["enum"].as_array().expect("kinds") {
            read(&format!("[[api]]\nname = \"a.b\"\nkind = {kind}")).expect("the schema lists it");
        }
    }

    #[test]
    fn every_key_of_the_schema_is_read_and_says_what_it_is() {
        for (key, property) in schema(RULES)["properties"].as_object().expect("properties") {
            assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()), "{key}");
            let wrong = format!("{key} = 1979-05-27");
            let error = Config::parse(&wrong, Path::new("hvdlint.toml"), RULES).expect_err("a date");
            assert!(!error.what.contains("there is no key"), "{key}: {error}");
        }
    }
}
