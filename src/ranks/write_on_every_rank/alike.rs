//! Files in which every rank writes the same, such as the settings of a run, or a mean of all: written twice, they are what
//! they were. What differs in them, as a rank's own losses do, is another matter, and so is what several of them append.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::destination::{self, Destination};
use super::super::model::Model;
use super::super::values::agrees;
use super::{Inputs, figures, is_read_alike, run_calls};
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Caller, Facts, Place, influenced_through_contents};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// What is asked of all files that ranks write.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// For each value the calls that are made on it or given it.
    uses: OnceCell<FxHashMap<Place, Vec<(Caller, CallId)>>>,
    /// What may be made of something that differs between ranks, through containers, too.
    differing: OnceCell<FxHashSet<Place>>,
    /// What is made of what a rank reads from files of its own.
    of_own_paths: OnceCell<FxHashSet<Place>>,
}

impl Alike {
    /// Whether all that comes to stand in a file which a call opens is written by one rank, or begins it anew and is the same
    /// on all.
    pub(super) fn is_written(&self, model: &Model<'_>, inputs: &Inputs, caller: Caller, id: CallId) -> bool {
        let facts = model.facts;
        let differing = self.differing.get_or_init(|| differing(model, inputs));
        let of_own_paths = self.of_own_paths.get_or_init(|| of_own_paths(model));
        let are_same = |caller: Caller, contents: &[Place]| {
            contents.iter().all(|&place| {
                !differing.contains(&place)
                    && (of_own_paths.contains(&place) || is_read_alike(model, inputs, caller, place))
            })
        };
        if let Some(contents) = written_at_once(model, caller.file, id) {
            return are_same(caller, &contents);
        }
        if let Some(drawn) = figures::drawn(model, caller.file, id) {
            return drawn.iter().all(|&(caller, place)| are_same(caller, &[place]));
        }
        if makes_events(model, caller.file, id) {
            return !run_calls(model).into_iter().any(|(caller, id)| adds_event(model, caller, id));
        }
        // Other files are locked while a rank has them open.
        let call = facts.module(caller.file).call(id);
        if !facts.opens_stream(caller.file, call) {
            return false;
        }
        let begins_anew = facts.begins_anew(caller.file, call);
        let Some(writings) = self.writings(model, caller.file, id) else { return false };
        let guard =
            |caller: Caller, id: CallId| model.guard(caller, facts.module(caller.file).call(id).block);
        let is_of_one = |(caller, id, _): &Writing| guard(*caller, *id).is_one();
        let is_alike =
            |(caller, id, contents): &Writing| guard(*caller, *id).is_all() && are_same(*caller, contents);
        !writings.is_empty()
            && (writings.iter().all(is_of_one) || begins_anew && writings.iter().all(is_alike))
    }

    /// What is written to the stream that a call opens; `None` if that can't be seen.
    fn writings(&self, model: &Model<'_>, file: FileId, opener: CallId) -> Option<Vec<Writing>> {
        let facts = model.facts;
        let opened = (file, facts.module(file).call(opener).result);
        let stream = facts.influence().forwards(&[opened], |(file, value)| !is_stream(facts, file, value));
        let uses = self.uses.get_or_init(|| uses(model));
        let of_stream: FxHashSet<(Caller, CallId)> =
            stream.iter().filter_map(|place| uses.get(place)).flatten().copied().collect();
        let mut found = Vec::new();
        for (caller, id) in of_stream {
            let contents = written_to(model, caller.file, id, &stream)?;
            if !contents.is_empty() {
                found.push((caller, id, contents));
            }
        }
        Some(found)
    }
}

/// A call that writes to a stream, whose code it is, and what it writes.
type Writing = (Caller, CallId, Vec<Place>);

/// Whether a call makes a writer of TensorFlow 2, whose file bears the number of the process: where one rank alone adds events,
/// those of the others stay empty.
fn makes_events(model: &Model<'_>, file: FileId, id: CallId) -> bool {
    let library = model.facts.library;
    model.facts.called_symbols(file, id).any(|symbol| {
        let made = library.returned_class(symbol).filter(|_| !symbol.is_class());
        made.is_some_and(|class| library.kind_of_class(class) == Kind::SummaryWriter)
    })
}

/// Whether several ranks come to a call that adds an event: `tf.summary.scalar("loss", loss)`.
fn adds_event(model: &Model<'_>, caller: Caller, id: CallId) -> bool {
    let needs = |symbol: &Symbol| symbol.parameters().iter().any(|own| own.default().is_none());
    let adds = |symbol: &Symbol| symbol.has(Effect::WritesSummary) && needs(symbol);
    model.facts.called_symbols(caller.file, id).any(adds)
        && !model.guard(caller, model.facts.module(caller.file).call(id).block).is_one()
}

/// What a call writes that is told the path and all that comes to stand there: `np.save(path, array)`,
/// `table.to_csv(path)`. What keeps weights locks its files, or writes several.
fn written_at_once(model: &Model<'_>, file: FileId, id: CallId) -> Option<Vec<Place>> {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    let mut symbols = facts.called_symbols(file, id).peekable();
    symbols.peek()?;
    // A graph is written to a file of another name first, which then takes the place.
    let graph = facts.library.lookup("tensorflow.io.write_graph");
    let is_plain = |symbol: &Symbol| {
        symbol.has(Effect::WritesFile) && (KEPT_AT_ONCE.contains(&symbol.package()) || Some(symbol) == graph)
    };
    if facts.concerns_weights(file, call) || !symbols.all(is_plain) {
        return None;
    }
    let Some(Destination::Path(path)) = destination::of(facts, file, id) else { return None };
    let receiver = facts.receiver(file, call).filter(|&own| !facts.is_module(file, own));
    let given = receiver.into_iter().chain(call.arguments.iter().map(|own| own.value));
    let contents: Vec<Place> =
        given.map(|value| (file, value)).filter(|place| !path.contains(place)).collect();
    (!contents.is_empty()).then_some(contents)
}

/// The packages whose functions write a file in one go.
const KEPT_AT_ONCE: [&str; 3] = ["numpy", "pandas", "joblib"];

/// All that may be made of what differs, but for what ranks have agreed on.
fn differing(model: &Model<'_>, inputs: &Inputs) -> FxHashSet<Place> {
    let facts = model.facts;
    let mut sources: FxHashSet<Place> = FxHashSet::default();
    for &file in &model.files {
        let module = facts.module(file);
        for (index, own) in module.values.iter().enumerate() {
            let place = (file, ValueId::new(index));
            let caller = Caller { file, scope: module.code_scope(own.scope) };
            let is_source = model.difference(place).is_some_and(|own| own.source == place)
                && !is_read_alike(model, inputs, caller, place)
                && !is_order_of_some(facts, caller, place);
            if is_source || trains_in_own_order(facts, place) {
                sources.insert(place);
            }
        }
    }
    let sources: Vec<Place> = sources.into_iter().collect();
    influenced_through_contents(facts, &sources, |place| agrees(facts, place) || is_of_own_path(model, place))
}

/// Whether a value is what `fit` says of epochs whose examples each rank had in an order of its own.
fn trains_in_own_order(facts: &Facts<'_>, (file, value): Place) -> bool {
    let Value::Call(call) = facts.module(file).value(value).value else { return false };
    facts.fits_in_drawn_order(file, call) && !agrees(facts, (file, value))
}

/// Whether a value is the drawn order of a dataset that is not always drawn: `if is_training: data = data.shuffle(100)`. What is
/// evaluated and predicted then seldom is.
fn is_order_of_some(facts: &Facts<'_>, caller: Caller, (file, value): Place) -> bool {
    let Value::Call(call) = facts.module(file).value(value).value else { return false };
    facts.gives((file, value), &[Effect::DrawsRandom])
        && facts.may_be(file, value, Kind::Dataset)
        && !facts.conditions(caller, facts.module(file).call(call).block).is_empty()
}

/// What is made of what a rank reads from files of its own, and is not what the ranks know otherwise.
fn of_own_paths(model: &Model<'_>) -> FxHashSet<Place> {
    let calls = run_calls(model).into_iter();
    let results = calls.map(|(caller, id)| (caller.file, model.facts.module(caller.file).call(id).result));
    let read: Vec<Place> = results.filter(|&place| is_of_own_path(model, place)).collect();
    influenced_through_contents(model.facts, &read, |_| false)
}

/// Whether a value only differs by where a rank reads or keeps something, as far as is seen: what it reads from a file of its own,
/// and an estimator with a folder of its own.
fn is_of_own_path(model: &Model<'_>, (file, value): Place) -> bool {
    let facts = model.facts;
    let Value::Call(call) = facts.module(file).value(value).value else { return false };
    let path = facts.module(file).call(call).arguments.first();
    facts.may_be(file, value, Kind::Estimator)
        || facts.gives((file, value), &[Effect::ReadsFile])
            && path
                .and_then(|path| model.difference((file, path.value)))
                .is_some_and(|own| facts.gives(own.source, &[Effect::ReadsRank, Effect::ReadsLocalRank]))
}

/// For each value the calls of the programs that are made on it or given it.
fn uses(model: &Model<'_>) -> FxHashMap<Place, Vec<(Caller, CallId)>> {
    let mut found: FxHashMap<Place, Vec<(Caller, CallId)>> = FxHashMap::default();
    for (caller, id) in run_calls(model) {
        let call = model.facts.module(caller.file).call(id);
        let given = call.arguments.iter().map(|own| own.value);
        for value in model.facts.receiver(caller.file, call).into_iter().chain(given) {
            found.entry((caller.file, value)).or_default().push((caller, id));
        }
    }
    found
}

fn is_stream(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    facts.may_be(file, value, Kind::FileWriter)
        || facts.objects(file, value).any(|(object, _)| facts.builtin_class(object) == Some("file"))
}

/// What a call writes to a stream that it is made on or given; nothing where it closes it; `None` if that can't be seen.
fn written_to(model: &Model<'_>, file: FileId, id: CallId, stream: &FxHashSet<Place>) -> Option<Vec<Place>> {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    let others = call.arguments.iter().map(|own| (file, own.value)).filter(|place| !stream.contains(place));
    if facts.called_functions(file, id).next().is_some() {
        // What it writes it writes by calls of its own.
        return Some(Vec::new());
    }
    let is_method = facts.receiver(file, call).is_some_and(|own| stream.contains(&(file, own)));
    let writes = |symbol: &Symbol| symbol.has(Effect::WritesFile) || symbol.has(Effect::Prints);
    let mut symbols = facts.called_symbols(file, id).peekable();
    (is_method || symbols.peek().is_some() && symbols.all(writes)).then(|| others.collect())
}
