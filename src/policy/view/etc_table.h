// policy/view/etc_table.h
// The allowlist of /etc (RT-31). Data: a row is one name. What is not listed does not exist inside;
// identity files (passwd, group, hosts, nsswitch.conf, …) are not here because Bawn writes its own
// (policy/identity.cc). Never to be listed: shadow, gshadow, sudoers*, environment, profile.d,
// gitconfig, npmrc, pip.conf, wgetrc, fstab, exports, krb5.keytab, wireguard, NetworkManager,
// ssl/private.
//
// Forms
//   kDirectory  bound read-only. Entries belong to root, which shows as nobody inside.
//   kFile       bound read-only: for files too large to copy on every run.
//   kCopy       copied into the sandbox's own root, so that it belongs to the user: programs that
//               insist on an owner (ssh with included files, E-24) accept it. At most 64 KiB.
//   kCopyEach   every entry of a small directory, copied likewise.
// A symlink is recreated as a symlink, link by link, so that a zone or a distribution keeps its
// *name* (E-25); a target outside the view is copied too.
#pragma once

#include <cstdint>
#include <string_view>

namespace bawn::policy {

enum class EtcForm : uint8_t { kDirectory, kFile, kCopy, kCopyEach };

struct EtcRow {
  std::string_view path;
  EtcForm form;
  std::string_view reason;
};

inline constexpr std::string_view kEtcRuleId = "view.etc";

inline constexpr EtcRow kEtcTable[] = {
    // Programs: a hundred links in /usr/bin point into these.
    {"/etc/alternatives", EtcForm::kDirectory, "links of /usr/bin lead through it"},
    {"/etc/ld.so.cache", EtcForm::kFile, "the loader's index of libraries"},
    {"/etc/ld.so.conf", EtcForm::kCopy, "library directories, read by linkers"},
    {"/etc/ld.so.conf.d", EtcForm::kCopyEach, "library directories, read by linkers"},

    // Trust: certificates of authorities, never private keys.
    {"/etc/ssl/certs", EtcForm::kDirectory, "certificate authorities"},
    {"/etc/ssl/openssl.cnf", EtcForm::kCopy, "defaults of OpenSSL"},
    {"/etc/ca-certificates", EtcForm::kDirectory, "certificate authorities"},
    {"/etc/ca-certificates.conf", EtcForm::kCopy, "certificate authorities"},
    {"/etc/pki/tls/certs", EtcForm::kDirectory, "certificate authorities"},
    {"/etc/pki/ca-trust/extracted", EtcForm::kDirectory, "certificate authorities"},
    {"/etc/crypto-policies", EtcForm::kDirectory, "defaults of OpenSSL, GnuTLS and NSS"},

    // Names of protocols and types.
    {"/etc/services", EtcForm::kCopy, "names of ports"},
    {"/etc/protocols", EtcForm::kCopy, "names of protocols"},
    {"/etc/rpc", EtcForm::kCopy, "names of RPC programs"},
    {"/etc/gai.conf", EtcForm::kCopy, "address preference of getaddrinfo"},
    {"/etc/host.conf", EtcForm::kCopy, "resolver defaults"},
    {"/etc/mime.types", EtcForm::kFile, "types of file names"},
    {"/etc/magic", EtcForm::kCopy, "types of file contents"},
    {"/etc/magic.mime", EtcForm::kCopy, "types of file contents"},

    // Place and language.
    {"/etc/localtime", EtcForm::kCopy, "the time zone; its name is the link's target"},
    {"/etc/timezone", EtcForm::kCopy, "the time zone's name"},
    {"/etc/locale.alias", EtcForm::kCopy, "names of locales"},
    {"/etc/locale.conf", EtcForm::kCopy, "the system's locale"},
    {"/etc/fonts", EtcForm::kDirectory, "fontconfig"},
    {"/etc/papersize", EtcForm::kCopy, "default paper"},

    // The distribution.
    {"/etc/os-release", EtcForm::kCopy, "which distribution this is"},
    {"/etc/lsb-release", EtcForm::kCopy, "which distribution this is"},
    {"/etc/debian_version", EtcForm::kCopy, "which distribution this is"},
    {"/etc/redhat-release", EtcForm::kCopy, "which distribution this is"},
    {"/etc/alpine-release", EtcForm::kCopy, "which distribution this is"},
    {"/etc/arch-release", EtcForm::kCopy, "which distribution this is"},
    {"/etc/dpkg/origins", EtcForm::kCopyEach, "vendor of Debian's build tools"},

    // Shells and terminals. Not /etc/profile: a login shell would reset PATH with it.
    {"/etc/shells", EtcForm::kCopy, "login shells"},
    {"/etc/bash.bashrc", EtcForm::kCopy, "defaults of interactive bash"},
    {"/etc/inputrc", EtcForm::kCopy, "defaults of readline"},
    {"/etc/screenrc", EtcForm::kCopy, "defaults of screen"},
    {"/etc/tmux.conf", EtcForm::kCopy, "defaults of tmux"},
    {"/etc/login.defs", EtcForm::kCopy, "ranges of ids"},

    // Languages and tools: the parts of their packages that live in /etc.
    {"/etc/java-8-openjdk", EtcForm::kDirectory, "configuration of the JVM"},
    {"/etc/java-11-openjdk", EtcForm::kDirectory, "configuration of the JVM"},
    {"/etc/java-17-openjdk", EtcForm::kDirectory, "configuration of the JVM"},
    {"/etc/java-21-openjdk", EtcForm::kDirectory, "configuration of the JVM"},
    {"/etc/java-25-openjdk", EtcForm::kDirectory, "configuration of the JVM"},
    {"/etc/java", EtcForm::kDirectory, "configuration of the JVM"},
    {"/etc/maven", EtcForm::kDirectory, "the program files of Debian's mvn link into it"},
    {"/etc/ant", EtcForm::kDirectory, "the program files of Debian's ant link into it"},
    {"/etc/python3", EtcForm::kCopyEach, "defaults of Debian's Python"},
    {"/etc/python3.9", EtcForm::kCopyEach, "site customisation of Python"},
    {"/etc/python3.10", EtcForm::kCopyEach, "site customisation of Python"},
    {"/etc/python3.11", EtcForm::kCopyEach, "site customisation of Python"},
    {"/etc/python3.12", EtcForm::kCopyEach, "site customisation of Python"},
    {"/etc/python3.13", EtcForm::kCopyEach, "site customisation of Python"},
    {"/etc/python3.14", EtcForm::kCopyEach, "site customisation of Python"},
    {"/etc/perl", EtcForm::kCopyEach, "site customisation of Perl"},
    {"/etc/perl/Net", EtcForm::kCopyEach, "libnet's defaults"},
    {"/etc/groff", EtcForm::kCopyEach, "site macros of man pages"},
    {"/etc/manpath.config", EtcForm::kCopy, "where man pages are"},
    {"/etc/gdb/gdbinit", EtcForm::kCopy, "defaults of gdb"},
    {"/etc/chromium.d", EtcForm::kCopyEach, "sourced by Debian's chromium"},
    {"/etc/fpc.cfg", EtcForm::kCopy, "defaults of Free Pascal"},
    {"/etc/mke2fs.conf", EtcForm::kCopy, "defaults of mkfs, used by image builders"},
    {"/etc/X11/rgb.txt", EtcForm::kCopy, "names of colours"},
    {"/etc/ssh/ssh_config", EtcForm::kCopy, "defaults of the ssh client"},
    {"/etc/ssh/ssh_config.d", EtcForm::kCopyEach, "defaults of the ssh client"},
};

inline constexpr uint64_t kEtcCopyBytesMax = 64 << 10;

}  // namespace bawn::policy
