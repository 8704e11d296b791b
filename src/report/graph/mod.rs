//! Drawings of directed graphs: for Graphviz, for Mermaid, and as a picture.

mod dot;
mod mermaid;
mod svg;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

pub use svg::SvgError;

/// A box of the drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// Unique; the qualified name that the JSON form shows.
    pub id: String,
    /// What stands in the box.
    pub label: String,
    /// The file or module around it; empty for none.
    pub group: String,
    /// What it is to what the drawing is about.
    pub emphasis: Emphasis,
}

/// What a box is to what a drawing is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Emphasis {
    /// It belongs to the surroundings.
    #[default]
    None,
    /// It lies on the way.
    Way,
    /// It is where the way leads.
    Goal,
}

/// An arrow of the drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The `id` of the node that it leaves.
    pub from: String,
    /// The `id` of the node that it enters.
    pub to: String,
    /// What stands at it; may be empty.
    pub label: String,
    /// Whether it lies on the way that the drawing is about.
    pub emphasis: bool,
}

/// A graph to be drawn. What is drawn does not depend on the order of nodes and edges; an edge to a node that is
/// not listed draws that node under its `id`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// Stands above it; may be empty.
    pub title: String,
    /// The boxes.
    pub nodes: Vec<Node>,
    /// The arrows.
    pub edges: Vec<Edge>,
}

/// A form in which a drawing can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum GraphFormat {
    /// Graphviz.
    Dot,
    /// A Mermaid flowchart.
    Mermaid,
    /// A picture, drawn by Graphviz.
    Svg,
}

/// Writes `drawing` in `format`.
///
/// # Errors
///
/// Fails when `out` does, and for [`GraphFormat::Svg`] when Graphviz is not installed or refuses.
pub fn write(format: GraphFormat, drawing: &Drawing, out: &mut dyn Write) -> Result<(), SvgError> {
    let text = match format {
        GraphFormat::Dot => dot::render(drawing),
        GraphFormat::Mermaid => mermaid::render(drawing),
        GraphFormat::Svg => svg::render(&dot::render(drawing), "dot")?,
    };
    Ok(out.write_all(text.as_bytes())?)
}

/// Writes a graph as an object: each name with the sorted names of its successors.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write_json(graph: &BTreeMap<String, BTreeSet<String>>, out: &mut dyn Write) -> io::Result<()> {
    let mut successors: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, targets) in graph {
        successors.entry(name).or_default().extend(targets.iter().map(String::as_str));
        for target in targets {
            successors.entry(target).or_default();
        }
    }
    serde_json::to_writer_pretty(&mut *out, &successors)?;
    writeln!(out)
}

/// The drawing in the order in which it is written: groups with their nodes, then edges without repetition.
struct Ordered {
    groups: BTreeMap<String, Vec<Node>>,
    edges: BTreeSet<Edge>,
}

impl Ordered {
    fn of(drawing: &Drawing) -> Self {
        let mut nodes: BTreeMap<&str, Node> =
            drawing.nodes.iter().map(|node| (node.id.as_str(), node.clone())).collect();
        for id in drawing.edges.iter().flat_map(|edge| [&edge.from, &edge.to]) {
            nodes.entry(id).or_insert_with(|| Node { id: id.clone(), label: id.clone(), ..Node::default() });
        }
        let mut groups: BTreeMap<String, Vec<Node>> = BTreeMap::new();
        for node in nodes.into_values() {
            groups.entry(node.group.clone()).or_default().push(node);
        }
        Self { groups, edges: drawing.edges.iter().cloned().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, label: &str, group: &str, emphasis: Emphasis) -> Node {
        Node { id: id.to_owned(), label: label.to_owned(), group: group.to_owned(), emphasis }
    }

    fn edge(from: &str, to: &str, label: &str, emphasis: bool) -> Edge {
        Edge { from: from.to_owned(), to: to.to_owned(), label: label.to_owned(), emphasis }
    }

    fn drawing() -> Drawing {
        Drawing {
            title: "calls of \"main\"".to_owned(),
            nodes: vec![
                node("util.step", "step", "util.py", Emphasis::Goal),
                node("main.<lambda1>", "<lambda1> \\ \"q\" #1", "main.py", Emphasis::None),
                node("main", "損失\nmain", "main.py", Emphasis::Way),
                node("lonely", "lonely", "", Emphasis::None),
            ],
            edges: vec![
                edge("main", "util.step", "line 3", true),
                edge("main.<lambda1>", "<builtin>.len", "", false),
                edge("main", "main.<lambda1>", "", false),
                edge("main", "main.<lambda1>", "", false),
            ],
        }
    }

    fn text(format: GraphFormat, drawing: &Drawing) -> String {
        let mut out = Vec::new();
        write(format, drawing, &mut out).expect("memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn json_maps_every_name_to_its_sorted_successors() {
        let successors = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let graph = BTreeMap::from([
            ("main".to_owned(), successors(&["util.step", "main.<lambda1>"])),
            ("main.<lambda1>".to_owned(), successors(&["<builtin>.len"])),
            ("lonely".to_owned(), successors(&[])),
        ]);
        let mut out = Vec::new();
        write_json(&graph, &mut out).expect("memory");
        insta::assert_snapshot!(String::from_utf8(out).expect("UTF-8"), @r#"
        {
          "<builtin>.len": [],
          "lonely": [],
          "main": [
            "main.<lambda1>",
            "util.step"
          ],
          "main.<lambda1>": [
            "<builtin>.len"
          ],
          "util.step": []
        }
        "#);
    }

    #[test]
    fn dot_has_a_cluster_for_each_group_and_escapes_labels() {
        insta::assert_snapshot!(text(GraphFormat::Dot, &drawing()), @r##"
        digraph {
          rankdir=LR;
          graph [fontname="Helvetica", fontsize=14, labelloc=t, style=rounded, color="#94a3b8"];
          node [fontname="Helvetica", fontsize=12, shape=box, style="rounded,filled", fillcolor="#f8fafc", color="#475569"];
          edge [fontname="Helvetica", fontsize=10, color="#64748b"];
          label="calls of \"main\"";
          "<builtin>.len" [label="<builtin>.len"];
          "lonely" [label="lonely"];
          subgraph cluster_1 {
            label="main.py";
            "main" [label="損失\nmain", color="#c2410c", fontcolor="#9a3412", penwidth=2.5, fillcolor="#ffedd5"];
            "main.<lambda1>" [label="<lambda1> \\ \"q\" #1"];
          }
          subgraph cluster_2 {
            label="util.py";
            "util.step" [label="step", color="#9a3412", fontcolor="#ffffff", penwidth=2.5, fillcolor="#c2410c"];
          }
          "main" -> "main.<lambda1>";
          "main" -> "util.step" [label="line 3", color="#c2410c", fontcolor="#9a3412", penwidth=2.5];
          "main.<lambda1>" -> "<builtin>.len";
        }
        "##);
    }

    #[test]
    fn mermaid_has_a_subgraph_for_each_group_and_escapes_labels() {
        insta::assert_snapshot!(text(GraphFormat::Mermaid, &drawing()), @r##"
        ---
        title: "calls of \"main\""
        ---
        flowchart LR
          n0["#lt;builtin#gt;.len"]
          n1["lonely"]
          subgraph g1["main.py"]
            n2["損失<br/>main"]
            n3["#lt;lambda1#gt; #92; #quot;q#quot; #35;1"]
          end
          subgraph g2["util.py"]
            n4["step"]
          end
          n2 --> n3
          n2 ==>|"line 3"| n4
          n3 --> n0
          classDef way stroke:#c2410c,stroke-width:3px,fill:#ffedd5,color:#9a3412
          class n2 way
          classDef goal stroke:#9a3412,stroke-width:3px,fill:#c2410c,color:#ffffff
          class n4 goal
          linkStyle 1 stroke:#c2410c,stroke-width:3px
        "##);
    }

    #[test]
    fn the_order_of_nodes_and_edges_does_not_matter() {
        let mut reversed = drawing();
        reversed.nodes.reverse();
        reversed.edges.reverse();
        for format in [GraphFormat::Dot, GraphFormat::Mermaid] {
            assert_eq!(text(format, &reversed), text(format, &drawing()));
        }
    }

    #[test]
    fn an_empty_graph_is_a_graph() {
        assert!(text(GraphFormat::Dot, &Drawing::default()).starts_with("digraph {"));
        assert_eq!(text(GraphFormat::Mermaid, &Drawing::default()), "flowchart LR\n");
    }
}
