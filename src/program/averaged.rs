//! What rests on an average over the ranks that the program takes by hand.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::influence::Place;
use super::loops::TrainingLoop;
use super::programs::Program;
use crate::api::Effect;
use crate::project::FileId;
use crate::semantic::CallId;

impl Facts<'_> {
    /// All values that rest on an average over the ranks, other than by a tape whose gradients a training loop takes.
    /// Found once, when it is first asked for: a framework has many loops, and most programs have no such average.
    #[must_use]
    pub fn averaged(&self) -> &FxHashSet<Place> {
        self.averaged.get_or_init(|| {
            let loops = self.programs.iter().flat_map(|own| own.loops.iter().chain(&own.steps_of_fit));
            let of_tapes: FxHashSet<_> = loops.flat_map(|own| own.gradients.iter().copied()).collect();
            let averages = self.calls_with(Effect::Averages).filter(|call| !of_tapes.contains(call));
            let results = averages.map(|(file, call)| (file, self.module(file).call(call).result));
            let averages: Vec<Place> = results.collect();
            self.influence().forwards(&averages, |_| false)
        })
    }

    /// Whether the ranks of a distributed program step by themselves in a loop, and its models are given averages over
    /// the ranks afterwards: `for variable in model.variables: variable.assign(hvd.allreduce(variable))`.
    #[must_use]
    pub fn averages_weights(&self, program: &Program, own: &TrainingLoop) -> bool {
        if !program.already_distributed || own.models.is_empty() || self.averaged().is_empty() {
            return false;
        }
        let steps = || own.steps.iter().chain(&own.by_hand).copied().chain([(own.caller.file, own.call)]);
        let calls_of =
            |file: FileId| (0..self.module(file).calls.len()).map(move |call| (file, CallId::new(call)));
        program.files().into_iter().flat_map(calls_of).any(|(file, call)| {
            self.may_be_given_average(file, call)
                && self.runs(program, file, call)
                && self.is_of_models(own, (file, call))
                && steps().any(|step| self.may_follow(program, step, (file, call)))
        })
    }

    /// Whether a call may change the variables that it is made on to what rests on an average over the ranks.
    fn may_be_given_average(&self, file: FileId, call: CallId) -> bool {
        let mut arguments = self.module(file).call(call).arguments.iter();
        arguments.any(|own| self.averaged().contains(&(file, own.value))) && self.may_update(file, call)
    }

    /// Whether a method's object is a loop's model, or something that it has.
    fn is_of_models(&self, own: &TrainingLoop, (file, call): (FileId, CallId)) -> bool {
        let Some(receiver) = self.receiver(file, self.module(file).call(call)) else { return false };
        let is_model =
            |(file, value): Place| self.solution.values(file, value).iter().any(|id| own.models.contains(id));
        self.influence().backwards(&[(file, receiver)], is_model).into_iter().any(is_model)
    }
}
