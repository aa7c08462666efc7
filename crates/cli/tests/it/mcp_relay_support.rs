//! The server of the conformance suite behind deft: `crates/server/examples/conformance_upstream`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::daemon::used_home;
use crate::support::World;

/// Returns the path of the program, which is built with the tests.
pub(crate) fn upstream() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program = profile.join("examples/conformance_upstream");
    assert!(program.exists(), "{} is not built", program.display());
    program
}

/// The server as a process that listens on HTTP.
pub(crate) struct HttpUpstream {
    child: Child,
    pub(crate) url: String,
}

impl HttpUpstream {
    /// Starts a server. `words` are `http`, and optionally `legacy` and a port.
    pub(crate) fn start(words: &[&str]) -> Self {
        Self::with(words, &[])
    }

    /// Like [`Self::start`], with environment variables.
    pub(crate) fn with(words: &[&str], variables: &[(&str, &Path)]) -> Self {
        let mut child = Command::new(upstream())
            .args(words)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        Self {
            child,
            url: line.trim().to_owned(),
        }
    }

    pub(crate) fn port(&self) -> &str {
        let address = self.url.trim_end_matches("/mcp");
        address.rsplit(':').next().unwrap()
    }
}

impl Drop for HttpUpstream {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Creates a home with the server as a child process of deft.
pub(crate) fn stdio_world(words: &[&str], more: &str) -> World {
    let world = used_home();
    let args: Vec<String> = ["stdio"]
        .iter()
        .chain(words)
        .map(|word| format!("{word:?}"))
        .collect();
    let config = format!(
        "[mcp_servers.up]\ncommand = {:?}\nargs = [{}]\n{more}\n",
        upstream().display().to_string(),
        args.join(", ")
    );
    world.write("home/config.toml", config);
    world
}

/// Creates a home with the server at a URL.
pub(crate) fn http_world(upstream: &HttpUpstream, more: &str) -> World {
    let world = used_home();
    let config = format!("[mcp_servers.up]\nurl = {:?}\n{more}\n", upstream.url);
    world.write("home/config.toml", config);
    world
}
