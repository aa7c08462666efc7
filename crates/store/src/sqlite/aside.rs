//! Contents that are not part of runs: revisions, last readable files, cached results, catalogs of servers.
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::damage;
use super::fault::Fault;
use super::row::{self, micros};
use crate::ReadableFile;

pub(super) fn keep_revision(db: &Connection, revision: &str, content: &str) -> Result<(), Fault> {
    // If nothing is inserted, nothing is synced, so that storing a revision again is cheap.
    let sql = "INSERT INTO revision (id, content) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    db.prepare_cached(sql)?.execute([revision, content])?;
    Ok(())
}

pub(super) fn revision(db: &Connection, revision: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT content FROM revision WHERE id = ?1";
    let mut content = db.prepare_cached(sql)?;
    let content = content.query_row([revision], |row| {
        damage::read_by(row, "revision", revision, || row.get(0))
    });
    Ok(content.optional()?)
}

pub(super) fn keep_good_file(
    db: &Connection,
    file: &ReadableFile,
    content: &str,
) -> Result<(), Fault> {
    keep_revision(db, &file.revision, content)?;
    let sql = "INSERT OR REPLACE INTO good_file (path, skill, revision) VALUES (?1, ?2, ?3)";
    db.prepare_cached(sql)?
        .execute([&file.path, &file.skill, &file.revision])?;
    Ok(())
}

pub(super) fn drop_good_file(db: &Connection, path: &str) -> Result<(), Fault> {
    let sql = "DELETE FROM good_file WHERE path = ?1";
    db.prepare_cached(sql)?.execute([path])?;
    Ok(())
}

pub(super) fn good_files(db: &Connection) -> Result<Vec<ReadableFile>, Fault> {
    let sql = "SELECT path, skill, revision FROM good_file ORDER BY path";
    let mut files = db.prepare_cached(sql)?;
    let files = files.query_map([], |row| {
        damage::read(row, "good_file", 0, || {
            Ok(ReadableFile {
                path: row.get(0)?,
                skill: row.get(1)?,
                revision: row.get(2)?,
            })
        })
    })?;
    Ok(files.collect::<Result<_, _>>()?)
}

pub(super) fn read_cached(
    db: &Connection,
    key: &str,
    now: Timestamp,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT value FROM cache WHERE key = ?1 AND expires_at > ?2";
    let mut value = db.prepare_cached(sql)?;
    let value = value.query_row(params![key, micros(now)], |row| {
        damage::read_by(row, "cache", key, || row.get(0))
    });
    Ok(value.optional()?)
}

pub(super) fn keep_catalog(
    db: &Connection,
    server: &str,
    tools: &str,
    at: Timestamp,
) -> Result<(), Fault> {
    let sql = "INSERT OR REPLACE INTO catalog (server, tools, at) VALUES (?1, ?2, ?3)";
    db.prepare_cached(sql)?
        .execute(params![server, tools, micros(at)])?;
    Ok(())
}

pub(super) fn drop_catalog(db: &Connection, server: &str) -> Result<(), Fault> {
    let sql = "DELETE FROM catalog WHERE server = ?1";
    db.prepare_cached(sql)?.execute([server])?;
    Ok(())
}

pub(super) fn catalogs(db: &Connection) -> Result<Vec<(String, String, Timestamp)>, Fault> {
    let sql = "SELECT server, tools, at FROM catalog ORDER BY server";
    let mut catalogs = db.prepare_cached(sql)?;
    let catalogs = catalogs.query_map([], |row| {
        damage::read(row, "catalog", 0, || {
            Ok((row.get(0)?, row.get(1)?, row::instant(row, 2)?))
        })
    })?;
    Ok(catalogs.collect::<Result<_, _>>()?)
}
