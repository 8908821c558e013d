//! What faces ask for beside the link, against the table of the daemon's own dialect.

use rookery_dialects::Dialect;
use rookery_face::daemon;
use serde_json::json;

#[test]
fn the_daemon_takes_what_faces_send() {
    let native = Dialect::named("native").expect("the native dialect is registered");
    let (served, _) = native.ops();
    for (method, params) in daemon::samples() {
        assert!(served.iter().any(|op| op.name == method), "{method} is not served");
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let read = native.read(request.to_string().as_bytes());
        assert!(read.is_ok(), "{method} does not take {params}: {read:?}");
    }
}
