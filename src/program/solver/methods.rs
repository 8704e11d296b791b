//! What the methods of Python's own types do with objects.

use super::{Field, Literal, Name, Object, ObjectId, SiteId, Solver, Use};
use crate::semantic::{BuiltinType, Container};

impl Solver<'_> {
    pub(super) fn call_builtin_method(&mut self, site: SiteId, receiver: ObjectId, name: Name) {
        let text = self.names.text(name).to_owned();
        match self.objects.get(receiver) {
            Object::Container(Container::Dict, _) => self.call_dict_method(site, receiver, &text),
            Object::Container(kind, _) => self.call_sequence_method(site, receiver, kind, &text),
            Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str) => {
                let Some(result) = self.result(site) else { return };
                match text.as_str() {
                    "split" | "rsplit" | "splitlines" | "partition" | "rpartition" => {
                        let list = self.new_container(Container::List, result);
                        let any = self.field(list, Field::Any);
                        self.add_new(any, Object::Type(BuiltinType::Str));
                    }
                    "encode" => self.add_new(result, Object::Type(BuiltinType::Bytes)),
                    "find" | "index" | "rfind" | "count" => {
                        self.add_new(result, Object::Type(BuiltinType::Int));
                    }
                    _ if text.starts_with("is") || text.ends_with("with") => {
                        self.add_new(result, Object::Type(BuiltinType::Bool));
                    }
                    _ => self.add_new(result, Object::Type(BuiltinType::Str)),
                }
            }
            Object::Type(BuiltinType::Bytes) if text == "decode" => {
                if let Some(result) = self.result(site) {
                    self.add_new(result, Object::Type(BuiltinType::Str));
                }
            }
            Object::Type(BuiltinType::File) => {
                let Some(result) = self.result(site) else { return };
                match text.as_str() {
                    "readlines" => {
                        let list = self.new_container(Container::List, result);
                        let any = self.field(list, Field::Any);
                        self.add_new(any, Object::Type(BuiltinType::Str));
                    }
                    _ => self.add_new(result, Object::Type(BuiltinType::Str)),
                }
            }
            _ => self.unknown_result(site),
        }
    }

    pub(super) fn call_dict_method(&mut self, site: SiteId, dict: ObjectId, method: &str) {
        let arguments = self.arguments(site);
        let result = match self.result(site) {
            Some(result) => result,
            None => self.fresh(),
        };
        let first = arguments.positional.first().copied();
        let second = arguments.positional.get(1).copied();
        match method {
            "get" | "pop" | "setdefault" => {
                if let Some(first) = first {
                    self.on(first, Use::KeyInto(dict, result));
                }
                if let Some(default) = second {
                    self.flow(default, result);
                    if method == "setdefault"
                        && let Some(first) = first
                    {
                        self.on(first, Use::PartOf(dict, default));
                        let keys = self.field(dict, Field::Keys);
                        self.flow(first, keys);
                    }
                }
            }
            "items" | "iteritems" | "popitem" => {
                let pair = if method == "popitem" {
                    self.new_container(Container::Tuple, result)
                } else {
                    self.pair_in(Container::List, result)
                };
                let (keys, all) = (self.field(dict, Field::Keys), self.all(dict));
                let key = self.part(pair, Literal::Int(0));
                let value = self.part(pair, Literal::Int(1));
                self.flow(keys, key);
                self.flow(all, value);
            }
            "values" | "itervalues" | "keys" | "iterkeys" => {
                let list = self.new_container(Container::List, result);
                let any = self.field(list, Field::Any);
                let from =
                    if method.contains("values") { self.all(dict) } else { self.field(dict, Field::Keys) };
                self.flow(from, any);
            }
            "update" => {
                if let Some(first) = first {
                    self.on(first, Use::PairsInto(dict, self.site_caller(site)));
                }
                self.keywords_into(&arguments, dict);
                self.add_new(result, Object::Literal(Literal::None));
            }
            "copy" => {
                let copy = self.new_container(Container::Dict, result);
                self.merge_into(dict, copy);
            }
            "clear" => self.add_new(result, Object::Literal(Literal::None)),
            _ => self.unknown(result),
        }
    }

    pub(super) fn call_sequence_method(
        &mut self,
        site: SiteId,
        container: ObjectId,
        kind: Container,
        method: &str,
    ) {
        let arguments = self.arguments(site);
        let result = match self.result(site) {
            Some(result) => result,
            None => self.fresh(),
        };
        let first = arguments.positional.first().copied();
        match method {
            "append" | "add" | "appendleft" => {
                if let Some(first) = first {
                    let any = self.field(container, Field::Any);
                    self.flow(first, any);
                }
                self.add_new(result, Object::Literal(Literal::None));
            }
            "insert" => {
                if let Some(&value) = arguments.positional.get(1) {
                    let any = self.field(container, Field::Any);
                    self.flow(value, any);
                }
                self.add_new(result, Object::Literal(Literal::None));
            }
            "extend" | "update" => {
                let any = self.field(container, Field::Any);
                self.iterate_argument(site, first, any);
                self.add_new(result, Object::Literal(Literal::None));
            }
            "pop" | "popleft" | "__next__" | "next" | "send" => {
                let all = self.all(container);
                self.flow(all, result);
            }
            "copy" | "union" | "intersection" | "difference" => {
                let copy = self.new_container(kind, result);
                self.slice_into(container, 0, None, copy);
                let any = self.field(copy, Field::Any);
                if method == "union" {
                    self.iterate_argument(site, first, any);
                }
            }
            "index" | "count" => self.add_new(result, Object::Type(BuiltinType::Int)),
            "sort" => {
                let all = self.all(container);
                self.call_key_function(site, &arguments, all);
                self.add_new(result, Object::Literal(Literal::None));
            }
            _ => self.add_new(result, Object::Literal(Literal::None)),
        }
    }
}
