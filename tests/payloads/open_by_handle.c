// wall: seccomp  overlaps: capabilities, user-namespace  source: RT-19
// Opens a file by handle, which no mount hides.
#include "attack.h"

int main(void) {
  union {
    struct file_handle handle;
    char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } u;
  int mount_id = 0;
  u.handle.handle_bytes = MAX_HANDLE_SZ;
  if (name_to_handle_at(AT_FDCWD, ".", &u.handle, &mount_id, 0) != 0 && errno != EOPNOTSUPP) {
    return Stopped("name_to_handle_at");
  }
  int here = open(".", O_RDONLY | O_DIRECTORY);
  if (here < 0) return Cannot("open .");
  return Attempt("open_by_handle_at", open_by_handle_at(here, &u.handle, O_RDONLY));
}
