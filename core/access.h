/* access: how a pool comes to its servers: as whom, over which way, and whom it takes for them. */
#ifndef CHUTE_ACCESS_H
#define CHUTE_ACCESS_H

#include "chute.h"

#include <stdbool.h>

/* Texts are owned; NULL where not given. */
typedef struct chute_access {
    uint32_t auth; /* CHUTE_AUTH_… */
    bool insecure;
    char *token;
    char *ca, *cert, *key, *server_name;
    char *proxy;       /* "": none, whatever the environment says */
    char *unix_socket; /* a path */
    char **roles;
    size_t roles_count;
} chute_access;

/* Copies what the config says of it. 0, or fills err, which shows no secret; then, too, it is to be
 * cleared. */
int chute_access_read(chute_access *access, const chute_pool_config *config, chute_error *err);
void chute_access_clear(chute_access *access);

/* Sets what is the same for all requests on a handle of libcurl. */
void chute_access_apply(const chute_access *access, void *easy);

#endif
