//! Names, attributes, elements and defaults that hold a bare member of TensorFlow.

use rustc_hash::FxHashMap;

use super::{Context, check};
use crate::finding::{Confidence, Finding, Level, Location};
use crate::normalise;
use crate::program::{Caller, Facts, FunctionRef, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{Binder, Binding, Container, Module, Value, ValueId};

check!("HVD003", "tensorflow-member-aliased", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let mut known: FxHashMap<ObjectId, bool> = FxHashMap::default();
    let mut is_member = |&id: &ObjectId| {
        *known.entry(id).or_insert_with(|| member(facts, id, facts.solution.object(id)).is_some())
    };
    let files = facts.files().filter(|&file| facts.objects_in(file).iter().any(&mut is_member));
    files.flat_map(|file| aliases(context, file)).collect()
}

fn aliases(context: Context<'_>, file: FileId) -> Vec<Finding> {
    let facts = context.facts;
    let mut findings: Vec<Finding> = Vec::new();
    // The harmless members of a container are one finding.
    let mut containers: FxHashMap<ValueId, usize> = FxHashMap::default();
    for binding in facts.module(file).bindings() {
        let Some(member) = bound_member(facts, file, binding) else { continue };
        let location = Location::new(file, binding.range);
        if let Binder::Element(display, _) = binding.binder
            && !member.acted_on
        {
            if let Some(&there) = containers.get(&display) {
                findings[there].labels.push(crate::finding::Label { location, message: "and here".into() });
                findings[there].confidence = findings[there].confidence.max(member.confidence);
                continue;
            }
            containers.insert(display, findings.len());
        }
        let level = if member.acted_on { Level::Error } else { context.warning() };
        let mut finding =
            Finding::new(&CHECK.rule, level, location, message(facts.module(file), binding, member.path))
                .here("bound here")
                .help(help(binding, member.path))
                .confidence(member.confidence)
                .in_scope(facts.scope_name(Caller { file, scope: binding.scope }));
        if let Value::Parameter(function, position) = facts.module(file).value(binding.value).value {
            for location in passed(facts, FunctionRef { file, function }, position, member.object) {
                finding = finding.label(location, "passed here");
            }
        }
        if member.acted_on {
            finding = finding.note(format!(
                "A rule of the distribution acts on `{}`; its fixes are withheld where the alias may be used.",
                member.path
            ));
        }
        if let Binder::Variable(_) = binding.binder {
            finding.fix = normalise::import_instead(context, file, binding.range)
                .or_else(|| normalise::substitute(context, file, binding.range));
        }
        findings.push(finding);
    }
    findings
}

/// A bare member of TensorFlow.
struct BareMember<'f> {
    object: ObjectId,
    path: &'f str,
    acted_on: bool,
    confidence: Confidence,
}

/// The member that a binding makes an alias of; of several the one that a rule acts on.
fn bound_member<'f>(facts: &'f Facts<'_>, file: FileId, binding: &Binding) -> Option<BareMember<'f>> {
    let module = facts.module(file);
    // A variable that holds a parameter is no more than the parameter; an attribute lives on.
    let is_kept = !matches!(binding.binder, Binder::Variable(_) | Binder::Default(..));
    let default = match module.value(binding.value).value {
        Value::Parameter(function, position) if is_kept => {
            // The default is an alias already.
            module.function(function).parameters[position as usize].default
        }
        _ if is_bare(facts, file, binding.value, 0) => None,
        _ => return None,
    };
    let known = default.map_or(&[][..], |default| facts.solution.values(file, default));
    let own = facts.objects(file, binding.value).filter(|(id, _)| !known.contains(id));
    let members = own.filter_map(|(id, object)| member(facts, id, object));
    // Of equals the first.
    members.reduce(|best, other| if other.acted_on && !best.acted_on { other } else { best })
}

fn member<'f>(facts: &'f Facts<'_>, id: ObjectId, object: Object) -> Option<BareMember<'f>> {
    let Object::External(external) = object else { return None };
    let path = &*facts.solution.externals.get(external).path;
    let confidence = match facts.library.is_member_of_root(path) {
        Some(true) => Confidence::Certain,
        Some(false) => return None,
        None => Confidence::Possible,
    };
    let acted_on = facts.symbol(object).is_some_and(|symbol| facts.library.acted_on_by_rules(symbol));
    Some(BareMember { object: id, path, acted_on, confidence })
}

/// How many variables may lead to variables.
const DEPTH: usize = 4;

/// Whether the expression names a member, rather than computing one.
fn is_bare(facts: &Facts<'_>, file: FileId, value: ValueId, depth: usize) -> bool {
    let module = facts.module(file);
    match &module.value(value).value {
        Value::Import(_) | Value::Free(_) => true,
        Value::Attribute { base, .. } => facts
            .objects(file, *base)
            .any(|(_, object)| matches!(object, Object::External(_) | Object::Module(_))),
        Value::Phi(operands) if depth < DEPTH => {
            operands.iter().any(|&operand| is_bare(facts, file, operand, depth + 1))
        }
        Value::Cell(variable) if depth < DEPTH => module
            .shared_definitions(*variable)
            .any(|definition| is_bare(facts, file, definition.value, depth + 1)),
        _ => false,
    }
}

/// Where callers pass the member for a parameter, the first two.
fn passed(facts: &Facts<'_>, function: FunctionRef, position: u32, member: ObjectId) -> Vec<Location> {
    let parameters = &facts.module(function.file).function(function.function).parameters;
    let name = facts.module(function.file).names.text(parameters[position as usize].name);
    let mut found = Vec::new();
    for edge in facts.incoming(function) {
        let Some(call) = edge.call else { continue };
        let caller = facts.module(edge.caller.file);
        for argument in &caller.call(call).arguments {
            let is_for_it = match argument.passing {
                crate::semantic::Passing::Keyword(keyword) => caller.names.text(keyword) == name,
                _ => true,
            };
            if is_for_it && facts.solution.values(edge.caller.file, argument.value).contains(&member) {
                found.push(Location::new(edge.caller.file, argument.range));
            }
        }
    }
    found.truncate(2);
    found
}

fn message(module: &Module, binding: &Binding, path: &str) -> String {
    match binding.binder {
        Binder::Variable(variable) => {
            format!("`{}` is another name for `{path}`", module.variable_name(variable))
        }
        Binder::Attribute(name) => {
            format!("the attribute `{}` holds the bare member `{path}`", module.names.text(name))
        }
        Binder::Item => format!("an item of a container holds the bare member `{path}`"),
        Binder::Element(_, kind) => {
            let kind = match kind {
                Container::List => "list",
                Container::Tuple => "tuple",
                Container::Set => "set",
                Container::Dict => "dictionary",
                Container::Generator => "generator",
            };
            format!("a {kind} holds the bare member `{path}`")
        }
        Binder::Default(function, position) => {
            let parameter = &module.function(function).parameters[position as usize];
            format!(
                "the default of the parameter `{}` is the bare member `{path}`",
                module.names.text(parameter.name)
            )
        }
    }
}

fn help(binding: &Binding, path: &str) -> String {
    match (binding.binder, path.rsplit_once('.')) {
        (Binder::Variable(_), Some((from, name))) => {
            format!("write `from {from} import {name}`, or use the member's own name")
        }
        _ => format!("write `{path}` where it is used"),
    }
}
