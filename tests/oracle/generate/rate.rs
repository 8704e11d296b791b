//! Rates, schedules and the optimizer.

use super::data::Names;
use super::text::Text;

/// `optimizer`, and what its rate needs before it.
pub fn optimizer(text: &mut Text, names: &Names) {
    let rate = rate(text, names);
    let mut arguments = if text.maybe(2, "rate by position") {
        vec![rate]
    } else {
        text.note("rate by keyword");
        vec![format!("learning_rate={rate}")]
    };
    let more = match names.class {
        "Adam" | "Nadam" => "beta_1=0.9",
        "SGD" => "momentum=0.9",
        "RMSprop" => "rho=0.95",
        _ => "name='stepper'",
    };
    if text.maybe(3, "optimizer with more arguments") {
        arguments.push(more.to_owned());
    }
    let prefix = if names.imported { "" } else { names.optimizers.as_str() };
    let call = text.call(&format!("{prefix}{}", names.class), &arguments);
    text.line(&format!("optimizer = {call}"));
}

fn rate(text: &mut Text, names: &Names) -> String {
    match text.dice.one(&[0, 0, 1, 1, 2, 3, 4, 5]) {
        0 => {
            text.note("rate: number");
            text.dice.one(&["0.001", "1e-3", "3e-4", ".01"]).to_owned()
        }
        1 => {
            text.note("rate: name");
            text.line("learning_rate = 0.002");
            "learning_rate".to_owned()
        }
        2 => {
            text.note("rate: operation");
            text.line("base = 0.01");
            text.dice.one(&["base / 10", "base * 0.5", "base - 0.005", "0.1 * base"]).to_owned()
        }
        kind => schedule(text, names, kind),
    }
}

fn schedule(text: &mut Text, names: &Names, kind: i32) -> String {
    let by_keyword = text.maybe(2, "schedule by keyword");
    let (class, named) = match kind {
        3 => {
            text.note("rate: ExponentialDecay");
            let arguments =
                [("initial_learning_rate", "0.05"), ("decay_steps", "1000"), ("decay_rate", "0.96")];
            ("ExponentialDecay", arguments.to_vec())
        }
        4 => {
            text.note("rate: PiecewiseConstantDecay");
            ("PiecewiseConstantDecay", vec![("boundaries", "[500, 900]"), ("values", "[0.1, 0.01, 0.001]")])
        }
        _ => {
            text.note("rate: CosineDecay");
            ("CosineDecay", vec![("initial_learning_rate", "0.1"), ("decay_steps", "2000")])
        }
    };
    let argument =
        |(name, value): (&str, &str)| if by_keyword { format!("{name}={value}") } else { value.to_owned() };
    let arguments: Vec<_> = named.into_iter().map(argument).collect();
    let call = text.call(&format!("{}.optimizers.schedules.{class}", names.keras), &arguments);
    let name = text.dice.one(&["schedule", "lr", "decayed"]);
    text.line(&format!("{name} = {call}"));
    name.to_owned()
}
