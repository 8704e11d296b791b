//! Objects that keep what they are given by name as their attributes: `SimpleNamespace(rank=hvd.rank())`.

use crate::api;
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{CallId, NameId, Passing, ValueId};

/// What an attribute of a value may be that its objects were given.
pub(in crate::ranks) fn kept(facts: &Facts<'_>, file: FileId, base: ValueId, name: NameId) -> Vec<Place> {
    let name = facts.module(file).names.text(name);
    let made = facts.objects(file, base).filter_map(|(object, _)| facts.made_at(object));
    let keeping = made.filter(|&(file, id)| keeps(facts, file, id));
    let given = keeping.filter_map(|(file, id)| {
        let module = facts.module(file);
        let is_it = |passing| matches!(passing, Passing::Keyword(own) if module.names.text(own) == name);
        let mut arguments = module.call(id).arguments.iter();
        arguments.find(|own| is_it(own.passing)).map(|own| (file, own.value))
    });
    given.collect()
}

/// Whether a call makes an object of the library whose class takes anything by name, and nothing else.
pub(in crate::ranks) fn keeps(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    let mut symbols = facts.called_symbols(file, id).peekable();
    symbols.peek().is_some()
        && symbols.all(|symbol| {
            symbol.is_class()
                && matches!(symbol.parameters(), [only] if only.passing() == api::Passing::RestKeywords)
        })
}
