//! The Python client's own tests, against the binary of this build.

use std::path::Path;

use rookery_testkit::{Finished, Home, rookery_binary};

#[test]
fn the_python_client_passes_its_tests() {
    let home = Home::new();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python/tests");
    let mut python = home.command("python3");
    python.args(["-B", "-m", "unittest", "discover", "-s"]).arg(tests);
    python.env("ROOKERY", rookery_binary()).env("PATH", std::env::var_os("PATH").unwrap());
    python.env_remove("ROOKERY_HOME");
    let done = Finished::of(python);
    // Skipped ones would count as passed.
    assert!(done.status.success() && !done.stderr.contains("skipped"), "{}", done.stderr);
    assert!(done.stderr.contains("Ran "), "{}", done.stderr);
}
