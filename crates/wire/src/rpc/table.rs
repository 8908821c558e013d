//! Typed methods as rows of a table: name, function and the schemas of what goes in and out.
//! Owns decoding of params; knows neither ids nor connections.

use std::{collections::HashMap, fmt, future::Future, pin::Pin};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::value::RawValue;

use super::RpcError;
use crate::{
    decode::{self, Fault},
    ids::Named,
    rights::Rights,
};

/// A result that can be written as JSON, straight into the write buffer.
pub trait Answer: Send {
    /// Appends the JSON document.
    ///
    /// # Errors
    /// If it cannot be written as JSON; `out` then ends in garbage.
    fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()>;
}

impl<T: Serialize + Send> Answer for T {
    fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(out, self)
    }
}

/// What a method comes to.
pub type CallResult = Result<Box<dyn Answer>, RpcError>;

/// A method at work.
pub type Work = Pin<Box<dyn Future<Output = CallResult> + Send>>;

/// One row of a table, made by [`method!`](crate::method).
pub struct Method<C: 'static> {
    /// The name on the wire.
    pub name: &'static str,
    /// What it asks of its caller.
    pub rights: Rights,
    /// Which members of its params carry ids.
    pub names: &'static [Named],
    /// Decodes the params and starts the method. Absent params count as `{}`.
    pub call: fn(C, Option<&RawValue>) -> Result<Work, RpcError>,
    /// Decodes the params and no more.
    pub decodes: fn(Option<&RawValue>) -> Result<(), RpcError>,
    pub params_schema: fn(&mut SchemaGenerator) -> Schema,
    pub result_schema: fn(&mut SchemaGenerator) -> Schema,
}

impl<C> fmt::Debug for Method<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Method").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A row of a method table: `method!(Params, LOOK, [session: Session] => path::to::function)`. The params
/// know the name (see [`Call`](crate::Call)), one of the constants of [`Rights`] says what is asked of the
/// caller, and the list says which members carry ids (see [`names!`](crate::names)).
///
/// The function is `async fn(C, P) -> Result<R, E>` with `P: DeserializeOwned + JsonSchema`,
/// `R: Serialize + JsonSchema` and `E: Into<RpcError>`. A literal in place of the params is for those without
/// a name of their own: names that others gave, and params that several methods share.
#[macro_export]
macro_rules! method {
    ($name:literal, $rights:ident, [$($names:tt)*] => $function:path) => {
        $crate::method!(@row $name, $rights, [$($names)*], $function, $crate::rpc::invoke)
    };
    ($params:ty, $rights:ident, [$($names:tt)*] => $function:path) => {
        $crate::method!(
            @row <$params as $crate::Call>::METHOD, $rights, [$($names)*], $function,
            $crate::rpc::invoke_call::<$params, _, _, _>
        )
    };
    (@row $name:expr, $rights:ident, [$($names:tt)*], $function:path, $invoke:expr) => {
        $crate::rpc::Method {
            name: $name,
            rights: $crate::rights::Rights::$rights,
            names: $crate::names![$($names)*],
            call: |context, params| $invoke($function, context, params),
            decodes: |params| $crate::rpc::decodes($function, params),
            params_schema: |generator| $crate::rpc::params_schema($function, generator),
            result_schema: |generator| $crate::rpc::result_schema($function, generator),
        }
    };
}

/// Decodes the params of a function and no more; used by [`method!`](crate::method).
///
/// # Errors
/// If they do not decode.
#[doc(hidden)]
pub fn decodes<C, P: DeserializeOwned, Fut>(
    _function: impl Fn(C, P) -> Fut,
    params: Option<&RawValue>,
) -> Result<(), RpcError> {
    decode::<P>(params).map(drop)
}

/// As [`invoke`], for params that know what is answered; used by [`method!`](crate::method).
///
/// # Errors
/// If the params do not decode.
#[doc(hidden)]
pub fn invoke_call<P, C, E, Fut>(
    function: impl Fn(C, P) -> Fut,
    context: C,
    params: Option<&RawValue>,
) -> Result<Work, RpcError>
where
    P: crate::Call<Reply: Serialize + Send + 'static> + DeserializeOwned,
    E: Into<RpcError>,
    Fut: Future<Output = Result<P::Reply, E>> + Send + 'static,
{
    invoke(function, context, params)
}

/// Decodes params and starts `function`; used by [`method!`](crate::method).
///
/// # Errors
/// If the params do not decode.
#[doc(hidden)]
pub fn invoke<C, P, R, E, Fut>(
    function: impl Fn(C, P) -> Fut,
    context: C,
    params: Option<&RawValue>,
) -> Result<Work, RpcError>
where
    P: DeserializeOwned,
    R: Serialize + Send + 'static,
    E: Into<RpcError>,
    Fut: Future<Output = Result<R, E>> + Send + 'static,
{
    let params = decode(params)?;
    let call = function(context, params);
    Ok(Box::pin(async move {
        match call.await {
            Ok(result) => Ok(Box::new(result) as Box<dyn Answer>),
            Err(error) => Err(error.into()),
        }
    }))
}

/// The schema of a function's params; used by [`method!`](crate::method).
#[doc(hidden)]
pub fn params_schema<C, P: JsonSchema, Fut>(
    _function: impl Fn(C, P) -> Fut,
    generator: &mut SchemaGenerator,
) -> Schema {
    generator.subschema_for::<P>()
}

/// The schema of a function's result; used by [`method!`](crate::method).
#[doc(hidden)]
pub fn result_schema<C, P, R, E, Fut>(
    _function: impl Fn(C, P) -> Fut,
    generator: &mut SchemaGenerator,
) -> Schema
where
    R: JsonSchema,
    Fut: Future<Output = Result<R, E>>,
{
    generator.subschema_for::<R>()
}

fn decode<P: DeserializeOwned>(params: Option<&RawValue>) -> Result<P, RpcError> {
    let decoded = match params {
        Some(params) => decode::from_raw(params),
        None => decode::from_str("{}"),
    };
    decoded.map_err(|fault| describe(&fault))
}

/// The decoder's own words, with the path behind if the fault is not at the top.
fn describe(fault: &Fault) -> RpcError {
    match fault.depth() > 1 {
        true => RpcError::invalid_params(format!("{}, at {}", fault.message(), fault.path())),
        false => RpcError::invalid_params(fault.message()),
    }
}

/// Params that are decoded later, by a method that has something to check first.
#[derive(Debug, Clone)]
pub struct RawParams<P> {
    text: Box<RawValue>,
    decoded: std::marker::PhantomData<fn() -> P>,
}

impl<P: DeserializeOwned> RawParams<P> {
    /// Decodes them.
    ///
    /// # Errors
    /// If they do not decode.
    pub fn decode(&self) -> Result<P, RpcError> {
        decode(Some(&self.text))
    }
}

impl<'de, P> Deserialize<'de> for RawParams<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self { text, decoded: std::marker::PhantomData })
    }
}

impl<P: JsonSchema> JsonSchema for RawParams<P> {
    fn inline_schema() -> bool {
        P::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        P::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        P::json_schema(generator)
    }
}

/// The params of a method that takes none: whatever is sent is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoParams;

impl Serialize for NoParams {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(std::iter::empty::<((), ())>())
    }
}

impl<'de> Deserialize<'de> for NoParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl JsonSchema for NoParams {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NoParams".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "properties": {} })
    }
}

/// All methods of an endpoint, found by name.
pub struct Table<C: 'static> {
    methods: Vec<&'static Method<C>>,
    by_name: HashMap<&'static str, usize>,
}

impl<C> Table<C> {
    /// Joins several slices of methods in their order.
    ///
    /// # Panics
    /// If two methods have one name: tables are constants, so every test that builds one finds it.
    pub fn new(slices: impl IntoIterator<Item = &'static [Method<C>]>) -> Self {
        let methods: Vec<_> = slices.into_iter().flatten().collect();
        let mut by_name = HashMap::with_capacity(methods.len());
        for (at, method) in methods.iter().enumerate() {
            let previous = by_name.insert(method.name, at);
            assert!(previous.is_none(), "method `{}` is in the table twice", method.name);
        }
        Self { methods, by_name }
    }

    /// The method of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'static Method<C>> {
        self.by_name.get(name).map(|at| self.methods[*at])
    }

    /// All methods, in the order of the slices.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'static Method<C>> {
        self.methods.iter().copied()
    }
}

impl<C> fmt::Debug for Table<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.methods).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call;

    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    struct Params {
        session: String,
        #[serde(default)]
        size: Option<Size>,
        #[serde(default)]
        list: Vec<Size>,
        #[serde(default)]
        kind: Option<Kind>,
    }

    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    struct Size {
        rows: u16,
    }

    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        One,
        Two,
    }

    async fn show(_cx: (), p: Params) -> Result<String, RpcError> {
        Ok(p.session)
    }

    async fn none(_cx: (), _p: NoParams) -> Result<u8, RpcError> {
        Ok(1)
    }

    call!("t.show" Params -> String);

    const METHODS: &[Method<()>] =
        &[method!(Params, LOOK, [session: Session] => show), method!("t.none", LOOK, [] => none)];

    fn message(text: &str) -> String {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        let error = decode::<Params>(Some(raw)).unwrap_err();
        assert_eq!(error.code, -32602);
        error.message
    }

    #[test]
    fn decode_errors_are_the_decoders_words() {
        assert_eq!(message("{}"), "missing field `session`");
        assert_eq!(message(r#"{"session":1}"#), "invalid type: integer `1`, expected a string");
        assert_eq!(
            message(r#"{"session":"s","kind":"six"}"#),
            "unknown variant `six`, expected `one` or `two`"
        );
        assert_eq!(
            message(r#"{"session":"s","size":{"rows":-1}}"#),
            "invalid value: integer `-1`, expected u16, at size.rows"
        );
        assert_eq!(message(r#"{"session":"s","list":[{}]}"#), "missing field `rows`, at list[0]");
        assert_eq!(message("5"), "invalid type: integer `5`, expected struct Params");
    }

    #[test]
    fn absent_params_are_an_empty_object() {
        let error = (METHODS[0].call)((), None).err().unwrap();
        assert_eq!(error.message, "missing field `session`");
        for text in ["[1]", "7", r#"{"x":{}}"#] {
            let raw: &RawValue = serde_json::from_str(text).unwrap();
            assert!((METHODS[1].call)((), Some(raw)).is_ok());
        }
    }

    #[test]
    fn a_table_lists_describes_and_finds() {
        let table = Table::new([METHODS]);
        assert_eq!(table.iter().map(|m| m.name).collect::<Vec<_>>(), ["t.show", "t.none"]);
        assert_eq!(table.get("t.none").unwrap().name, "t.none");
        assert!(table.get("t.other").is_none());
        let mut generator = SchemaGenerator::default();
        let schema = (METHODS[0].params_schema)(&mut generator);
        assert_eq!(schema.get("$ref").unwrap(), "#/$defs/Params");
        assert!(generator.definitions().contains_key("Params"));
        let result = (METHODS[0].result_schema)(&mut generator);
        assert_eq!(result.get("type").unwrap(), "string");
    }

    #[test]
    #[should_panic(expected = "method `t.show` is in the table twice")]
    fn a_name_is_used_once() {
        let _ = Table::new([METHODS, METHODS]);
    }
}
