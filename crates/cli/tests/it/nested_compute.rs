//! Compute blocks of a skill and of a nested skill cannot change each other's interpreter.

use serde_json::json;

use crate::support::World;

const INNER: &str = "\
name: inner
description: Changes what it can
steps:
  - id: change
    compute: |
      import calendar
      seen = calendar.mdays[1]
      calendar.mdays[1] = 99
      result = seen
outputs: {seen: \"{{ change }}\"}
";

const OUTER: &str = "\
name: outer
description: Runs another skill between two blocks
steps:
  - id: before
    compute: |
      import calendar
      seen = calendar.mdays[1]
      calendar.mdays[1] = 77
      result = seen
  - {id: nested, skill: inner}
  - id: after
    compute: |
      import calendar
      result = calendar.mdays[1]
outputs: {before: \"{{ before }}\", nested: \"{{ nested.seen }}\", after: \"{{ after }}\"}
";

#[test]
fn a_nested_skill_has_a_separate_interpreter() {
    let world = World::new();
    world
        .write("home/skills/inner.yaml", INNER)
        .write("home/skills/outer.yaml", OUTER)
        .write(
            "home/skills/twice.yaml",
            "name: twice\ndescription: Runs the same skill twice\nsteps:\n  \
             - {id: one, skill: inner}\n  - {id: two, skill: inner}\n\
             outputs: {one: \"{{ one.seen }}\", two: \"{{ two.seen }}\"}\n",
        );
    let run = world.json(&["run", "outer", "--json"]);
    let wanted = json!({"before": 31, "nested": 31, "after": 31});
    assert_eq!(run["outputs"], wanted, "{run:#}");
    let run = world.json(&["run", "twice", "--json"]);
    assert_eq!(run["outputs"], json!({"one": 31, "two": 31}), "{run:#}");
}
