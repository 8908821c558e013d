//! What was shown of a request, in one word: an answer that carries it is to what waits now.

use rookery_model::{Asked, Request};
use sha2::{Digest as _, Sha256};

use crate::rooms::Requests;

impl Requests {
    /// The SHA-256 of everything that a request is decided by, in hexadecimal digits.
    pub fn digest(&self, request: &Request) -> String {
        let mut parts = Parts(Sha256::new());
        parts.add(&request.id.to_string());
        parts.add(&request.tool);
        parts.add_asked(&request.asked);
        let bytes = parts.0.finalize();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Texts one after another, each with its length before it.
struct Parts(Sha256);

impl Parts {
    fn add(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_be_bytes());
        self.0.update(text.as_bytes());
    }

    fn add_all<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) {
        let texts: Vec<&str> = texts.into_iter().collect();
        self.add(&texts.len().to_string());
        texts.into_iter().for_each(|text| self.add(text));
    }

    fn add_asked(&mut self, asked: &Asked) {
        match asked {
            Asked::Approval { kind: _, reason, input, argv, cwd, env, preview } => {
                self.add_all(["approval", reason, input, &cwd.to_string_lossy()]);
                self.add_all(argv.iter().map(String::as_str));
                for (name, value) in env {
                    self.add_all([Some(name.as_str()), value.as_deref()].into_iter().flatten());
                }
                self.add_all(preview.as_deref());
            }
            Asked::Input { questions } => {
                self.add("questions");
                for question in questions {
                    self.add_all([question.id.as_str(), &question.header, &question.question]);
                    let options = question.options.iter();
                    self.add_all(options.flat_map(|it| [it.label.as_str(), &it.description]));
                }
            }
            Asked::PlanExit(plan) => {
                self.add_all(["plan", &plan.summary]);
                self.add_all(plan.next_steps.iter().map(String::as_str));
            }
            Asked::External(call) => self.add_all(["call", &call.arguments]),
            Asked::Permission { title, summary, action, scope } => {
                self.add_all(["permission", title, summary, action]);
                self.add_all(scope.as_deref());
            }
            Asked::Dialog { dialog, title, text } => self.add_all(["dialog", dialog, title, text]),
        }
    }
}
