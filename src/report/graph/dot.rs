//! The drawing in Graphviz's language.

use std::fmt::Write as _;

use super::{Drawing, Edge, Emphasis, Node, Ordered};
use crate::report::sanitize::visible;

const EMPHASIS: &str = "color=\"#c2410c\", fontcolor=\"#9a3412\", penwidth=2.5";

const GOAL: &str = "color=\"#9a3412\", fontcolor=\"#ffffff\", penwidth=2.5, fillcolor=\"#c2410c\"";

/// A `digraph` with a cluster for each group.
pub(super) fn render(drawing: &Drawing) -> String {
    let Ordered { groups, edges } = Ordered::of(drawing);
    let mut out = String::from("digraph {\n  rankdir=LR;\n");
    out.push_str(
        "  graph [fontname=\"Helvetica\", fontsize=14, labelloc=t, style=rounded, color=\"#94a3b8\"];\n",
    );
    out.push_str("  node [fontname=\"Helvetica\", fontsize=12, shape=box, style=\"rounded,filled\", ");
    out.push_str("fillcolor=\"#f8fafc\", color=\"#475569\"];\n");
    out.push_str("  edge [fontname=\"Helvetica\", fontsize=10, color=\"#64748b\"];\n");
    if !drawing.title.is_empty() {
        line(&mut out, 2, &format!("label={};", quoted(&drawing.title)));
    }
    for (index, (group, nodes)) in groups.iter().enumerate() {
        if group.is_empty() {
            for node in nodes {
                line(&mut out, 2, &node_line(node));
            }
            continue;
        }
        line(&mut out, 2, &format!("subgraph cluster_{index} {{"));
        line(&mut out, 4, &format!("label={};", quoted(group)));
        for node in nodes {
            line(&mut out, 4, &node_line(node));
        }
        line(&mut out, 2, "}");
    }
    for edge in &edges {
        line(&mut out, 2, &edge_line(edge));
    }
    out.push_str("}\n");
    out
}

fn line(out: &mut String, indent: usize, text: &str) {
    writeln!(out, "{:indent$}{text}", "").expect("a string takes all");
}

fn node_line(node: &Node) -> String {
    let emphasis = match node.emphasis {
        Emphasis::None => String::new(),
        Emphasis::Way => format!(", {EMPHASIS}, fillcolor=\"#ffedd5\""),
        Emphasis::Goal => format!(", {GOAL}"),
    };
    format!("{} [label={}{emphasis}];", quoted(&node.id), quoted(&node.label))
}

fn edge_line(edge: &Edge) -> String {
    let label = (!edge.label.is_empty()).then(|| format!("label={}", quoted(&edge.label)));
    let emphasis = edge.emphasis.then(|| EMPHASIS.to_owned());
    let attributes: Vec<String> = label.into_iter().chain(emphasis).collect();
    let ends = format!("{} -> {}", quoted(&edge.from), quoted(&edge.to));
    if attributes.is_empty() { format!("{ends};") } else { format!("{ends} [{}];", attributes.join(", ")) }
}

/// A quoted string; a backslash is a backslash and no escape such as `\N`.
fn quoted(text: &str) -> String {
    let text = visible(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}
