//! The buttons below a question in a chat.

use deft_engine::Response;
use deft_tools::telegram::Button;
use deft_workflow::Answer;

/// A yes for all calls of a tool.
const ALWAYS: Response = Response {
    answer: Answer::Yes,
    always: true,
};

/// The buttons below a question; `always` if a yes may be for all calls of its tool.
pub fn buttons(approval: &str, always: bool) -> Vec<Button> {
    let button = |label: &str, response| Button {
        label: label.to_owned(),
        data: button_data(approval, response),
    };
    let always = always.then(|| button("Always", ALWAYS));
    std::iter::once(button("Approve", Answer::Yes.into()))
        .chain(always)
        .chain([button("Reject", Answer::No.into())])
        .collect()
}

/// The data that Telegram sends back when a button is pressed.
pub fn button_data(approval: &str, response: Response) -> String {
    let word = if response.always {
        "always"
    } else {
        response.answer.word()
    };
    format!("{word} {approval}")
}

/// The response that the data of a button stands for, and the approval that it answers.
pub fn read_button(data: &str) -> Option<(Response, &str)> {
    let (word, approval) = data.split_once(' ')?;
    let response = match word {
        "yes" => Answer::Yes.into(),
        "always" => ALWAYS,
        "no" => Answer::No.into(),
        "skip" => Answer::Skip.into(),
        _ => return None,
    };
    Some((response, approval))
}
