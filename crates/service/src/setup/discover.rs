//! Detects models, skills and servers on a machine. Only reads: nothing is written, started or sent.

use std::fs;
use std::path::Path;

use deft_llm::{ProviderKind, ProviderPlace};
use deft_wire::setup::{FoundKey, FoundModels, FoundServers, FoundSkills, SetupFindings};

use super::hosts;
use super::machine::Machine;
use super::providers::{KEY_PROVIDERS, LOCAL_SERVERS, LocalServer, OLLAMA, OLLAMA_HOST};
use crate::servers::server_names;

/// Maximum depth of the search for skills below a folder.
const DEPTH: usize = 3;

/// The addresses to search for model servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelSearch {
    /// The usual ports of this machine.
    UsualPorts,
    /// These addresses only, and the address in `OLLAMA_HOST`.
    Addresses(Vec<String>),
}

/// A possible model server.
struct Candidate {
    name: &'static str,
    title: String,
    place: ProviderPlace,
}

/// Detects everything that deft can use.
pub fn discover(machine: &Machine, search: &ModelSearch) -> SetupFindings {
    SetupFindings {
        keys: keys(machine),
        models: models(machine, search),
        skills: skills(machine),
        servers: servers(machine),
        crontab: machine.crontab.as_deref().map_or(0, crontab_jobs),
    }
}

fn keys(machine: &Machine) -> Vec<FoundKey> {
    let is_set = |name: &&&str| {
        let value = machine.environment.get(**name);
        value.is_some_and(|value| !value.trim().is_empty())
    };
    let found = KEY_PROVIDERS.iter().filter_map(|provider| {
        let variable = provider.variables.iter().find(is_set)?;
        Some(FoundKey {
            provider: provider.name.to_owned(),
            title: provider.title.to_owned(),
            variable: (*variable).to_owned(),
        })
    });
    found.collect()
}

fn models(machine: &Machine, search: &ModelSearch) -> Vec<FoundModels> {
    let candidates = candidates(machine, search);
    let places: Vec<ProviderPlace> = candidates.iter().map(|one| one.place.clone()).collect();
    let answers = (machine.probe)(&places);
    let mut found: Vec<FoundModels> = Vec::new();
    for (candidate, models) in candidates.into_iter().zip(answers) {
        let base_url = candidate.place.base_url.unwrap_or_default();
        // An address may support two wire formats; the first one is used.
        let is_known = found.iter().any(|one| one.base_url == base_url);
        if let Some(models) = models.filter(|_| !is_known) {
            found.push(FoundModels {
                provider: candidate.name.to_owned(),
                title: candidate.title,
                base_url,
                models,
            });
        }
    }
    found
}

fn candidates(machine: &Machine, search: &ModelSearch) -> Vec<Candidate> {
    let set = machine.environment.get(OLLAMA_HOST);
    let mut all: Vec<Candidate> = Vec::new();
    match search {
        ModelSearch::UsualPorts => {
            let host = set.map_or("", String::as_str);
            all.push(server(&OLLAMA, ollama_address(host)));
            let usual = LOCAL_SERVERS.iter();
            all.extend(usual.map(|one| server(one, format!("http://127.0.0.1:{}", one.port))));
        }
        ModelSearch::Addresses(addresses) => {
            all.extend(set.map(|host| server(&OLLAMA, ollama_address(host))));
            all.extend(addresses.iter().flat_map(|address| any_server(address)));
        }
    }
    all
}

fn server(kind: &LocalServer, base_url: String) -> Candidate {
    Candidate {
        name: kind.name,
        title: kind.title.to_owned(),
        place: ProviderPlace {
            provider: kind.wire,
            base_url: Some(base_url),
        },
    }
}

/// Returns the candidates for a server of unknown kind. Ollama supports both wire formats, so its own is
/// tried first.
fn any_server(address: &str) -> [Candidate; 2] {
    let url = with_scheme(address);
    let unknown = LocalServer {
        name: "local",
        title: "model server",
        wire: ProviderKind::OpenAi,
        port: 0,
    };
    [server(&OLLAMA, url.clone()), server(&unknown, url)]
}

fn with_scheme(address: &str) -> String {
    let address = address.trim().trim_end_matches('/');
    if address.contains("://") {
        address.to_owned()
    } else {
        format!("http://{address}")
    }
}

/// Returns the address in `OLLAMA_HOST`, which may lack a scheme, a host or a port. A server that listens on
/// all interfaces is queried at the loopback address.
fn ollama_address(host: &str) -> String {
    let url = with_scheme(host);
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", ""));
    let (name, port) = match rest.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ => (rest, ""),
    };
    let name = match name {
        "" | "0.0.0.0" | "[::]" => "127.0.0.1",
        name => name,
    };
    match (port, scheme) {
        ("", "https") => format!("{scheme}://{name}"),
        ("", _) => format!("{scheme}://{name}:{}", OLLAMA.port),
        (port, _) => format!("{scheme}://{name}:{port}"),
    }
}

fn skills(machine: &Machine) -> Vec<FoundSkills> {
    let found = hosts::skill_folders(machine)
        .into_iter()
        .map(|place| FoundSkills {
            path: machine.shorten(&place.path),
            skills: count_skills(&place.path, DEPTH),
            project: place.project,
        });
    found.filter(|one| one.skills > 0).collect()
}

/// Counts the folders below this one that have a `SKILL.md`.
fn count_skills(folder: &Path, depth: usize) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    let count = |path: std::path::PathBuf| {
        if path.join("SKILL.md").is_file() || path.join("skill.md").is_file() {
            1
        } else if depth > 1 {
            count_skills(&path, depth - 1)
        } else {
            0
        }
    };
    below.map(count).sum()
}

fn servers(machine: &Machine) -> Vec<FoundServers> {
    let found = hosts::server_files(machine)
        .into_iter()
        .map(|place| FoundServers {
            title: place.title.clone(),
            servers: server_names(&place.path),
            path: machine.shorten(&place.path),
            project: place.project,
        });
    found.filter(|one| !one.servers.is_empty()).collect()
}

/// Counts the jobs of a crontab: lines that are neither comments nor variables.
fn crontab_jobs(table: &str) -> usize {
    let lines = table.lines().map(str::trim);
    let jobs = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    jobs.filter(|line| !is_assignment(line)).count()
}

fn is_assignment(line: &str) -> bool {
    let is_name = |text: &str| {
        let text = text.trim().trim_matches(['"', '\'']);
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !text.is_empty() && text.chars().all(plain)
    };
    line.split_once('=').is_some_and(|(name, _)| is_name(name))
}
