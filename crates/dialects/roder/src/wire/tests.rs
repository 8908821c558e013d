//! Every document of the contract against its types: params in both spellings, results byte by byte.

mod families;
mod params;
mod results;
