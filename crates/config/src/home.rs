//! The home folder, with the configuration, skills, agents and database of one user.

use std::path::{Path, PathBuf};

use deft_skillfile::Moment;
use deft_wire::{Done, Failure};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::folders::{config_file, create_folder, ensure_home};
use crate::paths::resolve;
use crate::settings::{Config, Problem};
use crate::{env, zone};

/// A home folder and its configuration.
#[derive(Debug)]
pub struct Home {
    /// The folder.
    pub path: PathBuf,
    /// The settings of its `config.toml` and of the environment.
    pub config: Config,
    /// Problems of settings that could not be read and are ignored.
    pub ignored: Vec<Problem>,
}

impl Home {
    /// Reads the configuration of the home at `folder`, or of the default home. The folder need not exist.
    pub fn open(folder: Option<&Path>) -> Done<Self> {
        let path = Self::locate(folder)?;
        let config = Config::read(&config_file(&path))?;
        Ok(Self {
            path,
            config,
            ignored: Vec::new(),
        })
    }

    /// Like [`Self::open`], but ignores invalid settings and reports them in `ignored`. For requests that
    /// only read.
    pub fn to_read(folder: Option<&Path>) -> Done<Self> {
        let path = Self::locate(folder)?;
        let (config, ignored) = Config::read_leniently(&config_file(&path))?;
        Ok(Self {
            path,
            config,
            ignored,
        })
    }

    /// Returns a warning and a hint for each ignored setting.
    pub fn warnings(&self) -> Vec<String> {
        let file = config_file(&self.path);
        let lines = self.ignored.iter().flat_map(|problem| {
            let place = problem.place(&file);
            let warning = format!("warning: {place}: {}; setting ignored", problem.message);
            let hint = problem.hint.as_ref().map(|hint| format!("hint: {hint}"));
            std::iter::once(warning).chain(hint)
        });
        lines.collect()
    }

    /// Returns the path of the home without reading it: `folder`, else `DEFT_HOME`, else the default.
    pub fn locate(folder: Option<&Path>) -> Done<PathBuf> {
        let given = folder.map(Path::to_owned);
        let path = match given.or_else(|| env::get(env::DEFT_HOME).map(PathBuf::from)) {
            Some(path) => path,
            None => default_home()?,
        };
        Ok(std::path::absolute(&path).unwrap_or(path))
    }

    /// The skills folder of the home.
    pub fn skills(&self) -> PathBuf {
        self.path.join("skills")
    }

    /// The agents folder of the home.
    pub fn agents(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// Creates the home folder if it does not exist; only its owner can open it.
    pub fn ensure(&self) -> Done<()> {
        ensure_home(&self.path)
    }

    /// Returns the path of the database, and creates its folder if it does not exist.
    pub fn store_path(&self) -> Done<PathBuf> {
        let path = self.config.store.path.clone();
        if let Some(folder) = path.parent() {
            create_folder(folder)?;
        }
        Ok(path)
    }

    /// Returns all skill folders, highest priority first.
    pub fn roots(&self) -> Vec<PathBuf> {
        let listed = self
            .config
            .skill_paths
            .iter()
            .map(|path| resolve(&self.path, path));
        std::iter::once(self.skills()).chain(listed).collect()
    }

    /// Returns why times without a zone may be read in a zone the user does not expect, if so.
    pub fn zone_doubt(&self) -> Option<String> {
        match self.config.zone {
            Some(_) => None,
            None => zone::host().doubt,
        }
    }

    /// The current time, and the zone of times that name none.
    pub fn moment(&self) -> Moment {
        Moment {
            now: Timestamp::now(),
            zone: host_zone(&self.config),
        }
    }
}

/// Returns the zone of times that name none: the configured zone, else the host's.
pub fn host_zone(config: &Config) -> TimeZone {
    let given = config.zone.clone();
    given.unwrap_or_else(|| zone::host().zone)
}

fn default_home() -> Done<PathBuf> {
    let home = env::user_home().ok_or_else(|| {
        Failure::input(
            "no_home",
            "the home folder is unknown: neither `DEFT_HOME` nor `HOME` is set",
        )
        .hint("set `DEFT_HOME`, or use `--home DIR`")
    })?;
    Ok(home.join(".deft"))
}

/// The current time and the host's zone, for callers without a home.
pub fn system_moment() -> Moment {
    Moment {
        now: Timestamp::now(),
        zone: zone::host().zone,
    }
}
