//! The drawing as a Mermaid flowchart, which GitHub and GitLab show in Markdown.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{Drawing, Emphasis, Ordered};
use crate::report::sanitize::visible;

/// A flowchart from left to right with a subgraph for each group.
pub(super) fn render(drawing: &Drawing) -> String {
    let Ordered { groups, edges } = Ordered::of(drawing);
    let mut out = String::new();
    if !drawing.title.is_empty() {
        // The front matter is YAML, of which JSON strings are a part.
        let title = serde_json::Value::from(visible(&drawing.title).as_ref());
        line(&mut out, 0, &format!("---\ntitle: {title}\n---"));
    }
    line(&mut out, 0, "flowchart LR");

    // Ids must not be words of the language ("end"), so nodes are numbered.
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let (mut on_the_way, mut goals) = (Vec::new(), Vec::new());
    for (index, (group, nodes)) in groups.iter().enumerate() {
        let indent = if group.is_empty() { 2 } else { 4 };
        if !group.is_empty() {
            line(&mut out, 2, &format!("subgraph g{index}[\"{}\"]", escaped(group)));
        }
        for node in nodes {
            let number = numbers.len();
            numbers.insert(&node.id, number);
            line(&mut out, indent, &format!("n{number}[\"{}\"]", escaped(&node.label)));
            match node.emphasis {
                Emphasis::None => {}
                Emphasis::Way => on_the_way.push(format!("n{number}")),
                Emphasis::Goal => goals.push(format!("n{number}")),
            }
        }
        if !group.is_empty() {
            line(&mut out, 2, "end");
        }
    }

    let mut bold = Vec::new();
    for (index, edge) in edges.iter().enumerate() {
        let (from, to) = (numbers[edge.from.as_str()], numbers[edge.to.as_str()]);
        let arrow = if edge.emphasis { "==>" } else { "-->" };
        let label =
            if edge.label.is_empty() { String::new() } else { format!("|\"{}\"|", escaped(&edge.label)) };
        line(&mut out, 2, &format!("n{from} {arrow}{label} n{to}"));
        if edge.emphasis {
            bold.push(index.to_string());
        }
    }
    if !on_the_way.is_empty() {
        line(&mut out, 2, "classDef way stroke:#c2410c,stroke-width:3px,fill:#ffedd5,color:#9a3412");
        line(&mut out, 2, &format!("class {} way", on_the_way.join(",")));
    }
    if !goals.is_empty() {
        line(&mut out, 2, "classDef goal stroke:#9a3412,stroke-width:3px,fill:#c2410c,color:#ffffff");
        line(&mut out, 2, &format!("class {} goal", goals.join(",")));
    }
    if !bold.is_empty() {
        line(&mut out, 2, &format!("linkStyle {} stroke:#c2410c,stroke-width:3px", bold.join(",")));
    }
    out
}

fn line(out: &mut String, indent: usize, text: &str) {
    writeln!(out, "{:indent$}{text}", "").expect("a string takes all");
}

/// Mermaid knows no backslash; it writes entities with `#`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '#' | '`' | '\\' | ';' => {
                write!(out, "#{};", u32::from(character)).expect("a string takes all");
            }
            '\n' => out.push_str("<br/>"),
            other => out.push(other),
        }
    }
    out
}
