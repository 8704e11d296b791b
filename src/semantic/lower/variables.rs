//! Variables: what a name is where it is read, and what binding it does.

use super::super::id::{BlockId, NameId, ValueId};
use super::super::ssa::{Content, Found, Place};
use super::super::symbols::{Resolution, Symbols};
use super::super::value::{Value, Variable};
use super::super::{Definition, DefinitionKind, Module, ScopeKind, Use};
use super::Lowering;
use crate::syntax::TextRange;

impl Lowering<'_> {
    pub(super) fn resolve(&self, name: NameId) -> Resolution {
        let lexical = *self.current().lexical.last().expect("a scope has its own lexical scope");
        self.symbols.resolve(lexical, name)
    }

    /// The value of a variable of the open scope at the end of what has been read of `block`.
    pub(super) fn variable_at(&mut self, block: BlockId, variable: Variable) -> ValueId {
        if self.module.symbol(variable).rebound {
            return self.cell(variable);
        }
        self.content_at(block, Place::Name(variable.symbol)).unwrap_or(self.unbound)
    }

    /// What a variable may be in a scope whose end control never reaches, such as a script that ends by `raise`.
    pub(super) fn any_definition(&mut self, variable: Variable) -> ValueId {
        let definitions = self.module.definitions.iter();
        let mut values: Vec<ValueId> = definitions
            .filter(|definition| definition.variable == variable && definition.value != self.unbound)
            .map(|definition| definition.value)
            .collect();
        values.sort_unstable();
        values.dedup();
        match values[..] {
            [] => self.unbound,
            [only] => only,
            _ => self.push(Value::Phi(values.into()), TextRange::default()),
        }
    }

    /// What `place` holds at the end of what has been read of `block`; `None` if that is not known.
    pub(super) fn content_at(&mut self, block: BlockId, place: Place) -> Option<ValueId> {
        match self.frame().ssa.lookup(block, place) {
            Found::Content(Content::Value(value)) => Some(value),
            Found::Content(_) => None,
            Found::AtEntry => match place {
                Place::Name(symbol) => Some(self.value_at_entry(symbol)),
                _ => None,
            },
            Found::Nowhere => matches!(place, Place::Name(_)).then_some(self.unbound),
            Found::Merge(block) => {
                let phi = self.push(Value::Phi(Box::default()), TextRange::default());
                self.phis.push(phi);
                self.frame().ssa.place_phi(block, place, phi);
                Some(phi)
            }
        }
    }

    /// What a variable of the open scope is before its code binds it.
    pub(super) fn value_at_entry(&mut self, symbol: u32) -> ValueId {
        let scope = self.current().scope;
        let name = self.module.scopes[scope.index()].symbols[symbol as usize].name;
        match self.module.scopes[scope.index()].kind {
            ScopeKind::Module => self.free(name),
            // A name that a class body binds is looked for in the module before, not in functions around it.
            ScopeKind::Class(_) => match self.symbols.resolve(Symbols::MODULE, name) {
                Resolution::Local(variable) | Resolution::Outer(variable) => self.cell(variable),
                Resolution::Free => self.free(name),
            },
            ScopeKind::Function(_) | ScopeKind::Lambda(_) => self.unbound,
        }
    }

    pub(super) fn next_order(&mut self) -> u32 {
        self.order += 1;
        self.order
    }

    pub(super) fn read(&mut self, name: &str, range: TextRange) -> ValueId {
        let name = self.module.names.intern(name);
        let block = self.current().block;
        let (variable, value) = match self.resolve(name) {
            Resolution::Local(variable) => (Some(variable), self.variable_at(block, variable)),
            Resolution::Outer(variable) => (Some(variable), self.cell(variable)),
            Resolution::Free => (None, self.free(name)),
        };
        let scope = self.current().scope;
        let order = self.next_order();
        self.module.uses.push(Use { variable, value, range, scope, block, order });
        value
    }

    pub(super) fn define(&mut self, name: &str, value: ValueId, kind: DefinitionKind, range: TextRange) {
        let name = self.module.names.intern(name);
        let lexical = match kind {
            // An assignment expression binds outside of the comprehensions around it.
            DefinitionKind::Walrus => self.current().lexical[0],
            _ => *self.current().lexical.last().expect("a scope has its own lexical scope"),
        };
        let (Resolution::Local(variable) | Resolution::Outer(variable)) = self.symbols.resolve(lexical, name)
        else {
            return;
        };
        let order = self.next_order();
        let index = self.module.definitions.len();
        let frame = self.frames.last_mut().expect("a scope is open while its code is read");
        if variable.scope == frame.scope {
            let symbol = variable.symbol;
            frame.ssa.define(frame.block, Place::Name(symbol), Content::Value(value));
            let before = frame.latest[symbol as usize].replace((index, frame.block, frame.calls));
            if let Some((before, block, calls)) = before
                && block == frame.block
                && calls == frame.calls
            {
                self.module.definitions[before].hidden = true;
            }
        }
        let statement = (kind != DefinitionKind::Parameter).then_some(frame.statement);
        let (scope, block) = (frame.scope, frame.block);
        let hidden = false;
        self.module.definitions.push(Definition {
            variable,
            value,
            kind,
            range,
            statement,
            scope,
            block,
            order,
            hidden,
        });
        // What a variable of the module or one that a closure captures holds, other code can reach.
        let symbol = self.module.symbol(variable);
        if variable.scope == Module::TOP || symbol.captured || symbol.rebound {
            self.escape(value);
        }
    }
}
