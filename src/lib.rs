//! hvdlint finds the training loops of TensorFlow programs and checks what keeps them from training on many
//! GPUs with Horovod.
//!
//! # The way of the data
//!
//! ```text
//! paths ──▶ Project ──▶ Modules ──▶ Solution ──▶ Facts ──▶ Findings ──▶ Report ──▶ bytes
//!           files,      each by     value flow,  creations, each check   selected,  full, concise,
//!           config      itself:     calls,       effects,   asks the     sorted,    json, sarif
//!                       scopes,     classes      programs,  facts        not
//!                       values,                  training                suppressed
//!                       control                  loops
//! ```
//!
//! Every arrow is a function from immutable values to a new value. [`commands`] calls them one after the other:
//!
//! 1. [`project::Project::open`] finds the root, the configuration and the Python files. Only this room reads the
//!    disk.
//! 2. [`program::Modules::load`] reads the files in parallel, and [`semantic::analyse`] turns each into a
//!    [`semantic::Module`]: scopes, values in static single assignment form, calls, control flow. The syntax tree is
//!    dropped there, so that memory holds one tree for each thread and not the project's.
//! 3. [`program::solve`] answers what each value may be, across modules. A call that leads nowhere known leads to
//!    *unknown*; it is never dropped.
//! 4. [`program::Facts`] gathers what checks ask for: which objects are made where, what code does, which
//!    programs there are and where they train.
//! 5. [`analysis::findings`] runs the checks: each is a function from the facts to [`finding::Finding`]s.
//! 6. [`suppression`] takes out what comments in the source suppress, [`report`] writes the rest. [`examine`] is the
//!    way so far in one step.
//! 7. [`fix::mend`] applies the findings' fixes in memory and goes the way again from 3 to prove them; only this room
//!    changes files.
//!
//! # The rooms
//!
//! | room | holds |
//! |---|---|
//! | `checks/` beside `src` | *what* each check means: a page of Markdown, whose examples are tests |
//! | [`checks`] | *how* it is decided: a file for each check, all in one table |
//! | [`project`] | files, configuration, module names, decoding |
//! | [`syntax`] | the only room that names the parser's crates |
//! | [`semantic`] | one module: scopes, values, control flow, definitions that reach a use |
//! | [`program`] | all modules: value flow, calls, classes, effects, training loops |
//! | [`api`] | what symbols of TensorFlow, Keras, Horovod and Python *are*: tables, a row a symbol |
//! | [`finding`] | what a check has to say |
//! | [`distribute`] | what a program still needs to train with Horovod: a file for each rule |
//! | [`ranks`] | the model of the ranks: what differs between them, what they send each other, what they write |
//! | [`graph`] | where traced code does not do what its Python text says |
//! | [`isolation`] | findings that only several programs together show are only possible |
//! | [`switched_off`] | findings in code that settings of the source switch off are only possible |
//! | [`rewrite`] | the verbs that change a source: what fixes are made of |
//! | [`suppression`] | comments that suppress findings |
//! | [`baseline`] | findings that a project knows and does not want to hear of |
//! | [`progress`] | how far a run is |
//! | [`cancellation`] | whether anybody still waits for what a run comes to |
//! | [`report`] | a file for each format |
//! | [`analysis`] | from a project to its findings, in one page |
//! | [`examine`] | which of the findings are said: selected, not suppressed, in the given paths |
//! | [`normalise`] | fixes of restrictions: rewriting a violation into the published subset |
//! | [`fix`] | edits: their order, the proof that they are good, the files that they change |
//! | [`server`] | the language server: the same in an editor, examined again after each edit |
//! | [`cli`], [`commands`] | the words of the command line, and what each command does |
//!
//! # Where to start reading
//!
//! [`analysis`] is the whole way in fifty lines. Then one check beside its page, such as
//! `checks/import-not-at-top.md` and its namesake in `src/checks/`. From there [`program::Facts`] shows what can be
//! asked, and [`semantic::Module`] what it is made of.
//!
//! # Rules of the house
//!
//! - Two runs give the same bytes, whatever the number of threads.
//! - Doubt is a value: what rests on something unknown is *possible*, and hidden unless asked for.
//! - What a library's symbol is stands in the tables of [`api`]; no check compares names.
//! - Input never makes the program panic: a file that can't be read is a finding or a warning.

pub mod analysis;
pub mod api;
pub mod baseline;
pub mod cancellation;
pub mod checks;
pub mod cli;
pub mod commands;
pub mod distribute;
pub mod examine;
pub mod finding;
pub mod fix;
pub mod graph;
pub mod isolation;
pub mod normalise;
pub mod program;
pub mod progress;
pub mod project;
pub mod ranks;
pub mod report;
pub mod rewrite;
pub mod semantic;
pub mod server;
pub mod suppression;
pub mod switched_off;
pub mod syntax;
