//! A model that is loaded from a file and trained on is loaded by Horovod, which distributes its optimizer.

use super::job::Job;
use super::remade::Making;
use crate::program::{Literal, Object};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Passing};

/// How a call that loads a model becomes one of Horovod's.
pub(super) fn by_horovod(job: &Job<'_>, file: FileId, call: CallId) -> Making {
    let facts = job.facts;
    let Some(text) = job.text(file) else { return Making::Fails("The file can't be read any more.") };
    let data = text.module.call(call);
    let is_keyword = |argument: &Argument, name: &str| matches!(argument.passing, Passing::Keyword(own) if text.module.names.text(own) == name);
    let (path, others) = match data.arguments.split_first() {
        Some((path, others)) if path.passing == Passing::Positional || is_keyword(path, "filepath") => {
            (path, others)
        }
        _ => return Making::Fails("It can't be seen which file the model is loaded from."),
    };
    if !others.iter().all(|argument| is_keyword(argument, "custom_objects")) {
        return Making::Fails("`hvd.load_model` takes no arguments but the path and `custom_objects`.");
    }
    let is_archive = facts.objects(file, path.value).any(|(_, object)| match object {
        Object::Literal(Literal::Str(name)) => std::path::Path::new(facts.solution.names.text(name))
            .extension()
            .is_some_and(|extension| extension == "keras"),
        _ => false,
    });
    if is_archive {
        return Making::Fails(
            "Keras can't load a `.keras` file of a model with a distributed optimizer: save it as `.h5`, or \
             compile the model again after loading.",
        );
    }
    let (hvd, import) = job.horovod_keras(file);
    let edits = vec![text.replace(data.callee_range, format!("{hvd}.load_model"))];
    Making::Edits(edits, vec![import])
}
