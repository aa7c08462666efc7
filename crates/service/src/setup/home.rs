//! Prepares a home. Existing files stay as they are.

use std::fs;

use deft_config::{
    Home, config_file, create_folder, is_open_to_others, make_private, write_private,
};
use deft_wire::home::InitResult;
use deft_wire::{Done, Failure};

use crate::seed;
use crate::workspace::Workspace;

const CONFIG: &str = "# Settings of deft; `deft config show --origin` lists their values and \
origins.\n# Every key is in docs/configuration.md, and `deft config set KEY VALUE` writes it \
here.\n# Keys and passwords stay out of it: `deft secrets set NAME` stores them.\n\n# [notify]\n# \
channel = \"telegram\"\n# target = \"123456789\"\n\n# [telegram]\n# token = \
\"env:TELEGRAM_TOKEN\"\n";

/// Creates the folders of a home, its configuration and its default skills where they are missing.
pub fn prepare_home(workspace: &Workspace) -> Done<InitResult> {
    let home = workspace.home()?;
    home.ensure()?;
    for folder in ["skills", "agents", "data", "logs", "sessions"] {
        create_folder(&home.path.join(folder))?;
    }
    let config = config_file(&home.path);
    let config_written = !config.exists();
    if config_written {
        write_private(&config, CONFIG)?;
    }
    let skills_written = seed::seed_new_home(&home)?;
    check_writable(&home)?;
    Ok(InitResult {
        home: home.path.display().to_string(),
        config_written,
        skills_written,
    })
}

/// Restricts the configuration to its owner. Returns true if other users could read it.
pub fn protect_config(workspace: &Workspace) -> Done<bool> {
    let config = config_file(&workspace.locate()?);
    if !is_open_to_others(&config) {
        return Ok(false);
    }
    make_private(&config).map_err(|problem| Failure::file(&config, "protect", &problem))?;
    Ok(true)
}

/// A home that cannot be written to is not ready, even if everything exists.
fn check_writable(home: &Home) -> Done<()> {
    let probe = home.path.join(format!(".probe-{}", std::process::id()));
    let written = fs::write(&probe, "").and_then(|()| fs::remove_file(&probe));
    written.map_err(|problem| Failure::file(&home.path, "write into", &problem))
}
