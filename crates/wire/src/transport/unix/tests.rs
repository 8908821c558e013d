//! Sockets on disk: modes, live and dead peers, foreign files.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn bind_here(path: &Path) -> io::Result<UnixEndpoint> {
    bind(path, &BindOptions::default())
}

#[tokio::test]
async fn directory_and_socket_are_private() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run/rookery/s.sock");
    let endpoint = bind_here(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&home.path().join("run")), 0o700);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);

    let mut client = connect(&path).await.unwrap();
    let mut accepted = endpoint.accept().await.unwrap();
    assert_eq!(accepted.peer_pid(), Some(std::process::id()));
    client.write_all(b"ping").await.unwrap();
    let mut got = [0; 4];
    accepted.read_exact(&mut got).await.unwrap();
    assert_eq!(&got, b"ping");

    drop(endpoint);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_live_socket_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s");
    let first = bind_here(&path).unwrap();
    let refused = bind_here(&path).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
    assert!(refused.to_string().contains(path.to_str().unwrap()));
    let _client = connect(&path).await.unwrap();
    first.accept().await.unwrap();
}

#[tokio::test]
async fn a_dead_socket_is_replaced() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let endpoint = bind_here(&path).unwrap();
    let (client, accepted) = tokio::join!(connect(&path), endpoint.accept());
    assert!(client.is_ok() && accepted.is_ok());
}

#[tokio::test]
async fn what_is_no_socket_is_never_replaced() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("file");
    fs::write(&path, "precious").unwrap();
    let refused = bind_here(&path).unwrap_err();
    let message = format!("refusing to replace non-socket path: {}", path.display());
    assert_eq!(refused.to_string(), message);
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");

    let link = home.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(bind_here(&link).is_err());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[tokio::test]
async fn a_replaced_socket_is_not_removed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s");
    let first = bind_here(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let second = bind_here(&path).unwrap();
    drop(first);
    assert!(path.exists());
    drop(second);
    assert!(!path.exists());
}

#[tokio::test]
async fn too_long_a_path_is_an_error_that_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    assert!(bind_here(&home.path().join("x".repeat(120))).is_err());
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn connections_over_the_limit_are_closed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s");
    let options = BindOptions { max_connections: 1, ..BindOptions::default() };
    let endpoint = bind(&path, &options).unwrap();
    let _first = connect(&path).await.unwrap();
    let held = endpoint.accept().await.unwrap();
    let mut second = connect(&path).await.unwrap();
    let mut byte = [0];
    tokio::select! {
        _ = endpoint.accept() => panic!("accepted over the limit"),
        read = second.read(&mut byte) => assert_eq!(read.unwrap(), 0),
    }
    drop(held);
    let _third = connect(&path).await.unwrap();
    endpoint.accept().await.unwrap();
}

#[tokio::test]
async fn a_directory_of_another_user_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let directory = if geteuid().is_root() {
        std::os::unix::fs::chown(home.path(), Some(12_345), None).unwrap();
        home.path()
    } else {
        Path::new("/")
    };
    let options = BindOptions { allow_shared_parent: true, ..BindOptions::default() };
    let refused = bind(directory.join("s"), &options).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    assert!(refused.to_string().contains("another user"), "{refused}");
}

#[tokio::test]
async fn attack_a_directory_that_all_can_write_is_refused() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let refused = bind_here(&home.path().join("s")).unwrap_err();
    assert!(refused.to_string().contains("chmod o-w"), "{refused}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn attack_a_socket_of_another_user_is_not_talked_to() {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can listen as a second user");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s");
    // The listener's user is the effective user at that moment, so a thread of its own is enough.
    let listener = std::thread::spawn({
        let path = path.clone();
        move || {
            let socket = std::os::unix::net::UnixListener::bind(path).unwrap();
            let other = rustix::process::Uid::from_raw(65_534);
            rustix::thread::set_thread_res_uid(other, other, other).unwrap();
            rustix::net::listen(&socket, 8).unwrap();
            socket
        }
    });
    let listener = listener.join().unwrap();
    let refused = connect(&path).await.unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    assert!(refused.to_string().contains("another user"), "{refused}");
    // It got nothing to read.
    let mut got = Vec::new();
    std::io::Read::read_to_end(&mut listener.accept().unwrap().0, &mut got).unwrap();
    assert_eq!(got, b"");
}

#[tokio::test]
async fn who_is_over_the_limit_reads_why() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s");
    let refusal = "no room\n";
    let options = BindOptions { max_connections: 0, refusal, ..BindOptions::default() };
    let endpoint = bind(&path, &options).unwrap();
    let mut client = connect(&path).await.unwrap();
    let mut got = String::new();
    tokio::select! {
        _ = endpoint.accept() => panic!("accepted over the limit"),
        read = client.read_to_string(&mut got) => read.unwrap(),
    };
    assert_eq!(got, refusal);
}

#[tokio::test]
async fn attack_a_socket_that_was_moved_or_replaced_is_noticed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run/s");
    let endpoint = bind_here(&path).unwrap();
    let bound = endpoint.bound_at();
    assert!(bound.is_in_place());
    fs::rename(home.path().join("run"), home.path().join("away")).unwrap();
    assert!(!bound.is_in_place());
    let _other = bind_here(&path).unwrap();
    assert!(!bound.is_in_place());
}

#[tokio::test]
async fn in_a_directory_of_all_users_the_socket_is_private_and_goes_with_its_server() {
    let path = std::env::temp_dir().join(format!("rk-shared-{}.sock", std::process::id()));
    let shared = path.parent().unwrap().metadata().unwrap();
    if shared.uid() != 0 || shared.mode() & 0o1000 == 0 {
        eprintln!("skipped: the temporary directory is not shared");
        return;
    }
    let refused = bind_here(&path).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "unless that is asked for");
    let options = BindOptions { allow_shared_parent: true, ..BindOptions::default() };
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let endpoint = bind(&path, &options).unwrap();
    assert_eq!(mode(&path), 0o600);
    let taken = bind(&path, &options).unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
    let (client, accepted) = tokio::join!(connect(&path), endpoint.accept());
    assert!(client.is_ok() && accepted.is_ok());
    drop(endpoint);
    assert!(!path.exists());
}

#[test]
fn attack_a_live_socket_that_took_the_place_of_a_dead_one_is_put_back() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s");
    let dir = TrustedDir::for_socket(home.path(), false).unwrap();
    let live = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let refused = remove_dead(&dir, "s", &path).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
    std::os::unix::net::UnixStream::connect(&path).unwrap();
    drop(live);
    remove_dead(&dir, "s", &path).unwrap();
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn attack_what_came_meanwhile_is_not_replaced() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("s");
    let dir = TrustedDir::for_socket(home.path(), false).unwrap();
    let _live = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let refused = bind_private(&dir, "s", &path).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
    std::os::unix::net::UnixStream::connect(&path).unwrap();
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}
