//! Stores the plaintext secrets of another host's file as secrets, and replaces them by references.

use std::path::Path;

use deft_config::{SecretPlace, is_literal_secret, store_secret};
use deft_tools::Secret;
use deft_wire::Done;
use serde_json::{Value, json};

/// The parts of a server in which references work.
const MAPS: [&str; 2] = ["env", "headers"];

/// Prefixes of a secret in a header.
const SCHEMES: [&str; 4] = ["Bearer ", "Basic ", "Token ", "token "];

/// A value that looks like a secret.
struct PlainSecret {
    map: &'static str,
    key: String,
    scheme: &'static str,
    value: String,
}

impl PlainSecret {
    /// Returns the name under which the secret is stored.
    fn name(&self, server: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name = format!("{server}_{}", self.key);
        name.chars().map(plain).collect::<String>().to_uppercase()
    }
}

/// Stores all plaintext secrets of a server, and replaces them by references.
pub(super) fn store_all(home: &Path, server: &str, fields: &mut Value) -> Done<Vec<String>> {
    let mut remarks = Vec::new();
    for plain in find(fields) {
        let name = plain.name(server);
        let stored = store_secret(
            home,
            &name,
            &Secret::new(&plain.value),
            SecretPlace::KeyringOrFile,
        )?;
        let reference = &stored.reference;
        remarks.push(format!(
            "`{}.{}` was a secret in plain text; it is stored as `{reference}`",
            plain.map, plain.key
        ));
        fields[plain.map][&plain.key] = json!(format!("{}{reference}", plain.scheme));
    }
    Ok(remarks)
}

/// Returns the fields as an earlier import wrote them: plaintext secrets are replaced by the references of
/// the existing server.
pub(super) fn with_known_references(server: &str, fields: &Value, existing: &Value) -> Value {
    let mut fields = fields.clone();
    for plain in find(&fields) {
        let known = existing[plain.map][&plain.key].as_str();
        let name = plain.name(server);
        let is_ours = |known: &&str| {
            known.ends_with(&format!("keyring:{name}"))
                || known.ends_with(&format!("file:secrets/{name}"))
        };
        if let Some(known) = known.filter(is_ours) {
            fields[plain.map][&plain.key] = json!(known);
        }
    }
    fields
}

fn find(fields: &Value) -> Vec<PlainSecret> {
    let mut found = Vec::new();
    for map in MAPS {
        for (key, value) in fields[map].as_object().into_iter().flatten() {
            let Some(text) = value.as_str().filter(|text| is_literal_secret(key, text)) else {
                continue;
            };
            let schemes = SCHEMES.into_iter();
            let scheme = schemes.into_iter().find(|scheme| text.starts_with(scheme));
            let scheme = scheme.unwrap_or_default();
            found.push(PlainSecret {
                map,
                key: key.clone(),
                scheme,
                value: text.strip_prefix(scheme).unwrap_or(text).to_owned(),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_imported_server_is_recognised_by_its_references() {
        let fields =
            json!({"url": "https://x", "headers": {"Authorization": "Bearer sk-123456789012"}});
        let reference = "Bearer file:secrets/MY_SHOP_AUTHORIZATION";
        let existing = json!({"url": "https://x", "headers": {"Authorization": reference}});
        let known = with_known_references("my-shop", &fields, &existing);
        assert_eq!(known, existing);
        let other = json!({"url": "https://x", "headers": {"Authorization": "env:OTHER"}});
        assert_eq!(with_known_references("my-shop", &fields, &other), fields);
    }
}
