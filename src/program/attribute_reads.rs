//! Where attributes are read that some code stores to.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::influence::{Place, in_shares};
use super::object::{Object, ObjectId};
use crate::api::Symbol;
use crate::project::FileId;
use crate::semantic::{Call, CallId, Constant, Passing, StoreKey, Value, ValueId};

/// Where attributes are read that are stored to, by name and object.
pub(super) type Reads<'a> = FxHashMap<(&'a str, ObjectId), Vec<Place>>;

pub(super) fn attribute_reads<'a>(facts: &Facts<'a>) -> Reads<'a> {
    let mut reads = Reads::default();
    let mut is_stored_to = vec![false; facts.solution.objects().count()];
    for file in facts.files() {
        let module = facts.module(file);
        for store in &module.stores {
            let StoreKey::Attribute(name) = store.key else { continue };
            for &object in facts.solution.values(file, store.base) {
                is_stored_to[object.0 as usize] = true;
                reads.entry((module.names.text(name), object)).or_default();
            }
        }
        for (field, _, object) in fields_given(facts, file) {
            is_stored_to[object.0 as usize] = true;
            reads.entry((field, object)).or_default();
        }
    }
    let in_files = |files: &[FileId]| {
        let mut found: Vec<(&'a str, ObjectId, Place)> = Vec::new();
        for &file in files {
            let module = facts.module(file);
            for (index, evaluation) in module.values.iter().enumerate() {
                let Value::Attribute { base, name, .. } = evaluation.value else { continue };
                let objects = facts.solution.values(file, base).iter();
                let name = module.names.text(name);
                let is_read =
                    |object: ObjectId| is_stored_to[object.0 as usize] && reads.contains_key(&(name, object));
                let place = (file, ValueId::new(index));
                found.extend(objects.filter(|&&object| is_read(object)).map(|&object| (name, object, place)));
            }
        }
        found
    };
    for (name, object, place) in in_shares(facts, in_files) {
        reads.entry((name, object)).or_default().push(place);
    }
    reads
}

/// The fields that calls of data classes in a file give their objects: `Run("runs", rank=hvd.rank())`; what classes of
/// libraries are given under the name of a parameter, by which objects tell it: `Estimator(model_dir=folder)`; and what
/// `setattr` stores under a constant name.
pub(super) fn fields_given<'a>(facts: &Facts<'a>, file: FileId) -> Vec<(&'a str, ValueId, ObjectId)> {
    let module = facts.module(file);
    let mut found = Vec::new();
    for (index, call) in module.calls.iter().enumerate() {
        for edge in facts.callees(file, CallId::new(index)) {
            let class = match facts.solution.object(edge.callee) {
                Object::Class(class) => class,
                Object::Builtin(name) if facts.solution.names.text(name) == "setattr" => {
                    if let [base, name, value] = &*call.arguments
                        && let Value::Constant(Constant::Str(name)) = module.value(name.value).value
                    {
                        let objects = facts.solution.values(file, base.value).iter();
                        found.extend(objects.map(|&own| (module.names.text(name), value.value, own)));
                    }
                    continue;
                }
                callee => {
                    let class = facts.symbol(callee).filter(|symbol| symbol.is_class());
                    found.extend(class.into_iter().flat_map(|class| given_by_name(facts, file, call, class)));
                    continue;
                }
            };
            if facts.method(class, "__init__").is_some() {
                continue;
            }
            let mut positions = facts.hierarchy.fields(facts.modules, class).into_iter();
            for argument in &call.arguments {
                let field = match argument.passing {
                    Passing::Positional => positions.next(),
                    Passing::Keyword(name) => Some(module.names.text(name)),
                    Passing::Spread | Passing::Merge => break,
                };
                let objects = facts.solution.values(file, call.result).iter();
                found.extend(
                    field.into_iter().flat_map(|field| {
                        objects.clone().map(move |&object| (field, argument.value, object))
                    }),
                );
            }
        }
    }
    found
}

/// What the call of a library's class gives its objects under the names of parameters, and of arguments that it takes as they
/// come: `HParams(units=3)`.
fn given_by_name<'a>(
    facts: &Facts<'a>,
    file: FileId,
    call: &Call,
    class: &'a Symbol,
) -> Vec<(&'a str, ValueId, ObjectId)> {
    let given = class.parameters().iter().filter_map(|parameter| {
        Some((parameter.name(), facts.argument(file, call, class, parameter.name())?.value))
    });
    let named = call.arguments.iter().filter_map(|own| match own.passing {
        Passing::Keyword(name) => Some((facts.module(file).names.text(name), own.value)),
        _ => None,
    });
    let given = given.chain(named.filter(|(name, _)| class.parameter(name).is_none()));
    let objects = facts.solution.values(file, call.result);
    given.flat_map(|(name, value)| objects.iter().map(move |&own| (name, value, own))).collect()
}
