//! Screens of a run, at 80 and at 120 columns.

use crate::screens::stable;
use crate::support::World;
use crate::terminal::Terminal;

/// The frames of the spinner.
const SPINNER: [char; 8] = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇', '⠏', '⠛'];

/// Replaces durations, which may be shorter or longer than a second.
fn timeless(screen: &str) -> String {
    screen.replace("# ms", "[took]").replace("#.# s", "[took]")
}

/// A log line of the skill is shown above the steps, and no step has a spinner at the end.
#[test]
fn a_finished_run_shows_no_spinner() {
    for columns in [80, 120] {
        let world = World::new();
        assert_eq!(world.code(&["init", "--yes"]), 0);
        let args = ["run", "countdown", "--date", "2099-01-01"];
        let terminal = Terminal::sized(&world, &args, columns);
        let (code, screen) = terminal.end();
        assert_eq!(code, 0, "{screen}");
        let lines: Vec<&str> = screen.lines().collect();
        assert!(lines[0].starts_with("log: info: "), "{screen}");
        for (line, step) in lines[1..]
            .iter()
            .zip(["look_at_clock", "count_days", "log_days_left"])
        {
            assert!(line.starts_with(&format!("  ✓ {step}")), "{screen}");
        }
        assert!(lines[4].starts_with("  - log_date_passed"), "{screen}");
        assert!(lines[5].starts_with("success after"), "{screen}");
        assert!(!screen.contains(SPINNER), "a spinner is left:\n{screen}");
        let screen = timeless(&stable(&world, &screen));
        insta::assert_snapshot!(format!("countdown_{columns}"), screen);
    }
    // Without a terminal the log line is printed between the steps.
    let world = World::new();
    assert_eq!(world.code(&["init"]), 0);
    let plain = world.run(&["run", "countdown", "--date", "2099-01-01"]);
    let place = |text: &str| {
        plain
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {plain}"))
    };
    assert!(place("✓ count_days") < place("log: info: "), "{plain}");
}
