//! Self-signed certificates, generated for each test, so no key is in the repository.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OID: u8 = 0x06;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const UTF8: u8 = 0x0c;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];

/// A certificate and its private key, both in PEM.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The certificate.
    pub cert: String,
    /// The private key.
    pub key: String,
}

impl Certificate {
    /// Generates a certificate for a host that expires on the first of June of `year_of_end`.
    pub fn new(host: &str, year_of_end: u16) -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).expect("a key");
        let signed = content(host, year_of_end, pair.public_key().as_ref());
        let signature = pair.sign(&random, &signed).expect("a signature");
        let certificate = element(
            SEQUENCE,
            &[
                signed,
                element(SEQUENCE, &[element(OID, &[ECDSA_WITH_SHA256.to_vec()])]),
                bits(signature.as_ref()),
            ],
        );
        Self {
            cert: pem("CERTIFICATE", &certificate),
            key: pem("PRIVATE KEY", pkcs8.as_ref()),
        }
    }

    /// Returns the certificate in DER.
    pub fn der(&self) -> Vec<u8> {
        let lines = self.cert.lines().filter(|line| !line.starts_with('-'));
        STANDARD.decode(lines.collect::<String>()).expect("base64")
    }
}

/// Returns the signed part of a certificate.
fn content(host: &str, year: u16, public_key: &[u8]) -> Vec<u8> {
    let oid = |oid: &[u8]| element(OID, &[oid.to_vec()]);
    let name = [oid(COMMON_NAME), element(UTF8, &[b"test of deft".to_vec()])];
    let name = element(SEQUENCE, &[element(SET, &[element(SEQUENCE, &name)])]);
    let begin = element(UTC_TIME, &[b"700101000000Z".to_vec()]);
    // Years from 2050 on have four digits (RFC 5280).
    let end = match year {
        2000..2050 => element(UTC_TIME, &[format!("{:02}0601000000Z", year - 2000).into()]),
        _ => element(GENERALIZED_TIME, &[format!("{year}0601000000Z").into()]),
    };
    let hosts = element(SEQUENCE, &[element(0x82, &[host.into()])]);
    let extension = [oid(ALTERNATIVE_NAME), element(OCTET_STRING, &[hosts])];
    let extensions = element(SEQUENCE, &[element(SEQUENCE, &extension)]);
    let key_kind = element(SEQUENCE, &[oid(EC_PUBLIC_KEY), oid(P256)]);
    element(
        SEQUENCE,
        &[
            element(0xa0, &[element(INTEGER, &[vec![2]])]),
            element(INTEGER, &[vec![7]]),
            element(SEQUENCE, &[oid(ECDSA_WITH_SHA256)]),
            name.clone(),
            element(SEQUENCE, &[begin, end]),
            name,
            element(SEQUENCE, &[key_kind, bits(public_key)]),
            element(0xa3, &[extensions]),
        ],
    )
}

fn bits(bytes: &[u8]) -> Vec<u8> {
    element(BIT_STRING, &[vec![0], bytes.to_vec()])
}

/// Encodes a DER element with these parts.
fn element(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    let content = parts.concat();
    let length = u16::try_from(content.len()).expect("a short element");
    let [high, low] = length.to_be_bytes();
    let mut all = match (high, low) {
        (0, 0..=0x7f) => vec![tag, low],
        (0, _) => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    all.extend(content);
    all
}

fn pem(label: &str, bytes: &[u8]) -> String {
    let text = STANDARD.encode(bytes);
    let lines: Vec<&str> = (0..text.len())
        .step_by(64)
        .map(|at| &text[at..text.len().min(at + 64)])
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
}
