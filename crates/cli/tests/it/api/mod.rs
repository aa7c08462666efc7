//! The API of a running `deft up`, over real sockets.

mod access;
mod client;
mod feed;
mod routes;
mod tokens;
