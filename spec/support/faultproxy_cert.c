/* cert: an authority of the run's own, and certificates of it, good and bad. */
#include "faultproxy.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

static const char NAMES[] = "DNS:localhost,DNS:chute.test,IP:127.0.0.1,IP:127.0.0.2,IP:127.0.0.3";
static const long DAY = 24 * 60 * 60;

struct identity {
    const char *name;  /* of the files */
    const char *names; /* subjectAltName, or NULL */
    long days;         /* valid for so long; negative: since so long no more */
    bool authority;
    X509 *cert;
    EVP_PKEY *key;
};

/* A test's tool: what cannot fail here ends the process. */
static void must(bool done, const char *what) {
    if (done) return;
    fprintf(stderr, "faultproxy: certificates: %s\n", what);
    exit(1);
}

static void extend(X509 *cert, X509 *issuer, int what, const char *value) {
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &ctx, what, value);
    must(extension && X509_add_ext(cert, extension, -1) == 1, value);
    X509_EXTENSION_free(extension);
}

static void fill(struct identity *id, const struct identity *by, long serial) {
    X509 *cert = id->cert;
    X509_NAME *name = X509_get_subject_name(cert);
    long until = id->days * DAY, from = until < 0 ? until - DAY : -DAY;
    must(X509_set_version(cert, 2) == 1 && X509_set_pubkey(cert, id->key) == 1, "key");
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial);
    must(X509_gmtime_adj(X509_getm_notBefore(cert), from) &&
             X509_gmtime_adj(X509_getm_notAfter(cert), until),
         "dates");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)id->name, -1, -1,
                               0);
    must(X509_set_issuer_name(cert, X509_get_subject_name(by->cert)) == 1, "issuer");
    extend(cert, by->cert, NID_basic_constraints,
           id->authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (id->authority) extend(cert, by->cert, NID_key_usage, "critical,keyCertSign,cRLSign");
    if (id->names) extend(cert, by->cert, NID_subject_alt_name, id->names);
}

static void write_pem(const char *folder, const struct identity *id) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.pem", folder, id->name);
    FILE *file = fopen(path, "w");
    must(file && PEM_write_X509(file, id->cert) == 1 && fclose(file) == 0, path);
    snprintf(path, sizeof path, "%s/%s.key", folder, id->name);
    file = fopen(path, "w");
    must(file && PEM_write_PrivateKey(file, id->key, NULL, NULL, 0, NULL, NULL) == 1 &&
             fclose(file) == 0,
         path);
}

/* by: who signs; itself for an authority and a self-signed one. */
static void make(const char *folder, struct identity *id, const struct identity *by) {
    static long serial;
    id->key = EVP_EC_gen("P-256");
    id->cert = X509_new();
    must(id->key && id->cert, "memory");
    fill(id, by, ++serial);
    must(X509_sign(id->cert, by->key, EVP_sha256()) > 0, "signature");
    write_pem(folder, id);
}

static void drop(struct identity *id) {
    X509_free(id->cert);
    EVP_PKEY_free(id->key);
}

int fp_certificates_make(const char *folder) {
    struct identity ca = {.name = "ca", .days = 30, .authority = true};
    struct identity signed_by_ca[] = {
        {.name = "good", .names = NAMES, .days = 30},
        {.name = "wrong_name", .names = "DNS:elsewhere.test", .days = 30},
        {.name = "expired", .names = NAMES, .days = -1},
        {.name = "mutual", .names = NAMES, .days = 30},
        {.name = "client", .days = 30},
    };
    struct identity on_their_own[] = {
        {.name = "self_signed", .names = NAMES, .days = 30},
        {.name = "stranger", .days = 30}, /* a client nobody vouches for */
    };
    make(folder, &ca, &ca);
    for (size_t i = 0; i < sizeof signed_by_ca / sizeof *signed_by_ca; i++) {
        make(folder, &signed_by_ca[i], &ca);
        drop(&signed_by_ca[i]);
    }
    for (size_t i = 0; i < sizeof on_their_own / sizeof *on_their_own; i++) {
        make(folder, &on_their_own[i], &on_their_own[i]);
        drop(&on_their_own[i]);
    }
    drop(&ca);
    return 0;
}
