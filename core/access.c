#include "access.h"

#include "error.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ------------------------------------------------------------------------------ */

static bool copy(char **into, const char *text) {
    return !text || (*into = strdup(text)) != NULL;
}

static bool copy_roles(chute_access *access, const chute_pool_config *config) {
    if (!config->roles_count) return true;
    access->roles = calloc(config->roles_count, sizeof *access->roles);
    if (!access->roles) return false;
    for (; access->roles_count < config->roles_count; access->roles_count++)
        if (!copy(&access->roles[access->roles_count], config->roles[access->roles_count]))
            return false;
    return true;
}

static int check_auth(const chute_access *access, const chute_pool_config *config,
                      chute_error *err) {
    if (access->auth > CHUTE_AUTH_BEARER) return chute_fail(err, CHUTE_E_ARG, "no such auth");
    if ((access->auth == CHUTE_AUTH_BEARER) != (access->token != NULL))
        return chute_fail(err, CHUTE_E_ARG, "a token goes with auth \"bearer\", and only with it");
    if (access->token && (config->user || config->password))
        return chute_fail(err, CHUTE_E_ARG, "a token stands alone, without user and password");
    for (const char *at = access->token; at && *at; at++)
        if (*at <= ' ' || *at == 0x7F)
            return chute_fail(err, CHUTE_E_ARG, "a blank or control character in the token");
    return 0;
}

static int check_file(const char *path, const char *what, chute_error *err) {
    if (!path || access(path, R_OK) == 0) return 0;
    return chute_fail(err, CHUTE_E_ARG, "tls.%s: cannot read %s: %s", what, path, strerror(errno));
}

/* libcurl's own message would show the user and password in it. */
static int check_proxy(const char *proxy, chute_error *err) {
    if (!proxy || !*proxy) return 0;
    CURLU *url = curl_url();
    bool bad = !url || curl_url_set(url, CURLUPART_URL, proxy,
                                    CURLU_DEFAULT_SCHEME | CURLU_NON_SUPPORT_SCHEME);
    curl_url_cleanup(url);
    return bad ? chute_fail(err, CHUTE_E_ARG, "the proxy is no URL") : 0;
}

int chute_access_read(chute_access *access, const chute_pool_config *config, chute_error *err) {
    access->auth = config->auth;
    access->insecure = config->insecure;
    if (!copy(&access->token, config->token) || !copy(&access->ca, config->ca) ||
        !copy(&access->cert, config->cert) || !copy(&access->key, config->key) ||
        !copy(&access->server_name, config->server_name) || !copy(&access->proxy, config->proxy) ||
        !copy(&access->unix_socket, config->unix_socket) || !copy_roles(access, config))
        return chute_fail(err, CHUTE_E_NOMEM, "no memory for a pool");
    int failed = check_auth(access, config, err);
    if (!failed) failed = check_file(access->ca, "ca", err);
    if (!failed) failed = check_file(access->cert, "cert", err);
    if (!failed) failed = check_file(access->key, "key", err);
    return failed ? failed : check_proxy(access->proxy, err);
}

void chute_access_clear(chute_access *access) {
    free(access->token);
    free(access->ca);
    free(access->cert);
    free(access->key);
    free(access->server_name);
    free(access->proxy);
    free(access->unix_socket);
    for (size_t i = 0; i < access->roles_count; i++) free(access->roles[i]);
    free(access->roles);
    *access = (chute_access){0};
}

/* ---- applying ----------------------------------------------------------------------------- */

static void apply_tls(const chute_access *access, CURL *easy) {
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, access->insecure ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, access->insecure ? 0L : 2L);
    if (access->ca) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, access->ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL); /* that authority alone */
    }
    if (access->cert) curl_easy_setopt(easy, CURLOPT_SSLCERT, access->cert);
    if (access->key) curl_easy_setopt(easy, CURLOPT_SSLKEY, access->key);
}

void chute_access_apply(const chute_access *access, void *easy) {
    apply_tls(access, easy);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (access->proxy) curl_easy_setopt(easy, CURLOPT_PROXY, access->proxy);
    if (access->unix_socket) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, access->unix_socket);
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    }
}
