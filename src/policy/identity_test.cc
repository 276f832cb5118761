#include "policy/identity.h"

#include <gtest/gtest.h>

#include "policy/fake_host_for_test.h"

namespace bawn::policy {
namespace {

TEST(IdentityTest, EveryIdThatShowsHasAName) {
  FakeHost host;
  host.facts.groups.push_back({44, "vi:deo\nroot::0:0"});
  host.facts.groups.push_back({45, "sudo"});
  Identity user = InnerIdentity(host.facts, true);
  std::string passwd = PasswdText(user, "/home/ada"), group = GroupText(user, host.facts);
  EXPECT_EQ(passwd,
            "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/bash\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
  EXPECT_EQ(group,
            "root:x:0:\nnogroup:x:65534:\nada:x:1000:\nsudo:x:27:ada\nusers:x:100:ada\n"
            "group44:x:44:ada\ngroup45:x:45:ada\n");
}

TEST(IdentityTest, HostileNamesOfTheHostBecomePlainOnes) {
  FakeHost host;
  for (const char* name : {"a:b", "a\nb", "", "-x", "123", "root", "nobody", "a b"}) {
    host.facts.user_name = name;
    EXPECT_EQ(InnerIdentity(host.facts, true).name, "user") << name;
  }
  host.facts.shell = "/bin/ba:sh";
  EXPECT_EQ(InnerIdentity(host.facts, true).shell, "/bin/sh");
}

TEST(IdentityTest, NamesResolveOnLoopbackAndNothingOfTheHostShows) {
  Result<Compiled> compiled = FakeHost().Compile();
  ASSERT_TRUE(compiled);
  const std::string& hosts = FindOp(*compiled, "/etc/hosts")->content;
  EXPECT_NE(hosts.find("127.0.0.1 localhost bawn\n"), std::string::npos);
  EXPECT_NE(hosts.find("::1 localhost"), std::string::npos);
  EXPECT_EQ(compiled->plan.hostname, "bawn");
  EXPECT_NE(FindOp(*compiled, "/etc/nsswitch.conf")->content.find("hosts: files dns\n"),
            std::string::npos);
  EXPECT_EQ(FindOp(*compiled, "/etc/machine-id")->content.size(), 33U);
}

}  // namespace
}  // namespace bawn::policy
