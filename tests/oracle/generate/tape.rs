//! Programs whose loop has a gradient tape.

use super::data::{self, Ends, Names};
use super::model::{self, Built};
use super::rate;
use super::text::Text;

/// Where the loop and its step stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Module,
    Main,
    Train,
    Step,
}

/// Writes a program.
pub fn write(text: &mut Text) {
    let names = data::imports(text);
    data::constants(text);
    let class = model::class(text, &names);
    match text.dice.one(&[Scope::Module, Scope::Module, Scope::Main, Scope::Train, Scope::Step]) {
        Scope::Module => {
            text.note("loop at module level");
            objects(text, &names, class.as_deref());
            training(text, &names, Scope::Module);
            after(text);
        }
        Scope::Main => {
            text.note("loop in main");
            text.block("def main():", |text| {
                objects(text, &names, class.as_deref());
                training(text, &names, Scope::Main);
                after(text);
            });
            text.gap();
            text.block("if __name__ == '__main__':", |text| text.line("main()"));
        }
        Scope::Train => {
            text.note("loop in a function");
            objects(text, &names, class.as_deref());
            text.gap();
            text.block("def train():", |text| {
                if text.maybe(3, "function with a docstring") {
                    text.line("'''Trains the model.'''");
                }
                training(text, &names, Scope::Train);
            });
            text.gap();
            text.line("train()");
            after(text);
        }
        Scope::Step => {
            text.note("step in a function");
            objects(text, &names, class.as_deref());
            text.gap();
            text.block("def train_step(x, y):", |text| {
                if text.maybe(3, "function with a docstring") {
                    text.line("'''One step.'''");
                }
                step(text, &names);
                text.line("return loss");
            });
            text.gap();
            training(text, &names, Scope::Step);
            after(text);
        }
    }
}

fn objects(text: &mut Text, names: &Names, class: Option<&str>) {
    data::arrays(text, names);
    let ends = if text.maybe(3, "dataset ends") { Ends::Once } else { Ends::Never };
    let target = if text.maybe(6, "dataset with an annotation") {
        format!("dataset: {}.data.Dataset", names.tf)
    } else {
        "dataset".to_owned()
    };
    data::dataset(text, names, &target, ends);
    if text.maybe(4, "dataset is cut") {
        text.line("dataset = dataset.take(4000)");
    }
    model::model(text, names, class, Built::Later);
    rate::optimizer(text, names);
    text.line(&format!("compute_loss = {}.losses.MeanSquaredError()", names.keras));
    if text.maybe(2, "checkpoint") {
        text.line(&format!("checkpoint = {}.train.Checkpoint(model=model, optimizer=optimizer)", names.tf));
    }
    text.gap();
}

/// The loops.
fn training(text: &mut Text, names: &Names, scope: Scope) {
    let count = text.dice.one(&["1000", "STEPS", "STEPS * 2", "STEPS + 100"]);
    let batches = if text.has("dataset ends") {
        "dataset".to_owned()
    } else if text.maybe(2, "take by position") {
        format!("dataset.take({count})")
    } else {
        text.note("take by keyword");
        format!("dataset.take(count={count})")
    };
    let head = if text.maybe(3, "enumerate") {
        format!("for step, (x, y) in enumerate({batches}):")
    } else {
        format!("for x, y in {batches}:")
    };
    let enumerated = head.contains("enumerate");
    let body = |text: &mut Text| {
        if scope == Scope::Step {
            text.line("loss = train_step(x, y)");
        } else {
            step(text, names);
        }
        if enumerated && text.maybe(2, "print now and then") {
            text.block("if step % 100 == 0:", |text| text.line("print('step', step, 'loss', float(loss))"));
        }
    };
    if text.maybe(4, "one loop") {
        text.block(&head, body);
        return;
    }
    let mut counted = false;
    let outer = if text.maybe(5, "while") {
        counted = true;
        text.line("epoch = 0");
        "while epoch < EPOCHS:"
    } else {
        "for epoch in range(EPOCHS):"
    };
    text.block(outer, |text| {
        text.block(&head, body);
        if text.maybe(2, "print after an epoch") {
            let line = text.dice.one(&[
                "print('epoch', epoch)",
                "print('Epoch {}: {:.3f}'.format(epoch, float(loss)))",
                "print(f'epoch {epoch}', file=sys.stderr)",
            ]);
            text.line(line);
        }
        if text.has("checkpoint") && text.maybe(2, "checkpoint is saved in the loop") {
            text.line("checkpoint.save('checkpoints/model')");
        }
        if counted {
            text.line("epoch += 1");
        }
    });
}

/// One step.
fn step(text: &mut Text, names: &Names) {
    let tape = text.dice.one(&["tape", "tape", "t"]);
    text.block(&format!("with {}.GradientTape() as {tape}:", names.tf), |text| {
        if text.maybe(2, "loss in two statements") {
            text.line("predictions = model(x, training=True)");
            text.line("loss = compute_loss(y, predictions)");
        } else {
            text.line("loss = compute_loss(y, model(x, training=True))");
        }
    });
    let mut variables = "model.trainable_variables";
    if text.maybe(3, "variables with a name") {
        text.line("variables = model.trainable_variables");
        variables = "variables";
    }
    text.line(&format!("gradients = {tape}.gradient(loss, {variables})"));
    let zipped = format!("zip(gradients, {variables})");
    let argument =
        if text.maybe(3, "grads_and_vars by keyword") { format!("grads_and_vars={zipped}") } else { zipped };
    let target = if text.maybe(4, "apply_gradients is assigned") { "applied = " } else { "" };
    text.line(&format!("{target}optimizer.apply_gradients({argument})"));
}

/// What follows the training.
fn after(text: &mut Text) {
    text.gap();
    if text.maybe(3, "save_weights") {
        text.line("model.save_weights('weights.h5')");
    }
    if text.maybe(3, "summary") {
        text.line("model.summary()");
    }
    if text.has("checkpoint") && text.maybe(2, "checkpoint is saved at the end") {
        text.line("checkpoint.save('checkpoints/final')");
    }
    if text.maybe(4, "write") {
        text.line("sys.stdout.write('trained\\n')");
    }
    if text.maybe(3, "print at the end") {
        text.line("print('done')");
    }
}
