//! The keyring of the host, accessed through its own program: `secret-tool` on Linux, `security` on macOS.
//!
//! Each entry has the path of the home in its name, so that two homes do not share a secret by accident.
//! Values are passed through pipes, because other users can see the arguments of programs. Not here: secrets
//! in files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use deft_tools::Secret;

use crate::host::{ProgramOutput, find_program, run_program};

/// A locked keyring asks the user for its password, which takes time.
const UNLOCK_TIMEOUT: Duration = Duration::from_mins(1);

/// The program that accesses the keyring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    SecretTool,
    Security,
}

const KIND: Kind = if cfg!(target_os = "macos") {
    Kind::Security
} else {
    Kind::SecretTool
};

/// The keyring of the user, limited to the entries of one home.
#[derive(Debug)]
pub(crate) struct Keyring {
    program: PathBuf,
    kind: Kind,
    home: String,
}

impl Keyring {
    /// Returns the keyring of this host, or an error if its program is missing.
    pub(crate) fn find(home: &Path) -> Result<Self, String> {
        let name = match KIND {
            Kind::SecretTool => "secret-tool",
            Kind::Security => "security",
        };
        let program = find_program(name);
        let program = program
            .ok_or_else(|| format!("this host has no keyring: `{name}` is not in `PATH`"))?;
        Ok(Self {
            program,
            kind: KIND,
            home: home.display().to_string(),
        })
    }

    /// Stores a secret and reads it back: some keyrings accept values that they do not store.
    pub(crate) fn store(&self, name: &str, secret: &Secret) -> Result<(), String> {
        let value = secret.expose();
        match self.kind {
            Kind::SecretTool => {
                let label = format!("--label=deft: {name}");
                let args = self.secret_tool("store", Some(&label), name);
                self.run(&texts(&args), value)?;
            }
            Kind::Security => {
                // The command goes through a pipe. The value is in hexadecimal digits, which need no quotes.
                let digits: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
                let service = self.service();
                let command =
                    format!("add-generic-password -U -a \"{name}\" -s \"{service}\" -X {digits}\n");
                self.run(&["-i"], &command)?;
            }
        }
        match self.lookup(name) {
            Ok(found) if found == *secret => Ok(()),
            Ok(_) => Err("the keyring returned a different value than was stored".to_owned()),
            Err(reason) => Err(reason),
        }
    }

    /// Returns the secret called `name`.
    pub(crate) fn lookup(&self, name: &str) -> Result<Secret, String> {
        let found = match self.kind {
            Kind::SecretTool => self.run(&texts(&self.secret_tool("lookup", None, name)), ""),
            Kind::Security => {
                let service = self.service();
                let args = ["find-generic-password", "-a", name, "-s", &service, "-w"];
                self.run(&args, "")
            }
        }?;
        let value = found.out.trim_end_matches(['\r', '\n']);
        if value.is_empty() {
            return Err(format!("the keyring has no `{name}` of this home"));
        }
        Ok(Secret::new(value))
    }

    /// Removes a secret. Some keyrings fail if they do not have it.
    pub(crate) fn remove(&self, name: &str) -> Result<(), String> {
        match self.kind {
            Kind::SecretTool => self.run(&texts(&self.secret_tool("clear", None, name)), ""),
            Kind::Security => {
                let service = self.service();
                self.run(&["delete-generic-password", "-a", name, "-s", &service], "")
            }
        }
        .map(drop)
    }

    fn secret_tool(&self, verb: &str, label: Option<&str>, name: &str) -> Vec<String> {
        let attributes = ["service", "deft", "home", &self.home, "name", name];
        let words = std::iter::once(verb).chain(label).chain(attributes);
        words.map(str::to_owned).collect()
    }

    /// The service name of deft's entries. Quotes would end it early in a command read from a pipe.
    fn service(&self) -> String {
        format!("deft {}", self.home.replace(['"', '\\', '\n'], "_"))
    }

    fn run(&self, args: &[&str], input: &str) -> Result<ProgramOutput, String> {
        let done = run_program(&self.program, args, input, UNLOCK_TIMEOUT)?;
        if done.ok {
            return Ok(done);
        }
        let first = done.err.lines().next().unwrap_or_default().trim();
        Err(match first {
            "" => "not in the keyring".to_owned(),
            first => format!("the keyring refused: {first}"),
        })
    }
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
