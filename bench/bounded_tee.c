// bench/bounded_tee.c: the yardstick for kept output: stdin to stdout, and head and tail of it, at
// most BYTES together, to a file. What `bawn run` does with a job's output, and nothing else.
//   bounded_tee BYTES FILE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char buffer[1 << 16];

static void WriteAll(int fd, const char* bytes, size_t size, long long offset) {
  while (size > 0) {
    ssize_t done = offset < 0 ? write(fd, bytes, size) : pwrite(fd, bytes, size, offset);
    if (done <= 0) {
      perror("write");
      exit(1);
    }
    bytes += done;
    size -= (size_t)done;
    if (offset >= 0) offset += done;
  }
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: bounded_tee BYTES FILE\n");
    return 2;
  }
  long long half = (long long)strtoull(argv[1], NULL, 10) / 2, total = 0;
  int file = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) {
    perror(argv[2]);
    return 1;
  }
  ssize_t size;
  while ((size = read(0, buffer, sizeof buffer)) > 0) {
    WriteAll(1, buffer, (size_t)size, -1);
    // The tail is a ring behind the head.
    long long place = total < half ? total : half + (total - half) % half;
    WriteAll(file, buffer, (size_t)size, place);
    total += size;
  }
  return size < 0;
}
