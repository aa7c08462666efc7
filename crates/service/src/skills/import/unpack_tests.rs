//! Malicious archives.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use super::*;

/// Names and contents of entries.
type EntryList<'a> = &'a [(&'a str, &'a [u8])];

const SMALL: Limits = Limits {
    entries: 4,
    file_bytes: 1000,
    total_bytes: 1500,
};

/// Unpacks into `in/to` of a new folder, and checks that nothing was written beside `to`.
fn unpack_all(bytes: &[u8], kind: ArchiveKind, limits: Limits) -> (Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    fs::write(&archive, bytes).unwrap();
    let to = folder.path().join("in/to");
    fs::create_dir_all(&to).unwrap();
    let done = unpack(&archive, kind, &to, limits);
    let beside: Vec<_> = fs::read_dir(folder.path().join("in")).unwrap().collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    match done {
        Ok(refused) => {
            let shown = |one: &FileRefusal| {
                let path = one.path.strip_prefix(&to).unwrap_or(&one.path);
                format!("{}: {}", path.display(), one.reason)
            };
            (names(&to, &to), refused.iter().map(shown).collect())
        }
        Err(failure) => {
            let shown = archive.display().to_string();
            (Vec::new(), vec![failure.message.replace(&shown, "archive")])
        }
    }
}

fn names(folder: &Path, root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(!path.is_symlink(), "{path:?}");
        if path.is_dir() {
            found.extend(names(&path, root));
        } else {
            found.push(path.strip_prefix(root).unwrap().display().to_string());
        }
    }
    found.sort();
    found
}

/// Returns a tar with raw names, which the library would refuse to write.
fn tar(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, content) in entries {
        let mut header = tar::Header::new_gnu();
        let raw = &mut header.as_old_mut().name;
        raw[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zip(entries: EntryList<'_>) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, content) in entries {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn paths_stay_inside() {
    for name in ["a/b.md", "./a/./b.md"] {
        assert_eq!(safe_path(name), Some(PathBuf::from("a/b.md")));
    }
    for name in [
        "../x",
        "a/../../x",
        "/etc/x",
        "C:\\x",
        "c:x",
        "a\\..\\x",
        "",
        ".",
    ] {
        assert_eq!(safe_path(name), None, "{name}");
    }
}

#[test]
fn a_tar_writes_plain_files_only() {
    use tar::EntryType as Kind;
    let bytes = tar(&[
        ("good/a", Kind::Regular, b"a"),
        ("../up", Kind::Regular, b"x"),
        ("/abs", Kind::Regular, b"x"),
        ("good/link", Kind::Symlink, b""),
        ("good/hard", Kind::Link, b""),
        ("good/fifo", Kind::Fifo, b""),
        ("good/disk", Kind::Block, b""),
        ("good/a", Kind::Regular, b"again"),
        ("good/a/b", Kind::Regular, b"x"),
        ("folder", Kind::Directory, b""),
    ]);
    let (written, refused) = unpack_all(&bytes, ArchiveKind::Tar, Limits::default());
    assert_eq!(written, ["good/a"]);
    let reasons: Vec<&str> = refused
        .iter()
        .map(|one| one.split(" (").next().unwrap())
        .collect();
    assert_eq!(
        reasons,
        [
            "../up: its path leads out of the archive",
            "abs: its path leads out of the archive",
            "good/link: it is a link",
            "good/hard: it is a link",
            "good/fifo: it is a device, a pipe or a socket",
            "good/disk: it is a device, a pipe or a socket",
            "good/a: another entry has its name",
            "good/a/b: another entry has the name of its folder",
        ]
    );
}

#[test]
fn a_zip_writes_plain_files_only() {
    let mut writer = zip::ZipWriter::new(Cursor::new(zip(&[])));
    let options = zip::write::SimpleFileOptions::default();
    writer.start_file("good/a", options).unwrap();
    writer.write_all(b"a").unwrap();
    writer
        .add_symlink("good/link", "/etc/passwd", options)
        .unwrap();
    writer.start_file("../up", options).unwrap();
    writer.start_file("/abs", options).unwrap();
    writer.add_directory("folder", options).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let (written, refused) = unpack_all(&bytes, ArchiveKind::Zip, Limits::default());
    assert_eq!(written, ["good/a"]);
    assert_eq!(
        refused,
        [
            "good/link: it is a link",
            "../up: its path leads out of the archive",
            "abs: its path leads out of the archive",
        ]
    );
}

#[test]
fn limits_apply_to_every_archive_format() {
    let big = [b'x'; 1001];
    let half = [b'x'; 800];
    let many: Vec<(&str, &[u8])> = vec![("a", b""), ("b", b""), ("c", b""), ("d", b""), ("e", b"")];
    let cases: [(EntryList<'_>, &str); 3] = [
        (
            &[("big", &big)],
            "`archive` has the file `big` of more than 0 MB",
        ),
        (
            &[("a", &half), ("b", &half)],
            "`archive` unpacks to more than 0 MB",
        ),
        (&many, "`archive` has more than 4 entries"),
    ];
    for (entries, wanted) in cases {
        let regular = entries
            .iter()
            .map(|(name, content)| (*name, tar::EntryType::Regular, *content));
        let plain = tar(&regular.collect::<Vec<_>>());
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&plain).unwrap();
        let forms = [
            (ArchiveKind::Zip, zip(entries)),
            (ArchiveKind::Tar, plain),
            (ArchiveKind::TarGz, packed.finish().unwrap()),
        ];
        for (kind, bytes) in forms {
            let (_, refused) = unpack_all(&bytes, kind, SMALL);
            assert_eq!(refused, [wanted], "{kind:?}");
        }
    }
}

/// The header of a zip may claim any size; the real content counts.
#[test]
fn a_zip_with_false_sizes_is_stopped() {
    let mut bytes = zip(&[("big", &[b'x'; 1001])]);
    let size = 1001_u32.to_le_bytes();
    let places: Vec<usize> = (0..bytes.len() - 4)
        .filter(|at| bytes[*at..*at + 4] == size)
        .collect();
    for at in places {
        bytes[at..at + 4].copy_from_slice(&1_u32.to_le_bytes());
    }
    let (written, refused) = unpack_all(&bytes, ArchiveKind::Zip, SMALL);
    assert_eq!(written, Vec::<String>::new());
    assert_eq!(refused.len(), 1, "{refused:?}");
}

#[test]
fn an_invalid_archive_is_reported() {
    for kind in [ArchiveKind::Zip, ArchiveKind::Tar, ArchiveKind::TarGz] {
        let (_, refused) = unpack_all(&[7; 2000], kind, SMALL);
        assert!(
            refused[0].starts_with("`archive` cannot be unpacked: "),
            "{refused:?}"
        );
    }
}
