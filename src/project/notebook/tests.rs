//! Notebooks of all forms, and changes of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::project::{FileKind, decode_as, encode_as};

/// A notebook whose cells have these sources.
fn book(sources: &[Value]) -> String {
    let cell = |source: &Value| {
        json!({"cell_type": "code", "id": "7", "metadata": {"z": 1, "a": [1, 2]},
        "outputs": [{"text": ["out\n"], "source": ["no code"]}], "source": source})
    };
    let cells: Vec<Value> = sources.iter().map(cell).collect();
    let metadata = json!({"kernelspec": {"name": "python3", "language": "python"}, "b": 1, "a": 2});
    let book = json!({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5});
    serde_json::to_string_pretty(&book).expect("is JSON")
}

fn parsed(file: &str) -> Notebook {
    Notebook::parse(file.into()).expect("is a notebook")
}

fn problem(file: &str) -> (String, String) {
    let problem = Notebook::parse(file.into()).expect_err("is none");
    (problem.what, file[problem.offset..].chars().take(12).collect())
}

/// The text of a notebook of one cell.
fn python(cell: &str) -> String {
    let book = parsed(&book(&[json!(cell)]));
    assert_eq!(book.text().len(), book.shown().len());
    book.text().trim_end().to_owned()
}

#[test]
fn the_cells_of_code_are_one_text() {
    let mut json: Value = serde_json::from_str(&book(&[
        json!(["import os\n", "x = 1"]),
        json!("# A title"),
        json!("y = x\n"),
        json!([]),
        json!("%%html\nls"),
        json!(["z", " = ", "y"]),
    ]))
    .expect("is JSON");
    json["cells"][1]["cell_type"] = json!("markdown");
    let file = serde_json::to_string_pretty(&json).expect("is JSON");
    let book = parsed(&file);
    insta::assert_snapshot!(book.text(), @r"
    import os
    x = 1
    # %% hvdlint: cell 3
    y = x

    # %% hvdlint: cell 4

    # %% hvdlint: cell 6
    z = y
    ");
    let at = book.text().find("z = y").expect("is there");
    assert_eq!(book.cell(at).map(|(number, lines)| (number.0, lines.start)), Some((6, at)));
    assert_eq!(&file[book.in_file(at..at + 1)], "z");
    assert_eq!(book.cell(0).map(|(number, _)| number.0), Some(1));
}

#[test]
fn commands_are_hidden_by_python_of_the_same_length() {
    for (cell, expected) in [
        ("%matplotlib inline\nx = 1", "0#atplotlib inline\nx = 1"),
        ("!pip install a \\\n  b\nx = 1", "(0#p install a \\\n  )\nx = 1"),
        ("?x\nx?\nx.y??", "0#\n0#\n0#y??"),
        ("%%time\nf()", "0#time\nf()"),
        ("%%px\nf()", "0#px\nf()"),
        ("if x:\n    %cd y\n", "if x:\n    0#d y"),
        ("if x:\n    !é\n", "if x:\n    0# "),
        ("files = !ls\nx = %pwd", "files = _#s\nx = _#wd"),
        ("%time model.fit(x)", "0;    model.fit(x)"),
        ("for i in x:\n  %timeit y = f(i)", "for i in x:\n  0;      y = f(i)"),
        ("%timeit -n 3 f()", "0#imeit -n 3 f()"),
        ("%time", "0#ime"),
        ("x = '''\n%cd\n!ls\n'''\ny = (a\n% b)", "x = '''\n%cd\n!ls\n'''\ny = (a\n% b)"),
        ("%%bash\nls", "(0#ash\n)#"),
        ("%%sh\n\n  ls\ncd x\n", "(0#h\n\n  #s\n)# x"),
        ("\n%%writefile train.py\nimport os", "\n(0#ritefile train.py\n)#port os"),
        // Not executed in the notebook, or no Python at all.
        ("%%html\n<b>", ""),
        ("pip install tensorflow", ""),
        ("ls = 1", "ls = 1"),
    ] {
        assert_eq!(python(cell), expected.trim_end(), "{cell:?}");
    }
}

#[test]
fn what_is_no_notebook_is_told_with_its_place() {
    assert_eq!(
        problem("{\n \"cells\": [}\n"),
        ("the notebook is not valid JSON: expected value".to_owned(), "}\n".to_owned())
    );
    assert_eq!(problem("").0, "the notebook is not valid JSON: EOF while parsing a value");
    assert_eq!(problem("<<<<<<< HEAD\n{}").0, "the notebook is not valid JSON: expected value");
    assert_eq!(problem("{}").0, "the file does not have the form of a notebook: there are no cells");
    assert!(problem("[1]").0.starts_with("the file does not have the form of a notebook: "));
    let numbers = r#"{"cells": [{"cell_type": "code", "source": [1]}], "nbformat": 4}"#;
    let what = "the file does not have the form of a notebook: the source of a cell is neither a string nor a list of \
                strings";
    assert_eq!(problem(numbers), (what.to_owned(), "[1]}], \"nbfo".to_owned()));
    let old = "{\"metadata\": {},\n \"nbformat\": 3, \"worksheets\": [{\"cells\": []}]}";
    assert_eq!(
        problem(old),
        ("the notebook has format 3, and only 4 is read".to_owned(), "\"nbformat\": ".to_owned())
    );
}

#[test]
fn other_languages_are_left_alone() {
    for metadata in [
        json!({"kernelspec": {"name": "ir", "language": "R"}}),
        json!({"kernelspec": {"name": "ir"}}),
        json!({"kernelspec": {"name": "julia-1.9"}}),
        json!({"language_info": {"name": "julia"}}),
        json!({"language_info": {"name": "C++17"}, "kernelspec": {"name": "xcpp17"}}),
    ] {
        let mut json: Value = serde_json::from_str(&book(&[json!("x <- 1")])).expect("is JSON");
        json["metadata"] = metadata.clone();
        assert_eq!(&**parsed(&json.to_string()).text(), "", "{metadata}");
    }
    for metadata in [
        json!({}),
        json!({"kernelspec": null, "language_info": "python"}),
        json!({"kernelspec": {"name": "tf2"}}),
    ] {
        let mut json: Value = serde_json::from_str(&book(&[json!("x = 1")])).expect("is JSON");
        json["metadata"] = metadata.clone();
        assert_eq!(&**parsed(&json.to_string()).text(), "x = 1\n", "{metadata}");
    }
    let mut json: Value = serde_json::from_str(&book(&[json!("x = 1"), json!("SELECT 1")])).expect("is JSON");
    json["cells"][1]["metadata"] = json!({"vscode": {"languageId": "sql"}});
    assert_eq!(&**parsed(&json.to_string()).text(), "x = 1\n");
}

/// What a change of a cell's text is in the file, as a line diff.
fn changed(file: &str, from: &str, to: &str) -> String {
    let before = parsed(file);
    let text = before.text().replacen(from, to, 1);
    let after = before.with_text(&text).expect("can be written");
    assert_eq!(**after.text(), *text);
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    after.file().split_inclusive('\n').filter(|line| !lines.contains(line)).collect()
}

#[test]
fn only_the_lines_that_change_are_written() {
    let file = book(&[json!(["x = 1\n", "y = 2"]), json!("a = 'é'\nb = 2"), json!(["one"]), json!([])]);
    assert_eq!(changed(&file, "y = 2", "y = \"\\t\""), "        \"y = \\\"\\\\t\\\"\"\n");
    assert_eq!(changed(&file, "y = 2\n", "y = 2\nz = 3\n"), "        \"y = 2\\n\",\n        \"z = 3\"\n");
    assert_eq!(changed(&file, "x = 1\n", ""), "");
    assert_eq!(changed(&file, "\ny = 2", ""), "        \"x = 1\"\n");
    assert_eq!(changed(&file, "b = 2", "b = 3"), "      \"source\": \"a = 'é'\\nb = 3\"\n");
    assert_eq!(changed(&file, "one", "one\ntwo"), "        \"one\\n\",\n        \"two\"\n");
    assert_eq!(changed(&file, "cell 4\n", "cell 4\nnew\n2"), "      \"source\": [\"new\\n\", \"2\"]\n");
}

#[test]
fn a_file_keeps_its_way_of_writing() {
    let list = "{\"nbformat\":4,\r\n\"cells\":[{\"cell_type\":\"code\",\r\n\"source\":[\"a = '\\u00e9\\ud83d\\ude42'\\r\\n\",\r\n\t\"b\"]}]}";
    let book = parsed(list);
    assert_eq!(&**book.text(), "a = 'é🙂'\r\nb\n");
    let changed = book.with_text("a = 'é🙂'\r\nc = 'ü🙃'\r\nb\n").expect("can be written");
    let expected = list.replace("\t\"b\"", "\t\"c = '\\u00fc\\ud83d\\ude43'\\r\\n\",\r\n\t\"b\"");
    assert_eq!(&**changed.file(), expected);

    let bytes = [b"\xef\xbb\xbf", list.as_bytes()].concat();
    assert_eq!(decode_as(FileKind::Notebook, bytes.clone()).as_deref(), Ok(&**book.text()));
    let encoded = encode_as(FileKind::Notebook, changed.text(), &bytes);
    assert_eq!(encoded, Ok([b"\xef\xbb\xbf", expected.as_bytes()].concat()));
}

#[test]
fn commands_and_borders_can_not_be_lost() {
    let file = book(&[json!("%cd x\ny = 1"), json!("%time f(1)")]);
    let book = parsed(&file);
    let with = |from: &str, to: &str| book.with_text(&book.text().replacen(from, to, 1)).map(|_| ());
    assert_eq!(with("0#d x\n", ""), Err(Unencodable::Command));
    assert_eq!(with("0;", "0 "), Err(Unencodable::Command));
    assert_eq!(with("# %% hvdlint: cell 2\n", ""), Err(Unencodable::Cells));
    assert_eq!(with("f(1)", "f(2)"), Ok(()));
    let at = book.text().find('y').expect("is there");
    assert_eq!(book.edit_in_file(at..book.text().len(), ""), None);
}

#[test]
fn a_cell_may_lose_all_its_code() {
    let file = book(&[json!("a = 1"), json!("import b"), json!("c = 1")]);
    let book = parsed(&file);
    let changed = book.with_text(&book.text().replacen("import b\n", "", 1)).expect("can be written");
    assert_eq!(&**changed.file(), file.replace("import b", ""));
}

fn line() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[a-c \"\\\\é🙂\t]{0,6}").expect("is a pattern")
}

fn cell() -> impl Strategy<Value = (Vec<String>, u8)> {
    (prop::collection::vec(line(), 0..5), 0..3_u8)
}

/// A source in one of the forms that JSON has for it.
fn source(lines: &[String], form: u8) -> Value {
    let text = lines.join("\n");
    match form {
        0 => json!(text),
        1 => json!(text.split_inclusive('\n').collect::<Vec<_>>()),
        _ => json!([text]),
    }
}

fn without_sources(file: &str) -> Value {
    let mut json: Value = serde_json::from_str(file).expect("is JSON");
    for cell in json["cells"].as_array_mut().expect("are there") {
        cell["source"] = Value::Null;
    }
    json
}

proptest! {
    #[test]
    fn any_change_of_a_cell_is_a_change_of_its_source_alone(
        cells in prop::collection::vec(cell(), 1..4),
        choice in any::<(prop::sample::Index, prop::sample::Index, prop::sample::Index)>(),
        content in prop::collection::vec(line(), 0..4),
    ) {
        let file = book(&cells.iter().map(|(lines, form)| source(lines, *form)).collect::<Vec<_>>());
        let book = parsed(&file);
        let lines = book.cells[choice.0.index(book.cells.len())].lines.clone();
        let places: Vec<usize> =
            lines.clone().chain([lines.end]).filter(|&at| book.text().is_char_boundary(at)).collect();
        let (one, other) = (places[choice.1.index(places.len())], places[choice.2.index(places.len())]);
        let range = one.min(other)..one.max(other);
        let mut content = content.join("\n");
        if range.end == lines.end {
            content.push('\n');
        }
        let mut text = book.text().to_string();
        text.replace_range(range.clone(), &content);

        let (place, written) = book.edit_in_file(range, &content).expect("stays in its cell");
        let mut edited = file.clone();
        edited.replace_range(place, &written);
        let read_again = parsed(&edited);
        prop_assert_eq!(&**read_again.text(), &text);
        prop_assert_eq!(without_sources(&edited), without_sources(&file));

        let changed = book.with_text(&text).expect("can be written");
        prop_assert_eq!(without_sources(changed.file()), without_sources(&file));
        prop_assert!(book.with_text(book.text()).expect("can be written").file() == book.file());
    }
}
