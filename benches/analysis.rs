//! How long the analysis takes: parsing alone, each module by itself, and the whole way to the findings.
//!
//! The projects are generated, in sizes from a thousand to a hundred thousand lines. With `HVDLINT_BENCH=FOLDER` the
//! Python files of that folder are measured too, such as TensorFlow's own:
//!
//! ```text
//! git clone --depth 1 https://github.com/tensorflow/tensorflow
//! HVDLINT_BENCH=tensorflow/tensorflow/python cargo bench
//! ```
//!
//! Everything runs in one thread, so that times are times of one processor and can be compared, and everything reads
//! the files, parsing alone too. Throughput is in bytes of source.

mod support;

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::BytesCount;
use hvdlint::project::{ConfigSource, FileKind, OpenOptions, Project};
use hvdlint::{analysis, semantic, syntax};

/// Lines of the generated projects.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn main() {
    support::run(1);
}

/// A project and the size of its files in bytes.
struct Subject {
    project: Project,
    bytes: usize,
}

impl Subject {
    fn new(paths: &[PathBuf], options: &OpenOptions) -> Self {
        let project = Project::open(paths, options).expect("the project can be opened");
        let mut subject = Self { project, bytes: 0 };
        subject.bytes = subject.texts().map(|text| text.len()).sum();
        subject
    }

    /// The texts of the files, each read when its turn comes.
    fn texts(&self) -> impl Iterator<Item = String> + '_ {
        let sources = self.project.files().iter().filter(|file| file.kind == FileKind::Source);
        sources.filter_map(|file| self.project.read(file.id).ok())
    }

    fn bytes(&self) -> BytesCount {
        BytesCount::new(self.bytes)
    }

    /// A program that trains, and modules of `lines` lines that it reaches.
    fn generated(lines: usize) -> Self {
        let modules = lines.div_ceil(MODULE_LINES);
        Self::of(modules, [("train.py".to_owned(), train(modules))])
    }

    /// A library of `lines` lines, and a program for each of its modules that trains with ten of them.
    fn library(lines: usize) -> Self {
        let modules = lines.div_ceil(MODULE_LINES);
        Self::of(modules, (0..modules).map(|index| (format!("train_{index}.py"), train(modules.min(10)))))
    }

    fn of(modules: usize, programs: impl IntoIterator<Item = (String, String)>) -> Self {
        let root = PathBuf::from("/generated");
        let mut overlay: std::collections::HashMap<PathBuf, String> =
            (0..modules).map(|index| (root.join(format!("layers_{index}.py")), module(index))).collect();
        overlay.extend(programs.into_iter().map(|(name, text)| (root.join(name), text)));
        let paths: Vec<PathBuf> = overlay.keys().cloned().collect();
        Self::new(&paths, &OpenOptions { config: ConfigSource::Isolated, overlay, ..OpenOptions::default() })
    }
}

/// Lines of a generated module.
const MODULE_LINES: usize = 20 * 10;

fn module(index: usize) -> String {
    let mut text = "import tensorflow as tf\n".to_owned();
    if index > 0 {
        let before = index - 1;
        writeln!(text, "from layers_{before} import Block{before}_0").expect("memory");
    }
    for block in 0..20 {
        let base = if block == 0 {
            "tf.keras.layers.Layer".to_owned()
        } else {
            format!("Block{index}_{}", block - 1)
        };
        write!(
            text,
            "class Block{index}_{block}({base}):\n    def __init__(self, units):\n        super().__init__()\n        \
             self.dense = tf.keras.layers.Dense(units)\n        self.sizes = [units * step for step in range(3)]\n    \
             def call(self, inputs):\n        for size in self.sizes:\n            if size > 1:\n                inputs \
             = self.dense(inputs) + size\n        return inputs\n"
        )
        .expect("memory");
    }
    text
}

fn train(modules: usize) -> String {
    let mut text = "import tensorflow as tf\n".to_owned();
    for index in 0..modules {
        writeln!(text, "from layers_{index} import Block{index}_19").expect("memory");
    }
    text += "def build():\n    model = tf.keras.Sequential()\n";
    for index in 0..modules {
        writeln!(text, "    model.add(Block{index}_19({index}))").expect("memory");
    }
    text += "    return model\nmodel = build()\nlog = open('log.txt', 'w')\noptimizer = tf.keras.optimizers.SGD(0.1)\n\
             for images, labels in tf.data.Dataset.range(10):\n    with tf.GradientTape() as tape:\n        \
             loss = tf.reduce_mean(model(images) - labels)\n    \
             gradients = tape.gradient(loss, model.trainable_variables)\n    \
             optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n    log.write(str(loss))\n";
    text
}

/// The folder of the user's choice.
static CHOSEN: LazyLock<Option<Subject>> = LazyLock::new(|| {
    let folder = PathBuf::from(std::env::var_os("HVDLINT_BENCH")?);
    Some(Subject::new(&[folder], &OpenOptions { config: ConfigSource::Isolated, ..OpenOptions::default() }))
});

fn parse(bencher: Bencher<'_, '_>, subject: &Subject) {
    bencher.counter(subject.bytes()).bench_local(|| {
        for text in subject.texts() {
            syntax::with_stack_for(&text, || drop(divan::black_box(syntax::parse(&text))));
        }
    });
}

fn modules(bencher: Bencher<'_, '_>, subject: &Subject) {
    bencher.counter(subject.bytes()).bench_local(|| {
        for text in subject.texts() {
            divan::black_box(semantic::analyse(&text));
        }
    });
}

fn findings(bencher: Bencher<'_, '_>, subject: &Subject) {
    bencher.counter(subject.bytes()).bench_local(|| {
        analysis::with_facts(&subject.project, |facts| {
            analysis::findings(&subject.project, facts, false).len()
        })
    });
}

/// The syntax trees, made and dropped; includes reading the files.
#[divan::bench(args = SIZES)]
fn a_parse(bencher: Bencher<'_, '_>, lines: usize) {
    parse(bencher, &Subject::generated(lines));
}

/// Every module in its compact form; includes parsing.
#[divan::bench(args = SIZES)]
fn b_modules(bencher: Bencher<'_, '_>, lines: usize) {
    modules(bencher, &Subject::generated(lines));
}

/// Everything up to the findings, as a check makes them that is not told to be strict; includes the modules.
#[divan::bench(args = SIZES)]
fn c_findings(bencher: Bencher<'_, '_>, lines: usize) {
    findings(bencher, &Subject::generated(lines));
}

/// The same for a library and its many programs, such as a framework with its examples.
#[divan::bench(args = SIZES)]
fn d_library(bencher: Bencher<'_, '_>, lines: usize) {
    findings(bencher, &Subject::library(lines));
}

/// The same for the folder in `HVDLINT_BENCH`.
#[divan::bench_group(sample_count = 5, sample_size = 1)]
mod chosen {
    use super::{Bencher, CHOSEN};

    #[divan::bench]
    fn a_parse(bencher: Bencher<'_, '_>) {
        if let Some(subject) = &*CHOSEN {
            super::parse(bencher, subject);
        }
    }

    #[divan::bench]
    fn b_modules(bencher: Bencher<'_, '_>) {
        if let Some(subject) = &*CHOSEN {
            super::modules(bencher, subject);
        }
    }

    #[divan::bench]
    fn c_findings(bencher: Bencher<'_, '_>) {
        if let Some(subject) = &*CHOSEN {
            super::findings(bencher, subject);
        }
    }
}
