//! The model.

use super::data::Names;
use super::text::Text;

/// Whether the variables of the model exist before its first step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Built {
    /// They do not.
    Later,
    /// They may.
    Maybe,
}

/// Sometimes the class of the model, which stands at the top level; the expression that makes one.
pub fn class(text: &mut Text, names: &Names) -> Option<String> {
    if !text.maybe(4, "model: class") {
        return None;
    }
    let layers = &names.layers;
    text.block(&format!("class Net({}.Model):", names.keras), |text| {
        text.block("def __init__(self):", |text| {
            text.line("super().__init__()");
            text.line(&format!("self.hidden = {layers}Dense(32, activation='relu')"));
            text.line(&format!("self.out = {layers}Dense(1)"));
        });
        text.gap();
        text.block("def call(self, inputs):", |text| text.line("return self.out(self.hidden(inputs))"));
    });
    text.gap();
    Some("Net()".to_owned())
}

/// `model`
pub fn model(text: &mut Text, names: &Names, class: Option<&str>, built: Built) {
    let (keras, layers) = (&names.keras, &names.layers);
    if let Some(make) = class {
        text.line(&format!("model = {make}"));
        return;
    }
    match text.dice.one(&[0, 1, 2, 3]) {
        0 => {
            text.note("model: add");
            text.line(&format!("model = {keras}.models.Sequential()"));
            text.line(&format!("model.add({layers}Dense(16, activation='relu'))"));
            text.line(&format!("model.add({layers}Dense(1))"));
        }
        1 if built == Built::Maybe => {
            text.note("model: functional");
            text.line(&format!("inputs = {keras}.Input(shape=(20,))"));
            text.line(&format!("outputs = {layers}Dense(1)({layers}Dense(16)(inputs))"));
            text.line(&format!("model = {keras}.Model(inputs, outputs)"));
        }
        _ => {
            text.note("model: list");
            let layers = [
                format!("{layers}Dense(64, activation='relu')"),
                format!("{layers}Dropout(0.2)"),
                format!("{layers}Dense(1)"),
            ];
            let list = text.call("", &layers);
            let list = list.replacen('(', "[", 1);
            let list = format!("{}]", list.strip_suffix(')').unwrap_or(&list));
            text.line(&format!("model = {keras}.Sequential({list})"));
        }
    }
}
