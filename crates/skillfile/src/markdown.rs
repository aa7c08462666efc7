//! Headings of a Markdown page and the ranges of their sections.

use deft_model::Section;
use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

/// Returns the sections of a page, in order, with offsets from the start of the page.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the events belong to the Markdown parser"
)]
pub fn sections(page: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut heading: Option<Section> = None;
    for (event, range) in Parser::new(page).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                if let Some(open) = sections.last_mut() {
                    open.end = range.start;
                }
                heading = Some(Section {
                    title: String::new(),
                    level: level_of(level),
                    start: range.start,
                    body: range.end,
                    end: page.len(),
                });
            }
            Event::End(TagEnd::Heading(_)) => sections.extend(heading.take()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(open) = &mut heading {
                    open.title.push_str(&text);
                }
            }
            _ => {}
        }
    }
    sections
}

/// Returns the text below the first heading with this title, including its subheadings, and its offset.
pub(crate) fn section<'a>(
    page: &'a str,
    sections: &[Section],
    title: &str,
) -> Option<(usize, &'a str)> {
    let at = sections
        .iter()
        .position(|section| section.title.trim().eq_ignore_ascii_case(title))?;
    let (found, rest) = sections.get(at..)?.split_first()?;
    let end = rest
        .iter()
        .find(|section| section.level <= found.level)
        .map_or(page.len(), |next| next.start);
    Some((found.body, page.get(found.body..end)?))
}

fn level_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
