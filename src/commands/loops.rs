//! `hvdlint loops`.

use std::io;

use crate::analysis;
use crate::cli::{GlobalArgs, LoopsArgs, LoopsFormat};
use crate::project::Documents;
use crate::report::programs_picture::picture;
use crate::report::{Sources, graph, programs};

pub(super) fn run(arguments: &LoopsArgs, global: &GlobalArgs) -> anyhow::Result<u8> {
    let project = super::open(&arguments.paths, &super::options(&arguments.config, global), global)?;
    let documents: Documents =
        project.files().iter().filter_map(|file| Some((file.id, project.document(file.id)?))).collect();
    let sources = Sources::new(&documents);
    let programs = analysis::with_facts(&project, |facts| {
        super::warn(&facts.modules.problems, global)?;
        let mut findings = analysis::findings(&project, facts, project.config().strict);
        // What `check` does not report stands in nobody's way.
        findings.retain(|finding| finding.confidence >= project.config().confidence);
        anyhow::Ok(programs::describe(facts, &sources, &findings, |file| project.file(file).reported))
    })??;
    let mut stdout = io::stdout().lock();
    match arguments.output {
        LoopsFormat::Json => programs::write_json(&programs, &mut stdout)?,
        LoopsFormat::Full => programs::write_full(&programs, super::color(global), &mut stdout)?,
        LoopsFormat::Dot => graph::write(graph::GraphFormat::Dot, &picture(&programs), &mut stdout)?,
        LoopsFormat::Mermaid => graph::write(graph::GraphFormat::Mermaid, &picture(&programs), &mut stdout)?,
        LoopsFormat::Svg => graph::write(graph::GraphFormat::Svg, &picture(&programs), &mut stdout)?,
    }
    Ok(super::CLEAN)
}
