/* inspect: a spool looked at, and put in order, from outside: nothing here waits for the streams
 * that use it, nor they for us. */
#include "about.h"
#include "error.h"
#include "spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct chute_spool_list {
    int root;
    bool verify;
    DIR *folders, *files; /* of the root; of the folder in turn, or NULL */
    char folder[CHUTE_FOLDER_NAME];
    int place; /* of the files */
};

/* ---- folders ------------------------------------------------------------------------------- */

static bool has_suffix(const char *name, const char *suffix) {
    size_t len = strlen(name), end = strlen(suffix);
    return len > end && strcmp(name + len - end, suffix) == 0;
}

/* An adopter that meets our glance at the lock comes again. */
static bool is_locked(int root, const char *folder) {
    char path[CHUTE_FOLDER_NAME + 8];
    snprintf(path, sizeof path, "%.47s/lock", folder);
    int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return false;
    bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    return locked;
}

static int place_of(int root, const char *folder) {
    if (strcmp(folder, "dead") == 0) return CHUTE_PLACE_DEAD;
    if (strcmp(folder, "bad") == 0) return CHUTE_PLACE_BAD;
    if (strncmp(folder, "stream-", 7) != 0 || strlen(folder) >= CHUTE_FOLDER_NAME) return 0;
    return is_locked(root, folder) ? CHUTE_PLACE_LIVE : CHUTE_PLACE_LEFT;
}

static DIR *open_folder(int root, const char *name) {
    int fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !dir) close(fd);
    return dir;
}

static bool next_folder(chute_spool_list *list) {
    for (struct dirent *entry; (entry = readdir(list->folders));) {
        list->place = place_of(list->root, entry->d_name);
        if (!list->place) continue;
        snprintf(list->folder, sizeof list->folder, "%.47s", entry->d_name);
        list->files = open_folder(list->root, list->folder);
        if (list->files) return true;
    }
    return false;
}

static bool is_listed(const chute_spool_list *list, const char *name) {
    if (name[0] == '.') return false;
    return list->place == CHUTE_PLACE_BAD ? !has_suffix(name, ".json") : has_suffix(name, ".slot");
}

/* ---- listing ------------------------------------------------------------------------------- */

chute_spool_list *chute_spool_list_new(const char *root, int verify, chute_error *err) {
    chute_spool_list *list = calloc(1, sizeof *list);
    if (!list) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    list->verify = verify != 0;
    list->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    list->folders = list->root >= 0 ? open_folder(list->root, ".") : NULL;
    if (list->folders) return list;
    chute_fail(err, CHUTE_E_SPOOL, "the spool %.512s: cannot be read: %s", root, strerror(errno));
    chute_spool_list_free(list);
    return NULL;
}

void chute_spool_list_free(chute_spool_list *list) {
    if (!list) return;
    if (list->files) closedir(list->files);
    if (list->folders) closedir(list->folders);
    if (list->root >= 0) close(list->root);
    free(list);
}

static void tell(const struct chute_slotfile *file, chute_spool_entry *entry) {
    entry->state = (int32_t)file->header.state;
    memcpy(entry->token, file->header.token, sizeof entry->token);
    entry->opened = (double)file->header.opened_ms / 1000;
    if (entry->state == CHUTE_BATCH_FREE) return;
    entry->rows = chute_word_rows(file->word);
    entry->bytes = chute_slotfile_data_len(file);
    entry->damaged = file->damaged;
}

static void examine(const chute_spool_list *list, int fd, chute_spool_entry *entry) {
    struct chute_slotfile file;
    struct stat seen;
    chute_error err = {0};
    if (fstat(fd, &seen) == 0) entry->file_bytes = (uint64_t)seen.st_size;
    int rc = chute_slotfile_read(&file, fd, &err);
    if (rc == CHUTE_OK && list->verify && file.header.state != CHUTE_SLOT_FREE)
        rc = chute_slotfile_load(&file, fd, &err);
    if (rc == CHUTE_OK)
        tell(&file, entry);
    else
        snprintf(entry->reason, sizeof entry->reason, "%.255s", err.message);
    chute_slotfile_clear(&file);
}

/* Files come and go meanwhile: one that is gone is none. */
static bool fill_entry(const chute_spool_list *list, const char *name, chute_spool_entry *entry) {
    memset(entry, 0, sizeof *entry);
    snprintf(entry->path, sizeof entry->path, "%s/%.200s", list->folder, name);
    entry->place = list->place;
    int fd = openat(dirfd(list->files), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) return false;
    if (fd < 0) {
        snprintf(entry->reason, sizeof entry->reason, "it cannot be opened: %s", strerror(errno));
        return true;
    }
    examine(list, fd, entry);
    close(fd);
    return true;
}

int chute_spool_list_next(chute_spool_list *list, chute_spool_entry *entry) {
    while (list->files || next_folder(list)) {
        for (struct dirent *at; (at = readdir(list->files));)
            if (is_listed(list, at->d_name) && fill_entry(list, at->d_name, entry)) return 1;
        closedir(list->files);
        list->files = NULL;
    }
    return 0;
}

/* ---- one batch ----------------------------------------------------------------------------- */

struct chute_spool_batch {
    struct chute_slotfile file;
    chute_insert *insert;
};

/* "FOLDER/NAME", both of ours: a path that leads nowhere else. */
static bool is_path(const char *path) {
    const char *slash = strchr(path, '/');
    return slash && slash != path && slash[1] && slash[1] != '.' && !strchr(slash + 1, '/') &&
           path[0] != '.' && strlen(path) < sizeof((chute_spool_entry *)0)->path;
}

static int no_path(const char *path, chute_error *err) {
    char shown[CHUTE_QUOTE_MAX];
    return chute_fail(err, CHUTE_E_ARG, "the spool has no %s",
                      chute_quote(path, strlen(path), shown, sizeof shown));
}

static int open_root(const char *root, chute_error *err) {
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) return fd;
    return chute_fail(err, CHUTE_E_SPOOL, "the spool %.512s: cannot be opened: %s", root,
                      strerror(errno));
}

static int read_batch(chute_spool_batch *batch, const char *root, const char *path,
                      chute_error *err) {
    int folder = is_path(path) ? open_root(root, err) : no_path(path, err);
    if (folder < 0) return folder;
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    close(folder);
    if (fd < 0) return no_path(path, err);
    int rc = chute_slotfile_read(&batch->file, fd, err);
    if (rc == CHUTE_OK && batch->file.header.state == CHUTE_SLOT_FREE)
        rc = chute_fail(err, CHUTE_E_SPOOL, "no batch is in it");
    if (rc == CHUTE_OK) rc = chute_slotfile_load(&batch->file, fd, err);
    close(fd);
    return rc;
}

chute_spool_batch *chute_spool_batch_read(const char *root, const char *path, chute_error *err) {
    chute_spool_batch *batch = calloc(1, sizeof *batch);
    if (!batch) {
        chute_fail(err, CHUTE_E_NOMEM, "out of memory");
        return NULL;
    }
    if (read_batch(batch, root, path, err) == CHUTE_OK)
        batch->insert = chute_about_read(batch->file.about, batch->file.header.about_bytes, err);
    if (batch->insert) return batch;
    chute_spool_batch_free(batch);
    return NULL;
}

void chute_spool_batch_free(chute_spool_batch *batch) {
    if (!batch) return;
    chute_slotfile_clear(&batch->file);
    chute_insert_free(batch->insert);
    free(batch);
}

const char *chute_spool_batch_data(const chute_spool_batch *batch, size_t *len, size_t *head) {
    *len = chute_slotfile_data_len(&batch->file);
    *head = batch->file.header.head_bytes;
    return (const char *)batch->file.data;
}

const char *chute_spool_batch_insert(const chute_spool_batch *batch) {
    return batch->insert->target;
}

const char *chute_spool_batch_format(const chute_spool_batch *batch) {
    return batch->insert->format;
}

int chute_spool_batch_setting(const chute_spool_batch *batch, uint32_t index, const char **name,
                              const char **value) {
    if (index >= batch->insert->settings_count) return 0;
    *name = batch->insert->settings[index].name;
    *value = batch->insert->settings[index].value;
    return 1;
}

int chute_spool_batch_column(const chute_spool_batch *batch, uint32_t index, const char **name,
                             size_t *name_len, const char **type, size_t *type_len) {
    struct chute_about_text n, t;
    if (!chute_about_column(batch->file.about, batch->file.header.about_bytes, index, &n, &t))
        return 0;
    *name = n.at;
    *name_len = n.len;
    *type = t.at;
    *type_len = t.len;
    return 1;
}

/* ---- putting in order ---------------------------------------------------------------------- */

/* NAME.slot's note is NAME.json; a bad file's has .json behind its whole name. */
static void remove_note(int root, const char *path) {
    char note[sizeof((chute_spool_entry *)0)->path + 8];
    int stem = has_suffix(path, ".slot") && strncmp(path, "dead/", 5) == 0 ? (int)strlen(path) - 5
                                                                           : (int)strlen(path);
    snprintf(note, sizeof note, "%.*s.json", stem, path);
    unlinkat(root, note, 0);
}

static int move_back(int root, const char *path, chute_error *err) {
    struct chute_folder folder;
    char name[CHUTE_FOLDER_NAME];
    if (chute_spool_new_name(name) != 0)
        return chute_fail(err, CHUTE_E_SYSTEM, "the system gives no random numbers");
    if (!chute_folder_lock(&folder, root, name, true))
        return chute_fail(err, CHUTE_E_SPOOL, "cannot make a folder: %s", strerror(errno));
    int rc = renameat(root, path, folder.fd, "000001.slot") == 0 ? CHUTE_OK : no_path(path, err);
    if (rc == CHUTE_OK) fsync(folder.fd);
    chute_folder_release(&folder, root);
    return rc;
}

int chute_spool_retry(const char *root, const char *path, chute_error *err) {
    if (!is_path(path) || strncmp(path, "dead/", 5) != 0 || !has_suffix(path, ".slot"))
        return no_path(path, err);
    int fd = open_root(root, err);
    if (fd < 0) return fd;
    int rc = move_back(fd, path, err);
    if (rc == CHUTE_OK) remove_note(fd, path);
    close(fd);
    return rc;
}

int chute_spool_remove(const char *root, const char *path, chute_error *err) {
    bool ours = is_path(path) && (strncmp(path, "dead/", 5) == 0 || strncmp(path, "bad/", 4) == 0);
    if (!ours) return no_path(path, err);
    int fd = open_root(root, err);
    if (fd < 0) return fd;
    int rc = unlinkat(fd, path, 0) == 0 ? CHUTE_OK : no_path(path, err);
    if (rc == CHUTE_OK) remove_note(fd, path);
    close(fd);
    return rc;
}
