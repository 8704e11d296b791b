//! Trees printed as Python, for people who read why two of them differ.
//!
//! Knows what the generated programs and the rules are made of; anything else is printed as the tree that it is.

use std::fmt::Write;

use hvdlint::syntax::ast::{
    Alias, Arguments, Comprehension, Expr, ExprContext, ExprFString, InterpolatedStringElement, Number,
    ParameterWithDefault, Parameters, Stmt, WithItem,
};
use similar::TextDiff;

/// The unified diff of two trees as source.
pub fn diff(expected: &[Stmt], actual: &[Stmt]) -> String {
    let (expected, actual) = (source(expected), source(actual));
    TextDiff::from_lines(&expected, &actual)
        .unified_diff()
        .context_radius(4)
        .header("expected", "actual")
        .to_string()
}

/// The statements as source.
pub fn source(body: &[Stmt]) -> String {
    let mut out = String::new();
    suite(&mut out, body, 0);
    out
}

fn suite(out: &mut String, body: &[Stmt], depth: usize) {
    for stmt in body {
        statement(out, stmt, depth);
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    writeln!(out, "{:width$}{text}", "", width = 4 * depth).expect("writing to a string succeeds");
}

fn statement(out: &mut String, stmt: &Stmt, depth: usize) {
    let mut block = |head: &str, body: &[Stmt]| {
        line(out, depth, head);
        suite(out, body, depth + 1);
    };
    match stmt {
        Stmt::FunctionDef(it) => {
            for decorator in &it.decorator_list {
                line(out, depth, &format!("@{}", expr(&decorator.expression)));
            }
            line(out, depth, &format!("def {}({}):", it.name.id, parameters(&it.parameters)));
            suite(out, &it.body, depth + 1);
        }
        Stmt::ClassDef(it) => {
            let arguments =
                it.arguments.as_ref().map_or_else(String::new, |it| format!("({})", self::arguments(it)));
            block(&format!("class {}{arguments}:", it.name.id), &it.body);
        }
        Stmt::For(it) => {
            block(&format!("for {} in {}:", expr(&it.target), expr(&it.iter)), &it.body);
            if !it.orelse.is_empty() {
                block("else:", &it.orelse);
            }
        }
        Stmt::While(it) => block(&format!("while {}:", expr(&it.test)), &it.body),
        Stmt::If(it) => {
            block(&format!("if {}:", expr(&it.test)), &it.body);
            for clause in &it.elif_else_clauses {
                let head =
                    clause.test.as_ref().map_or("else:".to_owned(), |test| format!("elif {}:", expr(test)));
                block(&head, &clause.body);
            }
        }
        Stmt::With(it) => {
            let item = |item: &WithItem| {
                let bound =
                    item.optional_vars.as_ref().map_or(String::new(), |vars| format!(" as {}", expr(vars)));
                expr(&item.context_expr) + &bound
            };
            block(&format!("with {}:", it.items.iter().map(item).collect::<Vec<_>>().join(", ")), &it.body);
        }
        simple => line(out, depth, &self::simple(simple)),
    }
}

fn simple(stmt: &Stmt) -> String {
    match stmt {
        Stmt::Expr(it) => expr(&it.value),
        Stmt::Assign(it) => {
            let sides: Vec<_> = it.targets.iter().chain([it.value.as_ref()]).map(expr).collect();
            sides.join(" = ")
        }
        Stmt::AugAssign(it) => format!("{} {}= {}", expr(&it.target), it.op.as_str(), expr(&it.value)),
        Stmt::AnnAssign(it) => {
            let value = it.value.as_ref().map_or(String::new(), |value| format!(" = {}", expr(value)));
            format!("{}: {}{value}", expr(&it.target), expr(&it.annotation))
        }
        Stmt::Return(it) => {
            it.value.as_ref().map_or("return".to_owned(), |value| format!("return {}", expr(value)))
        }
        Stmt::Global(it) => {
            let names: Vec<_> = it.names.iter().map(|name| name.id.as_str()).collect();
            format!("global {}", names.join(", "))
        }
        Stmt::Import(it) => format!("import {}", aliases(&it.names)),
        Stmt::ImportFrom(it) => {
            let module = it.module.as_ref().map_or("", |module| module.id.as_str());
            let dots = ".".repeat(it.level as usize);
            format!("from {dots}{module} import {}", aliases(&it.names))
        }
        Stmt::Pass(_) => "pass".to_owned(),
        Stmt::Break(_) => "break".to_owned(),
        Stmt::Continue(_) => "continue".to_owned(),
        other => format!("{other:?}"),
    }
}

fn aliases(aliases: &[Alias]) -> String {
    let one = |alias: &Alias| match &alias.asname {
        Some(name) => format!("{} as {}", alias.name.id, name.id),
        None => alias.name.id.to_string(),
    };
    aliases.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn parameters(parameters: &Parameters) -> String {
    let one = |it: &ParameterWithDefault| {
        let default = it.default.as_ref().map_or(String::new(), |value| format!("={}", expr(value)));
        format!("{}{default}", it.parameter.name.id)
    };
    parameters.args.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn arguments(arguments: &Arguments) -> String {
    let keywords = arguments.keywords.iter().map(|keyword| match &keyword.arg {
        Some(name) => format!("{}={}", name.id, expr(&keyword.value)),
        None => format!("**{}", expr(&keyword.value)),
    });
    arguments.args.iter().map(expr).chain(keywords).collect::<Vec<_>>().join(", ")
}

fn comprehensions(generators: &[Comprehension]) -> String {
    let one = |it: &Comprehension| {
        let ifs: Vec<_> = it.ifs.iter().map(|condition| format!(" if {}", operand(condition))).collect();
        format!(" for {} in {}{}", expr(&it.target), operand(&it.iter), ifs.concat())
    };
    generators.iter().map(one).collect()
}

/// The expression, in parentheses where an operator around it might need them.
fn operand(it: &Expr) -> String {
    match it {
        Expr::BinOp(_)
        | Expr::UnaryOp(_)
        | Expr::BoolOp(_)
        | Expr::Compare(_)
        | Expr::If(_)
        | Expr::Lambda(_) => {
            format!("({})", expr(it))
        }
        it => expr(it),
    }
}

/// A formatted string of plain fields.
fn formatted(it: &ExprFString) -> String {
    let part = |part: &InterpolatedStringElement| match part {
        InterpolatedStringElement::Literal(literal) => literal.value.to_string(),
        InterpolatedStringElement::Interpolation(field) => format!("{{{}}}", expr(&field.expression)),
    };
    format!("f'{}'", it.value.elements().map(part).collect::<String>())
}

fn expr(it: &Expr) -> String {
    match it {
        Expr::Name(it) => it.id.to_string(),
        Expr::Attribute(it) => format!("{}.{}", operand(&it.value), it.attr.id),
        Expr::Call(it) => format!("{}({})", operand(&it.func), arguments(&it.arguments)),
        Expr::Subscript(it) => {
            let slice = match it.slice.as_ref() {
                Expr::Tuple(tuple) if !tuple.elts.is_empty() => list(&tuple.elts),
                slice => expr(slice),
            };
            format!("{}[{slice}]", operand(&it.value))
        }
        Expr::Slice(it) => {
            let part = |part: &Option<Box<Expr>>| part.as_ref().map_or(String::new(), |part| expr(part));
            let step = it.step.as_ref().map_or(String::new(), |step| format!(":{}", expr(step)));
            format!("{}:{}{step}", part(&it.lower), part(&it.upper))
        }
        Expr::BinOp(it) => format!("{} {} {}", operand(&it.left), it.op.as_str(), operand(&it.right)),
        Expr::UnaryOp(it) => {
            let space = if it.op.as_str() == "not" { " " } else { "" };
            format!("{}{space}{}", it.op.as_str(), operand(&it.operand))
        }
        Expr::BoolOp(it) => {
            let operands: Vec<_> = it.values.iter().map(operand).collect();
            operands.join(&format!(" {} ", it.op.as_str()))
        }
        Expr::Compare(it) => {
            let rest = it.ops.iter().zip(&it.comparators);
            let rest = rest.map(|(op, right)| format!(" {} {}", op.as_str(), operand(right)));
            operand(&it.left) + &rest.collect::<String>()
        }
        Expr::If(it) => {
            format!("{} if {} else {}", operand(&it.body), operand(&it.test), operand(&it.orelse))
        }
        Expr::Lambda(it) => {
            let parameters =
                it.parameters.as_ref().map_or(String::new(), |it| format!(" {}", parameters(it)));
            format!("lambda{parameters}: {}", expr(&it.body))
        }
        Expr::List(it) => format!("[{}]", list(&it.elts)),
        Expr::Tuple(it) if it.elts.len() == 1 => format!("({},)", expr(&it.elts[0])),
        Expr::Tuple(it) if matches!(it.ctx, ExprContext::Store) && !it.parenthesized => list(&it.elts),
        Expr::Tuple(it) => format!("({})", list(&it.elts)),
        Expr::ListComp(it) => format!("[{}{}]", operand(&it.elt), comprehensions(&it.generators)),
        Expr::Generator(it) => format!("({}{})", operand(&it.elt), comprehensions(&it.generators)),
        Expr::Starred(it) => format!("*{}", operand(&it.value)),
        Expr::StringLiteral(it) => format!("{:?}", it.value.to_str()),
        Expr::FString(it) => formatted(it),
        Expr::NumberLiteral(it) => match &it.value {
            Number::Int(value) => value.to_string(),
            Number::Float(value) => format!("{value:?}"),
            Number::Complex { .. } => format!("{it:?}"),
        },
        Expr::BooleanLiteral(it) => if it.value { "True" } else { "False" }.to_owned(),
        Expr::NoneLiteral(_) => "None".to_owned(),
        Expr::EllipsisLiteral(_) => "...".to_owned(),
        other => format!("{other:?}"),
    }
}
