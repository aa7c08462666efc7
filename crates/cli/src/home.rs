//! The folder that holds everything, and the folders of skills.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use deft_engine::FileChange;
use deft_registry::{Options, Snapshot};
use deft_skillfile::Moment;
use jiff::Timestamp;

use crate::args::{Global, Roots};
use crate::config::{self, Config};
use crate::env;
use crate::failure::{Done, Failure};
use crate::progress::say_above;
use crate::zone;

/// The home and what its configuration says.
#[derive(Debug)]
pub(crate) struct Home {
    pub path: PathBuf,
    pub config: Config,
}

impl Home {
    /// Finds the home and reads its configuration; it need not exist.
    pub(crate) fn open(global: &Global) -> Done<Self> {
        let path = Self::locate(global)?;
        let config = Config::read(&config_file(&path))?;
        Ok(Self { path, config })
    }

    /// The same for commands that only look: mistakes in the configuration are told, and do not stop
    /// them.
    pub(crate) fn to_read(global: &Global) -> Done<Self> {
        static TOLD: Once = Once::new();
        let path = Self::locate(global)?;
        let file = config_file(&path);
        let (config, left_out) = Config::read_leniently(&file)?;
        if !global.quiet && !left_out.is_empty() {
            // A command may look at the home more than once.
            TOLD.call_once(|| {
                for problem in &left_out {
                    let place = problem.place(&file);
                    say_above(&format!("warning: {place}: {}; left out", problem.message));
                    if let Some(hint) = &problem.hint {
                        say_above(&format!("hint: {hint}"));
                    }
                }
            });
        }
        Ok(Self { path, config })
    }

    /// Finds the home without looking into it.
    pub(crate) fn locate(global: &Global) -> Done<PathBuf> {
        let path = match global
            .home
            .clone()
            .or_else(|| env::get(env::DEFT_HOME).map(PathBuf::from))
        {
            Some(path) => path,
            None => default_home()?,
        };
        Ok(std::path::absolute(&path).unwrap_or(path))
    }

    /// Where the skills of the home are.
    pub(crate) fn skills(&self) -> PathBuf {
        self.path.join("skills")
    }

    /// Where the agents of the home are.
    pub(crate) fn agents(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// The home, made if need be; only its owner may look inside.
    pub(crate) fn ensure(&self) -> Done<()> {
        ensure(&self.path)
    }

    /// Where the database is; its folder is made if need be.
    pub(crate) fn store_path(&self) -> Done<PathBuf> {
        let path = self.config.store.path.clone();
        if let Some(folder) = path.parent() {
            create_folder(folder)?;
        }
        Ok(path)
    }

    /// All folders of skills, the most important first.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let listed = self
            .config
            .skill_paths
            .iter()
            .map(|path| config::resolve(&self.path, path));
        std::iter::once(self.skills()).chain(listed).collect()
    }

    /// Why times that name no zone may be read in another one than is meant.
    pub(crate) fn zone_doubt(&self) -> Option<String> {
        match self.config.zone {
            Some(_) => None,
            None => zone::host().doubt,
        }
    }

    /// The present, and the zone of times that name none.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            now: Timestamp::now(),
            zone: self
                .config
                .zone
                .clone()
                .unwrap_or_else(|| zone::host().zone),
        }
    }
}

/// The configuration of a home.
pub(crate) fn config_file(home: &Path) -> PathBuf {
    home.join("config.toml")
}

/// A home, made if need be; only its owner may look inside.
pub(crate) fn ensure(home: &Path) -> Done<()> {
    if home.is_dir() {
        return Ok(());
    }
    create_folder(home)?;
    restrict(home).map_err(|problem| Failure::file(home, "protect", &problem))
}

fn default_home() -> Done<PathBuf> {
    let home = env::user_home().ok_or_else(|| {
        Failure::input(
            "no_home",
            "there is no home folder: neither `DEFT_HOME` nor `HOME` is set",
        )
        .hint("set `DEFT_HOME`, or give `--home DIR`")
    })?;
    Ok(home.join(".deft"))
}

/// The present where no home is needed.
pub(crate) fn system_moment() -> Moment {
    Moment {
        now: Timestamp::now(),
        zone: zone::host().zone,
    }
}

/// The skills a command works on: those of `--root`, which need no home, else
/// those of the home.
pub(crate) struct Library {
    pub options: Options,
    pub moment: Moment,
}

impl Library {
    pub(crate) fn open(global: &Global, roots: &Roots) -> Done<Self> {
        let home = Home::to_read(global);
        if roots.roots.is_empty() {
            return Ok(Self::of(&home?));
        }
        Ok(Self {
            options: Options::new(given(&roots.roots)?),
            moment: home.map_or_else(|_| system_moment(), |home| home.moment()),
        })
    }

    /// The skills and agents of a home.
    pub(crate) fn of(home: &Home) -> Self {
        Self {
            options: Options::new(home.roots()).with_agents([home.agents()]),
            moment: home.moment(),
        }
    }

    /// Loads everything as `deft up` has it: skills of the home whose file is broken are what they
    /// were before, and those that tools changed are as changed. Deleted ones are there.
    pub(crate) fn load_kept(&self, global: &Global, roots: &Roots) -> Snapshot {
        self.load_changed(global, roots).0
    }

    /// The same, and what tools changed, by skill.
    pub(crate) fn load_changed(
        &self,
        global: &Global,
        roots: &Roots,
    ) -> (Snapshot, BTreeMap<String, FileChange>) {
        match Home::to_read(global) {
            Ok(home) if roots.roots.is_empty() => crate::app::load_changed(&home, self),
            _ => (self.load(), BTreeMap::new()),
        }
    }

    /// Loads everything once.
    pub(crate) fn load(&self) -> Snapshot {
        Snapshot::load(&self.options, &self.moment)
    }
}

/// Folders that somebody named must exist; a slip would look like "no skills".
fn given(roots: &[PathBuf]) -> Done<Vec<PathBuf>> {
    let check = |root: &PathBuf| {
        if root.is_dir() {
            return Ok(std::path::absolute(root).unwrap_or_else(|_| root.clone()));
        }
        let message = format!("there is no folder `{}`", root.display());
        Err(Failure::input("no_such_folder", message))
    };
    roots.iter().map(check).collect()
}

/// Makes a folder and those above it.
pub(crate) fn create_folder(path: &Path) -> Done<()> {
    fs::create_dir_all(path).map_err(|problem| Failure::file(path, "create", &problem))
}

#[cfg(unix)]
fn restrict(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> std::io::Result<()> {
    Ok(())
}
