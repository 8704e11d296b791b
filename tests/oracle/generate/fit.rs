//! Programs that train with `fit`.

use super::data::{self, Ends, Names};
use super::model::{self, Built};
use super::rate;
use super::text::Text;

/// Writes a program.
pub fn write(text: &mut Text) {
    let names = data::imports(text);
    data::constants(text);
    let class = model::class(text, &names);
    if text.maybe(3, "fit in main") {
        text.block("def main():", |text| training(text, &names, class.as_deref()));
        text.gap();
        text.block("if __name__ == '__main__':", |text| text.line("main()"));
    } else {
        text.note("fit at module level");
        training(text, &names, class.as_deref());
    }
}

fn training(text: &mut Text, names: &Names, class: Option<&str>) {
    data::arrays(text, names);
    let from_dataset = text.maybe(2, "fit on a dataset");
    if from_dataset {
        data::dataset(text, names, "dataset", Ends::Never);
    }
    model::model(text, names, class, Built::Maybe);
    rate::optimizer(text, names);
    if text.maybe(4, "checkpoint") {
        text.line(&format!("checkpoint = {}.train.Checkpoint(model=model, optimizer=optimizer)", names.tf));
    }
    compile(text);
    if text.maybe(6, "summary of a built model") {
        text.line("model.build((None, x_train.shape[1]))");
        text.line("model.summary()");
    }
    text.gap();
    fit(text, names, from_dataset);
    after(text);
}

fn compile(text: &mut Text) {
    let mut arguments = if text.maybe(3, "compile by position") {
        vec!["optimizer".to_owned(), "'mse'".to_owned()]
    } else {
        vec!["optimizer=optimizer".to_owned(), "loss='mse'".to_owned()]
    };
    if text.maybe(2, "compile with metrics") {
        arguments.push("metrics=['mae']".to_owned());
    }
    let call = text.call("model.compile", &arguments);
    text.line(&call);
}

fn fit(text: &mut Text, names: &Names, from_dataset: bool) {
    let mut arguments: Vec<String> = Vec::new();
    if from_dataset {
        arguments.push("dataset".to_owned());
        let steps = text.dice.one(&["300", "STEPS", "STEPS * 2", "8192 // BATCH_SIZE"]);
        text.note("steps_per_epoch");
        arguments.push(format!("steps_per_epoch={steps}"));
    } else {
        text.note("fit on arrays");
        arguments.extend(["x_train".to_owned(), "y_train".to_owned()]);
        if text.maybe(2, "batch_size") {
            arguments.push("batch_size=BATCH_SIZE".to_owned());
        }
    }
    arguments.push(text.dice.one(&["epochs=EPOCHS", "epochs=5"]).to_owned());
    if text.maybe(3, "verbose") {
        arguments.push("verbose=1".to_owned());
    }
    let history = format!("{}.callbacks.History()", names.keras);
    match text.dice.one(&[0, 0, 1, 2]) {
        1 => {
            text.note("callbacks in place");
            arguments.push(format!("callbacks=[{history}]"));
        }
        2 => {
            text.note("callbacks with a name");
            text.line(&format!("listeners = [{history}]"));
            arguments.push("callbacks=listeners".to_owned());
        }
        _ => text.note("no callbacks"),
    }
    let call = text.call("model.fit", &arguments);
    text.line(&call);
}

fn after(text: &mut Text) {
    if text.maybe(3, "evaluate") {
        let verbose = if text.maybe(2, "evaluate with verbose") { ", verbose=1" } else { "" };
        text.line(&format!("score = model.evaluate(x_train, y_train{verbose})"));
        text.line("print('score', score)");
    }
    if text.maybe(3, "save_weights") {
        text.line("model.save_weights('weights.h5')");
    }
    if text.maybe(3, "summary") {
        text.line("model.summary()");
    }
    if text.has("checkpoint") {
        text.line("checkpoint.save('checkpoints/model')");
    }
    if text.maybe(3, "print at the end") {
        text.line("print(f'trained for {EPOCHS} epochs')");
    }
}
