//! `hvdlint graph`.

use std::collections::{BTreeSet, HashSet};
use std::io;

use super::picture::{self, Extent, Subject};
use crate::analysis;
use crate::cli::{ConfigArgs, GlobalArgs, GraphCommand, GraphFormat};
use crate::program::{Adjacency, Ancestor, Facts, QualifiedNames, Via, View, adjacency, solve};
use crate::project::{Documents, FileId, Project};
use crate::report::{Sources, graph};

pub(super) fn run(command: &GraphCommand, global: &GlobalArgs) -> anyhow::Result<u8> {
    let (arguments, subject) = match command {
        GraphCommand::Calls(arguments) => (arguments, Subject::Calls),
        GraphCommand::Classes(arguments) => (arguments, Subject::Classes),
        GraphCommand::Imports(arguments) => (arguments, Subject::Imports),
    };
    let isolated = ConfigArgs { config: None, isolated: arguments.package.is_some() };
    let mut options = super::options(&isolated, global);
    options.package.clone_from(&arguments.package);
    let paths = if arguments.paths.is_empty() { vec![".".into()] } else { arguments.paths.clone() };
    let project = super::open(&paths, &options, global)?;
    super::warn(project.problems(), global)?;
    let (format, extent) = match arguments.format {
        GraphFormat::Json => (None, Extent::Whole),
        GraphFormat::Dot => (Some(graph::GraphFormat::Dot), extent(arguments.all)),
        GraphFormat::Mermaid => (Some(graph::GraphFormat::Mermaid), extent(arguments.all)),
        GraphFormat::Svg => (Some(graph::GraphFormat::Svg), extent(arguments.all)),
    };
    let mut out = io::stdout().lock();
    analysis::with_facts(&project, |facts| {
        let mut graph = match subject {
            Subject::Calls => calls(facts, arguments.format),
            Subject::Classes => classes(facts),
            Subject::Imports => imports(facts),
        };
        keep_wanted(&mut graph, facts, &project);
        let Some(format) = format else { return graph::write_json(&graph, &mut out).map_err(Into::into) };
        let documents: Documents =
            project.files().iter().filter_map(|file| Some((file.id, project.document(file.id)?))).collect();
        let sources = Sources::new(&documents);
        let drawing = picture::draw(subject, extent, &graph, facts, &sources, &project);
        anyhow::Ok(graph::write(format, &drawing, &mut out)?)
    })??;
    Ok(super::CLEAN)
}

fn extent(all: bool) -> Extent {
    if all { Extent::Whole } else { Extent::Readable }
}

/// Each function with what it calls. The adjacency map has what the source does; a picture also what follows
/// when libraries call back.
fn calls(facts: &Facts<'_>, format: GraphFormat) -> Adjacency {
    if format == GraphFormat::Json {
        let source = solve(facts.modules, facts.hierarchy, facts.library, View::Source);
        return adjacency(facts.modules, &source, Via::Protocol);
    }
    adjacency(facts.modules, &facts.solution, Via::Protocol)
}

/// Takes out what belongs to files that are neither given nor imported, directly or not, by given ones.
fn keep_wanted(edges: &mut Adjacency, facts: &Facts<'_>, project: &Project) {
    let mut wanted = BTreeSet::new();
    let mut work: Vec<FileId> = project.reported().map(|file| file.id).collect();
    while let Some(file) = work.pop() {
        if wanted.insert(file) {
            work.extend(facts.imported_files(file));
        }
    }
    let names = &facts.modules.names;
    let others: HashSet<&str> = facts
        .modules
        .files()
        .filter(|file| !wanted.contains(file))
        .map(|file| names[file.index()].as_str())
        .filter(|name| wanted.iter().all(|file| names[file.index()] != *name))
        .collect();
    if others.is_empty() {
        return;
    }
    let modules: HashSet<&str> = names.iter().map(String::as_str).collect();
    let is_wanted = |name: &str| module_of(name, &modules).is_none_or(|module| !others.contains(module));
    edges.retain(|name, _| is_wanted(name));
    // What only the others name is gone with them.
    let named: BTreeSet<String> = edges.values().flatten().cloned().collect();
    edges.retain(|name, callees| {
        !callees.is_empty() || named.contains(name) || module_of(name, &modules).is_some()
    });
}

/// The module that a qualified name is in.
fn module_of<'n>(name: &'n str, modules: &HashSet<&str>) -> Option<&'n str> {
    let mut prefix = name;
    loop {
        if modules.contains(prefix) {
            return Some(prefix);
        }
        prefix = prefix.rsplit_once('.')?.0;
    }
}

/// Each class with its bases.
fn classes(facts: &Facts<'_>) -> Adjacency {
    let names = QualifiedNames { modules: facts.modules };
    let mut graph = Adjacency::new();
    for file in facts.modules.files() {
        for index in 0..facts.module(file).classes.len() {
            let class = crate::program::ClassRef { file, class: crate::semantic::ClassId::new(index) };
            let bases = facts.hierarchy.bases(class).iter().filter_map(|base| match base {
                Ancestor::Project(base) => Some(names.class(*base)),
                Ancestor::External(path) => Some(path.clone()),
                Ancestor::Builtin(name) => Some(format!("<builtin>.{name}")),
                Ancestor::Unknown => None,
            });
            graph.entry(names.class(class)).or_default().extend(bases);
        }
    }
    graph
}

/// Each module of the project with those that it imports.
fn imports(facts: &Facts<'_>) -> Adjacency {
    let name = |file: crate::project::FileId| facts.modules.names[file.index()].clone();
    facts
        .modules
        .files()
        .map(|file| (name(file), facts.imported_files(file).iter().copied().map(name).collect()))
        .collect()
}
