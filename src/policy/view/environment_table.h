// policy/view/environment_table.h
// The environment in tiers (I1.4). Data: a pattern is a name, or a prefix ending in "*"; `contains`
// patterns are "*WORD*", `suffix` patterns "*WORD". The first tier that matches decides:
//   kKept      looks like a credential by its letters and is none
//   kHook      loader, interpreter and shell hooks: refused whatever asks
//   kDoor      addresses of host services that are not in the view: refused whatever asks
//   kOurs      set by Bawn: refused whatever asks
//   kCredential  refused whatever asks; the way is --secret
//   kReviewed  passed from the caller without being asked for
// Every other name is passed only by --pass-env or set by --env.
#pragma once

#include <cstdint>
#include <string_view>

namespace bawn::policy {

enum class EnvTier : uint8_t { kKept, kHook, kDoor, kOurs, kCredential, kReviewed, kOther };

struct EnvRow {
  std::string_view pattern;
  EnvTier tier;
};

inline constexpr EnvRow kEnvironmentTable[] = {
    {"TOKENIZERS_PARALLELISM", EnvTier::kKept},
    {"GIT_TERMINAL_PROMPT", EnvTier::kKept},

    // Identity of commits (E-17): the one part of GIT_* that only names a person.
    {"GIT_AUTHOR_NAME", EnvTier::kReviewed},
    {"GIT_AUTHOR_EMAIL", EnvTier::kReviewed},
    {"GIT_AUTHOR_DATE", EnvTier::kReviewed},
    {"GIT_COMMITTER_NAME", EnvTier::kReviewed},
    {"GIT_COMMITTER_EMAIL", EnvTier::kReviewed},
    {"GIT_COMMITTER_DATE", EnvTier::kReviewed},

    // The program loader and libc.
    {"LD_*", EnvTier::kHook},
    {"GCONV_PATH", EnvTier::kHook},
    {"GLIBC_TUNABLES", EnvTier::kHook},
    {"MALLOC_TRACE", EnvTier::kHook},
    {"LOCPATH", EnvTier::kHook},
    {"NLSPATH", EnvTier::kHook},
    {"HOSTALIASES", EnvTier::kHook},
    {"LOCALDOMAIN", EnvTier::kHook},
    {"RES_OPTIONS", EnvTier::kHook},
    {"TZDIR", EnvTier::kHook},
    // Shells.
    {"BASH_ENV", EnvTier::kHook},
    {"BASH_FUNC_*", EnvTier::kHook},
    {"BASHOPTS", EnvTier::kHook},
    {"SHELLOPTS", EnvTier::kHook},
    {"ENV", EnvTier::kHook},
    {"IFS", EnvTier::kHook},
    {"PS4", EnvTier::kHook},
    {"PROMPT_COMMAND", EnvTier::kHook},
    {"ZDOTDIR", EnvTier::kHook},
    {"FPATH", EnvTier::kHook},
    // Interpreters and virtual machines.
    {"PYTHONSTARTUP", EnvTier::kHook},
    {"PYTHONHOME", EnvTier::kHook},
    {"PYTHONINSPECT", EnvTier::kHook},
    {"PYTHONBREAKPOINT", EnvTier::kHook},
    {"PYTHONUSERBASE", EnvTier::kHook},
    {"PERL5OPT", EnvTier::kHook},
    {"PERL5DB", EnvTier::kHook},
    {"RUBYOPT", EnvTier::kHook},
    {"NODE_OPTIONS", EnvTier::kHook},
    {"NODE_REPL_EXTERNAL_MODULE", EnvTier::kHook},
    {"JAVA_TOOL_OPTIONS", EnvTier::kHook},
    {"_JAVA_OPTIONS", EnvTier::kHook},
    {"JDK_JAVA_OPTIONS", EnvTier::kHook},
    {"LUA_INIT*", EnvTier::kHook},
    {"PHPRC", EnvTier::kHook},
    {"PHP_INI_SCAN_DIR", EnvTier::kHook},
    {"R_PROFILE*", EnvTier::kHook},
    {"DOTNET_STARTUP_HOOKS", EnvTier::kHook},
    {"CORECLR_*", EnvTier::kHook},
    {"ERL_*", EnvTier::kHook},
    // Tools that run what a variable names.
    {"GIT_*", EnvTier::kHook},
    {"LESSOPEN", EnvTier::kHook},
    {"LESSCLOSE", EnvTier::kHook},
    {"RUSTC_WRAPPER", EnvTier::kHook},
    {"RUSTC_WORKSPACE_WRAPPER", EnvTier::kHook},
    {"SUDO_ASKPASS", EnvTier::kHook},
    {"OPENSSL_CONF", EnvTier::kHook},
    {"OPENSSL_ENGINES", EnvTier::kHook},
    {"OPENSSL_MODULES", EnvTier::kHook},
    {"SSLKEYLOGFILE", EnvTier::kHook},
    {"GTK_MODULES", EnvTier::kHook},
    {"GIO_*", EnvTier::kHook},
    {"QT_PLUGIN_PATH", EnvTier::kHook},
    {"MAKEFLAGS", EnvTier::kHook},
    {"MFLAGS", EnvTier::kHook},

    // Doors of the host.
    {"SSH_*", EnvTier::kDoor},
    {"GPG_AGENT_INFO", EnvTier::kDoor},
    {"GPG_TTY", EnvTier::kDoor},
    {"DBUS_*", EnvTier::kDoor},
    {"XDG_RUNTIME_DIR", EnvTier::kDoor},
    {"XDG_SESSION_*", EnvTier::kDoor},
    {"DISPLAY", EnvTier::kDoor},
    {"WAYLAND_*", EnvTier::kDoor},
    {"XAUTHORITY", EnvTier::kDoor},
    {"PULSE_*", EnvTier::kDoor},
    {"DOCKER_*", EnvTier::kDoor},
    {"CONTAINER_HOST", EnvTier::kDoor},
    {"KUBECONFIG", EnvTier::kDoor},
    {"TMUX*", EnvTier::kDoor},
    {"STY", EnvTier::kDoor},
    {"VSCODE_*", EnvTier::kDoor},
    {"NOTIFY_SOCKET", EnvTier::kDoor},
    {"LISTEN_*", EnvTier::kDoor},
    {"INVOCATION_ID", EnvTier::kDoor},
    {"KRB5CCNAME", EnvTier::kDoor},

    // Bawn's own.
    {"BAWN_*", EnvTier::kOurs},
    {"USER", EnvTier::kOurs},
    {"LOGNAME", EnvTier::kOurs},
    {"PWD", EnvTier::kOurs},
    {"OLDPWD", EnvTier::kOurs},
    {"SHLVL", EnvTier::kOurs},
    {"_", EnvTier::kOurs},

    // Credentials by name.
    {"*TOKEN*", EnvTier::kCredential},
    {"*SECRET*", EnvTier::kCredential},
    {"*PASSWORD*", EnvTier::kCredential},
    {"*PASSWD*", EnvTier::kCredential},
    {"*PASSPHRASE*", EnvTier::kCredential},
    {"*CREDENTIAL*", EnvTier::kCredential},
    {"*APIKEY*", EnvTier::kCredential},
    {"*API_KEY*", EnvTier::kCredential},
    {"*ACCESS_KEY*", EnvTier::kCredential},
    {"*PRIVATE_KEY*", EnvTier::kCredential},
    {"*SIGNING_KEY*", EnvTier::kCredential},
    {"*ENCRYPTION_KEY*", EnvTier::kCredential},
    {"*CONNECTION_STRING*", EnvTier::kCredential},
    {"*SESSION_KEY*", EnvTier::kCredential},
    {"*COOKIE*", EnvTier::kCredential},
    {"*_PASS", EnvTier::kCredential},
    {"*_PAT", EnvTier::kCredential},
    {"*_AUTH", EnvTier::kCredential},
    {"*_DSN", EnvTier::kCredential},
    {"*_KEY", EnvTier::kCredential},
    {"*PGPASS*", EnvTier::kCredential},
    {"DATABASE_URL", EnvTier::kCredential},
    {"REDIS_URL", EnvTier::kCredential},
    {"MONGODB_URI", EnvTier::kCredential},
    {"AMQP_URL", EnvTier::kCredential},
    {"AWS_*", EnvTier::kCredential},
    {"AZURE_*", EnvTier::kCredential},
    {"ARM_*", EnvTier::kCredential},
    {"GOOGLE_*", EnvTier::kCredential},
    {"GCLOUD_*", EnvTier::kCredential},
    {"CLOUDSDK_*", EnvTier::kCredential},
    {"OCI_*", EnvTier::kCredential},
    {"VAULT_*", EnvTier::kCredential},
    {"TF_VAR_*", EnvTier::kCredential},
    {"NPM_CONFIG_*", EnvTier::kCredential},
    {"CARGO_REGISTRIES_*", EnvTier::kCredential},
    {"CARGO_REGISTRY_*", EnvTier::kCredential},
    {"POETRY_HTTP_BASIC_*", EnvTier::kCredential},
    {"UV_INDEX_*", EnvTier::kCredential},
    {"PIP_*INDEX_URL", EnvTier::kCredential},
    {"COMPOSER_AUTH", EnvTier::kCredential},

    // Reviewed: text about language, terminal and build habits; no path of the host, no address.
    {"LANG", EnvTier::kReviewed},
    {"LANGUAGE", EnvTier::kReviewed},
    {"LC_*", EnvTier::kReviewed},
    {"TERM", EnvTier::kReviewed},
    {"COLORTERM", EnvTier::kReviewed},
    {"TZ", EnvTier::kReviewed},
    {"NO_COLOR", EnvTier::kReviewed},
    {"FORCE_COLOR", EnvTier::kReviewed},
    {"CLICOLOR", EnvTier::kReviewed},
    {"CLICOLOR_FORCE", EnvTier::kReviewed},
    {"CI", EnvTier::kReviewed},
    {"EDITOR", EnvTier::kReviewed},
    {"VISUAL", EnvTier::kReviewed},
    {"LESS", EnvTier::kReviewed},
    {"DEBIAN_FRONTEND", EnvTier::kReviewed},
    {"SOURCE_DATE_EPOCH", EnvTier::kReviewed},
    {"RUST_BACKTRACE", EnvTier::kReviewed},
    {"RUST_LOG", EnvTier::kReviewed},
    {"CARGO_TERM_COLOR", EnvTier::kReviewed},
    {"PYTHONUNBUFFERED", EnvTier::kReviewed},
    {"PYTHONDONTWRITEBYTECODE", EnvTier::kReviewed},
    {"VIRTUAL_ENV", EnvTier::kReviewed},
    {"JAVA_HOME", EnvTier::kReviewed},
};

}  // namespace bawn::policy
