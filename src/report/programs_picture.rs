//! The programs of a project as a picture: from the start of each, call by call, to its training loops, and what they
//! train.

use super::graph::{Drawing, Edge, Emphasis, Node};
use super::programs::{Described, Loop, Named};

/// The drawing; programs without a training loop are left out.
#[must_use]
pub fn picture(programs: &[Described]) -> Drawing {
    let mut drawing = Drawing {
        title: "How programs get to their training loops, and what is trained there.".to_owned(),
        ..Drawing::default()
    };
    for program in programs.iter().filter(|program| !program.loops.is_empty()) {
        let start = format!("start of {}", program.entry);
        drawing.nodes.push(Node {
            id: start.clone(),
            label: "the program starts here".to_owned(),
            group: program.entry.clone(),
            emphasis: Emphasis::Way,
        });
        for own in &program.loops {
            to_loop(&mut drawing, &start, own);
        }
        for dataset in &program.datasets {
            let dataset = object(&mut drawing, "dataset", dataset);
            drawing.edges.push(arrow(&start, &dataset, "makes"));
        }
    }
    drawing.nodes.sort();
    drawing.nodes.dedup();
    drawing
}

fn to_loop(drawing: &mut Drawing, start: &str, own: &Loop) {
    let mut at = start.to_owned();
    for (index, step) in own.way.iter().enumerate() {
        // A function's code is where the next step is called from.
        let path = own.way.get(index + 1).map_or(&own.place.path, |next| &next.place.path);
        drawing.nodes.push(Node {
            id: step.name.clone(),
            label: step.name.rsplit('.').next().unwrap_or(&step.name).to_owned(),
            group: path.clone(),
            emphasis: Emphasis::Way,
        });
        let label = format!("line {}", step.place.line);
        drawing.edges.push(Edge { emphasis: true, ..arrow(&at, &step.name, &label) });
        at.clone_from(&step.name);
    }
    let line = format!("line {}", own.place.line);
    let id = format!("loop {} {}", own.place.path, own.place.line);
    drawing.nodes.push(Node {
        id: id.clone(),
        label: format!("training loop\n{}", own.kind),
        group: own.place.path.clone(),
        emphasis: Emphasis::Goal,
    });
    drawing.edges.push(Edge { emphasis: true, ..arrow(&at, &id, &line) });
    for (kind, verb, objects) in
        [("model", "trains", &own.models), ("optimizer", "steps with", &own.optimizers)]
    {
        for named in objects {
            let target = object(drawing, kind, named);
            drawing.edges.push(arrow(&id, &target, verb));
        }
    }
}

/// Draws an object; gives its id.
fn object(drawing: &mut Drawing, kind: &str, named: &Named) -> String {
    let Named { name, class, place } = named;
    let id = format!("{kind} {name} {} {}", place.path, place.line);
    let class = class.rsplit('.').next().unwrap_or(class);
    let heading = if name == class || name == kind { kind.to_owned() } else { format!("{kind} {name}") };
    let label = format!("{heading}\n{class}, line {}", place.line);
    drawing.nodes.push(Node { id: id.clone(), label, group: place.path.clone(), ..Node::default() });
    id
}

fn arrow(from: &str, to: &str, label: &str) -> Edge {
    Edge { from: from.to_owned(), to: to.to_owned(), label: label.to_owned(), emphasis: false }
}
