//! Notebooks that end their process, so that the next one finds what they have installed:
//! `IPython.Application.instance().kernel.do_shutdown(True)`, `os.kill(os.getpid(), 9)`.

use super::facts::Facts;
use crate::api::Effect;
use crate::project::FileId;
use crate::semantic::{CallId, Module};

/// What ends the kernel, and begins it anew.
const RESTARTS: &str = "ipykernel.kernelbase.Kernel.do_shutdown";

impl Facts<'_> {
    /// Whether a call in a notebook's own code ends the process that the cells above have run in.
    #[must_use]
    pub fn ends_kernel(&self, file: FileId, id: CallId) -> bool {
        if !self.is_notebook(file) {
            return false;
        }
        let module = self.module(file);
        let call = module.call(id);
        // `if not data: sys.exit()` ends it where something is wrong.
        let is_always = module.statement(call.statement).parent.is_none();
        call.scope == Module::TOP
            && self
                .called_symbols(file, id)
                .any(|own| own.name() == RESTARTS || own.has(Effect::Exits) && !own.is_class() && is_always)
    }
}
