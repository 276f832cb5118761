// policy/view/protected_table.h
// Where credentials lie. Data: paths below the home unless they start with "/". Nothing here is in
// the view by itself (the home is private); the table decides what --ro, --rw, --show and a
// workspace root may reach, and what is covered inside a directory that was asked for.
//
// Kinds
//   kAsk    shown only when --show (or `view.show`) names exactly this path or one below it.
//   kNever  private keys, key stores, sessions that *are* the person (browsers, password stores),
//           Bawn's own state: no option shows it. The way is --secret NAME, one value at a time.
//   kPlain  an exception inside a protected directory: no secret, still only by --show.
// The longest matching row decides.
// Source: tools' own manuals; RT-02, RT-03, RT-25.
#pragma once

#include <cstdint>
#include <string_view>

namespace bawn::policy {

enum class Protection : uint8_t { kAsk, kNever, kPlain };

struct ProtectedRow {
  std::string_view path;
  Protection protection;
  std::string_view what;
};

inline constexpr ProtectedRow kProtectedTable[] = {
    // Keys of a person.
    {".ssh", Protection::kNever, "SSH private keys"},
    {".ssh/config", Protection::kPlain, "SSH host names"},
    {".ssh/known_hosts", Protection::kPlain, "SSH host keys"},
    {".gnupg", Protection::kNever, "OpenPGP private keys"},
    {".pki", Protection::kNever, "certificate store with private keys"},
    {".password-store", Protection::kNever, "pass password store"},
    {".local/share/keyrings", Protection::kNever, "desktop keyring"},
    {".local/share/kwalletd", Protection::kNever, "desktop keyring"},
    {".local/share/gopass", Protection::kNever, "gopass password store"},
    {".config/sops", Protection::kNever, "age keys of SOPS"},
    {".config/age", Protection::kNever, "age keys"},
    {".age", Protection::kNever, "age keys"},
    {".config/op", Protection::kNever, "1Password session"},
    {".config/Bitwarden CLI", Protection::kNever, "Bitwarden session"},
    {".config/keepassxc", Protection::kNever, "KeePassXC settings"},
    {".bitcoin", Protection::kNever, "wallet"},
    {".ethereum", Protection::kNever, "wallet"},
    {".config/solana", Protection::kNever, "wallet"},
    {".minisign", Protection::kNever, "signing keys"},
    {".sigstore", Protection::kNever, "signing identity"},
    {".android/adbkey", Protection::kNever, "Android debug key"},
    {".local/share/step", Protection::kNever, "certificate authority keys"},
    {".step", Protection::kNever, "certificate authority keys"},

    // Sessions that are the person: browsers, mail, chat.
    {".mozilla", Protection::kNever, "browser profile"},
    {".thunderbird", Protection::kNever, "mail profile"},
    {".config/google-chrome", Protection::kNever, "browser profile"},
    {".config/google-chrome-beta", Protection::kNever, "browser profile"},
    {".config/chromium", Protection::kNever, "browser profile"},
    {".config/BraveSoftware", Protection::kNever, "browser profile"},
    {".config/microsoft-edge", Protection::kNever, "browser profile"},
    {".config/vivaldi", Protection::kNever, "browser profile"},
    {".config/opera", Protection::kNever, "browser profile"},
    {".local/share/epiphany", Protection::kNever, "browser profile"},
    {"snap", Protection::kNever, "homes of snap applications, browsers among them"},
    {".var/app", Protection::kNever, "homes of flatpak applications, browsers among them"},
    {".config/Slack", Protection::kNever, "chat session"},
    {".config/discord", Protection::kNever, "chat session"},
    {".config/Signal", Protection::kNever, "chat session"},
    {".local/share/evolution", Protection::kNever, "mail"},

    // Bawn itself.
    {".local/state/bawn", Protection::kNever, "Bawn's own state"},
    {".config/bawn", Protection::kNever, "Bawn's profiles"},
    {"/var/lib/bawn", Protection::kNever, "Bawn's own state"},
    {"/etc/bawn", Protection::kNever, "Bawn's profiles"},

    // Forges and version control.
    {".git-credentials", Protection::kAsk, "git passwords"},
    {".config/git/credentials", Protection::kAsk, "git passwords"},
    {".gitconfig", Protection::kAsk, "git settings: headers, helpers, URLs with passwords"},
    {".config/git/config", Protection::kAsk, "git settings: headers, helpers, URLs with passwords"},
    {".config/gh", Protection::kAsk, "GitHub token"},
    {".config/hub", Protection::kAsk, "GitHub token"},
    {".config/glab-cli", Protection::kAsk, "GitLab token"},
    {".config/tea", Protection::kAsk, "Gitea token"},
    {".config/github-copilot", Protection::kAsk, "GitHub Copilot token"},
    {".netrc", Protection::kAsk, "passwords by host"},
    {".authinfo", Protection::kAsk, "passwords by host"},
    {".authinfo.gpg", Protection::kAsk, "passwords by host"},
    {".curlrc", Protection::kAsk, "curl settings, passwords among them"},
    {".wgetrc", Protection::kAsk, "wget settings, passwords among them"},

    // Package registries.
    {".npmrc", Protection::kAsk, "npm token"},
    {".config/pnpm", Protection::kAsk, "npm token"},
    {".yarnrc", Protection::kAsk, "npm token"},
    {".yarnrc.yml", Protection::kAsk, "npm token"},
    {".bunfig.toml", Protection::kAsk, "npm token"},
    {".pypirc", Protection::kAsk, "PyPI token"},
    {".config/pip", Protection::kAsk, "package index passwords"},
    {".pip", Protection::kAsk, "package index passwords"},
    {".config/uv", Protection::kAsk, "package index passwords"},
    {".local/share/uv/credentials", Protection::kAsk, "package index passwords"},
    {".config/pypoetry", Protection::kAsk, "PyPI token"},
    {".cargo/credentials", Protection::kAsk, "crates.io token"},
    {".cargo/credentials.toml", Protection::kAsk, "crates.io token"},
    {".cargo/config", Protection::kAsk, "registry tokens"},
    {".cargo/config.toml", Protection::kAsk, "registry tokens"},
    {".m2/settings.xml", Protection::kAsk, "Maven passwords"},
    {".m2/settings-security.xml", Protection::kAsk, "Maven master password"},
    {".gradle/gradle.properties", Protection::kAsk, "Gradle passwords"},
    {".gradle/init.gradle", Protection::kAsk, "Gradle passwords"},
    {".gradle/init.d", Protection::kAsk, "Gradle passwords"},
    {".gem/credentials", Protection::kAsk, "RubyGems token"},
    {".local/share/gem/credentials", Protection::kAsk, "RubyGems token"},
    {".bundle/config", Protection::kAsk, "gem server passwords"},
    {".composer/auth.json", Protection::kAsk, "Composer token"},
    {".config/composer", Protection::kAsk, "Composer token"},
    {".nuget", Protection::kAsk, "NuGet keys"},
    {".config/NuGet", Protection::kAsk, "NuGet keys"},
    {".config/go/env", Protection::kAsk, "Go module proxy passwords"},
    {".hex", Protection::kAsk, "Hex token"},
    {".conan/.conan.db", Protection::kAsk, "Conan passwords"},
    {".condarc", Protection::kAsk, "Conda tokens"},
    {".continuum", Protection::kAsk, "Conda tokens"},

    // Clouds, clusters, containers.
    {".aws", Protection::kAsk, "AWS keys"},
    {".azure", Protection::kAsk, "Azure tokens"},
    {".config/gcloud", Protection::kAsk, "Google Cloud tokens"},
    {".boto", Protection::kAsk, "Google Cloud tokens"},
    {".oci", Protection::kAsk, "Oracle Cloud keys"},
    {".aliyun", Protection::kAsk, "Alibaba Cloud keys"},
    {".config/doctl", Protection::kAsk, "DigitalOcean token"},
    {".config/hcloud", Protection::kAsk, "Hetzner token"},
    {".config/linode-cli", Protection::kAsk, "Linode token"},
    {".config/scw", Protection::kAsk, "Scaleway keys"},
    {".fly", Protection::kAsk, "Fly.io token"},
    {".config/heroku", Protection::kAsk, "Heroku token"},
    {".local/share/heroku", Protection::kAsk, "Heroku token"},
    {".config/netlify", Protection::kAsk, "Netlify token"},
    {".vercel", Protection::kAsk, "Vercel token"},
    {".local/share/com.vercel.cli", Protection::kAsk, "Vercel token"},
    {".config/.wrangler", Protection::kAsk, "Cloudflare token"},
    {".wrangler", Protection::kAsk, "Cloudflare token"},
    {".terraform.d", Protection::kAsk, "Terraform token"},
    {".terraformrc", Protection::kAsk, "Terraform token"},
    {".pulumi", Protection::kAsk, "Pulumi token"},
    {".vault-token", Protection::kAsk, "Vault token"},
    {".kube", Protection::kAsk, "Kubernetes credentials"},
    {".config/helm", Protection::kAsk, "Helm registry passwords"},
    {".docker", Protection::kAsk, "container registry passwords"},
    {".config/containers", Protection::kAsk, "container registry passwords"},
    {".config/rclone", Protection::kAsk, "storage passwords"},
    {".rclone.conf", Protection::kAsk, "storage passwords"},
    {".s3cfg", Protection::kAsk, "storage keys"},
    {".mc", Protection::kAsk, "storage keys"},

    // Databases.
    {".pgpass", Protection::kAsk, "PostgreSQL passwords"},
    {".my.cnf", Protection::kAsk, "MySQL passwords"},
    {".mylogin.cnf", Protection::kAsk, "MySQL passwords"},
    {".mongorc.js", Protection::kAsk, "MongoDB passwords"},
    {".snowsql", Protection::kAsk, "Snowflake passwords"},
    {".dbt", Protection::kAsk, "warehouse passwords"},

    // Agents and model services.
    {".claude", Protection::kAsk, "agent session and settings"},
    {".claude.json", Protection::kAsk, "agent session and settings"},
    {".codex", Protection::kAsk, "agent session and settings"},
    {".gemini", Protection::kAsk, "agent session and settings"},
    {".config/openai", Protection::kAsk, "model service key"},
    {".openai", Protection::kAsk, "model service key"},
    {".cache/huggingface/token", Protection::kAsk, "Hugging Face token"},
    {".huggingface", Protection::kAsk, "Hugging Face token"},
    {".kaggle", Protection::kAsk, "Kaggle key"},
    {".config/wandb", Protection::kAsk, "Weights & Biases key"},

    // What a person typed.
    {".bash_history", Protection::kAsk, "typed commands, passwords among them"},
    {".zsh_history", Protection::kAsk, "typed commands, passwords among them"},
    {".local/share/fish/fish_history", Protection::kAsk, "typed commands, passwords among them"},
    {".python_history", Protection::kAsk, "typed commands, passwords among them"},
    {".node_repl_history", Protection::kAsk, "typed commands, passwords among them"},
    {".psql_history", Protection::kAsk, "typed commands, passwords among them"},
    {".mysql_history", Protection::kAsk, "typed commands, passwords among them"},

    // System files with credentials that ordinary users can often read.
    {"/etc/npmrc", Protection::kAsk, "npm token"},
    {"/etc/pip.conf", Protection::kAsk, "package index passwords"},
    {"/etc/gitconfig", Protection::kAsk, "git settings: headers, helpers, URLs with passwords"},
    {"/etc/environment", Protection::kAsk, "environment of every login, proxy passwords among it"},
    {"/etc/wgetrc", Protection::kAsk, "wget settings, passwords among them"},
    {"/etc/shadow", Protection::kNever, "password hashes"},
    {"/etc/gshadow", Protection::kNever, "password hashes"},
    {"/etc/ssl/private", Protection::kNever, "TLS private keys"},
    {"/etc/krb5.keytab", Protection::kNever, "Kerberos keys"},
    {"/etc/wireguard", Protection::kNever, "VPN keys"},
    {"/etc/NetworkManager", Protection::kNever, "network passwords"},
};

// Names that are covered inside a workspace, matched on the last component (RT-02). A later row
// wins; "!" keeps. A *tracked* file is no secret by its name: the caller asks git first (E-03).
inline constexpr std::string_view kProtectedNames[] = {
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".vault-token",
    "credentials.json",
    "service-account*.json",
    "*.agekey",
    ".dockercfg",
    ".yarnrc.yml",
    "kubeconfig",
    "*.kubeconfig",
    ".terraformrc",
    // Templates and third-party bundles of certificate authorities keep their content.
    "!*.example",
    "!*.sample",
    "!*.template",
    "!*.dist",
    "!*.tmpl",
    "!.env.example.*",
    "!cacert.pem",
    "!cacerts.pem",
    "!ca-bundle*.pem",
    "!roots.pem",
    "!*.pub.pem",
    "!*.crt.pem",
};

}  // namespace bawn::policy
