//! What a picture shows of a graph: the project's own part, by file, with the way from a program's start to its
//! training loop in another colour.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::api::Library;
use crate::finding::Location;
use crate::program::{Adjacency, Facts, Object, QualifiedNames, way};
use crate::project::{FileId, Project};
use crate::report::graph::{Drawing, Edge, Emphasis, Node};
use crate::report::{Sources, programs::Line};

/// A picture with more boxes shows what is around training loops alone, unless all is asked for.
const READABLE: usize = 40;

/// Which graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// Functions and what they call.
    Calls,
    /// Classes and their bases.
    Classes,
    /// Modules and what they import.
    Imports,
}

/// How much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// As much as can be read.
    Readable,
    /// All.
    Whole,
}

/// What is important in a graph, by names.
#[derive(Debug, Default)]
struct Important {
    nodes: BTreeMap<String, Emphasis>,
    /// With the line of the call, where it is one.
    edges: BTreeMap<(String, String), String>,
    /// What is said of a node below its name.
    remarks: BTreeMap<String, BTreeSet<String>>,
}

impl Important {
    fn node(&mut self, name: String, emphasis: Emphasis) {
        let known = self.nodes.entry(name).or_insert(emphasis);
        *known = (*known).max(emphasis);
    }

    fn remark(&mut self, name: String, emphasis: Emphasis, remark: impl Into<String>) {
        self.remarks.entry(name.clone()).or_default().insert(remark.into());
        self.node(name, emphasis);
    }

    fn edge(&mut self, from: String, to: String, label: String) {
        self.node(from.clone(), Emphasis::Way);
        self.node(to.clone(), Emphasis::Way);
        self.edges.entry((from, to)).or_insert(label);
    }
}

/// The picture of a graph.
pub(super) fn draw(
    subject: Subject,
    extent: Extent,
    graph: &Adjacency,
    facts: &Facts<'_>,
    sources: &Sources<'_>,
    project: &Project,
) -> Drawing {
    let files: HashMap<&str, FileId> =
        project.files().iter().rev().map(|file| (file.name.as_str(), file.id)).collect();
    let place = Names { files: &files, project, subject };
    let important = match subject {
        Subject::Calls => calls(facts, sources),
        Subject::Classes => classes(facts),
        Subject::Imports => imports(facts),
    };
    // Libraries' classes say what a class is; their functions and modules are not the project's.
    let is_shown = |name: &str| {
        place.file(name).is_some() || subject == Subject::Classes && is_known(name, facts.library)
    };
    let edges: Vec<(&str, &str)> = graph
        .iter()
        .flat_map(|(from, targets)| targets.iter().map(move |to| (from.as_str(), to.as_str())))
        .filter(|(from, to)| is_shown(from) && is_shown(to))
        .collect();
    let mut shown: BTreeSet<&str> = edges.iter().flat_map(|&(from, to)| [from, to]).collect();
    shown.extend(important.nodes.keys().map(String::as_str));
    let all = shown.len();
    if extent == Extent::Readable && all > READABLE && !important.nodes.is_empty() {
        // What the way goes through, and what is done at its steps.
        let near = edges.iter().filter(|(from, _)| important.nodes.contains_key(*from)).map(|(_, to)| *to);
        shown = important.nodes.keys().map(String::as_str).chain(near).collect();
    }
    let nodes = shown.iter().map(|name| place.node(name, &important)).collect();
    let edges = edges.iter().filter(|(from, to)| shown.contains(from) && shown.contains(to));
    let edges = edges.map(|&(from, to)| {
        let label = important.edges.get(&(from.to_owned(), to.to_owned()));
        Edge {
            from: from.to_owned(),
            to: to.to_owned(),
            label: label.cloned().unwrap_or_default(),
            emphasis: label.is_some(),
        }
    });
    Drawing { title: title(subject, all - shown.len()), nodes, edges: edges.collect() }
}

fn title(subject: Subject, left_out: usize) -> String {
    let title = match subject {
        Subject::Calls => "What calls what. Orange: the way from a program's start to its training loop.",
        Subject::Classes => {
            "Classes, and those that they derive from. Orange: models that a training loop trains."
        }
        Subject::Imports => "What imports what. Orange: the way from a program's start to its training loop.",
    };
    match left_out {
        0 => title.to_owned(),
        1 => format!("{title}\n1 box further away is left out; --all draws it."),
        more => format!("{title}\n{more} boxes further away are left out; --all draws them."),
    }
}

/// Whether a library's class is one that the tables know.
fn is_known(name: &str, library: &Library) -> bool {
    library.lookup(name).is_some()
}

/// From qualified names to boxes.
struct Names<'a> {
    files: &'a HashMap<&'a str, FileId>,
    project: &'a Project,
    subject: Subject,
}

impl Names<'_> {
    /// The module that a qualified name is in.
    fn file(&self, name: &str) -> Option<(FileId, usize)> {
        let mut prefix = name;
        loop {
            if let Some(&file) = self.files.get(prefix) {
                return Some((file, prefix.len()));
            }
            prefix = prefix.rsplit_once('.')?.0;
        }
    }

    fn node(&self, name: &str, important: &Important) -> Node {
        let (mut label, group) = match self.file(name) {
            None => (name.to_owned(), String::new()),
            Some((file, length)) => {
                let path = &self.project.file(file).relative;
                match (self.subject, name.get(length + 1..)) {
                    (Subject::Imports, _) => {
                        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
                        (file.to_owned(), folder.to_owned())
                    }
                    (_, Some(own)) => (own.to_owned(), path.clone()),
                    (_, None) => ("top of the file".to_owned(), path.clone()),
                }
            }
        };
        for remark in important.remarks.get(name).into_iter().flatten() {
            label.push('\n');
            label.push_str(remark);
        }
        let emphasis = important.nodes.get(name).copied().unwrap_or_default();
        Node { id: name.to_owned(), label, group, emphasis }
    }
}

fn calls(facts: &Facts<'_>, sources: &Sources<'_>) -> Important {
    let names = QualifiedNames { modules: facts.modules };
    let mut important = Important::default();
    for program in facts.programs.iter().filter(|program| !program.loops.is_empty()) {
        let start = facts.modules.names[program.entry.index()].clone();
        important.remark(start, Emphasis::Way, "the program starts here");
        for own in &program.loops {
            let line = Line::of(Location::new(own.caller.file, own.range), sources).line;
            let remark = format!("training loop: {}, line {line}", own.kind.name());
            important.remark(names.caller(own.caller), Emphasis::Goal, remark);
            for edge in way(facts, program, own.caller) {
                let Object::Function(function) = facts.solution.object(edge.callee) else { continue };
                let module = facts.module(edge.caller.file);
                let place = edge.call.map(|call| Location::new(edge.caller.file, module.call(call).range));
                let line = place.map(|place| format!("line {}", Line::of(place, sources).line));
                important.edge(names.caller(edge.caller), names.function(function), line.unwrap_or_default());
            }
        }
    }
    important
}

fn classes(facts: &Facts<'_>) -> Important {
    let names = QualifiedNames { modules: facts.modules };
    let mut important = Important::default();
    let loops = facts.programs.iter().flat_map(|program| &program.loops);
    for &model in loops.flat_map(|own| &own.models) {
        if let Object::Instance(class, _) = facts.solution.object(model) {
            important.remark(names.class(class), Emphasis::Goal, "is trained");
        }
    }
    important
}

fn imports(facts: &Facts<'_>) -> Important {
    let name = |file: FileId| facts.modules.names[file.index()].clone();
    let mut important = Important::default();
    for program in facts.programs.iter().filter(|program| !program.loops.is_empty()) {
        important.remark(name(program.entry), Emphasis::Way, "a program");
        for own in &program.loops {
            important.remark(name(own.caller.file), Emphasis::Goal, "training loop");
            for (from, to) in import_way(facts, program.entry, own.caller.file) {
                important.edge(name(from), name(to), String::new());
            }
        }
    }
    important
}

/// The shortest way of imports from one file to another.
fn import_way(facts: &Facts<'_>, from: FileId, to: FileId) -> Vec<(FileId, FileId)> {
    let mut came_from: HashMap<FileId, FileId> = HashMap::new();
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(file) = queue.pop_front() {
        for &next in facts.imported_files(file) {
            if next != from && !came_from.contains_key(&next) {
                came_from.insert(next, file);
                queue.push_back(next);
            }
        }
    }
    let mut way = Vec::new();
    let mut at = to;
    while let Some(&before) = came_from.get(&at) {
        way.push((before, at));
        at = before;
    }
    way
}
