//! The folder that holds everything.

use std::path::{Path, PathBuf};

use deft_skillfile::Moment;
use deft_wire::{Done, Failure};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::folders::{config_file, create_folder, ensure_home};
use crate::paths::resolve;
use crate::settings::{Config, Problem};
use crate::{env, zone};

/// The home and what its configuration says.
#[derive(Debug)]
pub struct Home {
    /// Its folder.
    pub path: PathBuf,
    /// What its `config.toml` and the environment say.
    pub config: Config,
    /// Settings that could not be read and are ignored.
    pub ignored: Vec<Problem>,
}

impl Home {
    /// Finds the home, in this folder or the usual one, and reads its configuration. The folder need not
    /// exist.
    pub fn open(folder: Option<&Path>) -> Done<Self> {
        let path = Self::locate(folder)?;
        let config = Config::read(&config_file(&path))?;
        Ok(Self {
            path,
            config,
            ignored: Vec::new(),
        })
    }

    /// The same for requests that only read: mistakes in the configuration do not stop them.
    pub fn to_read(folder: Option<&Path>) -> Done<Self> {
        let path = Self::locate(folder)?;
        let (config, ignored) = Config::read_leniently(&config_file(&path))?;
        Ok(Self {
            path,
            config,
            ignored,
        })
    }

    /// A warning and a hint per setting that is ignored.
    pub fn warnings(&self) -> Vec<String> {
        let file = config_file(&self.path);
        let lines = self.ignored.iter().flat_map(|problem| {
            let place = problem.place(&file);
            let warning = format!("warning: {place}: {}; left out", problem.message);
            let hint = problem.hint.as_ref().map(|hint| format!("hint: {hint}"));
            std::iter::once(warning).chain(hint)
        });
        lines.collect()
    }

    /// Finds the home without looking into it.
    pub fn locate(folder: Option<&Path>) -> Done<PathBuf> {
        let given = folder.map(Path::to_owned);
        let path = match given.or_else(|| env::get(env::DEFT_HOME).map(PathBuf::from)) {
            Some(path) => path,
            None => default_home()?,
        };
        Ok(std::path::absolute(&path).unwrap_or(path))
    }

    /// Where the skills of the home are.
    pub fn skills(&self) -> PathBuf {
        self.path.join("skills")
    }

    /// Where the agents of the home are.
    pub fn agents(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// The home, made if need be; only its owner may look inside.
    pub fn ensure(&self) -> Done<()> {
        ensure_home(&self.path)
    }

    /// Where the database is; its folder is made if need be.
    pub fn store_path(&self) -> Done<PathBuf> {
        let path = self.config.store.path.clone();
        if let Some(folder) = path.parent() {
            create_folder(folder)?;
        }
        Ok(path)
    }

    /// All folders of skills, the most important first.
    pub fn roots(&self) -> Vec<PathBuf> {
        let listed = self
            .config
            .skill_paths
            .iter()
            .map(|path| resolve(&self.path, path));
        std::iter::once(self.skills()).chain(listed).collect()
    }

    /// Why times that name no zone may be read in another one than is meant.
    pub fn zone_doubt(&self) -> Option<String> {
        match self.config.zone {
            Some(_) => None,
            None => zone::host().doubt,
        }
    }

    /// The present, and the zone of times that name none.
    pub fn moment(&self) -> Moment {
        Moment {
            now: Timestamp::now(),
            zone: host_zone(&self.config),
        }
    }
}

/// The zone of times that name none: that of the configuration, else the host's.
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
        .hint("set `DEFT_HOME`, or give `--home DIR`")
    })?;
    Ok(home.join(".deft"))
}

/// The present where no home is needed.
pub fn system_moment() -> Moment {
    Moment {
        now: Timestamp::now(),
        zone: zone::host().zone,
    }
}
