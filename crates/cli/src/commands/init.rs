//! `deft init`: puts a home in order. Everything that exists stays as it is.

use std::fs;
use std::process::ExitCode;

use serde_json::json;

use crate::args::Global;
use crate::failure::{Done, Failure};
use crate::output::{Output, counted};
use deft_config::{Home, config_file, create_folder};
use deft_service::daemon;

const CONFIG: &str = "# deft reads this file; `deft config show --origin` says what counts and why.\n\
# Every key is in docs/configuration.md, and `deft config set KEY VALUE` writes it here.\n\n\
# [notify]\n# channel = \"telegram\"\n# target = \"123456789\"\n\n\
# [telegram]\n# token = \"env:TELEGRAM_TOKEN\"\n";

pub(crate) fn run(global: &Global, output: &Output) -> Done {
    let home = global.workspace().home()?;
    home.ensure()?;
    for folder in ["skills", "agents", "data", "logs", "sessions"] {
        create_folder(&home.path.join(folder))?;
    }
    let config = config_file(&home.path);
    let wrote_config = !config.exists();
    if wrote_config {
        fs::write(&config, CONFIG).map_err(|problem| Failure::file(&config, "write", &problem))?;
    }
    let seeded = daemon::seed_new_home(&home)?;
    may_write(&home)?;
    if output.json {
        output.document(&json!({
            "home": home.path.display().to_string(),
            "config_written": wrote_config,
            "skills_written": seeded,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match seeded {
        0 => format!("`{}` is in order", home.path.display()),
        _ => format!(
            "`{}` is ready: {} written",
            home.path.display(),
            counted(seeded, "skill file")
        ),
    };
    output.data(text)?;
    output.note("hint: `deft up` starts it, `deft doctor` says what is missing");
    Ok(ExitCode::SUCCESS)
}

/// A home in which nothing can be written is not in order, even if everything is there.
fn may_write(home: &Home) -> Done<()> {
    let probe = home.path.join(format!(".probe-{}", std::process::id()));
    let written = fs::write(&probe, "").and_then(|()| fs::remove_file(&probe));
    written.map_err(|problem| Failure::file(&home.path, "write into", &problem))
}
