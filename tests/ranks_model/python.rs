//! Programs of the language as Python.

use std::fmt::Write as _;

use super::language::{Action, Number, Program, Question, Step, Turns};

const HEAD: &str = "\
import random
import sys

import horovod.tensorflow as hvd
import tensorflow as tf

hvd.init()


@tf.function
def forth(x):
    return hvd.allreduce(x, name='a'), hvd.allreduce(x, name='b')


@tf.function
def back(x):
    second = hvd.allreduce(x, name='b')
    return hvd.allreduce(x, name='a'), second


def main(v, w):
    p = 1.0
    q = 2.0
";

const VARIABLES: [&str; 2] = ["v", "w"];
const NAMES: [&str; 2] = ["p", "q"];

/// The program as a file's text.
pub fn text(program: &Program) -> String {
    let mut text = HEAD.to_owned();
    add_block(&mut text, &program.steps, 1);
    let begins = program.begins_apart.map(|apart| if apart { "1.0 + hvd.rank()" } else { "1.0" });
    let _ = write!(text, "\n\nmain(tf.Variable({}), tf.Variable({}))\n", begins[0], begins[1]);
    text
}

fn number(number: Number, site: u32) -> String {
    match number {
        Number::Constant => format!("{site}.5"),
        Number::Size => "float(hvd.size())".to_owned(),
        Number::Rank => "float(hvd.rank())".to_owned(),
        Number::Data => "random.random()".to_owned(),
        Number::Name(name) => NAMES[name].to_owned(),
        Number::Held(variable) => format!("float({}.numpy())", VARIABLES[variable]),
    }
}

fn question(question: Question, site: u32) -> String {
    match question {
        Question::IsRoot => "hvd.rank() == 0".to_owned(),
        Question::IsOther => "hvd.rank() != 0".to_owned(),
        Question::AreSeveral => "hvd.size() > 1".to_owned(),
        Question::Same => format!("sys.argv[{site}] == 'yes'"),
        Question::Own => "random.random() > 0.5".to_owned(),
        Question::IsAbove(variable) => format!("{}.numpy() > float(sys.argv[{site}])", VARIABLES[variable]),
    }
}

fn add_block(text: &mut String, steps: &[Step], depth: usize) {
    if steps.is_empty() {
        add(text, depth, "pass");
    }
    for step in steps {
        add_step(text, step, depth);
    }
}

fn add(text: &mut String, depth: usize, line: &str) {
    let _ = writeln!(text, "{}{line}", "    ".repeat(depth));
}

fn add_step(text: &mut String, Step { site, action }: &Step, depth: usize) {
    let site = *site;
    let mut add_line = |line: String| add(text, depth, &line);
    match action {
        Action::Reduce(kind, purpose, of, name) => {
            let (of, name) = (number(*of, site), NAMES[*name]);
            add_line(format!(
                "{name} = float(hvd.allreduce(tf.constant({of}), op=hvd.{kind}, name='{purpose}'))"
            ));
        }
        Action::Together(is_swapped) => {
            let function = if *is_swapped { "back" } else { "forth" };
            add_line(format!("p, q = [float(x) for x in {function}(tf.constant(p))]"));
        }
        Action::Broadcast(variable) => {
            add_line(format!("hvd.broadcast_variables([{}], root_rank=0)", VARIABLES[*variable]));
        }
        // The number of the place makes sure that each assignment gives another value.
        Action::Assign(variable, of) => {
            add_line(format!("{}.assign({} + {site}.25)", VARIABLES[*variable], number(*of, site)));
        }
        Action::Add(variable, of) => {
            add_line(format!("{}.assign_add({} + {site}.25)", VARIABLES[*variable], number(*of, site)));
        }
        Action::Bind(name, of) => add_line(format!("{} = {}", NAMES[*name], number(*of, site))),
        Action::Write(is_own) => {
            let own = if *is_own { "-{hvd.rank()}" } else { "" };
            add_line(format!("with open(f'{site}{own}.txt', 'w') as file:"));
            add_line("    file.write('x')".to_owned());
        }
        Action::Introduce(binds, all, uses) => {
            if *all {
                add_line(format!("new{site} = 1.0"));
            } else {
                add_line(format!("if {}:", question(*binds, site)));
                add_line(format!("    new{site} = 1.0"));
            }
            match uses {
                Some(uses) => {
                    add_line(format!("if {}:", question(*uses, site)));
                    add_line(format!("    print(new{site})"));
                }
                None => add_line(format!("print(new{site})")),
            }
        }
        Action::When(asks, yes, no) => {
            add_line(format!("if {}:", question(*asks, site)));
            add_block(text, yes, depth + 1);
            add(text, depth, "else:");
            add_block(text, no, depth + 1);
        }
        Action::Repeat(turns, body) => {
            let count = match turns {
                Turns::Same => format!("int(sys.argv[{site}])"),
                Turns::Own => "int(3 * random.random())".to_owned(),
            };
            add_line(format!("for _ in range({count}):"));
            add_block(text, body, depth + 1);
        }
        Action::Leave => add_line("return".to_owned()),
        Action::Stop => add_line("break".to_owned()),
    }
}
