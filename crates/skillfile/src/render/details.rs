//! The descriptive fields of a skill as the keys and values of a file.

use deft_model::{Details, Object};

use super::keys::put;

/// The keys that have something to say, in the order in which files have them.
pub fn details(details: &Details) -> Object {
    let Details {
        tags,
        author,
        version,
        created,
    } = details;
    let mut object = Object::new();
    put(&mut object, "tags", tags.clone());
    put(&mut object, "author", author.clone());
    put(&mut object, "version", version.clone());
    put(&mut object, "created", created.clone());
    object
}
