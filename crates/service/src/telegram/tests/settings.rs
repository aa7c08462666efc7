//! Settings that change while the bot runs.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn changed_settings_are_applied() {
    let mut world = world();
    world.serve();
    world.api.write(9, "early");
    world.wait_updates(1).await;
    // The bot waits for later messages, with the old settings.
    world.api.until_called("getUpdates", 2);
    let changed = settings(&world.api, &["9"]);
    world.settings.as_ref().unwrap().send(changed).unwrap();
    world.api.until_called("getUpdates", 3);
    world.api.write(9, "late");
    assert_eq!(world.messages(1), pairs(&[("9", "you said: late")]));
    world.end().await;
}
