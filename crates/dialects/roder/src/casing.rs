//! Params in either spelling. Before they are decoded, members that a method knows are folded from
//! snake_case into the spelling of its types, at every level that has members; values without
//! members of their own (tool arguments, answers, environments, schemas) pass byte for byte.

use std::{borrow::Cow, collections::HashMap, fmt, ops::Range};

use rookery_model::spelling::{camel, snake};
use rookery_wire::rpc::{self, RpcError, Work};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

/// A row of this dialect's method table: [`rookery_wire::method!`] with folding of params, and with
/// the words that this dialect has for params that are missing or wrong.
#[macro_export]
macro_rules! folding_method {
    ($name:literal, $rights:ident, [$($names:tt)*] => $function:path) => {
        ::rookery_wire::rpc::Method {
            name: $name,
            rights: ::rookery_wire::rights::Rights::$rights,
            names: ::rookery_wire::names![$($names)*],
            call: |context, params| {
                static SHAPE: ::std::sync::LazyLock<$crate::casing::Shape> =
                    ::std::sync::LazyLock::new(|| $crate::casing::Shape::of_params($function));
                $crate::casing::invoke(&SHAPE, $function, context, params)
            },
            decodes: |params| {
                static SHAPE: ::std::sync::LazyLock<$crate::casing::Shape> =
                    ::std::sync::LazyLock::new(|| $crate::casing::Shape::of_params($function));
                $crate::casing::decodes(&SHAPE, $function, params)
            },
            params_schema: |generator| ::rookery_wire::rpc::params_schema($function, generator),
            result_schema: |generator| ::rookery_wire::rpc::result_schema($function, generator),
        }
    };
}

/// Folds and decodes params and starts `function`; used by [`folding_method!`](crate::folding_method).
///
/// # Errors
/// `Missing params` if there are none and the method cannot do without, else `Invalid params: …`.
pub fn invoke<C, P, R, E, Fut>(
    shape: &Shape,
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
    decoded(folded(shape, params)?, |params| rpc::invoke(function, context, params))
}

/// Folds and decodes params and no more; used by [`folding_method!`](crate::folding_method).
///
/// # Errors
/// As for [`invoke`].
pub fn decodes<C, P: DeserializeOwned, Fut>(
    shape: &Shape,
    function: impl Fn(C, P) -> Fut,
    params: Option<&RawValue>,
) -> Result<(), RpcError> {
    decoded(folded(shape, params)?, |params| rpc::decodes(function, params))
}

/// Params with every member spelled as it is decoded; none if there were none.
fn folded<'a>(
    shape: &Shape,
    params: Option<&'a RawValue>,
) -> Result<Option<Cow<'a, RawValue>>, RpcError> {
    let Some(params) = params.filter(|params| params.get() != "null") else {
        return Ok(None);
    };
    if !params.get().starts_with('{') {
        return Err(invalid(&"params must be an object"));
    }
    fold(params, shape).map(Some).map_err(|conflict| invalid(&conflict))
}

/// Hands folded params on. Short, since every method has its own.
fn decoded<T>(
    params: Option<Cow<'_, RawValue>>,
    next: impl FnOnce(Option<&RawValue>) -> Result<T, RpcError>,
) -> Result<T, RpcError> {
    let is_there = params.is_some();
    next(params.as_deref()).map_err(|error| refusal(is_there, &error))
}

fn refusal(has_params: bool, error: &RpcError) -> RpcError {
    match has_params {
        true => invalid(&error.message),
        false => RpcError::invalid_params("Missing params"),
    }
}

fn invalid(why: &dyn fmt::Display) -> RpcError {
    RpcError::invalid_params(format!("Invalid params: {why}"))
}

/// Which members a value has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Shape {
    /// None that we know: it is passed as it is.
    #[default]
    Opaque,
    /// These, by every spelling they may come in.
    Object(HashMap<String, Member>),
    /// The elements have them.
    Array(Box<Shape>),
}

/// A known member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The spelling that is decoded.
    name: String,
    shape: Shape,
}

impl Shape {
    /// The shape of a type, as its schema tells it.
    #[must_use]
    pub fn of<T: JsonSchema>() -> Self {
        let settings =
            SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        Self::from_schema(settings.into_generator().into_root_schema_for::<T>().as_value())
    }

    /// The shape of a function's params.
    pub fn of_params<C, P: JsonSchema, Fut>(_function: impl Fn(C, P) -> Fut) -> Self {
        Self::of::<P>()
    }

    fn from_schema(schema: &Value) -> Self {
        let mut shape = Self::Opaque;
        if let Some(items) = schema.get("items") {
            shape = Self::Array(Box::new(Self::from_schema(items)));
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let mut members = HashMap::new();
            for (name, schema) in properties {
                let member = Member { name: name.clone(), shape: Self::from_schema(schema) };
                for spelling in [camel(name), snake(name), name.clone()] {
                    members.insert(spelling, member.clone());
                }
            }
            shape = Self::Object(members);
        }
        for joined in ["allOf", "anyOf", "oneOf"] {
            let choices = schema.get(joined).and_then(Value::as_array);
            for choice in choices.into_iter().flatten() {
                shape = shape.or(Self::from_schema(choice));
            }
        }
        // What is only a list of plain values has nothing to fold.
        if shape == Self::Array(Box::new(Self::Opaque)) { Self::Opaque } else { shape }
    }

    /// The members of both.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Opaque, shape) | (shape, Self::Opaque) => shape,
            (Self::Object(mut members), Self::Object(more)) => {
                for (spelling, member) in more {
                    let known = members.remove(&spelling);
                    let shape = known.map_or(Self::Opaque, |known| known.shape).or(member.shape);
                    members.insert(spelling, Member { name: member.name, shape });
                }
                Self::Object(members)
            }
            (Self::Array(items), Self::Array(more)) => Self::Array(Box::new(items.or(*more))),
            (shape, _) => shape,
        }
    }
}

/// A member was given in both spellings with different values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The spelling that is decoded.
    name: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` and `{}` differ", camel(&self.name), snake(&self.name))
    }
}

/// The same document with known members in the spelling that is decoded.
///
/// # Errors
/// If a member is given in both spellings with different values.
pub fn fold<'a>(params: &'a RawValue, shape: &Shape) -> Result<Cow<'a, RawValue>, Conflict> {
    if !may_have_snake_case(params.get()) {
        return Ok(Cow::Borrowed(params));
    }
    let mut text = String::with_capacity(params.get().len());
    fold_into(&mut text, params.get(), shape)?;
    // What was put together from parts of a document is a document.
    Ok(RawValue::from_string(text).map_or(Cow::Borrowed(params), Cow::Owned))
}

/// Whether any name could have an underscore, plain or escaped.
fn may_have_snake_case(text: &str) -> bool {
    text.contains('_') || text.contains("\\u")
}

fn fold_into(out: &mut String, text: &str, shape: &Shape) -> Result<(), Conflict> {
    match shape {
        Shape::Object(known) if text.starts_with('{') => {
            if let Ok(Members(members)) = serde_json::from_str(text) {
                return fold_members(out, &members, known);
            }
        }
        Shape::Array(items) if text.starts_with('[') => {
            if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(text) {
                return fold_elements(out, &elements, items);
            }
        }
        Shape::Opaque | Shape::Object(_) | Shape::Array(_) => {}
    }
    out.push_str(text);
    Ok(())
}

fn fold_elements(out: &mut String, elements: &[&RawValue], items: &Shape) -> Result<(), Conflict> {
    out.push('[');
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        fold_into(out, element.get(), items)?;
    }
    out.push(']');
    Ok(())
}

fn fold_members(
    out: &mut String,
    members: &[(String, &RawValue)],
    known: &HashMap<String, Member>,
) -> Result<(), Conflict> {
    // By the spelling that is decoded: the spelling that came, and where its value is in `out`.
    let mut seen: HashMap<&str, (&str, Range<usize>)> = HashMap::new();
    out.push('{');
    for (spelling, value) in members {
        let member = known.get(spelling);
        let name = member.map_or(spelling.as_str(), |member| &member.name);
        if let Some(member) = member
            && let Some((other, place)) = seen.get(name)
            && *other != spelling
        {
            let mut again = String::new();
            fold_into(&mut again, value.get(), &member.shape)?;
            if !is_same(&out[place.clone()], &again) {
                return Err(Conflict { name: name.to_owned() });
            }
            continue;
        }
        if !out.ends_with('{') {
            out.push(',');
        }
        out.push_str(&Value::from(name).to_string());
        out.push(':');
        let start = out.len();
        fold_into(out, value.get(), member.map_or(&Shape::Opaque, |member| &member.shape))?;
        if member.is_some() {
            seen.insert(name, (spelling, start..out.len()));
        }
    }
    out.push('}');
    Ok(())
}

/// Whether two documents say the same.
fn is_same(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<Value>(text).ok();
    one == other || read(one).is_some_and(|value| Some(value) == read(other))
}

/// The members of an object in their order, repeated ones as well.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests;
