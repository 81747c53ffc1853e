/* tls: the contexts that servers of each name shake hands with. */
#include "faultproxy.h"

#include <stdio.h>
#include <string.h>

const char *const fp_certificate_names[FP_CERTIFICATES] = {"good", "wrong_name", "expired",
                                                           "self_signed", "mutual"};

static int load(SSL_CTX *ctx, const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.pem", folder, name);
    if (SSL_CTX_use_certificate_file(ctx, path, SSL_FILETYPE_PEM) != 1) return FP_FAILED;
    snprintf(path, sizeof path, "%s/%s.key", folder, name);
    return SSL_CTX_use_PrivateKey_file(ctx, path, SSL_FILETYPE_PEM) == 1 ? 0 : FP_FAILED;
}

static int demand_client(SSL_CTX *ctx, const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/ca.pem", folder);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return SSL_CTX_load_verify_locations(ctx, path, NULL) == 1 ? 0 : FP_FAILED;
}

SSL_CTX *fp_tls_context(const char *folder, const char *name) {
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    bool mutual = strcmp(name, "mutual") == 0;
    if (!ctx) return NULL;
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_num_tickets(ctx, 0); /* or a client has bytes to read before any answer */
    if (load(ctx, folder, name) == 0 && (!mutual || demand_client(ctx, folder) == 0)) return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}
