//! Names, attributes, elements and parameters that hold TensorFlow's module, and its imported name bound again.

use std::cell::LazyCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Context, check};
use crate::finding::{Confidence, Finding, Level, Location};
use crate::normalise;
use crate::program::{Caller, Facts, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{Binder, Binding, CallId, CallKind, Definition, DefinitionKind, ValueId, Variable};

check!("HVD002", "tensorflow-module-reassigned", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let lost = LazyCell::new(|| facts.containers_read_anywhere());
    let mut findings = Vec::new();
    let has_root = |file: &FileId| {
        facts
            .objects_in(*file)
            .iter()
            .any(|&object| root_path(facts, facts.solution.object(object)).is_some())
    };
    for file in facts.files().filter(has_root) {
        let imports = imports(facts, file);
        findings.extend(second_names(context, file, &imports, &lost));
        findings.extend(other_values(context, file, &imports));
        findings.extend(arguments(context, file));
    }
    findings
}

/// The module that a value may be, by the name that leads to it.
fn root<'f>(facts: &'f Facts<'_>, file: FileId, value: ValueId) -> Option<&'f str> {
    facts.objects(file, value).find_map(|(_, object)| root_path(facts, object))
}

fn root_path<'f>(facts: &'f Facts<'_>, object: Object) -> Option<&'f str> {
    match object {
        Object::External(external) if facts.symbol(object).is_some_and(crate::api::Symbol::is_root) => {
            Some(&*facts.solution.externals.get(external).path)
        }
        _ => None,
    }
}

/// Whether a value may also be something else.
fn is_ambiguous(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    facts
        .objects(file, value)
        .any(|(_, object)| !facts.symbol(object).is_some_and(crate::api::Symbol::is_root))
}

/// For each variable that an import binds to one of the modules, the first such import.
fn imports<'m>(facts: &Facts<'m>, file: FileId) -> FxHashMap<Variable, &'m Definition> {
    let mut found = FxHashMap::default();
    for definition in &facts.module(file).definitions {
        if definition.kind == DefinitionKind::Import && root(facts, file, definition.value).is_some() {
            found.entry(definition.variable).or_insert(definition);
        }
    }
    found
}

fn second_names(
    context: Context<'_>,
    file: FileId,
    imports: &FxHashMap<Variable, &Definition>,
    lost: &LazyCell<FxHashSet<ObjectId>, impl FnOnce() -> FxHashSet<ObjectId>>,
) -> Vec<Finding> {
    let facts = context.facts;
    let module = facts.module(file);
    let mut findings = Vec::new();
    for &Binding { binder, value, range, scope } in module.bindings() {
        let Some(path) = root(facts, file, value) else { continue };
        let caller = Caller { file, scope };
        let (message, help) = match binder {
            Binder::Variable(variable) => {
                let name = module.variable_name(variable);
                let again = imports.get(&variable).filter(|import| import.range != range);
                let message = match again {
                    Some(_) => format!("the imported name `{name}` is bound again, to the module `{path}`"),
                    None => format!("`{name}` is another name for the module `{path}`"),
                };
                (message, format!("import the module under the name `{name}`, or use the imported name"))
            }
            Binder::Attribute(name) => {
                let name = module.names.text(name);
                (format!("the attribute `{name}` holds the module `{path}`"), use_import(path))
            }
            Binder::Item | Binder::Element(..) => {
                (format!("a container holds the module `{path}`"), use_import(path))
            }
            Binder::Default(function, position) => {
                let parameter = &module.function(function).parameters[position as usize];
                let name = module.names.text(parameter.name);
                (format!("the module `{path}` is the default of the parameter `{name}`"), use_import(path))
            }
        };
        let import = match binder {
            Binder::Variable(variable) => imports.get(&variable),
            _ => None,
        };
        let is_lost = match binder {
            Binder::Variable(_) => import.is_some() && is_ambiguous(facts, file, value),
            Binder::Element(display, _) => {
                facts.solution.values(file, display).iter().any(|id| lost.contains(id))
            }
            _ => false,
        };
        let level = if is_lost { Level::Error } else { context.warning() };
        let mut finding = Finding::new(&CHECK.rule, level, Location::new(file, range), message)
            .here("bound here")
            .help(help)
            .in_scope(facts.scope_name(caller));
        if let Some(import) = import {
            finding = finding.label(Location::new(file, import.range), "imported here");
        }
        if let Binder::Variable(_) = binder {
            finding.fix = normalise::import_at_once(context, file, range);
            if !is_lost && finding.fix.is_none() {
                finding.fix = normalise::import_instead(context, file, range)
                    .or_else(|| normalise::substitute(context, file, range));
            }
        }
        if is_lost && finding.fix.is_none() {
            finding = finding.note(withheld(matches!(binder, Binder::Element(..))));
        }
        findings.push(finding);
    }
    findings
}

fn use_import(path: &str) -> String {
    format!("import `{path}` where it is used, and use the imported name")
}

fn withheld(in_container: bool) -> &'static str {
    if in_container {
        "The container is read with a key that is not known, so nobody knows which code uses the module: fixes are \
         withheld."
    } else {
        "Where the name is used it may hold something else, so the fixes of the code that uses it are withheld."
    }
}

/// Bindings of an imported name to something that is none of the modules.
fn other_values(
    context: Context<'_>,
    file: FileId,
    imports: &FxHashMap<Variable, &Definition>,
) -> Vec<Finding> {
    use DefinitionKind as Kind;
    let facts = context.facts;
    let module = facts.module(file);
    let mut findings = Vec::new();
    for definition in &module.definitions {
        let Some(import) = imports.get(&definition.variable) else { continue };
        if matches!(definition.kind, Kind::Import | Kind::Parameter | Kind::Deletion | Kind::Handler)
            || definition.range.start() < import.range.start()
            || root(facts, file, definition.value).is_some()
        {
            continue;
        }
        let name = module.variable_name(definition.variable);
        let path = root(facts, file, import.value).unwrap_or_default();
        let known = !facts.is_unknown(file, definition.value);
        findings.push(
            Finding::new(
                &CHECK.rule,
                Level::Error,
                Location::new(file, definition.range),
                format!("the imported name `{name}` is bound to something else than the module `{path}`"),
            )
            .here("bound again here")
            .label(Location::new(file, import.range), "imported here")
            .note(withheld(false))
            .help(format!("give the other value a name of its own, and leave `{name}` to the import"))
            .confidence(if known { Confidence::Certain } else { Confidence::Possible })
            .in_scope(facts.scope_name(Caller { file, scope: definition.scope })),
        );
    }
    findings
}

/// Calls of the project's functions that are given a module; to the letter, all calls.
fn arguments(context: Context<'_>, file: FileId) -> Vec<Finding> {
    let facts = context.facts;
    let module = facts.module(file);
    let mut findings = Vec::new();
    for (index, call) in module.calls.iter().enumerate().filter(|(_, call)| call.kind == CallKind::Expression)
    {
        for argument in &call.arguments {
            let Some(path) = root(facts, file, argument.value) else { continue };
            let parameters = parameters_of(facts, file, CallId::new(index), argument.value);
            if parameters.is_none() && !context.strict {
                continue;
            }
            let mut finding = Finding::new(
                &CHECK.rule,
                context.warning(),
                Location::new(file, argument.range),
                format!("the module `{path}` is passed as an argument"),
            )
            .here("passed here")
            .help(use_import(path))
            .in_scope(facts.scope_name(Caller { file, scope: call.scope }));
            for parameter in parameters.into_iter().flatten() {
                finding = finding.label(parameter, "another name for it");
            }
            findings.push(finding);
        }
    }
    findings
}

/// The parameters that get the value, as far as they are known; `None` for a call of a library.
fn parameters_of(facts: &Facts<'_>, file: FileId, call: CallId, value: ValueId) -> Option<Vec<Location>> {
    let objects = facts.solution.values(file, value);
    let mut found = None;
    for edge in facts.callees(file, call) {
        match facts.solution.object(edge.callee) {
            Object::Class(_) => _ = found.get_or_insert_with(Vec::new),
            Object::Function(function) => {
                let parameters = &facts.module(function.file).function(function.function).parameters;
                let gets = parameters.iter().find(|parameter| {
                    let own = facts.solution.values(function.file, parameter.value);
                    objects.iter().any(|object| own.contains(object))
                });
                let places = gets.map(|parameter| Location::new(function.file, parameter.range));
                found.get_or_insert_with(Vec::new).extend(places);
            }
            _ => {}
        }
    }
    found
}
