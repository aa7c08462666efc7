//! Buttons below a question in a chat, and the data that they send.

use deft_engine::Response;
use deft_tools::telegram::Button;
use deft_workflow::Answer;

/// Approval of this and all later calls of a tool.
const ALWAYS: Response = Response {
    answer: Answer::Yes,
    always: true,
};

/// Returns the buttons for the question `approval`. `always` adds a button that approves all later calls of
/// the tool.
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

/// Returns the data that Telegram sends back when the button is pressed.
pub fn button_data(approval: &str, response: Response) -> String {
    let word = if response.always {
        "always"
    } else {
        response.answer.word()
    };
    format!("{word} {approval}")
}

/// Parses the data of a button into the response and the id of the approval.
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
