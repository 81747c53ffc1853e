#include "buffer.h"

#include "error.h"
#include "kill.h"
#include "schema.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

_Static_assert((int)CHUTE_BUFFER_SLACK >= (int)CHUTE_WIRE_SLACK, "short copies need their room");

enum { PAGE = 4096, FIRST_CAPACITY = 64 * 1024 - CHUTE_BUFFER_SLACK, CLAIMED = 64 };

static size_t mapped(const chute_buffer *buffer, size_t capacity) {
    return buffer->header_len + capacity + CHUTE_BUFFER_SLACK;
}

static uint64_t pack(uint64_t rows, uint64_t bytes) {
    return rows << CHUTE_WORD_BYTES_BITS | bytes;
}

static uint64_t load(const chute_buffer *buffer) {
    return atomic_load_explicit(buffer->word, memory_order_relaxed);
}

/* ---- life ---------------------------------------------------------------------------------- */

static chute_buffer *new_empty(chute_schema *schema, size_t capacity, size_t ceiling,
                               chute_error *err) {
    if (!schema->encoder || ceiling == 0 || ceiling > CHUTE_BUFFER_MAX_BYTES - schema->header_len) {
        chute_fail(err, CHUTE_E_ARG, "a buffer needs a compiled schema and a size it can have");
        return NULL;
    }
    chute_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    buffer->header_len = schema->header_len;
    buffer->capacity = capacity;
    buffer->ceiling = ceiling;
    buffer->word = &buffer->own_word;
    buffer->next_mark = SIZE_MAX;
    return buffer;
}

static chute_buffer *new_buffer(chute_schema *schema, size_t capacity, size_t ceiling,
                                chute_error *err) {
    chute_buffer *buffer = new_empty(schema, capacity, ceiling, err);
    if (!buffer) return NULL;
    buffer->data = mmap(NULL, mapped(buffer, capacity), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (buffer->data == MAP_FAILED) goto no_memory;
    memcpy(buffer->data, schema->header, schema->header_len);
    buffer->schema = chute_schema_keep(schema);
    return buffer;
no_memory:
    free(buffer);
    chute_fail(err, CHUTE_E_NOMEM, "no memory for a buffer of %zu bytes", capacity);
    return NULL;
}

chute_buffer *chute_buffer_new(chute_schema *schema, size_t ceiling, chute_error *err) {
    return new_buffer(schema, FIRST_CAPACITY, ceiling, err);
}

/* Touches each page once: a fault here is a fault that no row waits for. */
static void warm_up(chute_buffer *buffer, size_t warm) {
    size_t end = warm < buffer->ceiling ? warm : buffer->ceiling;
    for (size_t at = buffer->header_len; at < buffer->header_len + end; at += PAGE)
        ((volatile uint8_t *)buffer->data)[at] = 0;
}

chute_buffer *chute_buffer_new_warm(chute_schema *schema, size_t ceiling, size_t warm,
                                    chute_error *err) {
    chute_buffer *buffer = new_buffer(schema, chute_buffer_room(ceiling), ceiling, err);
    if (buffer) warm_up(buffer, warm);
    return buffer;
}

chute_buffer *chute_buffer_new_in(chute_schema *schema, const struct chute_buffer_memory *memory,
                                  size_t ceiling, chute_error *err) {
    chute_buffer *buffer = new_empty(schema, memory->capacity, ceiling, err);
    if (!buffer) return NULL;
    buffer->data = memory->data;
    buffer->word = memory->word;
    buffer->marks = memory->marks;
    buffer->borrowed = true;
    buffer->schema = chute_schema_keep(schema);
    memcpy(buffer->data, schema->header, schema->header_len);
    chute_buffer_reset(buffer);
    return buffer;
}

chute_buffer *chute_buffer_new_of(uint8_t *data, size_t header_len, uint64_t word,
                                  chute_error *err) {
    chute_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    buffer->header_len = header_len;
    buffer->data = data;
    buffer->word = &buffer->own_word;
    atomic_init(&buffer->own_word, word);
    return buffer;
}

static void free_data(chute_buffer *buffer) {
    if (buffer->borrowed) return;
    if (buffer->schema)
        munmap(buffer->data, mapped(buffer, buffer->capacity));
    else
        free(buffer->data);
}

void chute_buffer_free(chute_buffer *buffer) {
    if (!buffer) return;
    free_data(buffer);
    chute_schema_free(buffer->schema);
    free(buffer);
}

void chute_buffer_trim(chute_buffer *buffer) {
    size_t used;
    chute_buffer_data(buffer, &used);
    uintptr_t first = ((uintptr_t)buffer->data + used + PAGE - 1) / PAGE * PAGE;
    uintptr_t end = (uintptr_t)buffer->data + mapped(buffer, buffer->capacity);
    if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
}

void chute_buffer_reset(chute_buffer *buffer) {
    if (buffer->marks) {
        atomic_store_explicit(&buffer->marks->count, 0, memory_order_relaxed);
        buffer->next_mark = CHUTE_MARK_BYTES;
    }
    atomic_store_explicit(buffer->word, 0, memory_order_release);
}

/* ---- room ---------------------------------------------------------------------------------- */

/* What capacity may grow to. */
static size_t most(const chute_buffer *buffer) {
    return chute_buffer_room(buffer->ceiling);
}

static int grow(chute_buffer *buffer, size_t need, chute_error *err) {
    size_t capacity = buffer->capacity;
    while (capacity < need) capacity *= 2;
    if (capacity > most(buffer)) capacity = most(buffer);
    void *data = mremap(buffer->data, mapped(buffer, buffer->capacity), mapped(buffer, capacity),
                        MREMAP_MAYMOVE);
    if (data == MAP_FAILED)
        return chute_fail(err, CHUTE_E_NOMEM, "no memory for a buffer of %zu bytes", capacity);
    buffer->data = data;
    buffer->capacity = capacity;
    return CHUTE_OK;
}

static __attribute__((cold)) void mark(chute_buffer *buffer, uint64_t word) {
    struct chute_marks *marks = buffer->marks;
    uint32_t count = atomic_load_explicit(&marks->count, memory_order_relaxed);
    buffer->next_mark = chute_word_bytes(word) + CHUTE_MARK_BYTES;
    if (count == marks->max) return;
    marks->at[count] = word;
    atomic_store_explicit(&marks->count, count + 1, memory_order_release);
}

static void commit(chute_buffer *buffer, uint64_t word, size_t row_bytes) {
    uint64_t bytes = chute_word_bytes(word) + row_bytes;
    word = pack(chute_word_rows(word) + 1, bytes);
    chute_kill_point();
    atomic_store_explicit(buffer->word, word, memory_order_release);
    chute_kill_point();
    if (bytes >= buffer->next_mark) mark(buffer, word);
}

static int refuse_size(const chute_buffer *buffer, uint64_t number, size_t row_bytes,
                       chute_error *err) {
    uint64_t word = load(buffer);
    if (row_bytes <= buffer->ceiling)
        return chute_fail(err, CHUTE_E_FULL, "the buffer is full: %llu rows, %llu of %zu bytes",
                          (unsigned long long)chute_word_rows(word),
                          (unsigned long long)chute_word_bytes(word), buffer->ceiling);
    chute_fail(err, CHUTE_E_ROW, "row %llu is larger (%zu bytes) than a batch may be (%zu bytes)",
               (unsigned long long)number, row_bytes, buffer->ceiling);
    if (err) err->row = (int64_t)number;
    return CHUTE_E_ROW;
}

/* Encodes to memory of its own, more of it as long as codecs claim more. What they claim is at most
 * CLAIMED times what they write. */
static int encode_aside(const chute_buffer *buffer, const chute_cells *cells, uint64_t number,
                        size_t bound, uint8_t **aside, size_t *row_bytes, chute_error *err) {
    for (;; bound *= 2) {
        *aside = malloc(bound + CHUTE_WIRE_SLACK);
        if (!*aside)
            return chute_fail(err, CHUTE_E_NOMEM, "no memory for a row of %zu bytes", bound);
        int rc = chute_schema_encode(buffer->schema, cells, number, *aside, bound, row_bytes, err);
        if (rc != CHUTE_E_FULL) return rc;
        if (bound / CLAIMED > most(buffer)) return refuse_size(buffer, number, bound, err);
        free(*aside);
    }
}

/* Close to the ceiling a large row's bound may fit in no margin where the row itself does: it is
 * written aside, then moved. */
static __attribute__((cold)) int add_aside(chute_buffer *buffer, const chute_cells *cells,
                                           uint64_t number, size_t bound, chute_error *err) {
    uint64_t word = load(buffer);
    size_t bytes = chute_word_bytes(word);
    uint8_t *aside;
    size_t row_bytes;
    int rc = encode_aside(buffer, cells, number, bound, &aside, &row_bytes, err);
    if (rc == CHUTE_OK && row_bytes > buffer->ceiling - bytes)
        rc = refuse_size(buffer, number, row_bytes, err);
    else if (rc == CHUTE_OK && bytes + row_bytes > buffer->capacity)
        rc = grow(buffer, bytes + row_bytes, err);
    if (rc == CHUTE_OK) {
        memcpy(buffer->data + buffer->header_len + bytes, aside, row_bytes);
        commit(buffer, word, row_bytes);
    }
    free(aside);
    return rc;
}

/* Writes the row behind the others, where the next will overwrite it if it is not committed. */
static int encode(chute_buffer *buffer, const chute_cells *cells, uint64_t number,
                  size_t *row_bytes, chute_error *err) {
    size_t bytes = chute_word_bytes(load(buffer));
    return chute_schema_encode(buffer->schema, cells, number,
                               buffer->data + buffer->header_len + bytes, buffer->capacity - bytes,
                               row_bytes, err);
}

int chute_buffer_add(chute_buffer *buffer, const chute_cells *cells, chute_error *err) {
    return chute_buffer_add_numbered(buffer, cells, chute_word_rows(load(buffer)) + 1, err);
}

int chute_buffer_add_numbered(chute_buffer *buffer, const chute_cells *cells, uint64_t number,
                              chute_error *err) {
    uint64_t word = load(buffer);
    size_t bytes = chute_word_bytes(word), row_bytes;
    if (chute_word_rows(word) >= CHUTE_BUFFER_MAX_ROWS)
        return chute_fail(err, CHUTE_E_FULL, "the buffer is full: %llu rows",
                          (unsigned long long)chute_word_rows(word));
    int rc = encode(buffer, cells, number, &row_bytes, err);
    if (rc == CHUTE_E_FULL) {
        size_t bound = chute_encoder_bound(buffer->schema->encoder, cells);
        if (bound > most(buffer) - bytes) return add_aside(buffer, cells, number, bound, err);
        rc = grow(buffer, bytes + bound, err);
        if (rc == CHUTE_OK) rc = encode(buffer, cells, number, &row_bytes, err);
        if (rc == CHUTE_E_FULL) return add_aside(buffer, cells, number, 2 * bound, err);
    }
    if (rc != CHUTE_OK) return rc;
    if (row_bytes > buffer->ceiling - bytes) return refuse_size(buffer, number, row_bytes, err);
    commit(buffer, word, row_bytes);
    return CHUTE_OK;
}

/* ---- reading ------------------------------------------------------------------------------- */

uint64_t chute_buffer_rows(const chute_buffer *buffer) {
    return chute_word_rows(atomic_load_explicit(buffer->word, memory_order_acquire));
}

const char *chute_buffer_data(const chute_buffer *buffer, size_t *len) {
    uint64_t word = atomic_load_explicit(buffer->word, memory_order_acquire);
    *len = buffer->header_len + chute_word_bytes(word);
    return (const char *)buffer->data;
}
