//! How long it takes to prove that ranks stay in step: distributed programs from a thousand to a million lines.
//!
//! The programs are generated. Their functions communicate, branch on the rank, write under its guard, loop, and call
//! each other ten deep within a module and across modules that import each other as a tree. What a line costs should
//! not depend on how many there are:
//!
//! ```text
//! cargo bench --bench ranks
//! ```
//!
//! Everything runs in one thread and in memory; throughput is in lines.

mod support;

use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;

use divan::Bencher;
use divan::counter::ItemsCount;
use hvdlint::analysis;
use hvdlint::finding::{Confidence, Group};
use hvdlint::program::Modules;
use hvdlint::project::{ConfigSource, OpenOptions, Project};
use hvdlint::ranks::Model;
use hvdlint::rewrite::Texts;

/// About so many lines have the generated programs.
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn main() {
    support::run(1);
}

/// Functions of a module.
const FUNCTIONS: usize = 10;
/// Lines of a module.
const MODULE_LINES: usize = 21 * FUNCTIONS + 4;

/// A module; each of its functions calls the one before, the first one that of the module above it in the tree.
fn module(index: usize) -> String {
    let mut text = "import os\nimport tensorflow as tf\nimport horovod.tensorflow as hvd\n".to_owned();
    let above = index.saturating_sub(1) / 4;
    if index > 0 {
        writeln!(text, "import part_{above}").expect("memory");
    }
    let last = FUNCTIONS - 1;
    for step in 0..FUNCTIONS {
        let inner = match (step, index) {
            (0, 0) => "total".to_owned(),
            (0, _) => format!("part_{above}.step_{above}_{last}(total, path)"),
            _ => format!("step_{index}_{}(total, path)", step - 1),
        };
        write!(
            text,
            "

def step_{index}_{step}(values, path):
    total = hvd.allreduce(values, name='total_{index}_{step}')
    for size in range(3):
        if size > 1:
            total = total + {inner}
        else:
            total = hvd.allreduce(total * size)
    if hvd.rank() == 0:
        with open(os.path.join(path, 'log_{index}_{step}.txt'), 'w') as log:
            log.write(str(total))
    if tf.reduce_max(total) > 10.0:
        share = 1.0 / hvd.size()
    else:
        share = 0.5
    chief = hvd.rank() == 0
    if chief:
        name = '{index}_{step}'
        print(name, total)
    return total * share
"
        )
        .expect("memory");
    }
    text
}

fn train(modules: usize) -> String {
    let mut text = "import tensorflow as tf\nimport horovod.tensorflow as hvd\n".to_owned();
    for index in 0..modules {
        writeln!(text, "import part_{index}").expect("memory");
    }
    text += "
hvd.init()
model = tf.keras.Sequential([tf.keras.layers.Dense(10, input_shape=(4,))])
optimizer = tf.keras.optimizers.SGD(0.1 * hvd.size())
hvd.broadcast_variables(model.variables, root_rank=0)
dataset = tf.data.Dataset.range(100).batch(10)
for images in dataset.take(100 // hvd.size()):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images))
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
";
    for index in 0..modules {
        writeln!(text, "    total = part_{index}.step_{index}_{}(loss, 'out')", FUNCTIONS - 1)
            .expect("memory");
    }
    text
}

/// A project and its lines.
fn generated(lines: usize) -> (Project, usize) {
    let modules = lines.div_ceil(MODULE_LINES);
    let root = PathBuf::from("/generated");
    let mut overlay: HashMap<PathBuf, String> =
        (0..modules).map(|index| (root.join(format!("part_{index}.py")), module(index))).collect();
    overlay.insert(root.join("train.py"), train(modules));
    let lines = overlay.values().map(|text| text.lines().count()).sum();
    let paths: Vec<PathBuf> = overlay.keys().cloned().collect();
    let options = OpenOptions { config: ConfigSource::Isolated, overlay, ..OpenOptions::default() };
    (Project::open(&paths, &options).expect("the project can be opened"), lines)
}

/// Everything from the texts to the findings; the ranks find nothing to be sure of.
#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn a_findings(bencher: Bencher<'_, '_>, lines: usize) {
    let (project, lines) = generated(lines);
    bencher.counter(ItemsCount::new(lines)).bench_local(|| {
        analysis::with_facts(&project, |facts| {
            let found = analysis::findings(&project, facts, false);
            let of_ranks = found.iter().filter(|own| own.rule.group == Group::Ranks);
            assert_eq!(of_ranks.filter(|own| own.confidence == Confidence::Certain).count(), 0);
        })
    });
}

/// The model of the ranks alone: what differs, guards, what each function communicates.
#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn b_model(bencher: Bencher<'_, '_>, lines: usize) {
    let (project, lines) = generated(lines);
    let modules = Modules::load(&project);
    analysis::with_library(&project, |library| {
        analysis::with_modules(&modules, &project, library, |facts| {
            let texts = Texts::new(&project, &modules);
            bencher.counter(ItemsCount::new(lines)).bench_local(|| {
                let model = Model::new(facts, &texts).expect("the program uses Horovod");
                divan::black_box(model.programs.len())
            });
        });
    })
    .expect("there is no configuration");
}
