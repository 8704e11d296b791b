//! What is found in a component does not depend on what else is in the repository: each alone comes to the same as
//! all together.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use hvdlint::analysis;
use hvdlint::checks::{CHECKS, RULES};
use hvdlint::examine::{Examined, Ignores, Wishes};
use hvdlint::finding::{Confidence, Finding};
use hvdlint::program::Modules;
use hvdlint::project::{ConfigSource, FileId, OpenOptions, Project, SelectOptions, Selection};
use hvdlint::report::Reported;
use support::{folder, root};

fn open(place: &Path) -> Project {
    let options = OpenOptions { config: ConfigSource::Isolated, rules: RULES, ..OpenOptions::default() };
    Project::open(&[place.to_owned()], &options).unwrap()
}

/// All that is known of a finding, but the page of its check.
fn words(finding: &Finding) -> String {
    let Finding { level, confidence, message, primary, labels, notes, help, flow, fix, scope, .. } = finding;
    let name = finding.rule.name;
    format!(
        "{name} {primary:?} {level} {confidence} {message} {labels:?} {notes:?} {help:?} {flow:?} {fix:?} {scope}"
    )
}

/// Asks for everything, be it to the letter or as people ask for it.
fn with_wishes<R>(project: &Project, strict: bool, work: impl FnOnce(Wishes<'_>) -> R) -> R {
    let selection = Selection::new(project.config(), &SelectOptions::default(), RULES).unwrap();
    analysis::with_library(project, |library| {
        work(Wishes {
            checks: CHECKS,
            library,
            selection: &selection,
            strict,
            confidence: Confidence::Possible,
            ignores: Ignores::Obeyed,
            baseline: None,
            progress: None,
        })
    })
    .unwrap()
}

/// What is reported.
fn reported(examined: Examined) -> Vec<String> {
    examined.report.findings.into_iter().map(|own| words(&own.finding)).collect()
}

/// What is found in all modules, and in each component by itself.
fn found(project: &Project) -> (Vec<String>, Vec<String>, usize) {
    let work = |wishes: Wishes<'_>| {
        let modules = Modules::load(project);
        let mut components: BTreeMap<FileId, Vec<FileId>> = BTreeMap::new();
        for file in project.files() {
            components.entry(modules.components.of(file.id)).or_default().push(file.id);
        }
        let examine = |modules: Modules| reported(Examined::of(project.clone(), modules, wishes));
        let mut apart = Vec::new();
        for files in components.values() {
            apart.extend(examine(modules.only(&files.iter().copied().collect())));
        }
        (examine(modules), apart, components.len())
    };
    let (mut together, mut apart, mut components) = (Vec::new(), Vec::new(), 0);
    for strict in [true, false] {
        let found = with_wishes(project, strict, work);
        together.extend(found.0);
        apart.extend(found.1);
        components = found.2;
    }
    together.sort();
    apart.sort();
    (together, apart, components)
}

#[test]
fn each_fixture_is_found_the_same_among_all() {
    let (together, apart, components) = found(&open(&root().join("fixtures")));
    assert!(components > 50, "{components}");
    assert!(together.len() > 500, "{}", together.len());
    let only = |these: &[String], others: &[String]| {
        these.iter().filter(|one| !others.contains(one)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(only(&together, &apart), only(&apart, &together));
    assert_eq!(together.len(), apart.len());
}

/// More layers than are told apart, with one that is stored to: what an optimizer's variable may be must not come
/// from another program.
#[test]
fn what_is_not_told_apart_any_more_stays_in_its_program() {
    let train = "\
import tensorflow as tf
layers = [tf.keras.layers.Dense(1) for _ in range(3)]
LAYERS
first = tf.keras.layers.Dense(2)
first.helper = VALUE
model = tf.keras.Sequential(layers)
optimizer = first.helper
for images, labels in tf.data.Dataset.range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(images) - labels)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
";
    let lines = (0..80).map(|index| format!("d{index} = tf.keras.layers.Dense({index})"));
    let many = lines.collect::<Vec<_>>().join("\n");
    let with = |value: &str| train.replace("LAYERS", &many).replace("VALUE", value);
    let place = folder(&[
        ("one/train.py", with("tf.keras.optimizers.SGD(0.1)")),
        ("two/train.py", with("tf.keras.optimizers.Adam(0.1)")),
    ]);
    let (together, apart, components) = found(&open(place.path()));
    assert_eq!(components, 2);
    assert!(!together.is_empty());
    assert_eq!(together, apart);
}

/// What a name may be comes in the order of the program, whatever others have looked up before.
#[test]
fn what_others_have_looked_up_changes_no_order() {
    let train = "\
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
def key(is_text):
    kind = tf.FIRST if is_text else tf.SECOND
    return tf.zeros([], kind)
key(model.built)
model.compile(tf.keras.optimizers.SGD(0.1), \"mse\")
model.fit(tf.data.Dataset.range(10))
";
    for (first, second) in [("string", "int64"), ("int64", "string")] {
        let train = train.replace("FIRST", first).replace("SECOND", second);
        for looked_up in [first, second] {
            let other = format!("import tensorflow as tf\nprint(tf.{looked_up})\n");
            let place = folder(&[("a.py", other), ("b/train.py", train.clone())]);
            let (together, apart, components) = found(&open(place.path()));
            assert_eq!(components, 2);
            assert!(together.iter().any(|own| own.contains("`kind`")), "{together:?}");
            assert_eq!(together, apart);
        }
    }
}

/// A program that is distributed by hand says nothing of files that it has nothing to do with.
#[test]
fn who_distributed_one_program_by_hand_is_not_asked_about_another() {
    let by_hand = "\
import tensorflow as tf
import horovod.tensorflow.keras as hvd
hvd.init()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1 * hvd.size())), \"mse\")
model.fit(tf.data.Dataset.range(10), callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
";
    let library = "import tensorflow as tf\nlayers = tf.keras.layers\nlayers.Dense(1)\n";
    let place = folder(&[("a/train.py", by_hand.to_owned()), ("b/library.py", library.to_owned())]);
    let (together, apart, components) = found(&open(place.path()));
    assert_eq!(components, 2);
    assert!(together.iter().any(|own| own.contains("tensorflow-member-aliased")), "{together:?}");
    assert_eq!(together, apart);
}

/// Only the component of the file that is asked about is examined, and what is found there is the same.
#[test]
fn a_file_by_itself_is_found_the_same_as_in_its_project() {
    let train = "\
import tensorflow as tf
from helper import rate
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(rate()), \"mse\")
model.fit(tf.data.Dataset.range(10))
";
    let place = folder(&[
        ("hvdlint.toml", String::new()),
        ("one/helper.py", "def rate():\n    return 0.1\n".to_owned()),
        ("one/train.py", train.to_owned()),
        ("two/train.py", train.replace("from helper import rate", "rate = lambda: 0.2")),
    ]);
    let options = OpenOptions { rules: RULES, ..OpenOptions::default() };
    let open = |place: &Path| Project::open(&[place.to_owned()], &options).unwrap();
    let (all, one) = (open(place.path()), open(&place.path().join("one/train.py")));
    assert_eq!(one.files().len(), all.files().len(), "the others belong to the project too");
    let examined = with_wishes(&one, true, |wishes| Examined::new(one.clone(), wishes));
    let of_others = |file: &FileId| one.file(*file).relative.starts_with("two/");
    let others = one.files().iter().map(|file| file.id).filter(of_others);
    assert!(others.clone().all(|file| examined.modules.get(file).statements.is_empty()));
    let whole = with_wishes(&all, true, |wishes| Examined::new(all.clone(), wishes));
    let is_asked = |own: &&Reported| one.file(own.finding.primary.location.file).reported;
    let wanted: Vec<String> =
        whole.report.findings.iter().filter(is_asked).map(|own| words(&own.finding)).collect();
    assert!(!wanted.is_empty());
    assert_eq!(reported(examined), wanted);
}
