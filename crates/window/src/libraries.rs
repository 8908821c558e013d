//! Libraries that a window needs from the system. They are opened when first needed, so that building
//! needs none of them; here it is found out beforehand which are missing, and what they are called.

/// A library that is missing, and the package that brings it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The file.
    pub library: &'static str,
    /// Its package in Debian and Ubuntu.
    pub package: &'static str,
}

/// What is missing for X11.
pub fn missing_x11() -> Vec<Missing> {
    let checks: [(bool, Missing); 6] = [
        (x11_dl::xlib::Xlib::open().is_ok(), named("libX11.so.6", "libx11-6")),
        (x11_dl::xlib_xcb::Xlib_xcb::open().is_ok(), named("libX11-xcb.so.1", "libx11-xcb1")),
        (x11_dl::xcursor::Xcursor::open().is_ok(), named("libXcursor.so.1", "libxcursor1")),
        (x11_dl::xinput2::XInput2::open().is_ok(), named("libXi.so.6", "libxi6")),
        (xkbcommon_dl::xkbcommon_option().is_some(), named("libxkbcommon.so.0", "libxkbcommon0")),
        (
            xkbcommon_dl::x11::xkbcommon_x11_option().is_some(),
            named("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
        ),
    ];
    checks.into_iter().filter(|(is_there, _)| !is_there).map(|(_, missing)| missing).collect()
}

pub fn missing_wayland() -> Vec<Missing> {
    let checks = [
        (
            wayland_sys::client::is_lib_available(),
            named("libwayland-client.so.0", "libwayland-client0"),
        ),
        (xkbcommon_dl::xkbcommon_option().is_some(), named("libxkbcommon.so.0", "libxkbcommon0")),
    ];
    checks.into_iter().filter(|(is_there, _)| !is_there).map(|(_, missing)| missing).collect()
}

const fn named(library: &'static str, package: &'static str) -> Missing {
    Missing { library, package }
}

/// The packages of what is missing, in one line for a person.
pub fn missing_message(missing: &[Missing]) -> String {
    let libraries: Vec<&str> = missing.iter().map(|it| it.library).collect();
    let mut packages: Vec<&str> = missing.iter().map(|it| it.package).collect();
    packages.dedup();
    format!("missing {} (packages: {})", libraries.join(", "), packages.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_reported_with_its_package() {
        let missing = [named("libXi.so.6", "libxi6"), named("libX11.so.6", "libx11-6")];
        assert_eq!(
            missing_message(&missing),
            "missing libXi.so.6, libX11.so.6 (packages: libxi6 libx11-6)"
        );
    }
}
