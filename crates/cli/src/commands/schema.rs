//! `rookery schema`: JSON Schema of every method, made from the types that serve them.

use rookery_dialects::Dialect;

use crate::{
    args,
    commands::done,
    failure::{Failure, Outcome},
    output,
};

pub(super) fn run(args: &args::Schema) -> Outcome {
    let dialect = Dialect::named(&args.dialect);
    let dialect = dialect.ok_or_else(|| Failure::new(format!("no dialect {}", args.dialect)))?;
    output::json(&dialect.schema())?;
    done()
}
