//! Snapshot tests: every file below `tests/cases` is an agent and the world it works in. A new case is a new
//! file; `script.rs` documents the format.

use crate::drive::Driver;
use crate::script::Script;
use crate::show;

#[test]
fn cases() {
    insta::glob!("../cases", "*.txt", |path| {
        println!("{}", path.display());
        let script = Script::parse(&std::fs::read_to_string(path).unwrap());
        let mut driver = Driver::new(script.setup, script.world);
        driver.crashes = script.crashes;
        driver.retries = script.retries;
        driver.rejections = script.rejections;
        driver.late = script.late;
        driver.stop = script.stop;
        driver.run();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(show::run(&driver));
        });
    });
}
