//! Sources of imports: archives and git repositories. Also the output of imports on a terminal.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::{SKILL, World};
use crate::terminal::Terminal;

const LONG: &str = "---\nname: wrong\n---\n\nNo description.\n";

fn skill(name: &str) -> String {
    SKILL.replace("greet", name)
}

fn shown(world: &World, output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let place = world.path("").display().to_string();
    let code = output.status.code().unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let all = format!("exit {code}\n--- stdout\n{out}--- stderr\n{err}");
    all.replace(place.trim_end_matches('/'), "[world]")
}

fn zip(path: &Path, files: &[(&str, &str)]) {
    let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    for (name, content) in files {
        archive.start_file(*name, options).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
}

fn tar(to: impl Write, files: &[(&str, &str, u32)]) {
    let mut archive = tar::Builder::new(to);
    for (name, content, mode) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(*mode);
        archive
            .append_data(&mut header, name, content.as_bytes())
            .unwrap();
    }
    archive.finish().unwrap();
}

#[test]
fn archives_are_imported() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    zip(
        &world.path("pack.zip"),
        &[("one/SKILL.md", &skill("one")), ("bad/SKILL.md", LONG)],
    );
    // The name of the skill comes from its frontmatter, not from the file name.
    zip(
        &world.path("download (1).skill"),
        &[("SKILL.md", &skill("two"))],
    );
    let file = File::create(world.path("pack.tar.gz")).unwrap();
    let files = [
        ("x/three/SKILL.md", skill("three"), 0o644),
        ("x/three/run.sh", "echo\n".to_owned(), 0o755),
    ];
    let files = files
        .each_ref()
        .map(|(name, text, mode)| (*name, text.as_str(), *mode));
    tar(GzEncoder::new(file, Compression::fast()), &files);
    tar(
        File::create(world.path("plain.tar")).unwrap(),
        &[("four/SKILL.md", &skill("four"), 0o644)],
    );
    insta::assert_snapshot!(world.run(&[
        "skills",
        "import",
        "pack.zip",
        "download (1).skill",
        "pack.tar.gz",
        "plain.tar"
    ]));
    assert_eq!(world.read("home/skills/two/SKILL.md"), skill("two"));
    let mode = world
        .path("home/skills/three/run.sh")
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o111, 0o111);
}

#[test]
fn hostile_archives_are_refused() {
    let world = World::new();
    zip(
        &world.path("evil.zip"),
        &[
            ("good/SKILL.md", &skill("good")),
            ("../../outside.md", "x"),
            ("/etc/absolute", "x"),
        ],
    );
    world
        .write("broken.zip", "not a zip")
        .write("broken.tgz", b"\x1f\x8bnothing");
    insta::assert_snapshot!(world.run(&["skills", "import", "evil.zip"]));
    assert!(!world.path("outside.md").exists());
    insta::assert_snapshot!(world.run(&["skills", "import", "broken.zip"]));
    insta::assert_snapshot!(world.run(&["skills", "import", "broken.tgz"]));
    insta::assert_snapshot!(world.run(&["skills", "import", "missing.zip"]));
}

/// A decompression bomb is refused.
#[test]
fn an_archive_bomb_imports_nothing() {
    let world = World::new();
    let file = File::create(world.path("bomb.tar.gz")).unwrap();
    let zeros = "0".repeat(65 * 1024 * 1024);
    let skill = skill("good");
    tar(
        GzEncoder::new(file, Compression::fast()),
        &[
            ("good/SKILL.md", &skill, 0o644),
            ("good/zeros", &zeros, 0o644),
        ],
    );
    insta::assert_snapshot!(world.run(&["skills", "import", "bomb.tar.gz"]));
    assert!(!world.path("home").exists());
}

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Creates a bare repository at `srv/owner/pack.git`, with a tag before its last commit, a hook that must not
/// run, and a link that must not be followed.
fn repository() -> World {
    let world = World::new();
    world
        .write("secret", "secret\n")
        .write("work/skills/one/SKILL.md", skill("one"))
        .write(
            "work/agents/helper.md",
            "---\nname: helper\ndescription: Helps\n---\n\nHelp.\n",
        );
    std::os::unix::fs::symlink(world.path("secret"), world.path("work/skills/one/link")).unwrap();
    let work = world.path("work");
    git(&work, &["init", "--quiet"]);
    git(&work, &["add", "--all"]);
    git(&work, &["commit", "--quiet", "-m", "first"]);
    git(&work, &["tag", "v1"]);
    world.write("work/skills/two/SKILL.md", skill("two"));
    git(&work, &["add", "--all"]);
    git(&work, &["commit", "--quiet", "-m", "second"]);
    fs::create_dir_all(world.path("srv/owner")).unwrap();
    git(
        &world.path("srv/owner"),
        &["clone", "--quiet", "--bare", "../../work", "pack.git"],
    );
    world
}

/// Runs deft with the host's git, configured to use `srv` in place of github.com.
fn with_git(world: &World, args: &[&str]) -> Output {
    let base = format!("url.file://{}/.insteadOf", world.path("srv").display());
    let mut command = world.command(args);
    command
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", base)
        .env("GIT_CONFIG_VALUE_0", "https://github.com/");
    command.output().unwrap()
}

fn without_commits(text: &str) -> String {
    let line = |line: &str| match line.split_once(" at ") {
        Some((start, _)) if start.starts_with("cloned ") => format!("{start} at [commit]\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn repositories_are_imported() {
    let world = repository();
    let import = |source: &str| {
        let output = with_git(&world, &["skills", "import", source]);
        without_commits(&shown(&world, &output))
    };
    insta::assert_snapshot!(import("github:owner/pack@v1"));
    assert!(!world.path("home/skills/two").exists());
    assert!(
        !fs::read_to_string(world.path("home/skills/one/link"))
            .unwrap()
            .contains("secret\n")
    );
    insta::assert_snapshot!(import("github:owner/pack/skills/two"));
    let url = format!("file://{}", world.path("srv/owner/pack.git").display());
    insta::assert_snapshot!(import(&url));
    let commit = git(&world.path("work"), &["rev-parse", "v1"]);
    let old = with_git(
        &world,
        &[
            "skills",
            "import",
            "--json",
            &format!("{url}#{commit}:skills"),
        ],
    );
    let report: serde_json::Value = serde_json::from_slice(&old.stdout).unwrap();
    assert_eq!(
        report["unchanged"],
        serde_json::json!(["one"]),
        "{report:#}"
    );
}

#[test]
fn a_failed_clone_is_explained() {
    let world = repository();
    let import = |source: &str| {
        shown(
            &world,
            &with_git(&world, &["skills", "import", "--quiet", source]),
        )
    };
    insta::assert_snapshot!(
        import("github:owner/none").replace(&*world.path("srv").to_string_lossy(), "[srv]")
    );
    insta::assert_snapshot!(import("github:owner/pack@none"));
    insta::assert_snapshot!(import("github:owner/pack/no/folder"));
    insta::assert_snapshot!(import("ext::sh -c 'touch pwned'://x"));
    insta::assert_snapshot!(import("github:owner"));
    assert!(!world.path("pwned").exists());
    let mut command = world.command(&["skills", "import", "github:owner/pack"]);
    let output = command.env("PATH", world.path("empty")).output().unwrap();
    insta::assert_snapshot!(shown(&world, &output));
}

/// Temporary folders are removed after successful and failed imports.
#[test]
fn temporary_folders_are_removed() {
    let world = World::new();
    world.write("one/SKILL.md", skill("one")).write("tmp/x", "");
    zip(&world.path("pack.zip"), &[("two/SKILL.md", &skill("two"))]);
    let left = || {
        let names = |folder: &str| {
            fs::read_dir(world.path(folder))
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
        };
        names("home")
            .chain(names("tmp"))
            .filter(|name| name.to_string_lossy().contains("import"))
            .count()
    };
    let import = |source: &str| {
        let mut command = world.command(&["skills", "import", source]);
        command
            .env("TMPDIR", world.path("tmp"))
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(
        (import("one"), import("pack.zip"), left()),
        (Some(0), Some(0), 0)
    );
    fs::remove_dir_all(world.path("home/skills")).unwrap();
    world.write("home/skills", "in the way");
    assert_ne!(import("pack.zip"), Some(0));
    assert_eq!(left(), 0);
    assert_eq!(world.read("home/skills"), "in the way");
}

/// A skill with many files appears atomically.
#[test]
fn a_new_skill_appears_in_one_step() {
    let world = World::new();
    world
        .write("many/SKILL.md", skill("many"))
        .write("many/a.txt", "a")
        .write("many/b/c.txt", "c");
    assert_eq!(world.code(&["skills", "import", "many"]), 0);
    assert_eq!(world.read("home/skills/many/b/c.txt"), "c");
}

fn mixed() -> World {
    let world = World::new();
    let flow = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/n8n-refused/in/chat.json");
    let review = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/import/claude-code/in/.claude/agents/code-reviewer.md");
    world
        .write("in/skills/one/SKILL.md", skill("one"))
        .write("in/skills/one/scripts/run.sh", "echo\n")
        .write("in/skills/broken/SKILL.md", LONG)
        .write("in/agents/code-reviewer.md", fs::read(review).unwrap())
        .write(
            "jobs.crontab",
            "MAILTO=me@example.org\n0 3 * * * backup --all\n@reboot start-me\n",
        )
        .write("chat.json", fs::read(flow).unwrap());
    world
}

#[test]
fn an_import_with_refusals_fits_the_terminal() {
    for columns in [80, 120] {
        let world = mixed();
        let args = ["skills", "import", "in", "jobs.crontab", "chat.json"];
        let mut terminal = Terminal::sized(&world, &args, columns);
        terminal.until("imported,");
        let (code, screen) = terminal.end();
        assert_eq!(code, 1);
        let widest = screen.lines().map(|line| line.chars().count()).max();
        assert!(
            widest.unwrap_or_default() <= usize::from(columns),
            "{screen}"
        );
        insta::assert_snapshot!(format!("import-{columns}"), screen);
    }
}
