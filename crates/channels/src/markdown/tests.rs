//! Texts with their expected output, which must not depend on the pieces in which a text arrives.

use super::Renderer;

/// Replaces escape sequences by tags, for readable cases.
fn show_escapes(out: &str) -> String {
    [
        ("\x1b[0m", "</>"),
        ("\x1b[0;1m", "<b>"),
        ("\x1b[0;2m", "<dim>"),
        ("\x1b[0;3m", "<i>"),
        ("\x1b[0;4m", "<u>"),
        ("\x1b[0;36m", "<code>"),
        ("\x1b[0;1;36m", "<b code>"),
        ("\x1b[0;1;3m", "<b i>"),
    ]
    .into_iter()
    .fold(out.to_owned(), |text, (sequence, tag)| {
        text.replace(sequence, tag)
    })
}

fn in_pieces(text: &str, size: usize, styled: bool, width: Option<usize>) -> String {
    let mut renderer = Renderer::new(styled, width);
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    for piece in chars.chunks(size) {
        out.push_str(&renderer.push(&piece.iter().collect::<String>()));
    }
    out.push_str(&renderer.finish());
    out
}

const STYLED: &[(&str, &str)] = &[
    ("hello", "hello\n"),
    ("\n\nhello\n\n\n\nworld\n\n", "hello\n\nworld\n"),
    ("# Big\ntext", "<b>Big</>\ntext\n"),
    ("### Sub `x`\n", "<b>Sub <b code>x</>\n"),
    ("#hashtag", "#hashtag\n"),
    ("a **b c** d", "a <b>b c</> d\n"),
    ("a *b* _c_ ***d***", "a <i>b</> <i>c</> <b i>d</>\n"),
    ("**Note:** yes", "<b>Note:</> yes\n"),
    (
        "snake_case_name a*b*c 2 * 3 * 4",
        "snake_case_name a*b*c 2 * 3 * 4\n",
    ),
    ("**kwargs is one", "**kwargs is one\n"),
    ("run `ls -l` now", "run <code>ls -l</> now\n"),
    ("``a ` b``", "<code>a ` b</>\n"),
    ("a ` b", "a ` b\n"),
    (
        "see [docs](https://x.org/a) ok",
        "see <u>docs<dim> (https://x.org/a)</> ok\n",
    ),
    ("[https://x.org](https://x.org)", "<u>https://x.org</>\n"),
    ("[1] and [x] (y)", "[1] and [x] (y)\n"),
    ("\\*not\\* \\d", "*not* \\d\n"),
    (
        "- one\n  - two\n* three\n+ four",
        "• one\n  • two\n• three\n• four\n",
    ),
    ("1. one\n10) ten\n2026 was", "1. one\n10) ten\n2026 was\n"),
    ("> said **so**\n", "│ <dim>said \x1b[0;1;2mso</>\n"),
    ("a\n\n---\n\nb", "a\n\n<dim>────────</>\n\nb\n"),
    ("-- no rule", "-- no rule\n"),
    (
        "x\n```rust\nfn **main**() {\n\n    1\n}\n```\ny",
        "x\n  <code>fn **main**() {</>\n  \n  <code>    1</>\n  <code>}</>\ny\n",
    ),
    ("- a\n  ~~~\n  b\n  ~~~\n", "• a\n    <code>b</>\n"),
    ("```\nopen", "  <code>open</>\n"),
    ("```x``` is code", "<code>x</> is code\n"),
    (
        "so:\n\n| a | **b** |\n|---|---|\n| one | `x \\| y` |\nafter",
        "so:\n\n<b>a</>    <b>b</>\n<dim>───  ─────</>\none  <code>x | y</>\nafter\n",
    ),
    // Without a line of dashes below the head it is no table.
    ("| a | b |\n| c | d |\n", "| a | b |\n| c | d |\n"),
    // Control characters of a text are escaped.
    (
        "\x1b[31mred\x07\r\n\u{202e}x",
        "\\x1b[31mred\\x07\n\\u{202e}x\n",
    ),
    ("日本語 text", "日本語 text\n"),
    // A joiner of an emoji may begin a piece.
    ("👩\u{200d}💻 a\u{200d}b", "👩\u{200d}💻 a\\u{200d}b\n"),
];

#[test]
fn marks_become_styles() {
    for (text, expected) in STYLED {
        let whole = Renderer::whole(text, true, None);
        assert_eq!(show_escapes(&whole), *expected, "{text}");
    }
}

#[test]
fn streamed_pieces_render_like_the_whole_text() {
    let long = format!(
        "a **{}** b [{}](u) `{}`\n",
        "x ".repeat(200),
        "y".repeat(400),
        "z".repeat(299)
    );
    let texts = STYLED.iter().map(|(text, _)| *text).chain([long.as_str()]);
    for text in texts {
        for (styled, width) in [
            (true, None),
            (true, Some(24)),
            (false, Some(24)),
            (false, None),
        ] {
            let whole = Renderer::whole(text, styled, width);
            for size in [1, 2, 3, 7] {
                assert_eq!(
                    in_pieces(text, size, styled, width),
                    whole,
                    "{text:?} by {size}"
                );
            }
        }
    }
}

#[test]
fn lines_are_as_wide_as_the_terminal() {
    for (text, expected) in [
        (
            "the quick brown fox jumps over the lazy dog",
            "the quick brown fox\njumps over the lazy\ndog\n",
        ),
        (
            "- the quick brown fox jumps **over the lazy** dog",
            "• the quick brown fox\n  jumps <b>over the lazy</>\n  dog\n",
        ),
        (
            "a https://example.org/a/very/long/path b",
            "a\nhttps://example.org/a/very/long/path b\n",
        ),
        ("一二三四五六七八九十一二", "一二三四五六七八九十\n一二\n"),
        (
            "```\nfn a_long_line_of_code() -> usize { 1 }\n```",
            "  <code>fn a_long_line_of_code() -> usize { 1 }</>\n",
        ),
    ] {
        let out = Renderer::whole(text, true, Some(21));
        assert_eq!(show_escapes(&out), expected, "{text}");
    }
}

const TABLE: &str = "| name | size | note |\n|:-----|-----:|:----:|\n\
    | a.txt | 12 | the quick brown fox jumps over the lazy dog |\n\
    | b | 3 | an_identifier_that_is_longer_than_its_column |\n| 日本 | 1 |\n";

#[test]
fn tables_are_aligned() {
    let wide = "name   size                      note
─────  ────  ────────────────────────────────────────────
a.txt    12  the quick brown fox jumps over the lazy dog
b         3  an_identifier_that_is_longer_than_its_column
日本      1
";
    assert_eq!(plain_table(None), wide);
    assert_eq!(plain_table(Some(80)), wide);
}

#[test]
fn cells_wrap_on_words() {
    let narrow = "name   size         note
─────  ────  ───────────────────
a.txt    12  the quick brown fox
             jumps over the lazy
                     dog
b         3  an_identifier_that_
             is_longer_than_its_
                   column
日本      1
";
    assert_eq!(plain_table(Some(32)), narrow);
    // Without room for a word in each column the lines are printed unchanged.
    assert_eq!(plain_table(Some(10)), TABLE);
}

fn plain_table(width: Option<usize>) -> String {
    let styles = ["<b>", "<dim>", "</>"];
    let shown = show_escapes(&Renderer::whole(TABLE, true, width));
    styles
        .iter()
        .fold(shown, |text, style| text.replace(style, ""))
}

/// A table is written only when it is complete.
#[test]
fn a_table_is_held_until_it_ends() {
    let mut renderer = Renderer::new(true, Some(80));
    assert_eq!(renderer.push("| a | b |\n|---|---|\n| c | d |\n"), "");
    assert!(renderer.is_holding() && !renderer.is_midline());
    assert!(show_escapes(&renderer.push("so")).contains("c  d\n"));
    assert!(!renderer.is_holding());
}

#[test]
fn without_styles_the_text_is_unchanged() {
    let text = "# A\n\n- **b** `c`\n\n```sh\n  ls\n```\n| t |\n";
    assert_eq!(Renderer::whole(text, false, None), text);
    assert_eq!(
        Renderer::whole("some words that are wider than it", false, Some(20)),
        "some words that are\nwider than it\n"
    );
}

/// Words are written when they are complete, not at the end of the line.
#[test]
fn words_are_written_as_they_arrive() {
    let mut renderer = Renderer::new(true, Some(80));
    let pieces = ["Hel", "lo wor", "ld, **bo", "ld** an", "d", " so\n"];
    let written: Vec<String> = pieces
        .iter()
        .map(|piece| show_escapes(&renderer.push(piece)))
        .collect();
    assert_eq!(
        written,
        ["", "Hello", " world,", " <b>bold", "", "</> and so\n"]
    );
    assert!(!renderer.is_midline());
}

#[test]
fn plain_text_has_no_markdown() {
    for (text, expected) in [
        ("**Hello**, `Ada`!", "Hello, Ada!\n"),
        (
            "# Title\n\n- *one*\n- two_and_a_half",
            "Title\n\n• one\n• two_and_a_half\n",
        ),
        ("2 * 3 * 4\x1b[31m is red", "2 * 3 * 4\\x1b[31m is red\n"),
        ("```\nlet x = **y;\n```\nthat", "  let x = **y;\nthat\n"),
        ("| a |\n|---|\n| b |", "| a |\n|---|\n| b |\n"),
    ] {
        assert_eq!(Renderer::plain(text), expected);
    }
}
