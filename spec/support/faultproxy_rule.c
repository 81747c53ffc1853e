/* rule: when to fail, and how. One rule a line: NAME=VALUE words, values %XX-escaped. */
#include "faultproxy.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fp_rule *first, **last = &first;
static uint64_t made;
static unsigned dice;

/* ---- words ---------------------------------------------------------------------------------- */

static const char *const KINDS[] = {"any", "insert", "query", "ping", "other", NULL};
static const char *const PLACES[] = {"request", "accept", "first", "head", "body", "answer", NULL};
static const char *const ACTIONS[] = {"none", "reset", "close", "hold", "pause", NULL};
static const char *const FRAMINGS[] = {"length",  "short",  "chunked",     "trailers",
                                       "unended", "broken", "until_close", NULL};
static const char *const EXPECTS[] = {"once", "twice", "late", "never", NULL};
static const char *const CONNECTIONS[] = {"keep", "close", NULL};

static const struct {
    const char *name;
    const char *const *values; /* NULL: see text */
    bool text;                 /* else a number */
    size_t offset;
} WORDS[] = {
#define WORD(name, values)                                                                         \
    { #name, values, false, offsetof(struct fp_rule, name) }
#define NUMBER(name)                                                                               \
    { #name, NULL, false, offsetof(struct fp_rule, name) }
#define TEXT(name)                                                                                 \
    { #name, NULL, true, offsetof(struct fp_rule, name) }
    WORD(kind, KINDS),
    WORD(at, PLACES),
    WORD(action, ACTIONS),
    WORD(framing, FRAMINGS),
    WORD(expect, EXPECTS),
    WORD(connection, CONNECTIONS),
    NUMBER(nth),
    NUMBER(every),
    NUMBER(after),
    NUMBER(times),
    NUMBER(percent),
    NUMBER(reused),
    NUMBER(bytes),
    NUMBER(ms),
    NUMBER(cut),
    NUMBER(read_rate),
    NUMBER(step),
    NUMBER(step_ms),
    NUMBER(status),
    NUMBER(size),
    NUMBER(http10),
    NUMBER(advertise),
    NUMBER(idle_ms),
    TEXT(contains),
    TEXT(listener),
    TEXT(label),
    TEXT(reason),
    TEXT(header),
    TEXT(body),
    TEXT(raw),
    TEXT(trailer),
    TEXT(interim),
#undef WORD
#undef NUMBER
#undef TEXT
};

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A NUL follows the text. */
static struct fp_text decode(const char *at, size_t len) {
    struct fp_text out = {malloc(len + 1), 0};
    if (!out.at) abort();
    for (size_t i = 0; i < len; i++) {
        bool escaped =
            at[i] == '%' && i + 2 < len && digit(at[i + 1]) >= 0 && digit(at[i + 2]) >= 0;
        out.at[out.len++] = escaped ? (char)(digit(at[i + 1]) * 16 + digit(at[i + 2])) : at[i];
        if (escaped) i += 2;
    }
    out.at[out.len] = 0;
    return out;
}

static int take_choice(const char *const *values, const char *value, int *out) {
    for (int i = 0; values[i]; i++) {
        if (strcmp(values[i], value) != 0) continue;
        *out = i;
        return 0;
    }
    return FP_FAILED;
}

static int take_number(const char *value, int64_t *out) {
    char *end;
    if (strcmp(value, "end") == 0) return *out = FP_END, 0;
    errno = 0;
    *out = strtoll(value, &end, 10);
    return errno || *end || end == value || *out < 0 ? FP_FAILED : 0;
}

static int take_word(struct fp_rule *rule, const char *word, size_t len) {
    const char *equals = memchr(word, '=', len);
    size_t name_len = equals ? (size_t)(equals - word) : len;
    for (size_t i = 0; equals && i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strlen(WORDS[i].name) != name_len || memcmp(WORDS[i].name, word, name_len) != 0)
            continue;
        struct fp_text value = decode(equals + 1, len - name_len - 1);
        void *field = (char *)rule + WORDS[i].offset;
        if (WORDS[i].text) return *(struct fp_text *)field = value, 0;
        int failed = WORDS[i].values ? take_choice(WORDS[i].values, value.at, field)
                                     : take_number(value.at, field);
        free(value.at);
        return failed;
    }
    return FP_FAILED;
}

void fp_rule_unset(struct fp_rule *rule) {
    *rule = (struct fp_rule){0};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (!WORDS[i].text && !WORDS[i].values)
            *(int64_t *)((char *)rule + WORDS[i].offset) = FP_UNSET;
}

static struct fp_rule *parse(const char *line, size_t len, struct ch_buf *err) {
    struct fp_rule *rule = malloc(sizeof *rule);
    if (!rule) abort();
    fp_rule_unset(rule);
    for (size_t at = 0, end; at < len; at = end + 1) {
        const char *blank = memchr(line + at, ' ', len - at);
        end = blank ? (size_t)(blank - line) : len;
        if (end == at || take_word(rule, line + at, end - at) == 0) continue;
        ch_buf_print(err, "not understood: %.*s\n", (int)(end - at), line + at);
        return NULL;
    }
    return rule;
}

/* ---- the list ------------------------------------------------------------------------------- */

static void append(struct fp_rule *rules, struct ch_buf *out) {
    pthread_mutex_lock(&lock);
    *last = rules;
    for (struct fp_rule *rule = rules; rule; rule = rule->next) {
        rule->id = ++made;
        last = &rule->next;
        ch_buf_print(out, "%lu\n", rule->id);
    }
    pthread_mutex_unlock(&lock);
}

int fp_rules_add(const char *text, size_t len, struct ch_buf *out) {
    struct fp_rule *rules = NULL, **tail = &rules;
    for (size_t at = 0, end; at < len; at = end + 1) {
        const char *newline = memchr(text + at, '\n', len - at);
        end = newline ? (size_t)(newline - text) : len;
        if (end == at) continue;
        *tail = parse(text + at, end - at, out);
        if (!*tail) return FP_FAILED;
        tail = &(*tail)->next;
    }
    append(rules, out);
    return 0;
}

void fp_rules_clear(void) {
    pthread_mutex_lock(&lock);
    first = NULL;
    last = &first;
    pthread_mutex_unlock(&lock);
}

void fp_rules_print(struct ch_buf *out) {
    pthread_mutex_lock(&lock);
    for (struct fp_rule *rule = first; rule; rule = rule->next)
        ch_buf_print(out, "{\"id\":%lu,\"seen\":%ld,\"fired\":%ld}\n", rule->id, rule->seen,
                     rule->fired);
    pthread_mutex_unlock(&lock);
}

/* ---- matching ------------------------------------------------------------------------------- */

/* Rules of later places all wait for the head. */
static bool is_place(const struct fp_rule *rule, enum fp_at at) {
    bool early = rule->at == FP_AT_ACCEPT || rule->at == FP_AT_FIRST;
    return at == FP_AT_HEAD ? !early : rule->at == (int)at;
}

static bool matches(const struct fp_rule *rule, const struct fp_conn *conn,
                    const struct fp_head *head, enum fp_kind kind) {
    if (rule->kind != FP_ANY && rule->kind != (int)kind) return false;
    if (rule->listener.at && strcmp(rule->listener.at, conn->listener) != 0) return false;
    if (rule->reused >= 0 && (conn->requests > 1) != (rule->reused > 0)) return false;
    return !rule->contains.at ||
           (head && memmem(head->text, head->len, rule->contains.at, rule->contains.len));
}

static bool fires(const struct fp_rule *rule) {
    if (rule->nth >= 0 && rule->seen != rule->nth) return false;
    if (rule->after >= 0 && rule->seen <= rule->after) return false;
    if (rule->every > 0 && rule->seen % rule->every != 0) return false;
    if (rule->times >= 0 && rule->fired >= rule->times) return false;
    return rule->percent < 0 || rand_r(&dice) % 100 < rule->percent;
}

bool fp_rules_pick(enum fp_at at, const struct fp_conn *conn, const struct fp_head *head,
                   enum fp_kind kind, struct fp_rule *out) {
    bool picked = false;
    pthread_mutex_lock(&lock);
    if (!dice) dice = fp_options.seed;
    for (struct fp_rule *rule = first; rule; rule = rule->next) {
        if (!is_place(rule, at) || !matches(rule, conn, head, kind)) continue;
        rule->seen++;
        if (picked || !fires(rule)) continue;
        rule->fired++;
        *out = *rule;
        picked = true;
    }
    pthread_mutex_unlock(&lock);
    if (picked) fp_count(FP_C_faults, 1);
    return picked;
}

bool fp_rule_answers(const struct fp_rule *rule) {
    return rule->status > 0 || rule->raw.at;
}
