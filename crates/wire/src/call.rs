//! Calls as types: the params of a method know its name and what it answers, so that a client writes
//! neither in words.

use serde::{Serialize, de::DeserializeOwned};

/// The params of one method.
pub trait Call: Serialize {
    /// The name on the wire.
    const METHOD: &'static str;
    /// What it answers.
    type Reply: DeserializeOwned;
}

impl<P: Call> Call for &P {
    const METHOD: &'static str = P::METHOD;
    type Reply = P::Reply;
}

/// Says which method a type of params belongs to: `call!("noun/verb" Params -> Reply);`.
#[macro_export]
macro_rules! call {
    ($method:literal $params:ident -> $reply:ty) => {
        impl $crate::Call for $params {
            const METHOD: &'static str = $method;
            type Reply = $reply;
        }
    };
}

/// Declares params of methods that take none: `empty_calls! { pub Name: "noun/verb" -> Reply, }`. Whatever a
/// client sends with them is ignored.
#[macro_export]
macro_rules! empty_calls {
    ($( $(#[$doc:meta])* $vis:vis $name:ident: $method:literal -> $reply:ty, )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        $vis struct $name;

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::rpc::NoParams.serialize(serializer)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::rpc::NoParams::deserialize(from).map(|_| Self)
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $crate::rpc::NoParams::schema_name()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                $crate::rpc::NoParams::json_schema(generator)
            }
        }

        $crate::call!($method $name -> $reply);
    )* };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Call;

    #[derive(serde::Serialize)]
    struct Add {
        a: i64,
    }

    call!("math/add" Add -> i64);
    empty_calls! {
        /// The sum so far.
        Sum: "math/sum" -> i64,
    }

    fn method<P: Call>(_params: &P) -> &'static str {
        P::METHOD
    }

    #[test]
    fn params_know_their_method_also_behind_a_reference() {
        assert_eq!(method(&Add { a: 1 }), "math/add");
        assert_eq!(method(&&Add { a: 1 }), "math/add");
        assert_eq!(method(&Sum), "math/sum");
    }

    #[test]
    fn a_call_without_params_sends_an_empty_object_and_ignores_what_it_gets() {
        assert_eq!(serde_json::to_value(Sum).unwrap(), json!({}));
        for text in ["{}", "null", "[1]", r#"{"x":{"y":1}}"#] {
            assert_eq!(serde_json::from_str::<Sum>(text).unwrap(), Sum, "{text}");
        }
    }
}
