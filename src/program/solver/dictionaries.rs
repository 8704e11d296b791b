//! Dictionaries of Python's own library: they hold what a `dict` holds.

use super::{Arguments, ExternalId, Field, SiteId, Solver, Use, Via};
use crate::semantic::Container;

/// A dictionary that remembers the order, as all of them do.
const ORDERED: &str = "collections.OrderedDict";

/// A dictionary that calls a function for each key that it has not.
const DEFAULT: &str = "collections.defaultdict";

impl Solver<'_> {
    /// What a call makes of such a class; tells whether it is one.
    pub(super) fn library_dictionary(
        &mut self,
        site: SiteId,
        class: ExternalId,
        arguments: &Arguments,
    ) -> bool {
        let is_default = match &*self.externals.get(class).path {
            ORDERED => false,
            DEFAULT => true,
            _ => return false,
        };
        let Some(result) = self.result(site) else { return true };
        let dictionary = self.new_container(Container::Dict, result);
        if let Some(&pairs) = arguments.positional.get(usize::from(is_default)) {
            let caller = self.site_caller(site);
            self.on(pairs, Use::PairsInto(dictionary, caller));
        }
        self.keywords_into(arguments, dictionary);
        if let Some(&factory) = arguments.positional.first().filter(|_| is_default) {
            let missing = self.field(dictionary, Field::Any);
            self.belonging.insert(missing, result);
            let made = self.derived(site, Arguments::default(), Some(missing), Via::Library);
            self.on(factory, Use::Call(made));
            // Reading under a key puts it there.
            let keys = self.field(dictionary, Field::Keys);
            self.unknown(keys);
        }
        true
    }
}
