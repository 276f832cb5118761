// policy/view/system_table.h
// Which system software a sandbox sees. Data: edit a row, nothing else. SECURITY.md lists the same
// rows with what each exposes. Root-owned software is bound read-only (DESIGN 5, "View"); a row
// whose directory is not root's becomes a lower-only overlay (RT-05). Rows that do not exist are
// left out; a row that is a symlink on the host (a usr-merged /bin) is the same symlink inside.
// Never here: /run and /var/run (sockets), /boot, /root, /home, /mnt, /media, /srv, /var otherwise.
#pragma once

#include <string_view>

namespace bawn::policy {

struct SystemRow {
  std::string_view path;
  std::string_view rule_id;
  std::string_view reason;
};

inline constexpr SystemRow kSystemTable[] = {
    {"/usr", "view.system.usr", "programs and libraries of the distribution"},
    {"/bin", "view.system.bin", "programs; a link into /usr on merged systems"},
    {"/sbin", "view.system.sbin", "programs; a link into /usr on merged systems"},
    {"/lib", "view.system.lib", "libraries and the program loader"},
    {"/lib32", "view.system.lib32", "libraries of a second word size"},
    {"/lib64", "view.system.lib64", "the path of the x86-64 program loader"},
    {"/libx32", "view.system.libx32", "libraries of a second word size"},
    {"/opt", "view.system.opt", "add-on software installed by root"},
    {"/var/lib/python3", "view.system.python3", "byte code and module lists of Debian's Python"},
};

// Files inside the rows above that hold registry credentials on some machines: covered by an empty
// file even though root put them where everybody can read them (RT-03, RT-31).
inline constexpr std::string_view kSystemCovers[] = {
    "/usr/etc/npmrc",
    "/usr/local/etc/npmrc",
    "/usr/local/etc/pip.conf",
};

// Never shown, bound or covered, whatever is asked: kernel interfaces and sockets have their own
// rows (policy/view/device_table.h) or none.
struct RefusedTree {
  std::string_view path;
  std::string_view reason;
};
inline constexpr RefusedTree kRefusedTrees[] = {
    {"/proc", "the sandbox has a proc of its own"},
    {"/sys", "only CPU topology is shown"},
    {"/dev", "the sandbox has devices of its own"},
    {"/run", "it holds the sockets of host services"},
    {"/var/run", "it holds the sockets of host services"},
    {"/.bawn", "it is where the sandbox keeps its own files"},
};

}  // namespace bawn::policy
