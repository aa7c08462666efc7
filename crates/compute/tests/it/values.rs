//! Inputs, outputs, printed text, and error messages.

use deft_compute::{Error, Kind};
use deft_model::FailureClass;
use serde_json::{Value, json};

use crate::support::{block, compute, job, value};

#[tokio::test]
async fn json_values_round_trip() {
    let compute = compute();
    let scope = json!({"x": {
        "z": 1, "a": [null, true, false, 1.5, -0.0, 1e300, "é\u{1F600}\u{7f}\n\"", ""],
        "i": [i64::MIN, i64::MAX, u64::MAX], "nested": {"b": {"a": [[]]}}, "e": {},
    }});
    let got = compute
        .session()
        .run(job(Kind::Block, "result = x", &scope), None)
        .await;
    let got = got.unwrap().value;
    assert_eq!(got, scope["x"]);
    assert_eq!(
        got.to_string(),
        scope["x"].to_string(),
        "with the order of keys"
    );
}

#[tokio::test]
async fn numbers_have_limits() {
    let compute = compute();
    let got = value(&compute, "result = [2**70, float('nan'), -float('inf')]")
        .await
        .unwrap();
    assert_eq!(got, json!([1_180_591_620_717_411_303_424.0, null, null]));
    let error = value(&compute, "result = 10**400").await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("too large for a number; use str()"),
        "{error}"
    );
}

#[tokio::test]
async fn values_that_are_not_json_are_reported() {
    let compute = compute();
    for (code, part) in [
        (
            "result = {'a': [b'x']}",
            "the value contains `bytes`; decode it",
        ),
        (
            "class Pod: pass\nresult = [Pod()]",
            "an object of type `Pod`",
        ),
        (
            "result = len",
            "an object of type `builtin_function_or_method`",
        ),
        (
            "result = {(1, 2): 3}",
            "keys must be str, int, float, bool or None, not tuple",
        ),
        (
            "l = []\nl.append(l)\nresult = l",
            "nested deeper than 100 levels, or contains itself",
        ),
    ] {
        let error = value(&compute, code).await.unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!(error.class(), FailureClass::Other);
    }
}

#[tokio::test]
async fn a_missing_result_is_null() {
    assert_eq!(value(&compute(), "x = 1").await.unwrap(), Value::Null);
}

#[tokio::test]
async fn code_reads_inputs_through_dynamic_lookups() {
    let compute = compute();
    let scope = json!({"alpha": 1, "beta": 2});
    for code in [
        "result = globals()['al' + 'pha']",
        "result = eval('be' + 'ta') - 1",
        "def f(): return f.__globals__['al' 'pha']\nresult = f()",
    ] {
        let got = compute
            .session()
            .run(job(Kind::Block, code, &scope), None)
            .await;
        assert_eq!(got.unwrap().value, 1, "{code}");
    }
}

#[tokio::test]
async fn conditions_and_expressions() {
    let compute = compute();
    let mut session = compute.session();
    let scope = json!({"a": {"b": [1]}, "n": 0});
    for (code, truth) in [
        ("a.b", true),
        (" n \n", false),
        ("a.b and n", false),
        ("not n", true),
    ] {
        let got = session.test(job(Kind::Condition, code, &scope), None).await;
        assert_eq!(got, Ok(truth), "{code}");
    }
    let got = session
        .run(job(Kind::Expression, "a.b and n", &scope), None)
        .await
        .unwrap();
    assert_eq!(got.value, 0);
    let error = session
        .run(job(Kind::Condition, "x = 1", &scope), None)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Syntax { line: 1, .. }), "{error:?}");
}

#[tokio::test]
async fn printed_text_is_returned_and_cut() {
    let compute = compute();
    let mut session = compute.session();
    let got = session
        .run(block("print('a', 1)\nprint('é')\nresult = 1"), None)
        .await
        .unwrap();
    assert_eq!(got.printed, "a 1\né\n");
    let got = session
        .run(block("for i in range(9999): print('éééé')"), None)
        .await
        .unwrap();
    assert_eq!(got.printed.len(), 16 << 10);
    let got = session.run(block("result = 1"), None).await.unwrap();
    assert_eq!(got.printed, "");
}

#[tokio::test]
async fn an_exception_has_its_line() {
    let code = "def outer(x):\n    return inner(x)\ndef inner(x):\n    return 1 / x\n\nresult = outer(0)\n";
    let error = value(&compute(), code).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 4: ZeroDivisionError: division by zero"
    );
    let Error::Python { kind, trace, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(kind, "ZeroDivisionError");
    assert_eq!(
        trace,
        "line 6, in <module>\nline 2, in outer\nline 4, in inner"
    );
}

#[tokio::test]
async fn an_exception_in_a_library_has_the_line_of_the_block() {
    let error = value(&compute(), "import json\n\nresult = json.loads('{')")
        .await
        .unwrap_err();
    assert!(
        error.to_string().starts_with("line 3: JSONDecodeError: "),
        "{error}"
    );
}

#[tokio::test]
async fn a_missing_key_lists_the_existing_keys() {
    let scope = json!({"inputs": {"branch": 1, "issue": 2}});
    let job = job(Kind::Block, "result = inputs.brnach", &scope);
    let error = compute().session().run(job, None).await.unwrap_err();
    let text = "line 1: AttributeError: there is no `brnach` here, only `branch`, `issue`";
    assert_eq!(error.to_string(), text);
    assert!(error.hint().is_some());
}

#[tokio::test]
async fn check_compiles_and_runs_nothing() {
    let compute = compute();
    assert_eq!(compute.check("while True: pass", Kind::Block).await, Ok(()));
    let error = compute
        .check("x = 1\nif x\n    pass", Kind::Block)
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::Syntax {
                line: 2,
                column: 5,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(error.class(), FailureClass::Invalid);
    let error = compute.check("a = 1", Kind::Condition).await.unwrap_err();
    assert!(matches!(error, Error::Syntax { line: 1, .. }), "{error:?}");
    let error = compute.check("return 1", Kind::Block).await.unwrap_err();
    assert!(matches!(error, Error::Syntax { .. }), "{error:?}");
}
