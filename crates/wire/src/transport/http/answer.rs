//! What a request is answered: a status, headers and a body that is there already.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Response, StatusCode,
    header::{HeaderName, HeaderValue},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
}

impl Answer {
    /// A status with a body of this type.
    pub fn new(status: u16, kind: &str, body: impl Into<Bytes>) -> Self {
        Self { status, headers: vec![("Content-Type", kind.to_owned())], body: body.into() }
    }

    /// A status, explained in plain text.
    #[must_use]
    pub fn text(status: u16, body: &'static str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body)
    }

    /// A status without anything else.
    #[must_use]
    pub fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Bytes::new() }
    }

    /// The same answer with one more header. A value that no header can carry is left out.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The first value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut named = self.headers.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.as_str())
    }

    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    pub(super) fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in self.headers {
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
                response.headers_mut().append(name, value);
            }
        }
        response
    }
}
