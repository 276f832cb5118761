// What libgit2.a asks for at its start and in code that nothing here calls: its network transports
// and their TLS. Defined here, so that none of them (nor libssh2, mbedTLS, Kerberos) is in
// bawn-worker: nothing of it needs a network, and starting them (mbedTLS reads every certificate of
// the machine) took longer than reading a large diff. Names as in libgit2 1.5; a version that
// renames one fails to link.
#include <git2.h>
#include <git2/sys/transport.h>

extern "C" {

// libgit2 declares these in headers that it does not install.
// NOLINTBEGIN(readability-identifier-naming,misc-use-internal-linkage,bugprone-reserved-identifier)
bool git_http__expect_continue = false;
bool git_smart__ofs_delta_enabled = true;
int git_transport_ssh_global_init();
int git_mbedtls_stream_global_init();
int git_openssl_stream_global_init();
int git_mbedtls__set_cert_location(const char* file, const char* path);

int git_transport_ssh_global_init() { return 0; }
int git_mbedtls_stream_global_init() { return 0; }
int git_openssl_stream_global_init() { return 0; }
int git_mbedtls__set_cert_location(const char* /*file*/, const char* /*path*/) { return -1; }

int git_transport_new(git_transport** out, git_remote* /*owner*/, const char* /*url*/) {
  *out = nullptr;
  git_error_set_str(GIT_ERROR_NET, "no transport is built in");
  return -1;
}
// NOLINTEND(readability-identifier-naming,misc-use-internal-linkage,bugprone-reserved-identifier)

}  // extern "C"
