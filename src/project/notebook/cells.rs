//! What a notebook's file says of its cells. The JSON is read in place: each source remembers where it stands.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::source::Source;
use super::{CellNumber, Undecodable};

const SAVE_AGAIN: &str = "open it with Jupyter and save it again, or exclude it in the configuration";
const CONVERT: &str = "convert it with `jupyter nbconvert --to notebook --nbformat 4 --inplace`";

/// The cells of code in the notebook's language.
#[derive(Debug)]
pub(super) struct Cells {
    pub(super) language: Language,
    pub(super) list: Vec<(CellNumber, Source)>,
}

/// What a notebook's code is written in, where it says so.
#[derive(Debug)]
pub(super) struct Language(Option<String>);

impl Language {
    /// Notebooks that don't say are in Python.
    pub(super) fn is_python(&self) -> bool {
        self.0.as_ref().is_none_or(|name| {
            let name = name.to_ascii_lowercase();
            name.starts_with("python") || name == "ipython"
        })
    }
}

#[derive(Deserialize)]
struct Book<'f> {
    nbformat: Option<i64>,
    #[serde(default)]
    metadata: Metadata,
    #[serde(borrow)]
    cells: Option<Vec<BookCell<'f>>>,
    /// Where older formats have the cells.
    worksheets: Option<IgnoredAny>,
}

/// Programs write all kinds of things here: only what is looked at needs a form.
#[derive(Default, Deserialize)]
struct Metadata {
    language_info: Option<Value>,
    kernelspec: Option<Value>,
}

#[derive(Deserialize)]
struct BookCell<'f> {
    cell_type: Option<String>,
    #[serde(borrow)]
    source: Option<&'f RawValue>,
    metadata: Option<CellMetadata>,
}

#[derive(Deserialize)]
struct CellMetadata {
    vscode: Option<Value>,
}

impl Metadata {
    fn language(&self) -> Language {
        let text = |value: &Option<Value>, key: &str| {
            value.as_ref().and_then(|value| value.get(key)).and_then(Value::as_str).map(str::to_owned)
        };
        let kernel = text(&self.kernelspec, "name");
        // Kernels of these languages are called so; those of Python have all kinds of names.
        let other = kernel.filter(|name| name == "ir" || name.starts_with("julia"));
        Language(text(&self.language_info, "name").or(text(&self.kernelspec, "language")).or(other))
    }
}

impl BookCell<'_> {
    fn is_python(&self) -> bool {
        let editor = self.metadata.as_ref().and_then(|metadata| metadata.vscode.as_ref());
        let language = editor.and_then(|editor| editor.get("languageId")?.as_str());
        self.cell_type.as_deref() == Some("code") && language.is_none_or(|language| language == "python")
    }
}

/// Reads the cells of code.
pub(super) fn read(file: &str) -> Result<Cells, Undecodable> {
    let broken = |what: String, help: &str, offset: usize| Undecodable {
        what,
        help: help.to_owned(),
        offset,
        text: file.to_owned(),
    };
    let no_notebook = |reason: &str, offset| {
        broken(format!("the file does not have the form of a notebook: {reason}"), SAVE_AGAIN, offset)
    };
    let book: Book<'_> = serde_json::from_str(file).map_err(|error| {
        let offset = offset(file, error.line(), error.column());
        // The place is told as that of any finding.
        let reason = error.to_string();
        let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
        if error.is_data() {
            no_notebook(reason, offset)
        } else {
            broken(format!("the notebook is not valid JSON: {reason}"), SAVE_AGAIN, offset)
        }
    })?;
    let format = book.nbformat.or(book.worksheets.map(|_| 3)).unwrap_or(4);
    if format != 4 {
        let at = file.find("\"nbformat\"").unwrap_or_default();
        return Err(broken(format!("the notebook has format {format}, and only 4 is read"), CONVERT, at));
    }
    let cells = book.cells.ok_or_else(|| no_notebook("there are no cells", 0))?;
    let mut list = Vec::new();
    for (number, cell) in (1..).zip(&cells) {
        let Some(raw) = cell.source.filter(|_| cell.is_python()) else { continue };
        // The value is a part of `file`, borrowed from it.
        let at = raw.get().as_ptr() as usize - file.as_ptr() as usize;
        let source = Source::read(file, at..at + raw.get().len()).ok_or_else(|| {
            no_notebook("the source of a cell is neither a string nor a list of strings", at)
        })?;
        list.push((CellNumber(number), source));
    }
    Ok(Cells { language: book.metadata.language(), list })
}

/// The byte at a line and a column in bytes, both from 1.
fn offset(file: &str, line: usize, column: usize) -> usize {
    let start: usize = file.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    file.floor_char_boundary((start + column.saturating_sub(1)).min(file.len()))
}
