//! Environment variables that a caller of `shell.run` may not set.
//!
//! A variable that makes a program load code, start another program, read another configuration or
//! connect to another host turns every program of `tools.shell.allow` into any program. The table below
//! is the only list of such variables; `docs/tools.md` repeats it, and a test compares the two.
//!
//! Not here: variables that deft itself passes to programs (`environment.rs`). The list cannot be
//! complete: a program may have variables that are unknown here.

use deft_model::Failure;

use super::invalid;

/// Refused variables with a common reason.
pub(super) struct Group {
    /// The effect of these variables.
    pub(super) reason: &'static str,
    /// Names in upper case; a trailing `*` matches any suffix.
    pub(super) names: &'static [&'static str],
}

/// The refused variables. Names are compared case-insensitively.
pub(super) const REFUSED: &[Group] = &[
    Group {
        reason: "decides which program or library is loaded",
        names: &[
            "PATH",
            "LD_*",
            "DYLD_*",
            "_RLD*",
            "LIBPATH",
            "SHLIB_PATH",
            "GCONV_PATH",
            "GLIBC_*",
            "LOCPATH",
            "NLSPATH",
            "MALLOC_*",
        ],
    },
    Group {
        reason: "runs code when a shell starts",
        names: &[
            "IFS",
            "ENV",
            "BASH*",
            "SHELLOPTS",
            "PS4",
            "PROMPT_COMMAND",
            "CDPATH",
            "GLOBIGNORE",
            "ZDOTDIR",
            "FPATH",
            "SHELL",
        ],
    },
    Group {
        reason: "loads code into an interpreter",
        names: &[
            "PYTHON*",
            "PERL*",
            "RUBY*",
            "GEM_*",
            "BUNDLE_*",
            "NODE_*",
            "NPM_CONFIG_*",
            "DENO_*",
            "LUA_*",
            "PHP*",
            "CLASSPATH",
            "JAVA_*",
            "JDK_*",
            "_JAVA_*",
            "MAVEN_*",
            "GRADLE_*",
            "DOTNET_*",
            "CORECLR_*",
            "COMPLUS_*",
            "R_*",
            "JULIA_*",
            "GUILE_*",
            "ERL_*",
            "TCL*",
        ],
    },
    Group {
        reason: "makes a build tool run or load something else",
        names: &[
            "MAKEFLAGS",
            "MAKEFILES",
            "GNUMAKEFLAGS",
            "CC",
            "CXX",
            "AR",
            "LD",
            "CARGO_*",
            "RUSTC*",
            "RUSTFLAGS",
            "RUSTDOC*",
            "GOFLAGS",
            "GOENV",
            "GOROOT",
            "PKG_CONFIG*",
            "CMAKE_*",
        ],
    },
    Group {
        reason: "names a program or a configuration that the program uses",
        names: &[
            "HOME",
            "XDG_*",
            "GIT_*",
            "HG*",
            "SVN_*",
            "CVS_*",
            "RSYNC_*",
            "SSH_*",
            "SUDO_*",
            "EDITOR",
            "VISUAL",
            "PAGER",
            "MANPAGER",
            "BROWSER",
            "LESS*",
            "VIMINIT",
            "EXINIT",
            "EMACSLOADPATH",
            "INPUTRC",
            "TERMINFO*",
            "TERMCAP",
            "TAR_OPTIONS",
            "GREP_OPTIONS",
            "GNUPGHOME",
            "KUBECONFIG",
            "DOCKER_CONFIG",
            "AWS_CONFIG_FILE",
            "AWS_SHARED_CREDENTIALS_FILE",
            "WGETRC",
            "CURL_HOME",
            "NETRC",
            "PSQLRC",
            "PSQL_*",
            "PGSERVICEFILE",
            "PGSYSCONFDIR",
            "MYSQL_HOME",
            "OPENSSL_*",
        ],
    },
    Group {
        reason: "sends network traffic elsewhere or lets others read it",
        names: &[
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "FTP_PROXY",
            "ALL_PROXY",
            "NO_PROXY",
            "RES_OPTIONS",
            "LOCALDOMAIN",
            "HOSTALIASES",
            "SSL_*",
            "SSLKEYLOGFILE",
            "CURL_CA_BUNDLE",
            "REQUESTS_CA_BUNDLE",
        ],
    },
    Group {
        reason: "is how deft finds the processes that a program starts",
        names: &["DEFT_*"],
    },
];

/// Exceptions: these only describe a commit, or make git ask less.
pub(super) const ALLOWED: &[&str] = &[
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_TERMINAL_PROMPT",
];

/// Rejects a variable that a caller may not set.
pub(super) fn check(name: &str, value: &str) -> Result<(), Failure> {
    if !is_name(name) {
        let message = format!("`{name}` is not the name of a variable");
        return Err(invalid(message).hint("use letters, digits and `_` in the names in `env`"));
    }
    if value.contains('\0') {
        let message = format!("the value of `{name}` in `env` contains a NUL character");
        return Err(invalid(message).hint("remove the NUL character"));
    }
    match reason_to_refuse(name) {
        Some(reason) => Err(invalid(format!(
            "the variable `{name}` may not be set in `env`: it {reason}"
        ))
        .hint("leave it out; `shell.run` in docs/tools.md lists the variables that are refused")),
        None => Ok(()),
    }
}

/// Whether `name` has only letters, digits and `_`. Any other name could smuggle in another variable
/// (`PATH=x`) or a shell function.
fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next();
    first.is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn reason_to_refuse(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_uppercase();
    if ALLOWED.contains(&name.as_str()) {
        return None;
    }
    let matches = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    REFUSED
        .iter()
        .find(|group| group.names.iter().copied().any(matches))
        .map(|group| group.reason)
}

#[cfg(test)]
mod tests {
    use deft_model::FailureClass;

    use super::*;

    #[test]
    fn variables_that_control_programs_are_refused() {
        for name in [
            "PATH",
            "path",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "IFS",
            "BASH_ENV",
            "ENV",
            "SHELLOPTS",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PERL5LIB",
            "PERL5OPT",
            "RUBYOPT",
            "RUBYLIB",
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "GIT_EXEC_PATH",
            "GIT_CONFIG_COUNT",
            "HOME",
            "TAR_OPTIONS",
            "https_proxy",
            "DEFT_OWNER",
        ] {
            let failure = check(name, "x").unwrap_err();
            assert_eq!(failure.class, FailureClass::Invalid, "{name}");
            assert!(failure.hint.is_some(), "{name}");
        }
        for name in [
            "A",
            "GIT_AUTHOR_NAME",
            "AWS_ACCESS_KEY_ID",
            "TZ",
            "LANG",
            "_x1",
        ] {
            assert_eq!(check(name, "x"), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_that_hide_another_variable_are_refused() {
        for name in [
            "",
            "PATH=/evil:",
            "A=B",
            "BASH_FUNC_git%%",
            "A B",
            "1A",
            "A\0",
        ] {
            let failure = check(name, "x").unwrap_err();
            assert_eq!(failure.class, FailureClass::Invalid, "{name:?}");
        }
        assert_eq!(check("A", "x\0y").unwrap_err().class, FailureClass::Invalid);
    }

    #[test]
    fn the_documentation_lists_the_same_variables() {
        let docs = include_str!("../../../../docs/tools.md");
        for group in REFUSED {
            let names: Vec<String> = group.names.iter().map(|name| format!("`{name}`")).collect();
            let row = format!("| {} | {} |", names.join(", "), group.reason);
            assert!(docs.contains(&row), "missing in docs/tools.md:\n{row}");
        }
        let allowed: Vec<String> = ALLOWED.iter().map(|name| format!("`{name}`")).collect();
        let words: Vec<&str> = docs.split_whitespace().collect();
        let allowed = allowed.join(", ");
        assert!(words.join(" ").contains(&allowed), "{allowed}");
    }
}
