//! What the scripts and documents of a project say of how its programs are started decides what is certain between ranks.

mod support;

use support::found;

const TRAIN: &str = "\
import horovod.tensorflow as hvd
import tensorflow as tf

from files import keep

hvd.init()
weight = tf.Variable(1.0)
hvd.broadcast_variables([weight], root_rank=0)
keep('trained', weight)
";

const EVALUATE: &str = "\
import horovod.tensorflow as hvd
import tensorflow as tf

hvd.init()
hits = hvd.allreduce(tf.constant(1.0))
with open('hits.txt', 'w') as out:
    out.write(str(hvd.rank()))
";

const FILES: &str = "\
import horovod.tensorflow as hvd


def keep(name, weight):
    with open(name, 'w') as out:
        out.write(str(hvd.rank()))
";

const LAUNCHED: &str = "#!/bin/bash\nmpirun -np 4 \\\n    python train.py\n";
const ALONE: &str = "cd $HOME/work && CUDA_VISIBLE_DEVICES=0 python3 evaluate.py --data x || exit 1\n";

/// The programs' files in which a write of several ranks is found, beside these scripts.
fn written_in(scripts: &[(&str, &str)], confidence: &str) -> Vec<String> {
    let mut files = vec![("train.py", TRAIN), ("evaluate.py", EVALUATE), ("files.py", FILES)];
    files.extend(scripts);
    let findings = found(&files, confidence);
    let writes = findings.iter().filter(|own| own.ends_with("HVD305"));
    writes.filter_map(|own| Some(own.split_once(':')?.0.to_owned())).collect()
}

#[test]
fn a_program_that_scripts_start_as_one_process_is_possibly_started_by_several() {
    let scripts = [("train.sh", LAUNCHED), ("scripts/evaluate.sh", ALONE)];
    assert_eq!(written_in(&scripts, "certain"), ["files.py"]);
    assert_eq!(written_in(&scripts, "possible"), ["evaluate.py", "files.py"]);
}

#[test]
fn scripts_that_start_all_in_one_way_say_nothing() {
    assert_eq!(written_in(&[], "certain"), ["evaluate.py", "files.py"]);
    assert_eq!(written_in(&[("evaluate.sh", ALONE)], "certain"), ["evaluate.py", "files.py"]);
    let both = [("train.sh", LAUNCHED), ("a.sh", ALONE), ("b.sh", "srun python evaluate.py\n")];
    assert_eq!(written_in(&both, "certain"), ["evaluate.py", "files.py"]);
}

#[test]
fn what_a_launched_script_starts_is_started_by_each_rank() {
    let scripts =
        [("train.sh", LAUNCHED), ("evaluate.sh", ALONE), ("job.slurm", "srun bash ./evaluate.sh\n")];
    assert_eq!(written_in(&scripts, "certain"), ["evaluate.py", "files.py"]);
}

#[test]
fn documents_say_it_as_scripts_do() {
    let text =
        "# Use\n\nTrain with `horovodrun -np 4 python train.py`, then:\n\n```\n$ python evaluate.py\n```\n";
    assert_eq!(written_in(&[("README.md", text)], "certain"), ["files.py"]);
    let names = "`horovodrun -np 4 python train.py`\n\n- `evaluate.py`: the evaluation\n";
    assert_eq!(written_in(&[("README.md", names)], "certain"), ["evaluate.py", "files.py"]);
}

#[test]
fn what_needs_colab_is_one_process() {
    let notebook = format!("from google.colab import drive\n{EVALUATE}");
    let writes = |confidence: &str| {
        let findings = found(&[("evaluate.py", notebook.as_str())], confidence);
        findings.iter().filter(|own| own.ends_with("HVD305")).count()
    };
    assert_eq!((writes("certain"), writes("possible")), (0, 1));
}
