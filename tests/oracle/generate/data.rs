//! Imports, constants and data.

use super::text::Text;

/// How a program names what it imports.
pub struct Names {
    /// TensorFlow: `tf`.
    pub tf: &'static str,
    /// Keras: `tf.keras`, `keras`.
    pub keras: String,
    /// Layers, with a dot: `layers.`.
    pub layers: String,
    /// Optimizers, with a dot.
    pub optimizers: String,
    /// The class of the optimizer: `Adam`.
    pub class: &'static str,
    /// Whether the class is a name of its own.
    pub imported: bool,
}

/// The imports.
pub fn imports(text: &mut Text) -> Names {
    if text.maybe(5, "docstring") {
        text.line("'''Trains a small network.'''");
    }
    if text.maybe(8, "__future__") {
        text.line("from __future__ import annotations");
    }
    if text.maybe(2, "os") {
        text.line("import os");
        if text.maybe(2, "CUDA_VISIBLE_DEVICES before the imports") {
            text.removed("os.environ['CUDA_VISIBLE_DEVICES'] = '0'");
        }
        if text.maybe(3, "another variable of the environment") {
            text.line("os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'");
        }
    }
    text.line("import sys");
    let (import, tf) = if text.maybe(5, "import tensorflow") {
        ("import tensorflow", "tensorflow")
    } else {
        ("import tensorflow as tf", "tf")
    };
    let class = text.dice.one(&["Adam", "Adam", "SGD", "RMSprop", "Adagrad", "Nadam"]);
    let keras = format!("{tf}.keras");
    let mut names = Names {
        tf,
        layers: format!("{keras}.layers."),
        optimizers: format!("{keras}.optimizers."),
        keras,
        class,
        imported: false,
    };
    let first = text.maybe(6, "tensorflow is imported last");
    if !first {
        text.line(import);
    }
    match text.dice.one(&[0, 1, 2, 3, 4, 5, 6]) {
        0 => {
            text.note("tf.optimizers");
            names.optimizers = format!("{tf}.optimizers.");
        }
        1 => {
            text.note("from tensorflow import keras");
            text.line("from tensorflow import keras");
            by_keras(&mut names, "keras");
        }
        2 => {
            text.note("import tensorflow.keras as keras");
            text.line("import tensorflow.keras as keras");
            by_keras(&mut names, "keras");
        }
        3 => {
            text.note("from tensorflow.keras import layers, optimizers");
            text.line("from tensorflow.keras import layers, optimizers");
            names.layers = String::from("layers.");
            names.optimizers = String::from("optimizers.");
        }
        4 => {
            text.note("from tensorflow.keras.optimizers import");
            text.line(&format!("from tensorflow.keras.optimizers import {class}"));
            names.imported = true;
        }
        5 => {
            text.note("from tensorflow.keras.optimizers import as");
            text.line(&format!("from tensorflow.keras.optimizers import {class} as Stepper"));
            names.class = "Stepper";
            names.imported = true;
        }
        _ => text.note("tf.keras.optimizers"),
    }
    if first {
        text.line(import);
    }
    text.line("import numpy as np");
    text.gap();
    if text.maybe(6, "CUDA_VISIBLE_DEVICES after the imports") {
        text.line("import os");
        text.removed("os.environ['CUDA_VISIBLE_DEVICES'] = '1'");
    }
    names
}

fn by_keras(names: &mut Names, keras: &str) {
    names.keras = String::from(keras);
    names.layers = format!("{keras}.layers.");
    names.optimizers = format!("{keras}.optimizers.");
}

/// Constants that some programs name.
pub fn constants(text: &mut Text) {
    text.line("EPOCHS = 3");
    text.line("BATCH_SIZE = 64");
    text.line("STEPS = 500");
    text.gap();
}

/// `x_train` and `y_train`.
pub fn arrays(text: &mut Text, names: &Names) {
    match text.dice.one(&[0, 1, 2]) {
        0 => {
            text.note("data: mnist");
            text.line(&format!(
                "(x_train, y_train), (x_test, y_test) = {}.datasets.mnist.load_data()",
                names.keras
            ));
            text.line("x_train = np.reshape(x_train / 255.0, (-1, 784)).astype('float32')");
            text.line("y_train = np.reshape(y_train, (-1, 1)).astype('float32')");
        }
        1 => {
            text.note("data: tf.random");
            text.line(&format!("x_train = {}.random.normal([8192, 20])", names.tf));
            text.line(&format!("y_train = {}.reduce_sum(x_train, axis=1, keepdims=True)", names.tf));
        }
        _ => {
            text.note("data: numpy");
            text.line("x_train = np.random.rand(8192, 20).astype('float32')");
            text.line("y_train = np.sum(x_train, axis=1, keepdims=True)");
        }
    }
}

/// Whether a dataset ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// After the data was seen once.
    Once,
    /// Never: something else counts the batches.
    Never,
}

/// `dataset`, in one statement or several.
pub fn dataset(text: &mut Text, names: &Names, target: &str, ends: Ends) {
    let source = format!("{}.data.Dataset.from_tensor_slices((x_train, y_train))", names.tf);
    let more =
        text.dice.one(&[".shuffle(1024).batch(BATCH_SIZE)", ".shuffle(4096, seed=7).batch(32).prefetch(2)"]);
    let repeat = if ends == Ends::Never { ".repeat()" } else { "" };
    if text.maybe(2, "dataset in steps") {
        text.line(&format!("{target} = {source}{repeat}"));
        text.line(&format!("dataset = dataset{more}"));
    } else {
        text.line(&format!("{target} = {source}{repeat}{more}"));
    }
}
