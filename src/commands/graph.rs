//! `hvdlint graph`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;

use crate::analysis;
use crate::cli::{ConfigArgs, GlobalArgs, GraphArgs, GraphCommand, GraphFormat};
use crate::program::{Adjacency, Ancestor, Facts, QualifiedNames, Via, adjacency, way};
use crate::project::{FileId, Project};
use crate::report::graph::{self, Drawing, Edge, Node};

pub(super) fn run(command: &GraphCommand, global: &GlobalArgs) -> anyhow::Result<u8> {
    let (arguments, title) = match command {
        GraphCommand::Calls(arguments) => (arguments, "calls"),
        GraphCommand::Classes(arguments) => (arguments, "classes"),
        GraphCommand::Imports(arguments) => (arguments, "imports"),
    };
    let isolated = ConfigArgs { config: None, isolated: arguments.package.is_some() };
    let mut options = super::options(&isolated, global);
    options.package.clone_from(&arguments.package);
    let paths = if arguments.paths.is_empty() { vec![".".into()] } else { arguments.paths.clone() };
    let project = super::open(&paths, &options, global)?;
    super::warn(project.problems(), global)?;
    let drawing = analysis::with_facts(&project, |facts| {
        let mut edges = match command {
            GraphCommand::Calls(_) => adjacency(facts.modules, &facts.solution, Via::Protocol),
            GraphCommand::Classes(_) => classes(facts),
            GraphCommand::Imports(_) => imports(facts),
        };
        keep_wanted(&mut edges, facts, &project);
        draw(title, arguments, &edges, facts)
    })?;
    graph::write(format(arguments.format), &drawing, &mut io::stdout().lock())?;
    Ok(super::CLEAN)
}

fn format(format: GraphFormat) -> graph::GraphFormat {
    match format {
        GraphFormat::Json => graph::GraphFormat::Json,
        GraphFormat::Dot => graph::GraphFormat::Dot,
        GraphFormat::Mermaid => graph::GraphFormat::Mermaid,
        GraphFormat::Svg => graph::GraphFormat::Svg,
    }
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

/// The picture of a graph: nodes by module, the way from a program's entry to its training loop emphasised.
fn draw(title: &str, arguments: &GraphArgs, edges: &Adjacency, facts: &Facts<'_>) -> Drawing {
    let names = QualifiedNames { modules: facts.modules };
    let mut emphasised: BTreeSet<(String, String)> = BTreeSet::new();
    let mut important: BTreeSet<String> = BTreeSet::new();
    if title == "calls" {
        for program in &facts.programs {
            for training_loop in &program.loops {
                important.insert(names.caller(training_loop.caller));
                for edge in way(facts, program, training_loop.caller) {
                    if let crate::program::Object::Function(function) = facts.solution.object(edge.callee) {
                        emphasised.insert((names.caller(edge.caller), names.function(function)));
                    }
                }
            }
        }
    }
    important.extend(emphasised.iter().flat_map(|(from, to)| [from.clone(), to.clone()]));
    let modules: HashSet<&str> = facts.modules.names.iter().map(String::as_str).collect();
    let group_of = |name: &str| module_of(name, &modules).unwrap_or_default().to_owned();
    // A picture shows the project; the adjacency map has everything.
    let is_shown = |name: &str| arguments.format == GraphFormat::Json || !group_of(name).is_empty();
    let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
    let mut drawn = Vec::new();
    for (from, targets) in edges {
        for name in std::iter::once(from).chain(targets).filter(|name| is_shown(name)) {
            let group = group_of(name);
            let label = name.strip_prefix(&format!("{group}.")).unwrap_or(name).to_owned();
            let emphasis = important.contains(name);
            nodes.entry(name.clone()).or_insert_with(|| Node { id: name.clone(), label, group, emphasis });
        }
        for to in targets.iter().filter(|to| is_shown(from) && is_shown(to)) {
            let emphasis = emphasised.contains(&(from.clone(), to.clone()));
            drawn.push(Edge { from: from.clone(), to: to.clone(), label: String::new(), emphasis });
        }
    }
    Drawing { title: title.to_owned(), nodes: nodes.into_values().collect(), edges: drawn }
}
