//! Programs that make one graph and run it in sessions or estimators: those of TensorFlow 1.

use super::facts::Facts;
use super::loops::LoopKind;
use super::object::Object;
use super::programs::Program;
use super::solver::Caller;
use crate::api::Kind;
use crate::project::FileId;

/// What runs a graph that the program makes.
const RUNS: [Kind; 3] = [Kind::Session, Kind::MonitoredSession, Kind::Estimator];

/// Where TensorFlow 2 keeps what it no longer has by its own name.
const OLD: &str = "tensorflow.compat.v1.";

/// What there is no more, and the gradients of Keras' backend, which it takes in graphs only.
const GONE: [&str; 5] = [
    "tensorflow.contrib",
    "keras.backend.tensorflow_backend",
    "keras.backend.gradients",
    "tensorflow.keras.backend.gradients",
    "tensorflow.python.keras.backend.gradients",
];

/// TensorFlow's own names.
const NEW: &str = "tensorflow.";

impl Facts<'_> {
    /// Whether a program trains in no other way than by running a graph that it has made.
    #[must_use]
    pub fn runs_one_graph(&self, program: &Program) -> bool {
        let of_sessions = |kind| matches!(kind, LoopKind::Session | LoopKind::MonitoredSession);
        let mut made = self.creations.iter().filter(|own| RUNS.contains(&own.kind));
        program.steps_of_fit.is_empty()
            && program.loops.iter().all(|own| of_sessions(own.kind))
            && made.any(|own| {
                let scope = self.module(own.file).call(own.call).scope;
                program.reached.contains(&Caller { file: own.file, scope })
            })
    }

    /// Whether a program is written for TensorFlow 1: one of its files is.
    #[must_use]
    pub fn is_program_of_tensorflow_1(&self, program: &Program) -> bool {
        program.files().into_iter().any(|file| self.is_of_tensorflow_1(file))
    }

    /// Whether a file names something that TensorFlow 2 has not, or only has elsewhere, or that needs its graphs: `tf.contrib`,
    /// `tf.Session`.
    #[must_use]
    pub fn is_of_tensorflow_1(&self, file: FileId) -> bool {
        let is_in = |path: &str, module: &str| {
            path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let module = self.module(file);
        let mut imports = module.imports.iter();
        if imports.any(|own| own.level == 0 && GONE.iter().any(|gone| is_in(&own.module, gone))) {
            return true;
        }
        self.objects_in(file).iter().any(|&object| {
            let Object::External(external) = self.solution.object(object) else { return false };
            let external = self.solution.externals.get(external);
            if GONE.iter().any(|gone| is_in(&external.path, gone)) {
                return true;
            }
            let old = external.symbol.and_then(|symbol| symbol.name().strip_prefix(OLD));
            old.is_some() && old == external.path.strip_prefix(NEW)
        })
    }
}
