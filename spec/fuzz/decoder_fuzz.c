/* Bodies: decoded whole and in pieces they come to the same rows and the same end, and every text
 * in a row can be read. */
#include "fuzz.h"

#include "chute.h"

struct outcome {
    uint64_t rows;
    uint64_t hash; /* of all cells of all rows */
    int code;
    char message[1024];
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t len) {
    const uint8_t *at = bytes;
    for (size_t i = 0; i < len; i++) hash = (hash ^ at[i]) * 0x100000001B3ull;
    return hash;
}

static uint64_t mix_cells(uint64_t hash, const chute_cells *cells) {
    for (uint32_t i = 0; i < cells->used; i++) {
        const chute_cell *cell = &cells->at[i];
        hash = mix(hash, &cell->kind, sizeof cell->kind);
        switch (cell->kind) {
        case CHUTE_CELL_NULL: break;
        case CHUTE_CELL_NUMBER:
        case CHUTE_CELL_INT64:
        case CHUTE_CELL_UINT64:
        case CHUTE_CELL_BOOL: hash = mix(hash, &cell->u64, sizeof cell->u64); break;
        case CHUTE_CELL_STRING: hash = mix(hash, cell->ptr, cell->len); break;
        default:
            CHUTE_MUST(cell->kind == CHUTE_CELL_LIST || cell->kind >= CHUTE_CELL_PAIRS);
            CHUTE_MUST(cell->kind != CHUTE_CELL_OTHER && cell->first <= cells->used);
            hash = mix(hash, &cell->len, sizeof cell->len);
        }
    }
    return hash;
}

static void decode(const uint8_t *data, size_t size, size_t piece, struct outcome *out) {
    chute_error err = {0};
    const chute_cells *cells;
    chute_decoder *decoder = chute_decoder_new(size % 5 == 0, size % 3 ? NULL : "Asia/Tokyo");
    *out = (struct outcome){.hash = 1};
    for (size_t at = 0;;) {
        while ((out->code = chute_decoder_next(decoder, &cells, &err)) == 1) {
            out->rows++;
            out->hash = mix_cells(out->hash, cells);
        }
        if (out->code < 0 || at > size) break;
        if (at == size) chute_decoder_end(decoder);
        size_t n = size - at < piece ? size - at : piece;
        CHUTE_MUST(chute_decoder_feed(decoder, (const char *)data + at, n, &err) == 0);
        at += n ? n : 1;
    }
    memcpy(out->message, err.message, sizeof out->message);
    chute_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct outcome whole, pieces;
    decode(data, size, size + 1, &whole);
    if (size % 4) return 0; /* most inputs once: that is faster */
    decode(data, size, 1 + (size ? data[size / 2] : 0u) % 23 * 8, &pieces);
    CHUTE_MUST(whole.rows == pieces.rows && whole.hash == pieces.hash);
    CHUTE_MUST(whole.code == pieces.code && strcmp(whole.message, pieces.message) == 0);
    return 0;
}
