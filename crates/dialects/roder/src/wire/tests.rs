//! Every document of the contract against its types: params in both spellings, results byte by byte.

mod params;
mod results;
