#include "host.h"

#include "error.h"

#include <string.h>

const char chute_host_question[] = "SELECT version(), groupArray(name) FROM system.settings "
                                   "WHERE name IN ('async_insert', 'insert_deduplication_token')";
const char chute_host_answer_format[] = "TabSeparated";

/* The answer is one line: "26.5.1.1\t['async_insert','insert_deduplication_token']". */
int chute_host_meet(chute_host *host, const char *answer, size_t len, chute_error *err) {
    static const struct {
        const char *name;
        uint32_t bit;
    } settings[] = {{"'async_insert'", CHUTE_KNOWS_ASYNC_INSERT},
                    {"'insert_deduplication_token'", CHUTE_KNOWS_TOKEN}};
    const char *tab = len ? memchr(answer, '\t', len) : NULL;
    size_t version = tab ? (size_t)(tab - answer) : 0;
    char shown[CHUTE_QUOTE_MAX];
    if (version == 0 || version >= sizeof host->version)
        return chute_fail(err, CHUTE_E_NETWORK, "%s does not tell ClickHouse's version: %s",
                          host->url.place, chute_quote(answer, len, shown, sizeof shown));
    memcpy(host->version, answer, version);
    host->version[version] = '\0';
    host->knows = 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (memmem(tab, len - version, settings[i].name, strlen(settings[i].name)))
            host->knows |= settings[i].bit;
    host->met = true;
    return 0;
}

size_t chute_host_settings_max(const chute_host *host, const chute_request *request) {
    return host->url.settings_count + request->settings_count + 2;
}

/* Adds a setting, in the place of an earlier one of its name. */
static size_t put(chute_pair *out, size_t count, chute_pair pair) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(out[i].name, pair.name) == 0) {
            out[i] = pair;
            return count;
        }
    out[count] = pair;
    return count + 1;
}

size_t chute_host_settings(const chute_host *host, const chute_request *request, chute_pair *out) {
    size_t count = 0;
    if (request->insert && host->knows & CHUTE_KNOWS_ASYNC_INSERT)
        count = put(out, count, (chute_pair){"async_insert", "0"});
    if (request->insert && host->knows & CHUTE_KNOWS_TOKEN)
        count = put(out, count, (chute_pair){"insert_deduplication_token", request->token});
    for (size_t i = 0; i < host->url.settings_count; i++)
        count = put(out, count, host->url.settings[i]);
    for (size_t i = 0; i < request->settings_count; i++)
        count = put(out, count, request->settings[i]);
    return count;
}
