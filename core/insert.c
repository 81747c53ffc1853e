#include "insert.h"

#include "error.h"
#include "identifier.h"
#include "schema.h"
#include "url.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TABLE = 1024, MAX_SETTINGS = 200 };

/* ---- the target ---------------------------------------------------------------------------- */

static size_t target_room(const chute_schema *schema, size_t table_len) {
    size_t need = sizeof "INSERT INTO  ()" + CHUTE_IDENTIFIER_ROOM(table_len) + 8;
    for (uint32_t i = 0; i < schema->count; i++)
        need += CHUTE_IDENTIFIER_ROOM(schema->columns[i].name_len) + 2;
    return need;
}

static char *append(char *out, const char *text) {
    size_t len = strlen(text);
    memcpy(out, text, len + 1);
    return out + len;
}

/* "INSERT INTO `db`.`t` (`a`, `b`)": the columns are always named. */
static int write_target(const chute_schema *schema, const char *table, char *out,
                        chute_error *err) {
    char quoted[CHUTE_QUOTE_MAX];
    size_t len = strlen(table);
    out = chute_identifier_quote_table(table, len, append(out, "INSERT INTO "));
    if (!out)
        return chute_fail(err, CHUTE_E_SCHEMA,
                          "%s is no table name: \"table\" or \"database.table\", parts with dots "
                          "in backquotes",
                          chute_quote(table, len, quoted, sizeof quoted));
    out = append(out, " (");
    for (uint32_t i = 0; i < schema->count; i++) {
        if (i) out = append(out, ", ");
        out = chute_identifier_quote(schema->columns[i].name, schema->columns[i].name_len, out);
    }
    append(out, ")");
    return CHUTE_OK;
}

static int set_target(chute_insert *insert, const chute_schema *schema, const char *table,
                      chute_error *err) {
    if (!table || !*table) return chute_fail(err, CHUTE_E_SCHEMA, "no table to insert into");
    if (strlen(table) > MAX_TABLE)
        return chute_fail(err, CHUTE_E_SCHEMA, "a table name of over %d bytes", MAX_TABLE);
    insert->target = malloc(target_room(schema, strlen(table)));
    if (!insert->target) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    return write_target(schema, table, insert->target, err);
}

/* ---- settings ------------------------------------------------------------------------------ */

/* A setting's name goes into URLs and SQL: letters, digits and underscores only. */
static bool is_setting_name(const char *name) {
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return len > 0 && len < 256 && name[len] == '\0' && !chute_url_is_reserved(name) &&
           strcmp(name, "database") != 0;
}

/* How a server is told that JSON goes as text. */
static const chute_pair JSON_AS_TEXT = {"input_format_binary_read_json_as_string", "1"};

static int copy_setting(chute_pair *to, const chute_pair *from, chute_error *err) {
    char quoted[CHUTE_QUOTE_MAX];
    if (!is_setting_name(from->name))
        return chute_fail(err, CHUTE_E_ARG, "%s is no name of a setting",
                          chute_quote(from->name, strlen(from->name), quoted, sizeof quoted));
    to->name = strdup(from->name);
    to->value = strdup(from->value);
    if (!to->name || !to->value) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    return CHUTE_OK;
}

static int set_settings(chute_insert *insert, const chute_schema *schema,
                        const chute_stream_config *config, chute_error *err) {
    size_t count = config->settings_count, own = schema->json_text;
    if (count > MAX_SETTINGS)
        return chute_fail(err, CHUTE_E_ARG, "more than %d settings", MAX_SETTINGS);
    insert->settings = calloc(count + own + 1, sizeof *insert->settings);
    if (!insert->settings) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        if (own && strcmp(config->settings[i].name, JSON_AS_TEXT.name) == 0) continue;
        int rc =
            copy_setting(insert->settings + insert->settings_count++, config->settings + i, err);
        if (rc != CHUTE_OK) return rc;
    }
    if (!own) return CHUTE_OK;
    return copy_setting(insert->settings + insert->settings_count++, &JSON_AS_TEXT, err);
}

/* ---- life ---------------------------------------------------------------------------------- */

chute_insert *chute_insert_new(const chute_schema *schema, const chute_stream_config *config,
                               chute_error *err) {
    chute_insert *insert = calloc(1, sizeof *insert);
    if (!insert) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    atomic_init(&insert->refs, 1);
    insert->compression = config->compression;
    insert->level = config->level;
    insert->retry = (chute_retry){.attempts = config->attempts,
                                  .deadline_ms = config->deadline_ms,
                                  .base_ms = config->base_ms,
                                  .max_ms = config->max_ms};
    insert->sql_in_body = config->sql_in_body != 0;
    insert->format = chute_format_name(schema->format);
    if (set_target(insert, schema, config->table, err) == CHUTE_OK &&
        set_settings(insert, schema, config, err) == CHUTE_OK)
        return insert;
    chute_insert_free(insert);
    return NULL;
}

chute_insert *chute_insert_keep(chute_insert *insert) {
    atomic_fetch_add_explicit(&insert->refs, 1, memory_order_relaxed);
    return insert;
}

void chute_insert_free(chute_insert *insert) {
    if (!insert || atomic_fetch_sub_explicit(&insert->refs, 1, memory_order_acq_rel) > 1) return;
    for (size_t i = 0; i < insert->settings_count; i++) {
        free((char *)insert->settings[i].name);
        free((char *)insert->settings[i].value);
    }
    free(insert->settings);
    free(insert->target);
    free(insert);
}
