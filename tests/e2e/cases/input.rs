//! What goes in: every byte value, and programs that never read.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rookery_native::wire::{TerminalClose, TerminalWrite};
use rookery_testkit::{Caller, PATIENCE, TestDaemon, wait_until};
use rookery_wire::Call as _;
use serde_json::json;

#[test]
fn every_byte_value_reaches_a_raw_child() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let out = daemon.home().join("bytes");
    let script = format!(
        "stty raw -echo; printf ready; head -c 512 >{0}.part; mv {0}.part {0}; exec cat >/dev/null",
        out.display()
    );
    let id = client.open_sh(&script);
    client.wait_text(id, "ready");
    let all: Vec<u8> = (0..=255).collect();
    let data = STANDARD.encode(&all);
    client.call(TerminalWrite::METHOD, json!({ "terminal": id, "data": data }));
    for byte in &all {
        let data = STANDARD.encode([*byte]);
        client.call(TerminalWrite::METHOD, json!({ "terminal": id, "data": data }));
    }
    wait_until("the child has read everything", PATIENCE, || out.exists());
    assert_eq!(fs::read(&out).unwrap(), [all.clone(), all].concat());
}

#[test]
fn every_byte_value_comes_out_of_the_raw_log() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let (input, log) = (daemon.home().join("in"), daemon.home().join("log"));
    let bytes: Vec<u8> = (0..=255).cycle().take(256 * 40).collect();
    fs::write(&input, &bytes).unwrap();
    let script = format!("stty raw; cat {}; exec cat >/dev/null", input.display());
    client.call(
        "session.create",
        json!({ "program": "/bin/sh", "args": ["-c", script], "raw_transcript_path": log }),
    );
    wait_until("everything is logged", PATIENCE, || {
        fs::metadata(&log).is_ok_and(|meta| meta.len() >= bytes.len() as u64)
    });
    assert_eq!(fs::read(&log).unwrap(), bytes);
}

#[test]
fn a_child_that_never_reads_is_busy_and_harms_no_other() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let deaf = client.open_sh("stty raw -echo; printf ready; exec sleep 1000");
    client.wait_text(deaf, "ready");
    let other = client.open_sh("exec cat");
    let megabyte = "x".repeat(1 << 20);
    let mut refusal = None;
    for _ in 0..3 {
        let params = json!({ "terminal": deaf, "text": megabyte });
        if let Err(error) = client.try_call(TerminalWrite::METHOD, params) {
            refusal = Some(error.to_string());
        }
        client.write(other, "hear me\n");
    }
    let refusal = refusal.expect("three megabytes do not fit");
    assert!(refusal.contains("does not read"), "{refusal}");
    let more = json!({ "terminal": deaf, "text": megabyte });
    assert_eq!(client.refused(TerminalWrite::METHOD, more).code, -32013);
    client.wait_text(other, "hear me\nhear me");
    client.call(TerminalClose::METHOD, json!({ "terminal": deaf }));
}

#[test]
fn large_input_arrives_whole_and_in_order() {
    let daemon = TestDaemon::start();
    let client = daemon.client();
    let out = daemon.home().join("sum");
    let script =
        format!("stty raw -echo; printf ready; head -c 900000 | md5sum >{}", out.display());
    let id = client.open_sh(&script);
    client.wait_text(id, "ready");
    let text: String = (0..90_000).map(|number| format!("{number:09}\n")).collect();
    assert_eq!(text.len(), 900_000);
    fs::write(daemon.home().join("same"), &text).unwrap();
    client.call(TerminalWrite::METHOD, json!({ "terminal": id, "text": text }));
    client.wait(json!({ "terminal": id, "exit": true }));
    let sum = daemon.home().run("md5sum".as_ref(), &[daemon.home().join("same").to_str().unwrap()]);
    let wanted = sum.success();
    let got = fs::read_to_string(&out).unwrap();
    assert_eq!(got.split(' ').next(), wanted.split(' ').next());
}

#[test]
fn much_input_in_a_row_reaches_a_program_that_reads() {
    let daemon = TestDaemon::start();
    let client = Caller::connect(&daemon.ptywright_socket()).unwrap();
    let script = "stty raw -echo; printf ready; head -c 3200000 | wc -c; exec cat";
    let params = json!({"program": "/bin/sh", "args": ["-c", script]});
    let session = client.call("session.create", params)["session"].clone();
    let wait = |text: &str| {
        let matcher = json!({"type": "contains_text", "value": text});
        client
            .call("session.wait", json!({"session": session, "matcher": matcher, "cells": false}));
    };
    wait("ready");
    for _ in 0..8 {
        let action = json!({"type": "text", "value": "x".repeat(400_000)});
        client.call("session.input", json!({"session": session, "action": action}));
    }
    wait("3200000");
}
