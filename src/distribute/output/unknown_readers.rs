//! Libraries and commands that nobody knows may read what rank 0 has written: `coco.loadRes("results.json")`,
//! `subprocess.run(["python", "evaluate.py", "saved"])`. Where the ranks can wait for it behind the writing, they do.

use rustc_hash::FxHashMap;

use super::super::job::Job;
use super::super::shell_lines::{self, runs_command};
use super::inputs::own_effects;
use super::path_texts::text;
use crate::api::Effect;
use crate::program::{Facts, Literal, Object, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// A call.
type Site = (FileId, CallId);

/// The calls of such libraries and commands, by the texts that they are given.
#[derive(Debug, Default)]
pub(in crate::distribute) struct UnknownReaders {
    told: FxHashMap<Given, Vec<Site>>,
    /// By the texts that a path is put together of which they are given: what lies in a folder.
    below: FxHashMap<Given, Vec<Site>>,
}

/// A text: what is written, or the value of a variable.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Given {
    Text(String),
    Value(Place),
}

/// How far it is followed what a path is put together of.
const STEPS: usize = 3;

impl UnknownReaders {
    pub(in crate::distribute) fn new(job: &Job<'_>) -> Self {
        let facts = job.facts;
        let mut own = Self::default();
        for (file, call) in job.calls() {
            let data = facts.module(file).call(call);
            let mut called = std::iter::once(data.callee).chain(facts.receiver(file, data));
            let is_command = runs_command(facts, file, call);
            let is_unknown = called.any(|value| facts.may_be_foreign(file, value))
                && facts.called_symbols(file, call).next().is_none();
            if !is_command && !is_unknown {
                continue;
            }
            let known = if is_command { &mut own.told } else { &mut own.below };
            for place in data.arguments.iter().flat_map(|own| parts(facts, (file, own.value))) {
                for given in texts_of(job, place, |_| true) {
                    known.entry(given).or_default().push((file, call));
                }
                // `"python evaluate.py saved"`
                for word in
                    text(job, place).filter(|_| is_command).iter().flat_map(|line| line.split_whitespace())
                {
                    known.entry(Given::Text(word.to_owned())).or_default().push((file, call));
                }
            }
            if is_unknown {
                for given in texts(job, file, call, |_| true) {
                    own.told.entry(given).or_default().push((file, call));
                }
            }
        }
        own
    }

    /// Those that are given a path of a call that writes, or one in the folder that it makes.
    pub(super) fn given_path_of(&self, job: &Job<'_>, (file, write): Site) -> Vec<Site> {
        if self.told.is_empty() && self.below.is_empty() {
            return Vec::new();
        }
        let makes_folder = own_effects(job, file, write).contains(Effect::MakesFolder);
        let is_model = || job.facts.concerns_weights(file, job.facts.module(file).call(write));
        // The mode of a file is a text, too.
        let is_path = |text: &str| text.contains(['.', '/']) || makes_folder || is_model();
        let below = Some(&self.below).filter(|_| makes_folder);
        let given = texts(job, file, write, is_path);
        let known = given
            .iter()
            .flat_map(|own| std::iter::once(&self.told).chain(below).filter_map(|all| all.get(own)));
        known.flatten().copied().collect()
    }
}

/// Whether a command of a notebook further down names the path that a call writes to: `!ls saved`, `!ls {path}`.
pub(super) fn is_named_by_command(job: &Job<'_>, (file, write): Site) -> bool {
    let Some(text_of_file) = job.text(file) else { return false };
    let module = job.facts.module(file);
    let end = module.call(write).range.end();
    let mut lines = shell_lines::of_notebook(text_of_file).filter(|own| own.place.range.start >= end.into());
    let Some(first) = lines.next() else { return false };
    let given = texts(job, file, write, |own| !own.is_empty());
    let names: Vec<String> = given
        .iter()
        .filter_map(|own| match own {
            Given::Text(text) => Some(text.trim_end_matches('/').to_owned()),
            Given::Value(_) => None,
        })
        .chain(module.call(write).arguments.iter().filter_map(|own| {
            let reading = module.uses.iter().find(|reading| reading.range == own.range)?;
            Some(format!("{{{}}}", module.variable_name(reading.variable?)))
        }))
        .collect();
    std::iter::once(first).chain(lines).any(|own| {
        let mut words = own.line.split_whitespace();
        words.any(|word| names.iter().any(|name| !name.is_empty() && word.starts_with(name.as_str())))
    })
}

/// What a text is put together of, besides itself: `folder` of `os.path.join(folder, "model.bin")`, and all of a list of words.
fn parts(facts: &Facts<'_>, place: Place) -> Vec<Place> {
    let is_text = |(file, value): Place| {
        facts.objects(file, value).any(|(id, _)| facts.builtin_class(id) == Some("str"))
    };
    let is_list = |(file, value): Place| matches!(facts.module(file).value(value).value, Value::Display(..));
    let mut found = vec![place];
    let mut from = 0;
    for _ in 0..STEPS {
        let next: Vec<Place> = found[from..]
            .iter()
            .filter(|&&own| is_text(own) || is_list(own))
            .flat_map(|&own| facts.influence().operands(own).filter(move |next| next.0 == own.0))
            .collect();
        from = found.len();
        found.extend(next);
    }
    found
}

/// The texts that a call is given, also through parameters; those of the source only if they are wanted.
fn texts(job: &Job<'_>, file: FileId, call: CallId, is_wanted: impl Fn(&str) -> bool) -> Vec<Given> {
    let arguments = job.facts.module(file).call(call).arguments.iter();
    arguments.flat_map(|own| texts_of(job, (file, own.value), &is_wanted)).collect()
}

/// The texts that a value may be.
fn texts_of(job: &Job<'_>, (file, value): Place, is_wanted: impl Fn(&str) -> bool) -> Vec<Given> {
    let facts = job.facts;
    let mut found = Vec::new();
    if let Some(text) = text(job, (file, value)) {
        found.extend(is_wanted(text).then(|| Given::Text(text.to_owned())));
        return found;
    }
    let mut is_text = false;
    for (id, object) in facts.objects(file, value) {
        is_text |= facts.builtin_class(id) == Some("str");
        if let Object::Literal(Literal::Str(name)) = object {
            let text = facts.solution.names.text(name);
            found.extend(is_wanted(text).then(|| Given::Text(text.to_owned())));
        }
    }
    found.extend(is_text.then_some(Given::Value((file, value))));
    found
}
