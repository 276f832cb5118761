// Blob ids and checked-out bytes against the real `git add` and `git checkout`.
#include "git/convert.h"

#include <gtest/gtest.h>

#include <random>

#include "git/test_repo.h"

namespace bawn::git {
namespace {

std::string RandomContent(std::mt19937& engine) {
  const std::vector<std::string> kPieces = {"line\n",
                                            "line\r\n",
                                            "\r",
                                            "$Id$",
                                            "$Id: abc $",
                                            "$Id: x y $",
                                            "$Id:\n$",
                                            "$Identity$",
                                            "$Id",
                                            "plain text, rather long",
                                            "\n",
                                            "\r\n",
                                            std::string(1, '\0'),
                                            "\x01\x02",
                                            "\x1a",
                                            "$Id: a$b $",
                                            "$Id$ $Id: q $",
                                            "tail",
                                            "\x7f",
                                            "$$Id$$"};
  std::string content;
  const size_t pieces = engine() % 12;
  // Most files are decent text, else every guess would say "binary".
  const size_t range = engine() % 3 == 0 ? kPieces.size() : 12;
  for (size_t i = 0; i < pieces; ++i) {
    const std::string& piece = kPieces[engine() % range];
    if (range == 12 && piece == "\r" && engine() % 4 != 0) continue;
    content += piece;
  }
  return content;
}

const std::vector<std::string> kAttributes = {"",
                                              "text",
                                              "-text",
                                              "text=auto",
                                              "text=input",
                                              "eol=crlf",
                                              "eol=lf",
                                              "text eol=crlf",
                                              "text=auto eol=crlf",
                                              "text=auto eol=lf",
                                              "binary",
                                              "crlf",
                                              "-crlf",
                                              "crlf=input",
                                              "ident",
                                              "text ident eol=crlf",
                                              "text=auto ident",
                                              "text=odd",
                                              "-text eol=crlf"};

// All attributes x some contents under one configuration.
void Compare(const std::string& autocrlf, const std::string& eol, unsigned seed) {
  std::mt19937 engine(seed);
  const TestRepo repo;
  repo.Git("config core.safecrlf false");
  std::string attributes;
  std::map<std::string, std::string> changed;
  for (size_t i = 0; i < kAttributes.size(); ++i) {
    attributes += "*.k" + std::to_string(i) + " " + kAttributes[i] + "\n";
    for (int n = 0; n < 8; ++n) {
      const std::string path = "d" + std::to_string(n) + "/f.k" + std::to_string(i);
      if (n % 2 == 0) repo.Write(path, RandomContent(engine));
      changed[path] = RandomContent(engine);
    }
  }
  // The base blobs are committed raw, so that some hold CRLF.
  repo.CommitAll();
  repo.Write(".gitattributes", attributes);
  const std::string commit = repo.CommitAll();
  if (!autocrlf.empty()) repo.Git("config core.autocrlf " + autocrlf);
  if (!eol.empty()) repo.Git("config core.eol " + eol);
  for (const auto& [path, content] : changed) repo.Write(path, content);
  repo.Git("add -A . 2>/dev/null");
  const auto index = repo.Index();
  Repo ours = repo.Open();
  for (const auto& [path, content] : changed) {
    const auto blob = ours.ToGit(commit, path, content);
    ASSERT_TRUE(blob) << blob.error().message;
    ASSERT_EQ(Repo::HashBlob(*blob), index.at(path).second)
        << path << " autocrlf=" << autocrlf << " eol=" << eol << "\n"
        << attributes << "base: "
        << testing::PrintToString(repo.Git("cat-file blob " + commit + ":" + path + " || true"))
        << "\n"
        << testing::PrintToString(content) << " -> " << testing::PrintToString(*blob)
        << "\ngit: " << testing::PrintToString(repo.Git("cat-file blob " + index.at(path).second));
  }
  repo.Shell("cd tree && rm -rf d? && git checkout-index -a -f");
  for (const auto& [path, content] : changed) {
    const std::string blob = *ours.ToGit(commit, path, content);
    // git has two answers here: one when it streams a blob to disk, one when it holds it whole.
    if (blob.find("$$") != std::string::npos || blob.find("$Id:\n") != std::string::npos) continue;
    const auto bytes = ours.ToWorkTree(commit, path, blob);
    ASSERT_TRUE(bytes);
    ASSERT_EQ(*bytes, repo.Read(path)) << path << " autocrlf=" << autocrlf << " eol=" << eol;
  }
}

TEST(ConvertTest, AgreesWithGitAddAndCheckout) {
  unsigned seed = 1;
  for (const std::string autocrlf : {"", "false", "true", "input"}) {
    for (const std::string eol : {"", "lf", "crlf"}) {
      if (autocrlf == "input" && eol == "crlf") continue;  // git refuses this configuration
      for (int round = 0; round < 2; ++round) Compare(autocrlf, eol, seed++);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ConvertTest, AttributesComeFromTheCommitNotFromTheTreeOrTheIndex) {
  const TestRepo repo;
  repo.Write(".gitattributes",
             "*.bat text eol=crlf\n*.psd filter=lfs -diff\nsecret* filter=git-crypt\n"
             "*.u16 working-tree-encoding=UTF-16LE\n*.u8 working-tree-encoding=utf-8\n");
  const std::string commit = repo.CommitAll();
  repo.Write(".gitattributes", "* -text -filter\n");
  repo.Git("add -A");
  Repo ours = repo.Open();
  EXPECT_EQ(*ours.ToGit(commit, "x.bat", "l1\r\nl2\r\n"), "l1\nl2\n");
  EXPECT_EQ(ours.ConversionOf(commit, "a/b.psd")->filter, "lfs");
  EXPECT_TRUE(ours.ConversionOf(commit, "a/b.psd")->binary);
  EXPECT_EQ(ours.ConversionOf(commit, "secret.txt")->filter, "git-crypt");
  EXPECT_EQ(ours.ConversionOf(commit, "x.u16")->working_tree_encoding, "UTF-16LE");
  EXPECT_EQ(ours.ConversionOf(commit, "x.u8")->working_tree_encoding, "");
  EXPECT_EQ(ours.ConversionOf(commit, "plain")->filter, "");
}

TEST(ConvertTest, RoundTripFindsLineEndsThatACheckoutWouldChange) {
  const TestRepo repo;
  repo.Write(".gitattributes", "*.bat text eol=crlf\n*.c ident\n");
  const std::string commit = repo.CommitAll();
  Repo ours = repo.Open();
  EXPECT_TRUE(*ours.RoundTrips(commit, "x.bat", "a\r\nb\r\n"));
  EXPECT_FALSE(*ours.RoundTrips(commit, "x.bat", "a\r\nb\n"));
  EXPECT_TRUE(*ours.RoundTrips(commit, "x.txt", "a\r\nb\n"));
  EXPECT_TRUE(*ours.RoundTrips(commit, "x.c", "$Id: 123 $\n"));
}

}  // namespace
}  // namespace bawn::git
