//! Operations as rows of a table, found by name: how each is decoded, whether it needs test mode
//! and whether it keeps its place in line. Knows neither ids nor connections.

use std::{collections::HashMap, fmt, future::Future, pin::Pin};

use rookery_wire::{
    ids::Named,
    rights::{self, Rights},
    rpc::Answer,
};
use schemars::{Schema, SchemaGenerator};
use serde_json::value::RawValue;

use crate::{
    errors::{Code, Error},
    lane::Turn,
    params::Fields,
    wire::Call,
};

/// What an operation comes to.
pub type OpResult = Result<Box<dyn Answer>, Error>;

/// An operation at work.
pub type Work = Pin<Box<dyn Future<Output = OpResult> + Send>>;

/// An operation that has its params and waits for its turn.
pub enum Ready<C> {
    /// The next request begins when this one is answered.
    Ordered(Box<dyn FnOnce(C) -> Work + Send>),
    /// It ends its turn itself.
    Free(Box<dyn FnOnce(C, Turn) -> Work + Send>),
}

/// How params are decoded.
pub type Decode<C> = fn(&Fields, Option<&RawValue>) -> Result<Ready<C>, Error>;

/// How params and result are described.
pub type Describe = fn(&mut SchemaGenerator) -> (Schema, Schema);

/// One row of the table; its operation runs in a context of type `C`.
pub struct Op<C: 'static> {
    /// The name on the wire.
    pub name: &'static str,
    /// What it asks of its caller.
    pub rights: Rights,
    /// Which members of its params carry ids.
    pub names: &'static [Named],
    /// Whether it is refused outside of test mode.
    pub gated: bool,
    /// Decodes the params.
    pub decode: Decode<C>,
    /// The keys of its params.
    pub fields: fn() -> Fields,
    /// The schemas of params and result, unless it only exists elsewhere.
    pub schemas: Option<Describe>,
}

impl<C> Op<C> {
    /// The same operation, for test mode only.
    #[must_use]
    pub const fn gated(self) -> Self {
        Self { gated: true, ..self }
    }

    /// An operation of test mode that exists on other systems only.
    #[must_use]
    pub const fn elsewhere(name: &'static str) -> Self {
        let decode: Decode<C> =
            |_, _| Err(Error::new(Code::NotImplemented, "this operation exists on macOS only"));
        let rights = Rights::LOOK;
        Self {
            name,
            rights,
            names: &[],
            gated: true,
            decode,
            fields: Fields::default,
            schemas: None,
        }
    }
}

impl<C> fmt::Debug for Op<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Op").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A row of the table: `op!(Params, LOOK, [tab_id: Terminal] => function)`, where the params know the name,
/// the constants of [`Rights`] say what is asked of the caller, and the list says which members carry ids.
///
/// The function is `async fn(Cx, Params) -> Result<Params::Reply, Error>` and keeps its place in
/// line until it is answered. With `free`, it is `async fn(Cx, Turn, Params)` and ends its turn
/// itself before it waits for something that may take long.
macro_rules! op {
    ($params:ty, $rights:ident, [$($names:tt)*] => $function:path) => {
        op!(@row $params, $rights, [$($names)*], |params| $crate::table::Ready::Ordered(Box::new(move |cx| {
            $crate::table::work::<$params>($function(cx, params))
        })))
    };
    ($params:ty, $rights:ident, [$($names:tt)*] => free $function:path) => {
        op!(@row $params, $rights, [$($names)*], |params| $crate::table::Ready::Free(Box::new(move |cx, turn| {
            $crate::table::work::<$params>($function(cx, turn, params))
        })))
    };
    (@row $params:ty, $rights:ident, [$($names:tt)*], |$p:ident| $ready:expr) => {
        $crate::table::Op {
            name: <$params as ::rookery_wire::Call>::METHOD,
            rights: ::rookery_wire::rights::Rights::$rights,
            names: ::rookery_wire::names![$($names)*],
            gated: false,
            decode: |fields, raw| {
                let $p: $params = fields.decode(raw)?;
                Ok($ready)
            },
            fields: $crate::params::Fields::of::<$params>,
            schemas: Some($crate::table::schemas::<$params>),
        }
    };
}
pub(crate) use op;

/// Boxes an operation at work; used by [`op!`].
pub(crate) fn work<P: Call>(
    call: impl Future<Output = Result<P::Reply, Error>> + Send + 'static,
) -> Work {
    Box::pin(async move { Ok(Box::new(call.await?) as Box<dyn Answer>) })
}

/// The schemas of an operation; used by [`op!`].
pub(crate) fn schemas<P: Call>(generator: &mut SchemaGenerator) -> (Schema, Schema) {
    (generator.subschema_for::<P>(), generator.subschema_for::<P::Reply>())
}

/// What operations are refused on a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Whether operations for tests are allowed.
    pub test_mode: bool,
    /// Whether the caller is a program that an agent runs.
    pub is_agent: bool,
}

/// All operations, found by name.
#[derive(Debug)]
pub struct Table<C: 'static> {
    rows: Vec<(&'static Op<C>, Fields)>,
    by_name: HashMap<&'static str, usize>,
}

impl<C> Table<C> {
    /// Joins several slices of operations in their order.
    ///
    /// # Panics
    /// If two operations have one name: tables are constants, so every test that builds one finds it.
    pub fn new(slices: impl IntoIterator<Item = &'static [Op<C>]>) -> Self {
        let ops = slices.into_iter().flatten();
        let rows: Vec<_> = ops.map(|op| (op, (op.fields)())).collect();
        let mut by_name = HashMap::with_capacity(rows.len());
        for (at, (op, _)) in rows.iter().enumerate() {
            let previous = by_name.insert(op.name, at);
            assert!(previous.is_none(), "operation `{}` is in the table twice", op.name);
        }
        Self { rows, by_name }
    }

    /// Finds an operation that these terms allow, and decodes its params.
    ///
    /// # Errors
    /// `unknown-op`, `not-enabled`, or what is wrong with the params.
    pub fn start(
        &self,
        name: &str,
        params: Option<&RawValue>,
        terms: Terms,
    ) -> Result<(&'static str, Ready<C>), Error> {
        let Some(at) = self.by_name.get(name) else {
            let name = crate::wire::scalar::shortened(name);
            return Err(Error::new(Code::UnknownOp, format!("unknown op `{name}`")));
        };
        let (op, fields) = &self.rows[*at];
        if op.gated && !terms.test_mode {
            let message = format!("`{}` needs ROOST_TEST_MODE=1 at the server's start", op.name);
            return Err(Error::new(Code::NotEnabled, message));
        }
        if !op.rights.admits(terms.is_agent) {
            return Err(Error::new(Code::NotEnabled, rights::refusal(op.name)));
        }
        (op.decode)(fields, params).map(|ready| (op.name, ready))
    }

    /// All operations, in the order of the slices.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'static Op<C>> {
        self.rows.iter().map(|(op, _)| *op)
    }
}
