// policy/view/toolchain_table.h
// Toolchains and caches in a home: *subdirectories* and single files only, never a toolchain's
// whole home, because credentials lie beside them: ~/.cargo/credentials.toml, ~/.m2/settings.xml,
// ~/.gradle/gradle.properties, ~/.config/go/env, ~/.npmrc, ~/.pypirc (RT-03, E-02). Data: a test
// checks that no row equals, contains or lies below a protected path (protected_table.h).
//
// Kinds
//   kTool   programs and their libraries: a lower-only overlay. With `on_path` it applies when the
//           caller's PATH holds that directory or one below it: PATH selects rows, it never makes
//           one.
//   kStore  downloaded dependencies that their tool can use read-only: a lower-only overlay.
//   kCache  written on every use, useless or harmful read-only (go, pip, gradle stop or complain):
//           hidden, unless the profile names the row in `view.caches`; then writable, and what is
//           written is discarded with the sandbox. A kStore may be named there too.
#pragma once

#include <cstdint>
#include <string_view>

namespace bawn::policy {

enum class ToolKind : uint8_t { kTool, kStore, kCache };

struct ToolchainRow {
  std::string_view id;    // rule id "view.toolchain.<id>", and the word in `view.caches`
  std::string_view path;  // below the home
  ToolKind kind;
  std::string_view on_path;  // below the home; empty: applies where it exists
};

inline constexpr ToolchainRow kToolchainTable[] = {
    {"local-bin", ".local/bin", ToolKind::kTool, ".local/bin"},
    {"home-bin", "bin", ToolKind::kTool, "bin"},

    {"cargo-bin", ".cargo/bin", ToolKind::kTool, ".cargo/bin"},
    {"rustup", ".rustup", ToolKind::kTool, ".cargo/bin"},
    {"cargo-registry", ".cargo/registry", ToolKind::kStore, ""},
    {"cargo-git", ".cargo/git", ToolKind::kStore, ""},

    {"go-bin", "go/bin", ToolKind::kTool, "go/bin"},
    {"go-mod", "go/pkg/mod", ToolKind::kStore, ""},
    {"go-build", ".cache/go-build", ToolKind::kCache, ""},

    {"maven", ".m2/repository", ToolKind::kStore, ""},
    {"maven-wrapper", ".m2/wrapper", ToolKind::kTool, ""},
    {"gradle-caches", ".gradle/caches", ToolKind::kCache, ""},
    {"gradle-wrapper", ".gradle/wrapper", ToolKind::kTool, ""},
    {"sdkman", ".sdkman/candidates", ToolKind::kTool, ".sdkman/candidates"},

    {"nvm", ".nvm/versions", ToolKind::kTool, ".nvm/versions"},
    {"volta-bin", ".volta/bin", ToolKind::kTool, ".volta/bin"},
    {"volta-tools", ".volta/tools", ToolKind::kTool, ".volta/bin"},
    {"npm", ".npm/_cacache", ToolKind::kCache, ""},
    {"corepack", ".cache/node/corepack", ToolKind::kStore, ""},
    {"pnpm", ".local/share/pnpm/pnpm", ToolKind::kTool, ".local/share/pnpm"},
    {"pnpm-tools", ".local/share/pnpm/.tools", ToolKind::kTool, ".local/share/pnpm"},
    {"pnpm-global", ".local/share/pnpm/global", ToolKind::kTool, ".local/share/pnpm"},
    {"pnpm-nodejs", ".local/share/pnpm/nodejs", ToolKind::kTool, ".local/share/pnpm"},
    {"pnpm-store", ".local/share/pnpm/store", ToolKind::kCache, ""},
    {"yarn", ".cache/yarn", ToolKind::kCache, ""},
    {"playwright", ".cache/ms-playwright", ToolKind::kStore, ""},
    {"bun-bin", ".bun/bin", ToolKind::kTool, ".bun/bin"},
    {"bun-global", ".bun/install/global", ToolKind::kTool, ".bun/bin"},
    {"bun-cache", ".bun/install/cache", ToolKind::kCache, ""},
    {"deno-bin", ".deno/bin", ToolKind::kTool, ".deno/bin"},
    {"deno-npm", ".cache/deno/npm", ToolKind::kCache, ""},
    {"deno-remote", ".cache/deno/remote", ToolKind::kCache, ""},

    {"pyenv-versions", ".pyenv/versions", ToolKind::kTool, ".pyenv"},
    {"pyenv-shims", ".pyenv/shims", ToolKind::kTool, ".pyenv"},
    {"pyenv-libexec", ".pyenv/libexec", ToolKind::kTool, ".pyenv"},
    {"pyenv-bin", ".pyenv/bin", ToolKind::kTool, ".pyenv"},
    {"pyenv-version", ".pyenv/version", ToolKind::kTool, ".pyenv"},
    {"uv-python", ".local/share/uv/python", ToolKind::kTool, ""},
    {"uv-tools", ".local/share/uv/tools", ToolKind::kTool, ".local/bin"},
    {"uv", ".cache/uv", ToolKind::kCache, ""},
    {"pipx", ".local/share/pipx/venvs", ToolKind::kTool, ".local/bin"},
    {"pipx-old", ".local/pipx/venvs", ToolKind::kTool, ".local/bin"},
    {"pip", ".cache/pip", ToolKind::kCache, ""},
    {"mise-installs", ".local/share/mise/installs", ToolKind::kTool, ""},
    {"mise-shims", ".local/share/mise/shims", ToolKind::kTool, ".local/share/mise"},
};

}  // namespace bawn::policy
