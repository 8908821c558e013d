//! Files and directories, read only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Params of `fs/readFile`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FsReadFileParams {
    /// Which file; absolute.
    pub path: String,
    /// The first byte wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Result of `fs/readFile`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FsReadFileResult {
    /// The bytes, in padded Base64.
    pub data_base64: String,
}

/// Params of `fs/readDirectory`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FsReadDirectoryParams {
    /// Which directory; absolute.
    pub path: String,
}

/// Result of `fs/readDirectory`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FsReadDirectoryResult {
    /// What is directly in it, sorted.
    pub entries: Vec<DirectoryEntry>,
}

/// Something in a directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryEntry {
    pub file_name: String,
    /// Whether it is one, links followed.
    pub is_directory: bool,
    /// Whether it is one, links followed.
    pub is_file: bool,
}
