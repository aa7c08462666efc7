//! The `file.*` tools: reading and writing text files inside the allowed folders.
//!
//! Not here: which paths are allowed (`folder.rs`), and binary files: contents are UTF-8 texts.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use deft_model::{Effects, Failure, FailureClass, Object};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fchmod, statat};
use serde_json::{Value, json};

use super::folder::{OpenEntry, creatable, existing_path, io, open_folder};
use super::{BuiltinTool, Context, Definition, Settings, handler, invalid, run_blocking, text};
use crate::options::{FileOptions, Options};

/// The maximum number of entries in a listing.
const MAX_ENTRIES: usize = 10_000;

type Work = fn(&FileOptions, &Object) -> Result<Value, Failure>;

pub(super) fn tools(settings: &Settings) -> Vec<BuiltinTool> {
    let path = || json!({"path": {"type": "string"}});
    let with_content = || json!({"path": {"type": "string"}, "content": {"type": "string"}});
    let table: [(&str, &str, Effects, Value, Work); 6] = [
        (
            "file.read",
            "Read a text file.",
            Effects::None,
            path(),
            read,
        ),
        (
            "file.list",
            "List the entries of a folder.",
            Effects::None,
            path(),
            list,
        ),
        (
            "file.exists",
            "Check whether a file or folder exists.",
            Effects::None,
            path(),
            exists,
        ),
        (
            "file.write",
            "Write a text file, replacing an existing one. The file is written completely or not \
             at all.",
            Effects::Idempotent,
            with_content(),
            write,
        ),
        (
            "file.append",
            "Add text to the end of a file.",
            Effects::Once,
            with_content(),
            append,
        ),
        (
            "file.delete",
            "Delete a file.",
            Effects::Idempotent,
            path(),
            delete,
        ),
    ];
    table
        .into_iter()
        .map(|(name, description, effects, properties, work)| {
            let required: Vec<_> = properties
                .as_object()
                .into_iter()
                .flat_map(Object::keys)
                .cloned()
                .collect();
            let schema = json!({
                "type": "object",
                "additionalProperties": false,
                "required": required,
                "properties": properties,
            });
            let writes = effects != Effects::None;
            let definition = Definition::new(name, description, effects, schema).local();
            let definition = match name {
                "file.delete" => definition.destructive(),
                _ => definition,
            };
            install(settings, definition, work, writes)
        })
        .collect()
}

fn install(settings: &Settings, definition: Definition, work: Work, writes: bool) -> BuiltinTool {
    let settings = settings.clone();
    let handler = handler(move |arguments: Object, _: Context| {
        let options = settings.load().file.clone();
        async move {
            if writes && !options.folders.is_empty() && !options.write {
                return Err(
                    Failure::new(FailureClass::NotFound, "writing files is disabled")
                        .hint("set `tools.file.write = true`")
                        .mark_blocked(),
                );
            }
            run_blocking(move || work(&options, &arguments)).await
        }
    });
    let readable = |options: &Options| !options.file.folders.is_empty();
    let writable = |options: &Options| !options.file.folders.is_empty() && options.file.write;
    let tool = BuiltinTool::new(definition, handler);
    if writes {
        tool.only_if(
            writable,
            "`deft config set tools.file.folders FOLDER` and `deft config set tools.file.write true` enable it",
        )
    } else {
        tool.only_if(
            readable,
            "`deft config set tools.file.folders FOLDER` names the folder that it may read",
        )
    }
}

fn read(options: &FileOptions, arguments: &Object) -> Result<Value, Failure> {
    let given = text(arguments, "path");
    let path = existing_path(options, given)?;
    let spot = OpenEntry::from_real_path(options, given, &path)?;
    let file = spot
        .open(OFlags::RDONLY)
        .map_err(|error| io(given, &error))?;
    let meta = file.metadata().map_err(|error| io(given, &error))?;
    // A pipe or a device could block or never end.
    if !meta.is_file() {
        return Err(invalid(format!("`{given}` is not a file")));
    }
    let mut bytes = Vec::new();
    let limit = options.max_bytes as u64;
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| io(given, &error))?;
    if bytes.len() > options.max_bytes {
        return Err(too_large(given, options));
    }
    match String::from_utf8(bytes) {
        Ok(content) => Ok(Value::String(content)),
        Err(_) => Err(invalid(format!("`{given}` is not UTF-8 text"))),
    }
}

fn list(options: &FileOptions, arguments: &Object) -> Result<Value, Failure> {
    let given = text(arguments, "path");
    let path = existing_path(options, given)?;
    let entries = open_folder(options, given, &path)
        .and_then(|folder| entries(&folder).map_err(|error| io(given, &error)));
    let mut entries = entries?;
    entries.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
    Ok(Value::Array(entries))
}

fn entries(folder: &OwnedFd) -> std::io::Result<Vec<Value>> {
    let names = Dir::read_from(folder)?.filter(|entry| {
        let name = entry.as_ref().map(rustix::fs::DirEntry::file_name);
        !name.is_ok_and(|name| matches!(name.to_bytes(), b"." | b".."))
    });
    let mut entries = Vec::new();
    for entry in names.take(MAX_ENTRIES) {
        let entry = entry?;
        let stat = statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => "folder",
            FileType::Symlink => "link",
            FileType::RegularFile => "file",
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => "other",
        };
        let name = entry.file_name().to_string_lossy();
        entries.push(json!({"name": name, "type": kind, "size": stat.st_size}));
    }
    Ok(entries)
}

fn exists(options: &FileOptions, arguments: &Object) -> Result<Value, Failure> {
    match existing_path(options, text(arguments, "path")) {
        Ok(_) => Ok(Value::Bool(true)),
        Err(failure) if failure.class == FailureClass::NotFound && !failure.blocked => {
            Ok(Value::Bool(false))
        }
        Err(failure) => Err(failure),
    }
}

fn write(options: &FileOptions, arguments: &Object) -> Result<Value, Failure> {
    let (given, content) = (text(arguments, "path"), text(arguments, "content"));
    if content.len() > options.max_bytes {
        return Err(too_large(given, options));
    }
    let path = creatable(options, given)?;
    let spot = OpenEntry::from_real_path(options, given, &path)?;
    replace(&spot, content).map_err(|error| io(given, &error))?;
    Ok(json!({"path": path.to_string_lossy(), "bytes": content.len()}))
}

/// Writes a temporary file in the same folder and renames it, so that no reader ever sees a partial
/// file.
fn replace(spot: &OpenEntry, content: &str) -> std::io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let ordinal = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut beside = OsString::from(".");
    beside.push(spot.name());
    beside.push(format!(".{}-{ordinal}.tmp", std::process::id()));
    let written = spot.create_sibling(&beside).and_then(|mut file| {
        if let Ok(old) = spot.stat() {
            fchmod(&file, Mode::from_raw_mode(old.st_mode & 0o7777))?;
        }
        file.write_all(content.as_bytes())?;
        file.sync_all()
    });
    let done = written.and_then(|()| spot.replace_by(&beside));
    if done.is_err() {
        // The temporary file of a failed attempt is useless.
        drop(spot.remove_sibling(&beside));
    }
    done
}

fn append(options: &FileOptions, arguments: &Object) -> Result<Value, Failure> {
    let (given, content) = (text(arguments, "path"), text(arguments, "content"));
    if content.len() > options.max_bytes {
        return Err(too_large(given, options));
    }
    let path = creatable(options, given)?;
    let spot = OpenEntry::from_real_path(options, given, &path)?;
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
    let mut file = spot.open(flags).map_err(|error| io(given, &error))?;
    let meta = file.metadata().map_err(|error| io(given, &error))?;
    if !meta.is_file() {
        return Err(invalid(format!("`{given}` is not a file")));
    }
    if meta.len() + content.len() as u64 > options.max_bytes as u64 {
        return Err(too_large(given, options));
    }
    file.write_all(content.as_bytes())
        .map_err(|error| io(given, &error))?;
    Ok(json!({"path": path.to_string_lossy(), "bytes": content.len()}))
}

fn delete(options: &FileOptions, arguments: &Object) -> Result<Value, Failure> {
    let given = text(arguments, "path");
    let path = match existing_path(options, given) {
        Ok(path) => path,
        // A missing file is the desired result.
        Err(failure) if failure.class == FailureClass::NotFound && !failure.blocked => {
            return Ok(json!({"deleted": false}));
        }
        Err(failure) => return Err(failure),
    };
    let spot = OpenEntry::from_real_path(options, given, &path)?;
    let stat = spot.stat().map_err(|error| io(given, &error))?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        return Err(invalid(format!(
            "`{given}` is a folder; only files are deleted"
        )));
    }
    spot.remove().map_err(|error| io(given, &error))?;
    Ok(json!({"deleted": true}))
}

fn too_large(given: &str, options: &FileOptions) -> Failure {
    Failure::new(
        FailureClass::Limit,
        format!("`{given}` is larger than {} bytes", options.max_bytes),
    )
    .hint("raise `tools.file.max_bytes`")
}
