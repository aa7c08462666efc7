//! Answers to approvals when the store fails or refuses them.

use super::*;

/// What the store reports while another process has locked it.
fn locked_failure() -> Failure {
    crate::store::failure(&deft_store::Error::Locked {
        path: "deft.db".into(),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_words_is_stored_when_the_store_is_free_again() {
    let mut world = world();
    world.fake.then([FakeAction::Ask("delete it?")], "answer: ");
    world.serve();
    world.api.write(7, "delete it");
    world.messages(1);
    *world.fake.failures.lock().unwrap() = [locked_failure(), locked_failure()].into();
    world.api.write(7, "yes");
    let mut sent = world.messages(4).split_off(1);
    assert_eq!(
        sent.remove(0).1,
        "✗ the database `deft.db` is locked by another process. I will try to store your answer \
         again.\nfind the process that uses the file, such as a backup, and try again \
         when it has finished"
    );
    sent.sort();
    assert_eq!(sent, pairs(&[("7", "Got it."), ("7", "answer: yes")]));
    world.wait_done(2).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_could_not_be_stored_survives_a_restart() {
    let mut world = world();
    world.serve();
    *world.fake.failures.lock().unwrap() = vec![locked_failure(); 1000].into();
    world.api.press(7, 55, "yes apr_1");
    world.messages(1);
    world.end().await;
    assert_eq!(*world.fake.decided.lock().unwrap(), Vec::<String>::new());
    world.fake.failures.lock().unwrap().clear();
    world.serve();
    world.wait_done(1).await;
    assert_eq!(
        *world.fake.decided.lock().unwrap(),
        ["apr_1 yes by Ada in telegram chat 7"]
    );
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_refused_is_not_tried_again() {
    let mut world = world();
    world.fake.then([FakeAction::Ask("delete it?")], "answer: ");
    world.serve();
    world.api.write(7, "delete it");
    world.messages(1);
    let refused = Failure::input("no_target", "it names no target").hint("reject it");
    world.fake.failures.lock().unwrap().push_back(refused);
    world.api.write(7, "yes");
    assert_eq!(world.messages(2)[1].1, "✗ it names no target\nreject it");
    world.api.write(7, "yes");
    assert_eq!(world.messages(3)[2].1, "answer: yes");
    world.wait_done(3).await;
    world.end().await;
}
