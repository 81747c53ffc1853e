#include "about.h"

#include "error.h"
#include "schema.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SETTINGS = 200 };

/* ---- writing ------------------------------------------------------------------------------- */

static void put_u32(chute_text *out, uint32_t value) {
    chute_text_add(out, (const char *)&value, sizeof value);
}

static void put_text(chute_text *out, const char *at, size_t len) {
    put_u32(out, (uint32_t)len);
    chute_text_add(out, at, len);
}

static void put_string(chute_text *out, const char *text) {
    put_text(out, text, strlen(text));
}

static void put_column(chute_text *out, const struct chute_column *column) {
    size_t len = chute_type_print(column->type, NULL, 0);
    char *type = malloc(len + 1);
    if (!type) {
        out->failed = true;
        return;
    }
    chute_type_print(column->type, type, len + 1);
    put_text(out, column->name, column->name_len);
    put_text(out, type, len);
    free(type);
}

uint8_t *chute_about_write(const chute_insert *insert, const chute_schema *schema, size_t *len) {
    chute_text out = {0};
    put_u32(&out, (uint32_t)insert->compression);
    put_u32(&out, (uint32_t)insert->level);
    put_u32(&out, insert->sql_in_body);
    put_string(&out, insert->target);
    put_string(&out, insert->format);
    put_u32(&out, (uint32_t)insert->settings_count);
    for (size_t i = 0; i < insert->settings_count; i++) {
        put_string(&out, insert->settings[i].name);
        put_string(&out, insert->settings[i].value);
    }
    put_u32(&out, schema->count);
    for (uint32_t i = 0; i < schema->count; i++) put_column(&out, schema->columns + i);
    if (out.failed) {
        chute_text_clear(&out);
        return NULL;
    }
    *len = out.len;
    return (uint8_t *)out.at;
}

/* ---- reading ------------------------------------------------------------------------------- */

struct reader {
    const uint8_t *at;
    size_t left;
    bool failed; /* the bytes end too early */
};

static uint32_t take_u32(struct reader *in) {
    uint32_t value = 0;
    if (in->left < sizeof value) {
        in->failed = true;
        in->left = 0;
        return 0;
    }
    memcpy(&value, in->at, sizeof value);
    in->at += sizeof value;
    in->left -= sizeof value;
    return value;
}

static struct chute_about_text take_text(struct reader *in) {
    size_t len = take_u32(in);
    if (in->failed || in->left < len) {
        in->failed = true;
        return (struct chute_about_text){"", 0};
    }
    struct chute_about_text text = {(const char *)in->at, len};
    in->at += len;
    in->left -= len;
    return text;
}

/* A copy with a NUL; NULL where there is one inside, or no memory. */
static char *take_string(struct reader *in) {
    struct chute_about_text text = take_text(in);
    if (in->failed || memchr(text.at, '\0', text.len)) return NULL;
    return strndup(text.at, text.len);
}

static bool take_settings(struct reader *in, chute_insert *insert) {
    uint32_t count = take_u32(in);
    if (in->failed || count > MAX_SETTINGS) return false;
    insert->settings = calloc(count ? count : 1, sizeof *insert->settings);
    if (!insert->settings) return false;
    while (insert->settings_count < count) {
        chute_pair *pair = insert->settings + insert->settings_count++;
        pair->name = take_string(in);
        pair->value = take_string(in);
        if (!pair->name || !pair->value) return false;
    }
    return true;
}

static bool take_insert(struct reader *in, chute_insert *insert) {
    insert->compression = (int)take_u32(in);
    insert->level = (int)take_u32(in);
    insert->sql_in_body = take_u32(in) != 0;
    insert->target = take_string(in);
    struct chute_about_text format = take_text(in);
    int known = chute_format_find(format.at, format.len);
    if (in->failed || !insert->target || known < 0) return false;
    insert->format = chute_format_name(known);
    return take_settings(in, insert);
}

chute_insert *chute_about_read(const uint8_t *bytes, size_t len, chute_error *err) {
    struct reader in = {bytes, len, false};
    chute_insert *insert = calloc(1, sizeof *insert);
    if (!insert) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    atomic_init(&insert->refs, 1);
    if (take_insert(&in, insert)) return insert;
    chute_insert_free(insert);
    chute_fail(err, CHUTE_E_SPOOL, "its description tells of no INSERT that this version knows");
    return NULL;
}

static void skip_insert(struct reader *in) {
    for (int i = 0; i < 3; i++) take_u32(in);
    take_text(in);
    take_text(in);
    for (uint32_t left = take_u32(in); left && !in->failed; left--) {
        take_text(in);
        take_text(in);
    }
}

bool chute_about_column(const uint8_t *bytes, size_t len, uint32_t index,
                        struct chute_about_text *name, struct chute_about_text *type) {
    struct reader in = {bytes, len, false};
    skip_insert(&in);
    if (index >= take_u32(&in)) return false;
    for (uint32_t i = 0; i <= index && !in.failed; i++) {
        *name = take_text(&in);
        *type = take_text(&in);
    }
    return !in.failed;
}
