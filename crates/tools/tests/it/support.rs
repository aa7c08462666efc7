//! The world of one test: a folder, scripted servers, a router.

use std::path::Path;
use std::sync::{Arc, Mutex};

use deft_model::{Failure, Object};
use deft_testkit::{Event, Script, server_binary, witness};
use deft_tools::{Call, Catalog, Environment, Options, Reply, Router, ServerOptions};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) options: Options,
    pub(crate) environment: Environment,
    pub(crate) catalogs: Arc<Mutex<Vec<Catalog>>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let catalogs: Arc<Mutex<Vec<Catalog>>> = Arc::default();
        let seen = catalogs.clone();
        Self {
            folder: tempfile::tempdir().unwrap(),
            options: Options::default(),
            environment: Environment {
                catalogs: Arc::new(move |catalog| seen.lock().unwrap().push(catalog.clone())),
                ..Environment::default()
            },
            catalogs,
        }
    }

    /// A world with one server.
    pub(crate) fn with(name: &str, script: &Script) -> Self {
        let mut world = Self::new();
        world.add(name, script);
        world
    }

    pub(crate) fn add(&mut self, name: &str, script: &Script) -> &mut ServerOptions {
        let server = self.server(name, script);
        self.options
            .servers
            .entry(name.to_owned())
            .or_insert(server)
    }

    pub(crate) fn server(&self, name: &str, script: &Script) -> ServerOptions {
        let arguments = script.write(self.folder.path(), name);
        let arguments = arguments.list();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        ServerOptions::command(server_binary().to_string_lossy(), &arguments)
    }

    pub(crate) fn router(&self) -> Router {
        Router::new(self.options.clone(), self.environment.clone())
    }

    pub(crate) fn witness(&self, server: &str) -> Vec<Event> {
        witness(&self.folder.path().join(format!("{server}.log")))
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

pub(crate) async fn call(router: &Router, tool: &str, arguments: Value) -> Result<Reply, Failure> {
    router.call(Call::new(tool, object(arguments))).await
}

pub(crate) async fn value(router: &Router, tool: &str, arguments: Value) -> Value {
    call(router, tool, arguments).await.unwrap().value
}

/// Waits until `condition` returns true; panics after a while.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if condition() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("never: {what}");
}

/// The lines logged on this thread.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Captures the log until the guard is dropped.
    pub(crate) fn follow(&self) -> tracing::subscriber::DefaultGuard {
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::WARN)
            .with_writer(move || log.clone())
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
